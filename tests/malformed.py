"""Files that are wrong, by language: what they hold, where the error is, what it says."""

from __future__ import annotations

from typing import NamedTuple


class Malformed(NamedTuple):
    name: str
    content: str | bytes
    place: str
    says: str

    @property
    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.encode()


DB = [
    Malformed("empty file", "", "1:1", "no atoms"),
    Malformed("only comments", "// nothing\n/* here */\n", "1:1", "no atoms"),
    Malformed("unclosed parenthesis", "Happens(A, 5\n", "1:8", "never closed"),
    Malformed("unopened parenthesis", "Happens A, 5)\n", "1:9", "after the atom"),
    Malformed("two atoms on a line", "P(A, 1) Q(B, 1)\n", "1:9", "after the atom"),
    Malformed("probability", "HoldsAt(F, 1) 0.8\n", "1:15", "probability 0.8"),
    Malformed("negative and probability", "!P(A, 1) 1.0\n", "1:1", "a probability"),
    Malformed("lower-case predicate", "happens(A, 5)\n", "1:1", "'happens' is not a predicate"),
    Malformed("formula", "P(A) v Q(A)\n", "1:6", "after the atom"),
    Malformed("weight", "1.5 P(A)\n", "1:1", "'1.5' is not a predicate"),
    Malformed("function inside an atom", "Happens(walking(A), 5)\n", "1:9", "not supported"),
    Malformed("function on the left", "walking(A) = Walking_A\n", "1:1", "not a predicate"),
    Malformed("function missing", "Walking_A = Walking(A)\n", "1:13", "expected a function"),
    Malformed("empty arguments", "P()\n", "1:3", "expected a constant"),
    Malformed("missing argument", "P(A,,B)\n", "1:5", "expected a constant"),
    Malformed("trailing comma", "P(A,)\n", "1:5", "expected a constant"),
    Malformed("stray sign", "@P(A)\n", "1:1", "unexpected character '@'"),
    Malformed("unclosed comment", "P(A)\n/* never closed\n", "2:1", "never closed"),
    Malformed("unclosed quote", 'P("A)\n', "1:3", "never closed"),
    Malformed("binary junk", b"\x7fELF\x02\x01\x01\x00\x00", "1:5", "control character"),
    Malformed("not UTF-8", b"P(A)\nP(\xff\xfe)\n", "2:3", "not UTF-8"),
    Malformed("non-integer time", "Happens(E, 5)\nHappens(E, 5.5)\n", "2:12", "not an integer"),
    Malformed("time in words", "HoldsAt(F, noon)\n", "1:12", "not an integer"),
    Malformed("huge time", "HoldsAt(F, 99999999999999999999)\n", "1:12", "not an integer"),
    Malformed("arity conflict", "P(A, 1)\nP(A, B, 2)\n", "2:1", "3 arguments here and 2"),
    Malformed("contradiction", "HoldsAt(F, 1)\n!HoldsAt(F, 1)\n", "2:2", "contradictory labels"),
    Malformed("unknown and true", "HoldsAt(F, 1)\n?HoldsAt(F, 1)\n", "2:2", "contradictory labels"),
    Malformed("two values", "X = f(A)\nX = f(B)\nP(X, 1)\n", "2:1", "another value"),
    Malformed("defined by itself", "X = f(X)\nHappens(X, 1)\n", "1:1", "defined by itself"),
    Malformed("two spellings", "Happens(A, 1)\nHappensAt(A, 2)\n", "2:1", "mean the same"),
    Malformed("schema line", "time = {1, ..., 5}\n", "1:8", "expected a function"),
    Malformed("include", '#include "x.db"\n', "1:1", "expected an atom"),
]
"""Wrong whatever the domain."""

DB_IN_CAVIAR = [
    Malformed("unknown predicate", "Hapens(Walking_A, 5)\n", "1:1", "unknown predicate 'Hapens'"),
    Malformed("wrong arity", "Close(A, B, 5)\n", "1:1", "takes 4 arguments, not 3"),
    Malformed("unknown function", "W_A = waking(A)\nHappens(W_A, 5)\n", "1:1", "unknown function"),
    Malformed("function arity", "W = walking(A, B)\nHappens(W, 5)\n", "1:1", "takes 1 arguments"),
    Malformed("other spelling", "HappensAt(A, 5)\n", "1:1", "mean the same"),
]
"""Wrong in the domain ``caviar-meet``."""

_SCHEMA = "Happens(event,time)\nHoldsAt(fluent,time)\nevent walking(id)\nfluent meet(id,id)\n"

MLN = [
    Malformed("empty file", "", "1:1", "declares nothing"),
    Malformed("unknown predicate", _SCHEMA + "1.0 Hapens(e,t)\n", "5:5", "unknown predicate"),
    Malformed("wrong arity", _SCHEMA + "1.0 Happens(e)\n", "5:5", "takes 2 arguments, not 1"),
    Malformed("unknown function", _SCHEMA + "Happens(waking(x),t).\n", "5:9", "unknown function"),
    Malformed("function arity", _SCHEMA + "Happens(walking(x,y),t).\n", "5:9", "takes 1 arguments"),
    Malformed("unclosed", _SCHEMA + "(Happens(e,t)\n", "5:1", "never closed"),
    Malformed("unclosed atom", _SCHEMA + "1 Happens(e,t\n", "5:10", "never closed"),
    Malformed("weight and dot", _SCHEMA + "1.5 Happens(e,t).\n", "5:1", "weight or a final dot"),
    Malformed("weight alone", _SCHEMA + "1.5\n", "5:4", "expected a term"),
    Malformed("dangling and", _SCHEMA + "Happens(e,t) ^\n", "5:15", "expected a term"),
    Malformed("dangling implies", _SCHEMA + "=> Happens(e,t)\n", "5:1", "expected a term"),
    Malformed("two formulas", _SCHEMA + "Happens(e,t) HoldsAt(f,t)\n", "5:14", "after the end"),
    Malformed("per-constant copy", _SCHEMA + "Happens(+e,t).\n", "5:9", "is not supported"),
    Malformed("built-in", _SCHEMA + "1 Substr(a,b)\n", "5:3", "is not supported"),
    Malformed("concat", _SCHEMA + "1 Happens(concat(a,b),t)\n", "5:11", "is not supported"),
    Malformed("lower-case predicate", _SCHEMA + "1 happens(e,t)\n", "5:3", "unknown predicate"),
    Malformed("head", _SCHEMA + "1 Happens(e,t) v HoldsAt(f,t) :- Happens(e,t)\n", "5:31", "head"),
    Malformed("body", _SCHEMA + "1 HoldsAt(f,t) :- Happens(e,t) v Happens(g,t)\n", "5:16", "body"),
    Malformed("range", "time = {a, ..., 5}\n", "1:1", "ends of a range"),
    Malformed("unclosed type", "time = {1, 2\n", "1:8", "never closed"),
    Malformed("upper-case type", "Time = {1}\n", "1:1", "lower-case"),
    Malformed("missing include", '#include "nowhere.mln"\n', "1:10", "does not exist"),
    Malformed("bare include", "#include nowhere\n", "1:10", "quoted file name"),
    Malformed("unclosed comment", _SCHEMA + "/* never\n", "5:1", "never closed"),
    Malformed("binary junk", b"Happens(event,time)\n\x00\x01", "2:1", "control character"),
    Malformed("not UTF-8", b"\xc3\x28", "1:1", "not UTF-8"),
    Malformed("stray sign", _SCHEMA + "Happens(e,t) ` 5\n", "5:14", "unexpected character"),
    Malformed("quantifier", _SCHEMA + "Exist X (Happens(X,t))\n", "5:7", "expected a variable"),
    Malformed(
        "two spellings", "Happens(event,time)\nHappensAt(event,time)\n", "2:1", "mean the same"
    ),
    Malformed("comparison missing", _SCHEMA + "1 x\n", "5:4", "expected a comparison"),
]

MODES = [
    Malformed("empty file", "", "1:1", "no mode declaration"),
    Malformed("unknown keyword", "modP(1, A(+))\n", "1:1", "expected a mode declaration"),
    Malformed("no recall", "modeP(A(+))\n", "1:7", "expected a recall"),
    Malformed("negative recall", "modeP(-1, A(+))\n", "1:7", "expected a recall"),
    Malformed("no comma", "modeP(1 A(+))\n", "1:9", "expected ','"),
    Malformed("no predicate", "modeP(1, (+))\n", "1:10", "expected a predicate"),
    Malformed("bad marker", "modeP(1, A(x))\n", "1:13", "expected a marker"),
    Malformed("unknown flag", "modeP(1, A(q+))\n", "1:13", "expected a marker"),
    Malformed("empty marker", "modeP(1, A(+,))\n", "1:14", "expected a marker"),
    Malformed("constant alone", "modeP(1, A(#))\n", "1:13", "expected a marker"),
    Malformed("unclosed markers", "modeP(1, A(+\n", "1:13", "expected ')'"),
    Malformed("unclosed mode", "modeP(1, A(+)\n", "1:14", "expected ')'"),
    Malformed("two ordered", "modeP(1, A(o+,o+))\n", "1:17", "more than one ordered"),
    Malformed("no arity", "modeP(1, A(+) body~/> B)\n", "1:24", "expected '/'"),
    Malformed("bad arity", "modeP(1, A(+) body~/> B/x)\n", "1:25", "expected an arity"),
    Malformed("no signature", "modeP(1, A(+) body~/> )\n", "1:23", "expected a signature"),
    Malformed("bad arrow", "modeP(1, A(+) body B/1)\n", "1:20", "expected '~/>'"),
    Malformed("stray text", "modeP(1, A(+)) and\n", "1:16", "expected a mode declaration"),
    Malformed("stray sign", "modeP(1, A(+)) $\n", "1:16", "unexpected character"),
    Malformed("unclosed comment", "modeP(1, A(+)) /* x\n", "1:16", "never closed"),
    Malformed("binary junk", b"modeP(1, A(\x00))", "1:12", "control character"),
    Malformed("not UTF-8", b"modeP(1, A(\xff))", "1:12", "not UTF-8"),
]
