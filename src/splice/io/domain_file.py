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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from splice.errors import InputError, Place, Problem, SpliceError
from splice.io.documents import parse_toml
from splice.io.domain_checks import Checker
from splice.io.layout import UNITS, Layout, TableSpec, parse_atom_pattern, step_in
from splice.io.lomrf.modes import format_modes, parse_modes_all
from splice.io.remote import as_path
from splice.io.text import read_text
from splice.limits import LIMITS, Limits
from splice.logic.atoms import Literal
from splice.logic.domain import DEFAULT_QUERY, Clock, Domain, Holds
from splice.logic.lexer import SourceText
from splice.logic.modes import Modes
from splice.logic.schema import FunctionDecl, PredicateDecl, Schema, Signature, TypeDecl
from splice.logic.syntax import parse_literal
from splice.stream.states import EventPattern, StatePair, States

DOMAIN_FILE: Final = "domain.toml"
"""The name of a domain's file inside a folder of tables."""

_TOP: Final = (
    "name", "closed", "modes", "literals", "target", "types", "predicates", "functions", "time",
    "states", "tables",
)  # fmt: skip
_TABLE: Final = ("file", "atom", "sequence", "label", "start", "end", "last", "where")
_FLAGS: Final = ("self_pairs", "exclusive")


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
    check = Checker(text, file)
    reader = _Reader(check, parse_toml(text, file, limits))
    found = reader.read()
    if check.problems:
        raise InputError(check.problems)
    return found


class _Reader:
    """Turns the values of a TOML file into a domain; notes what is wrong and goes on."""

    def __init__(self, check: Checker, data: dict[str, Any]) -> None:
        self._check = check
        self._data = data

    def read(self) -> DomainFile:
        check, data = self._check, self._data
        check.keys((), data, _TOP)
        schema = Schema(self._types(), self._predicates(), self._functions())
        closed = check.boolean(("closed",), data.get("closed"), default=bool(schema.predicates))
        check.closed = closed
        modes = Modes(self._modes(schema).declarations, self._literals(schema))
        name = check.text(("name",), data.get("name")) or ""
        unit, clock = self._time()
        domain = Domain(name, schema, modes, closed=closed, clock=clock, **self._target(schema))
        return DomainFile(domain, Layout(self._tables(domain), unit, self._states()))

    def _types(self) -> tuple[TypeDecl, ...]:
        found = []
        for name, value in self._check.table(("types",), self._data.get("types")).items():
            path = ("types", name)
            if isinstance(value, dict):
                self._check.keys(path, value, ("first", "last"))
                first = self._check.integer((*path, "first"), value.get("first"))
                last = self._check.integer((*path, "last"), value.get("last"))
                if first > last:
                    self._check.fail(path, f"the range of type '{name}' is empty")
                found.append(TypeDecl(name, bounds=(first, last)))
            else:
                found.append(TypeDecl(name, self._check.texts(path, value)))
        return tuple(found)

    def _predicates(self) -> tuple[PredicateDecl, ...]:
        found: dict[Signature, PredicateDecl] = {}
        for spelling, value in self._check.table(
            ("predicates",), self._data.get("predicates")
        ).items():
            path = ("predicates", spelling)
            name = Schema().internal_name(spelling)
            types = value
            if isinstance(value, dict):
                self._check.keys(path, value, ("name", "args"))
                name = self._check.text((*path, "name"), value.get("name")) or name
                if not spelling and name:  # no spelling means that of the name
                    self._check.fail(path, f"the predicate '{name}' is spelled as nothing")
                types = value.get("args")
            for args in self._check.overloads(path, types):
                decl = PredicateDecl(name, args, spelling)
                if decl.signature in found:
                    other = found[decl.signature].spelling
                    self._check.fail(path, f"'{spelling}' and '{other}' mean the same predicate")
                found[decl.signature] = decl
        return tuple(found.values())

    def _functions(self) -> tuple[FunctionDecl, ...]:
        found: dict[Signature, FunctionDecl] = {}
        for name, value in self._check.table(("functions",), self._data.get("functions")).items():
            path = ("functions", name)
            for one in value if isinstance(value, list) else [value]:
                if not isinstance(one, dict):
                    hint = 'write it like { args = ["id"], returns = "event" }'
                    self._check.fail(path, f"function '{name}' is no table", hint)
                    continue
                self._check.keys(path, one, ("args", "returns"), needed=("args", "returns"))
                args = self._check.texts(path, one.get("args", []))
                returns = self._check.text(path, one.get("returns")) or ""
                if not args:
                    self._check.fail(
                        path, f"function '{name}' has no arguments", "it is a constant"
                    )
                decl = FunctionDecl(name, args, returns)
                if decl.signature in found:
                    self._check.fail(path, f"function {decl.signature} is declared twice")
                found[decl.signature] = decl
        return tuple(found.values())

    def _modes(self, schema: Schema) -> Modes:
        text = self._check.text(("modes",), self._data.get("modes"))
        if not text:
            return Modes()
        before = self._check.modes_offset()
        modes, problems = parse_modes_all(text, self._check.file)
        for problem in problems:
            place = Place(problem.place.file, problem.place.line + before, problem.place.column)
            self._check.problems.append(Problem(place, problem.message, problem.text, problem.hint))
        for mode in modes if self._check.closed else ():
            known = schema.function if mode.is_function else schema.predicate
            if known(mode.signature) is None:
                self._check.undeclared_mode(mode, schema)
        return modes

    def _literals(self, schema: Schema) -> frozenset[Literal] | None:
        """Return what rules may have in head and body; None where nothing is said of it."""
        given, path = self._data.get("literals"), ("literals",)
        if given is None:
            return None
        found = []
        for text in self._check.texts(path, given):
            try:
                found.append(parse_literal(text))
            except InputError as error:
                first = error.problems[0]
                hint = first.hint or "write one atom, or not and an atom"
                self._check.fail(path, f"'{text}' is no literal: {first.message}", hint)
                continue
            self._check.declared(path, found[-1], schema)
        return frozenset(found)

    def _target(self, schema: Schema) -> dict[str, Any]:
        path = ("target",)
        target = self._check.table(path, self._data.get("target"))
        self._check.keys(path, target, ("query", "fluents", *_FLAGS))
        query = self._check.signature((*path, "query"), target.get("query"), schema)
        fluents = self._check.texts((*path, "fluents"), target.get("fluents", []))
        declared = {decl.name for decl in schema.functions}
        for name in fluents:
            if self._check.closed and name not in declared:
                self._check.unknown((*path, "fluents"), "fluent", name, declared)
        flags = {
            name: self._check.boolean((*path, name), target.get(name), default=False)
            for name in _FLAGS
        }
        return {"query": query or DEFAULT_QUERY, "fluents": fluents, **flags}

    def _time(self) -> tuple[str | None, Clock]:
        """Return the unit of time, and how it goes on."""
        check, path = self._check, ("time",)
        time = check.table(path, self._data.get("time"))
        check.keys(path, time, ("unit", "step", "every", "holds"))
        unit = check.text((*path, "unit"), time.get("unit"))
        if unit is not None and unit not in UNITS:
            check.unknown((*path, "unit"), "unit of time", unit, UNITS)
            unit = None
        if "step" in time and "every" in time:
            check.fail((*path, "every"), "'step' and 'every' say the same", "keep one of them")
        step: int | None = None
        if "step" in time:
            step = check.integer((*path, "step"), time["step"])
            if step < 1:
                check.fail((*path, "step"), "the step of time is not positive")
                step = None
        elif (every := check.text((*path, "every"), time.get("every"))) is not None:
            try:
                step, unit = step_in(every, unit)
            except SpliceError as error:
                check.fail((*path, "every"), str(error.message), error.hint)
        holds = check.text((*path, "holds"), time.get("holds"))
        if holds is not None and holds not in (names := [way.value for way in Holds]):
            check.unknown((*path, "holds"), "way to hold", holds, names)
            holds = None
        return unit, Clock(step, None if holds is None else Holds(holds))

    def _states(self) -> States:
        """Return which events switch states: ``on`` and ``off``, and pairs under a name."""
        check, path = self._check, ("states",)
        given = check.table(path, self._data.get("states"))
        changes = check.boolean((*path, "changes"), given.get("changes"), default=False)
        plain: dict[str, Any] = {key: given[key] for key in ("on", "off") if key in given}
        named = {key: value for key, value in given.items() if key not in ("on", "off", "changes")}
        pairs = [self._pair(path, plain, "")] if plain else []
        for name, value in named.items():
            pairs.append(self._pair((*path, name), check.table((*path, name), value), name))
        return States(tuple(pair for pair in pairs if pair is not None), changes)

    def _pair(self, path: tuple[str, ...], table: Mapping[str, Any], name: str) -> StatePair | None:
        check = self._check
        check.keys(path, {k: v for k, v in table.items() if name}, ("on", "off"))
        found = []
        for key in ("on", "off"):
            text = check.text((*path, key), table.get(key))
            if text is None:
                check.fail(path, f"key '{key}' is missing", "a state is switched on and off")
                return None
            try:
                found.append(EventPattern.parse(text))
            except SpliceError as error:
                check.fail((*path, key), error.message, error.hint)
                return None
        if not name and not all(pattern.names_state for pattern in found):
            hint = f'give it a name: open = {{ on = "{found[0]}", off = "{found[1]}" }}'
            check.fail(path, "the events do not say what the state is called", hint)
            return None
        return StatePair(found[0], found[1], name)

    def _tables(self, domain: Domain) -> tuple[TableSpec, ...]:
        tables = self._data.get("tables", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            hint = "write [[tables]], once for each table"
            self._check.fail(("tables",), "'tables' is no list of tables", hint)
            return ()
        specs = (self._table(number, table, domain) for number, table in enumerate(tables))
        return tuple(spec for spec in specs if spec is not None)

    def _table(self, number: int, table: Mapping[str, Any], domain: Domain) -> TableSpec | None:
        check, path = self._check, ("tables", str(number))
        check.keys(path, table, _TABLE, needed=("file", "atom"))
        values = {key: check.text((*path, key), table.get(key)) for key in _TABLE if key != "where"}
        if values["start"] and not (values["end"] or values["last"]):
            check.fail((*path, "start"), "'start' without 'end'", "an interval has both")
        if (values["end"] or values["last"]) and not values["start"]:
            check.fail((*path, "end"), "'end' without 'start'", "an interval has both")
        if values["end"] and values["last"]:
            check.fail((*path, "last"), "'end' and 'last'", "the end is exclusive, the last is not")
        where = check.conditions((*path, "where"), table.get("where", {}))
        file, atom = values["file"], values["atom"]
        if not file or not atom:
            return None
        if file.startswith(("/", "~")) or ".." in Path(file).parts:
            check.fail((*path, "file"), "the file lies outside the input", "give it relative to it")
        place = check.place((*path, "atom"))
        try:
            pattern = parse_atom_pattern(SourceText(atom, check.file, place.line))
        except InputError as error:
            first = error.problems[0]
            check.fail((*path, "atom"), first.message, first.hint)
            return None
        check.pattern((*path, "atom"), pattern, domain, interval=values["start"] is not None)
        return TableSpec(
            file,
            pattern,
            sequence=values["sequence"],
            label=values["label"],
            start=values["start"],
            end=values["end"],
            last=values["last"],
            where=where,
            place=place,
        )


def format_domain(domain: Domain, *, time_unit: str | None = None) -> str:
    """Return a domain as the text of a ``domain.toml``."""
    schema = domain.schema
    lines = [f"name = {_quoted(domain.name)}"] if domain.name else []
    if domain.closed != bool(schema.predicates):
        lines.append(f"closed = {str(domain.closed).lower()}")
    if len(domain.modes):
        lines.append(f'modes = """\n{_escaped(format_modes(domain.modes).rstrip())}\n"""')
    if domain.modes.literals is not None:
        lines += ["literals = [", *_literal_lines(domain.modes.literals), "]"]
    query = f"{schema.spelling(domain.query.name)}/{domain.query.arity}"
    lines += ["", "[target]", f"query = {_quoted(query)}"]
    if domain.fluents:
        lines.append(f"fluents = {_list(domain.fluents)}")
    lines += [f"{name} = true" for name in _FLAGS if getattr(domain, name)]
    if schema.types:
        lines += ["", "[types]", *(f"{_key(t.name)} = {_type(t)}" for t in schema.types)]
    if schema.predicates:
        lines += ["", "[predicates]", *_predicate_lines(schema)]
    if schema.functions:
        lines += ["", "[functions]", *_function_lines(schema)]
    lines += _time_lines(domain.clock, time_unit)
    return "\n".join(lines).lstrip("\n") + "\n"


def _time_lines(clock: Clock, unit: str | None) -> list[str]:
    said = {
        "unit": unit and _quoted(unit),
        "step": clock.step and str(clock.step),
        "holds": clock.holds and _quoted(clock.holds.value),
    }
    lines = [f"{key} = {value}" for key, value in said.items() if value]
    return ["", "[time]", *lines] if lines else []


def _literal_lines(literals: frozenset[Literal]) -> list[str]:
    return [f"    {_quoted(text)}," for text in sorted(map(str, literals))]


def _predicate_lines(schema: Schema) -> list[str]:
    groups: dict[str, list[PredicateDecl]] = {}
    for decl in schema.predicates:
        groups.setdefault(decl.spelling or schema.spelling(decl.name), []).append(decl)
    lines = []
    for spelling, decls in groups.items():
        args = _one_or_many([_list(decl.args) for decl in decls])
        name = decls[0].name
        if Schema().internal_name(spelling) != name:
            args = f"{{ name = {_quoted(name)}, args = {args} }}"
        lines.append(f"{_key(spelling)} = {args}")
    return lines


def _function_lines(schema: Schema) -> list[str]:
    groups: dict[str, list[str]] = {}
    for decl in schema.functions:
        text = f"{{ args = {_list(decl.args)}, returns = {_quoted(decl.returns)} }}"
        groups.setdefault(decl.name, []).append(text)
    return [f"{_key(name)} = {_one_or_many(each)}" for name, each in groups.items()]


def _one_or_many(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _type(decl: TypeDecl) -> str:
    if decl.bounds is not None:
        return f"{{ first = {decl.bounds[0]}, last = {decl.bounds[1]} }}"
    return _list(decl.constants)


def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    return f'"{_escaped(text).replace(chr(10), chr(92) + "n")}"'


def _escaped(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(
        char if char == "\n" or (char >= " " and char != "\x7f") else f"\\u{ord(char):04x}"
        for char in plain
    )
