"""``domain.toml``: the schema, the modes and the target of a domain, and how tables spell it.

::

    name = "caviar-meet"
    modes = '''
    modeP(2, Happens(-,+))
    '''
    literals = ["initiatedAt(meet(X,Y),T)", "happensAt(walking(X),T)"]

    [target]
    query = "HoldsAt/2"
    fluents = ["meet"]
    self_pairs = false
    exclusive = false

    [predicates]
    Happens = ["event", "time"]

    [functions]
    walking = { args = ["id"], returns = "event" }

    [time]
    unit = "s"
    every = "1min"
    holds = "from"

    [states]
    on = "*_on"
    off = "*_off"

    [[tables]]
    file = "events.csv*"
    sequence = "sequence"
    atom = "Happens({event}({id}),{frame})"

Predicates are spelled as LoMRF spells them. A domain that declares predicates is closed: what
it does not declare is an error (``closed = false`` says otherwise). Without ``[[tables]]`` the
zero-configuration layout applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from splice.errors import InputError, Place, Problem, SpliceError, did_you_mean
from splice.io.documents import parse_toml
from splice.io.layout import (
    UNITS,
    AtomPattern,
    Column,
    Layout,
    TableSpec,
    parse_atom_pattern,
    step_in,
)
from splice.io.lomrf.modes import parse_modes_all
from splice.io.remote import as_path
from splice.io.text import read_text
from splice.io.toml_values import TomlFile, Value
from splice.limits import LIMITS, Limits
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import DEFAULT_QUERY, Clock, Domain, Holds
from splice.logic.lexer import SourceText
from splice.logic.modes import Mode, Modes
from splice.logic.schema import (
    EVENT_CALCULUS,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
    TypeDecl,
)
from splice.logic.syntax import parse_literal
from splice.logic.terms import VALUE, Function
from splice.stream.states import EventPattern, StatePair, States

DOMAIN_FILE: Final = "domain.toml"
"""The name of a domain's file inside a folder of tables."""

_TOP: Final = (
    "name", "closed", "modes", "literals", "target", "types", "predicates", "functions", "time",
    "states", "tables",
)  # fmt: skip
_COLUMNS: Final = ("sequence", "label", "start", "end", "last")
_UNNAMED: Final = ("on", "off", "changes")
FLAGS: Final = ("self_pairs", "exclusive")
"""What a target may say with true or false, under the names that a domain has for it."""


@dataclass(frozen=True)
class DomainFile:
    """A domain, and the layout of its tables (without tables: zero configuration)."""

    domain: Domain
    layout: Layout = field(default_factory=Layout)


def read_domain_file(path: str | Path, limits: Limits = LIMITS) -> DomainFile:
    """Read a ``domain.toml``; raise all its problems at once."""
    return parse_domain(read_text(as_path(path), limits), str(path), limits)


def parse_domain(text: str, file: str = "<domain>", limits: Limits = LIMITS) -> DomainFile:
    """Read the text of a ``domain.toml``."""
    if not text.strip():
        hint = "a domain declares at least its predicates"
        raise InputError(Problem(Place(file, 1, 1), "the file is empty", "", hint))
    toml = TomlFile(text, file)
    described = _Reader(toml).read(Value(toml, (), parse_toml(text, file, limits)))
    if toml.problems:
        raise InputError(toml.problems)
    return described


class _Reader:
    """Turns the values of a TOML file into a domain; notes what is wrong and goes on."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self._schema = Schema()
        self._closed = True

    def read(self, root: Value) -> DomainFile:
        """Return the domain and the layout."""
        root.check_keys(*_TOP)
        self._schema = Schema(
            tuple(self._types(root["types"])),
            self._predicates(root["predicates"]),
            self._functions(root["functions"]),
        )
        self._closed = root["closed"].flag(default=bool(self._schema.predicates))
        modes = Modes(self._modes(root["modes"]).declarations, self._literals(root["literals"]))
        unit, clock = _clock(root["time"])
        domain = Domain(
            root["name"].text() or "",
            self._schema,
            modes,
            closed=self._closed,
            clock=clock,
            **self._target(root["target"]),
        )
        tables = tuple(self._tables(root["tables"]))
        return DomainFile(domain, Layout(tables, unit, _states(root["states"])))

    def _types(self, types: Value) -> Iterator[TypeDecl]:
        for name, value in types.items():
            if isinstance(value.value, dict):
                value.check_keys("first", "last")
                bounds = value["first"].integer(), value["last"].integer()
                if bounds[0] > bounds[1]:
                    value.fail(f"the range of type '{name}' is empty")
                yield TypeDecl(name, bounds=bounds)
            else:
                yield TypeDecl(name, value.texts())

    def _predicates(self, predicates: Value) -> tuple[PredicateDecl, ...]:
        decls: dict[Signature, PredicateDecl] = {}
        for spelling, value in predicates.items():
            name = Schema().internal_name(spelling)
            types = value.value
            if isinstance(types, dict):
                value.check_keys("name", "args")
                name = value["name"].text() or name
                if not spelling and name:  # no spelling means that of the name
                    value.fail(f"the predicate '{name}' is spelled as nothing")
                types = types.get("args")
            several = isinstance(types, list) and types and all(isinstance(t, list) for t in types)
            for args in types if several else [types]:
                decl = PredicateDecl(name, value.other(args).texts(), spelling)
                if decl.signature in decls:
                    before = decls[decl.signature].spelling
                    value.fail(f"'{spelling}' and '{before}' mean the same predicate")
                decls[decl.signature] = decl
        return tuple(decls.values())

    def _functions(self, functions: Value) -> tuple[FunctionDecl, ...]:
        decls: dict[Signature, FunctionDecl] = {}
        for name, value in functions.items():
            for overload in value.value if isinstance(value.value, list) else [value.value]:
                if not isinstance(overload, dict):
                    hint = 'write it like { args = ["id"], returns = "event" }'
                    value.fail(f"function '{name}' is no table", hint)
                    continue
                value.other(overload).check_keys("args", "returns", needed=("args", "returns"))
                args = value.other(overload.get("args", [])).texts()
                returns = value.other(overload.get("returns")).text() or ""
                if not args:
                    value.fail(f"function '{name}' has no arguments", "it is a constant")
                decl = FunctionDecl(name, args, returns)
                if decl.signature in decls:
                    value.fail(f"function {decl.signature} is declared twice")
                decls[decl.signature] = decl
        return tuple(decls.values())

    def _modes(self, value: Value) -> Modes:
        text = value.text()
        if not text:
            return Modes()
        before = self._file.modes_offset()
        modes, problems = parse_modes_all(text, self._file.name)
        for problem in problems:
            place = replace(problem.place, line=problem.place.line + before)
            self._file.problems.append(replace(problem, place=place))
        for mode in modes if self._closed else ():
            declared = self._schema.function if mode.is_function else self._schema.predicate
            if declared(mode.signature) is None:
                self._undeclared_mode(mode, before)
        return modes

    def _undeclared_mode(self, mode: Mode, first: int) -> None:
        """Note a mode of something that the schema does not have."""
        if mode.is_function:
            what, name = "function", mode.signature.name
            names = [f"{decl.name}/{len(decl.args)}" for decl in self._schema.functions]
        else:
            what, name = "predicate", self._schema.spelling(mode.signature.name)
            names = [f"{decl.spelling}/{len(decl.args)}" for decl in self._schema.predicates]
        text = f"{name}/{mode.signature.arity}"
        word = re.compile(rf"\b{re.escape(mode.spelling or name)}\s*\(")
        hint = did_you_mean(text, names) or f"the domain has {', '.join(names)}"
        message = f"a mode of the undeclared {what} '{text}'"
        self._file.fail_at(self._file.line_of(word, first), message, hint)

    def _literals(self, value: Value) -> frozenset[Literal] | None:
        """Return what rules may have in head and body; None where nothing is said of it."""
        if not value:
            return None
        literals = set()
        for text in value.texts():
            try:
                literal = parse_literal(text)
            except InputError as error:
                first = error.problems[0]
                hint = first.hint or "write one atom, or not and an atom"
                value.fail(f"'{text}' is no literal: {first.message}", hint)
                continue
            literals.add(literal)
            self._check_declared(value, literal.atom)
        return frozenset(literals)

    def _check_declared(self, value: Value, atom: Atom) -> None:
        """Note what an atom mentions that a closed domain does not declare."""
        schema = self._schema
        if not self._closed:
            return
        if schema.predicate(atom.signature) is None and atom.signature not in EVENT_CALCULUS:
            value.unknown("predicate", atom.predicate, {d.name for d in schema.predicates})
        functions = [t for t in atom.walk() if isinstance(t, Function) and t.functor != VALUE]
        for term in functions:
            if schema.function(Signature(term.functor, len(term.args))) is None:
                value.unknown("function", term.functor, {d.name for d in schema.functions})

    def _target(self, target: Value) -> dict[str, Any]:
        target.check_keys("query", "fluents", *FLAGS)
        fluents = target["fluents"].texts() if "fluents" in target else ()
        declared = {decl.name for decl in self._schema.functions}
        for name in fluents:
            if self._closed and name not in declared:
                target["fluents"].unknown("fluent", name, declared)
        flags = {name: target[name].flag() for name in FLAGS if name in target}
        return {"query": self._query(target["query"]), "fluents": fluents, **flags}

    def _query(self, value: Value) -> Signature:
        """Return the query predicate of a text such as ``HoldsAt/2``."""
        text = value.text()
        if text is None:
            return DEFAULT_QUERY
        match = re.fullmatch(r"(.+)/([0-9]{1,3})", text)
        if match is None:
            value.fail(f"'{text}' is no predicate", 'write its name and arity: "HoldsAt/2"')
            return DEFAULT_QUERY
        schema = self._schema
        signature = Signature(schema.internal_name(match[1]), int(match[2]))
        declared = schema.predicate(signature) or EVENT_CALCULUS.get(signature)
        if self._closed and declared is None:
            spelled = [f"{schema.spelling(d.name)}/{len(d.args)}" for d in schema.predicates]
            value.unknown("predicate", text, spelled)
        return signature

    def _tables(self, tables: Value) -> Iterator[TableSpec]:
        entries = [] if tables.value is None else tables.value
        if not isinstance(entries, list) or not all(isinstance(table, dict) for table in entries):
            tables.fail("'tables' is no list of tables", "write [[tables]], once for each table")
            return
        for number, entry in enumerate(entries):
            spec = self._table(tables[str(number)].other(entry))
            if spec is not None:
                yield spec

    def _table(self, table: Value) -> TableSpec | None:
        table.check_keys(*_COLUMNS, "file", "atom", "where", needed=("file", "atom"))
        file, atom = table["file"].text(), table["atom"].text()
        columns = {key: table[key].text() for key in _COLUMNS}
        start, end, last = columns["start"], columns["end"], columns["last"]
        if start and not (end or last):
            table["start"].fail("'start' without 'end'", "an interval has both")
        if (end or last) and not start:
            table["end"].fail("'end' without 'start'", "an interval has both")
        if end and last:
            table["last"].fail("'end' and 'last'", "the end is exclusive, the last is not")
        where = _conditions(table["where"]) if "where" in table else ()
        if not file or not atom:
            return None
        if file.startswith(("/", "~")) or ".." in Path(file).parts:
            table["file"].fail("the file lies outside the input", "give it relative to it")
        place = table["atom"].place
        try:
            pattern = parse_atom_pattern(SourceText(atom, place.file, place.line))
        except InputError as error:
            first = error.problems[0]
            table["atom"].fail(first.message, first.hint)
            return None
        if self._closed:
            self._check_pattern(table["atom"], pattern, interval=start is not None)
        return TableSpec(file, pattern, **columns, where=where, place=place)

    def _check_pattern(self, value: Value, pattern: AtomPattern, *, interval: bool) -> None:
        """Note an atom of a table that the schema does not have."""
        schema = self._schema
        name, arity = schema.internal_name(pattern.predicate), len(pattern.args)
        decl = schema.predicate(Signature(name, arity + interval))
        if decl is None:
            arities = " or ".join(str(n - interval) for n in schema.arities(name))
            if arities:
                hint = f"it takes {arities} arguments" + (" without the time" if interval else "")
                value.fail(f"'{pattern.predicate}' has {arity} arguments here", hint)
            else:
                spelled = [schema.spelling(decl.name) for decl in schema.predicates]
                value.unknown("predicate", pattern.predicate, spelled)
        elif decl.time is None:
            if interval:
                value.fail(f"{decl} has no time", "it cannot have intervals")
        elif not interval and not isinstance(pattern.args[decl.time], Column):
            value.fail(f"argument {decl.time + 1} is the time and no column in braces")


def _clock(time: Value) -> tuple[str | None, Clock]:
    """Return the unit of time, and how it goes on."""
    time.check_keys("unit", "step", "every", "holds")
    unit = time["unit"].word("unit of time", UNITS)
    if "step" in time and "every" in time:
        time["every"].fail("'step' and 'every' say the same", "keep one of them")
    step: int | None = None
    if "step" in time:
        step = time["step"].integer()
        if step < 1:
            time["step"].fail("the step of time is not positive")
            step = None
    elif (every := time["every"].text()) is not None:
        try:
            step, unit = step_in(every, unit)
        except SpliceError as error:
            time["every"].fail(error.message, error.hint)
    holds = time["holds"].word("way to hold", [way.value for way in Holds])
    return unit, Clock(step, None if holds is None else Holds(holds))


def _states(states: Value) -> States:
    """Return which events switch states: ``on`` and ``off``, and pairs under a name."""
    named = [(key, value) for key, value in states.items() if key not in _UNNAMED]
    pairs = [_pair(states, "")] if "on" in states or "off" in states else []
    for name, value in named:
        value.check_keys("on", "off")
        pairs.append(_pair(value, name))
    return States(tuple(filter(None, pairs)), states["changes"].flag())


def _pair(table: Value, name: str) -> StatePair | None:
    patterns = []
    for key in ("on", "off"):
        text = table[key].text()
        if text is None:
            table.fail(f"key '{key}' is missing", "a state is switched on and off")
            return None
        try:
            patterns.append(EventPattern.parse(text))
        except SpliceError as error:
            table[key].fail(error.message, error.hint)
            return None
    on, off = patterns
    if not name and not (on.names_state and off.names_state):
        hint = f'give it a name: open = {{ on = "{on}", off = "{off}" }}'
        table.fail("the events do not say what the state is called", hint)
        return None
    return StatePair(on, off, name)


def _conditions(where: Value) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the columns and values of ``where = { ce = "meet" }``."""
    if not isinstance(where.value, dict):
        where.fail("'where' is no table", 'write it like { ce = "meet" }')
        return ()
    words = {True: "true", False: "false"}
    conditions = []
    for column, value in where.value.items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(v, str | int) for v in values):
            where.fail(f"the values of '{column}' are no texts", 'such as "meet"')
        texts = (words[v] if isinstance(v, bool) else str(v) for v in values)
        conditions.append((column, tuple(texts)))
    return tuple(conditions)
