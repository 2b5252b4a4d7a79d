"""Evidence as a ``.db`` file writes it: ``Happens(Walking_ID1, 5)``, ``!P(A)``, ``Meet_A_B = meet(A, B)``.

Also read, though LoMRF trips over them: trailing comments, decimals, constants that start in
lower case or hold dots and colons, constants in quotes, and atoms over several lines. What the
names mean is not asked here.

:func:`parse_raw` gives columns of names: the regular lines (one ground atom each, which is
nearly all of a file) by vectorised string operations, every other line by the grammar. Where
anything is wrong the grammar reads the whole file and reports every problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from splice import labels
from splice.errors import Place, Problem, raise_problems
from splice.io.line_cursor import LineCursor
from splice.logic.lexer import Lexicon, SourceText, Token, unquote
from splice.logic.schema import upper_first

LEXICON: Final = Lexicon(
    patterns=(
        ("name", r"-?\w[\w.:+@-]*"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""),
        ("sign", r"[!?(),={}#<>^|;.*~&%$\[\]/+:-]"),
    ),
    line_comment="//",
    block_comment=("/*", "*/"),
    newlines=True,
)


_END_HINT: Final = "one atom a line; comments start with //"


@dataclass(frozen=True, slots=True)
class RawAtom:
    """A ground atom as written: the predicate as spelled, the arguments as text."""

    name: str
    args: tuple[str, ...]
    truth: int
    line: int


@dataclass(frozen=True, slots=True)
class FunctionFact:
    """``constant = functor(args)`` as written."""

    constant: str
    functor: str
    args: tuple[str, ...]
    line: int


class _Parser(LineCursor):
    lexicon = LEXICON

    def statement(self) -> RawAtom | FunctionFact:
        start = self.token
        sign = self.accept("!", "?")
        if not sign and self.at_kind("name", "quoted") and self.peek().text == "=":
            statement: RawAtom | FunctionFact = self._function_fact(start)
        else:
            statement = self._atom(sign, start)
        if not self.at_line_end:
            self.fail(f"unexpected {self.shown()} after the atom", _END_HINT)
        return statement

    def _line(self, token: Token) -> int:
        return self.source.place(token.start).line

    def _atom(self, sign: Token | None, start: Token) -> RawAtom:
        name = self.token
        if name.kind != "name":
            hint = "evidence is one ground atom a line, such as Happens(Walking_ID1, 5)"
            self.fail(f"expected an atom but found {self.shown()}", hint)
        if not (name.text[0].isupper() and name.text.replace("_", "a").isalnum()):
            self._bad_predicate(name)
        self.next()
        args = self.arguments(self._constant) if self.at("(") else ()
        truth = self._truth(sign)
        return RawAtom(name.text, args, truth, self._line(start))

    def _bad_predicate(self, name: Token) -> None:
        if name.text[0].isalpha() and name.text.replace("_", "a").isalnum():
            spelled = upper_first(name.text)
            hint = f"predicates start with an upper-case letter: did you mean '{spelled}'?"
        else:
            hint = "evidence is one ground atom a line; weights and formulas belong in a .mln file"
        self.fail(f"'{name.text}' is not a predicate", hint)

    def _constant(self) -> str:
        if not self.at_kind("name", "quoted"):
            hint = "arguments are constants; quote one that holds other signs"
            self.fail(f"expected a constant but found {self.shown()}", hint)
        token = self.next()
        if self.at("("):
            self.fail(
                f"function '{token.text}' inside an atom is not supported in evidence",
                f"name its value first, as in {upper_first(token.text)}_A = {token.text}(A), and use it",
                token,
            )
        return unquote(token.text) if token.kind == "quoted" else token.text

    def _truth(self, sign: Token | None) -> int:
        if not self.at_kind("name"):
            return {"!": labels.FALSE, "?": labels.UNKNOWN}.get(
                sign.text if sign else "", labels.TRUE
            )
        token = self.token
        try:
            probability = float(token.text)
        except ValueError:
            self.fail(f"unexpected '{token.text}' after the atom", _END_HINT)
        if probability not in (0.0, 1.0):
            hint = "write 1.0 for true, 0.0 for false, or ? before the atom for unknown"
            self.fail(f"probability {token.text} is not supported", hint)
        if sign:
            self.fail(f"'{sign.text}' and a probability on one atom", "keep one of the two", sign)
        self.next()
        return labels.TRUE if probability == 1.0 else labels.FALSE

    def _function_fact(self, start: Token) -> FunctionFact:
        constant = self._constant()
        self.expect("=")
        functor = self.token
        if functor.kind != "name" or not functor.text[0].islower():
            hint = "the constant stands on the left: Meet_A_B = meet(A, B)"
            self.fail(f"expected a function but found {self.shown()}", hint)
        self.next()
        if not self.at("("):
            self.fail(f"expected '(' but found {self.shown()}", "write Meet_A_B = meet(A, B)")
        args = self.arguments(self._constant)
        return FunctionFact(constant, functor.text, args, self._line(start))


def parse_statements(
    source: SourceText,
) -> tuple[list[RawAtom], list[FunctionFact], list[Problem]]:
    """Read every statement of a text, and every problem of those that cannot be read."""
    parser = _Parser(source)
    statements, problems = parser.statements(parser.statement)
    atoms = [s for s in statements if isinstance(s, RawAtom)]
    functions = [s for s in statements if isinstance(s, FunctionFact)]
    return atoms, functions, problems


class Places:
    """The lines of one evidence file."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1."""
        if self._lines is None:
            self._lines = self._source.text.split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def place(self, number: int, argument: int | None = None) -> Place:
        """Return the place of the statement on a line, or of one of its arguments."""
        text = SourceText(self.line(number), self._source.file)
        names = [t for t in LEXICON.scan(text) if t.kind in ("name", "quoted")]
        number_of_name = 0 if argument is None else argument + 1
        column = names[min(number_of_name, len(names) - 1)].start + 1 if names else 1
        return Place(self._source.file, number, column)

    def problem(
        self, number: int, message: str, hint: str = "", argument: int | None = None
    ) -> Problem:
        """Return a problem with the statement on a line."""
        return Problem(self.place(number, argument), message, self.line(number), hint)


_NAME: Final = r"-?[A-Za-z0-9_][A-Za-z0-9_.:+@-]*"
# One plain atom on a line: sign, predicate, arguments (split at commas later), probability, comment. What
# it matches the grammar reads alike; quotes, functions and atoms over several lines are left to that.
_REGULAR: Final = (
    rf"^[ \t]*([!?]?)[ \t]*([A-Z][A-Za-z0-9_]*)[ \t]*"
    rf"\(([ \t]*{_NAME}[ \t]*(?:,[ \t]*{_NAME}[ \t]*)*)\)"
    r"(?:[ \t]+([01](?:\.0+)?))?[ \t]*(?://.*)?$"
)
_BLANK: Final = r"^[ \t]*(?://.*)?$"
_COMMENT_OR_QUOTE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL
)


@dataclass(frozen=True, eq=False)
class RawEvidence:
    """The atoms of a file as columns of text, and its function facts.

    Parameters
    ----------
    source
        The text.
    atoms
        The columns ``name``, ``truth``, ``arity``, ``line`` and ``a0``, ``a1``, ..., in the order of
        the lines; arguments that an atom does not have are null.
    functions
        The facts.
    """

    source: SourceText
    atoms: pl.DataFrame
    functions: tuple[FunctionFact, ...]


def parse_raw(source: SourceText) -> RawEvidence:
    """Read evidence; raise all problems of the file if there is one."""
    text = _without_block_comments(source.text)
    lines = pl.Series("text", text.split("\n"), dtype=pl.String)
    parts = lines.str.extract_groups(_REGULAR).struct.unnest()
    regular = parts.get_column("2").is_not_null() & ~_denied_with_probability(parts)
    irregular = ~regular & ~lines.str.contains(_BLANK)
    atoms, functions = list[RawAtom](), list[FunctionFact]()
    # An atom over several lines is a run of lines that are not regular, unless one of them looks like an
    # atom by itself; then the grammar finds something wrong, and reads the whole text in its place.
    for first, block in _blocks(lines, irregular):
        more, facts, problems = parse_statements(SourceText(block, source.file, first + 1))
        if problems:
            return parse_raw_by_grammar(source)
        atoms.extend(more)
        functions.extend(facts)
    fast = _regular_frame(parts.with_row_index("line", 1).filter(regular))
    frame = pl.concat([fast, _frame(atoms)], how="diagonal").sort("line", maintain_order=True)
    return RawEvidence(source, frame, tuple(functions))


def parse_raw_by_grammar(source: SourceText) -> RawEvidence:
    """Read evidence by the grammar alone: the obvious twin of :func:`parse_raw`."""
    atoms, functions, problems = parse_statements(source)
    raise_problems(problems)
    return RawEvidence(source, _frame(atoms), tuple(functions))


def parse_readable(source: SourceText, without: set[int]) -> RawEvidence:
    """Return what can be read of a text, certain lines left out."""
    atoms, functions, _ = parse_statements(source)
    return RawEvidence(
        source,
        _frame([atom for atom in atoms if atom.line not in without]),
        tuple(fact for fact in functions if fact.line not in without),
    )


def _denied_with_probability(parts: pl.DataFrame) -> pl.Series:
    """``!P(A) 1.0`` says two things at once: leave it to the grammar."""
    return (parts.get_column("1") != "") & parts.get_column("4").is_not_null()


def _regular_frame(parts: pl.DataFrame) -> pl.DataFrame:
    sign, probability = pl.col("1"), pl.col("4")
    truth = (
        pl.when((sign == "!") | probability.str.starts_with("0"))
        .then(labels.FALSE)
        .when(sign == "?")
        .then(labels.UNKNOWN)
        .otherwise(labels.TRUE)
    )
    arity = pl.col("3").str.count_matches(",", literal=True) + 1
    frame = parts.select(
        name=pl.col("2"),
        truth=truth.cast(pl.Int8),
        arity=arity.cast(pl.Int32),
        line=pl.col("line").cast(pl.Int64),
        args=pl.col("3"),
    )
    width = int(frame["arity"].max() or 0)  # type: ignore[arg-type]
    if not width:
        return frame.drop("args")
    args = frame["args"].str.split_exact(",", width - 1).struct.unnest()
    args.columns = [f"a{i}" for i in range(width)]
    stripped = args.with_columns(pl.all().str.strip_chars(" \t"))
    return pl.concat([frame.drop("args"), stripped], how="horizontal")


def _frame(atoms: list[RawAtom]) -> pl.DataFrame:
    width = max((len(atom.args) for atom in atoms), default=0)
    columns: dict[str, pl.Series] = {
        "name": pl.Series([atom.name for atom in atoms], dtype=pl.String),
        "truth": pl.Series([atom.truth for atom in atoms], dtype=pl.Int8),
        "arity": pl.Series([len(atom.args) for atom in atoms], dtype=pl.Int32),
        "line": pl.Series([atom.line for atom in atoms], dtype=pl.Int64),
    }
    for i in range(width):
        values = [atom.args[i] if i < len(atom.args) else None for atom in atoms]
        columns[f"a{i}"] = pl.Series(values, dtype=pl.String)
    return pl.DataFrame(columns)


def _blocks(lines: pl.Series, chosen: pl.Series) -> Iterator[tuple[int, str]]:
    """Yield runs of neighbouring chosen lines with the number of the first one."""
    rows = chosen.arg_true().to_list()
    start = 0
    for i in range(1, len(rows) + 1):
        if i == len(rows) or rows[i] != rows[i - 1] + 1:
            first, last = rows[start], rows[i - 1]
            yield first, "\n".join(lines.slice(first, last - first + 1).to_list())
            start = i


def _without_block_comments(text: str) -> str:
    """Blank out block comments, keeping every line where it is."""
    if "/*" not in text:
        return text
    return _COMMENT_OR_QUOTE.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    text = match[0]
    return re.sub(r"[^\n]", " ", text) if text.startswith("/*") else text
