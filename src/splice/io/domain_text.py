"""Domains as the text of a ``domain.toml``: what :mod:`splice.io.domain_file` reads back as the same."""

from __future__ import annotations

import re

from splice.io.domain_file import FLAGS
from splice.io.lomrf.modes import format_modes
from splice.logic.atoms import Literal
from splice.logic.domain import Clock, Domain
from splice.logic.schema import PredicateDecl, Schema, TypeDecl


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
    lines += [f"{name} = true" for name in FLAGS if getattr(domain, name)]
    lines += ["exclusive = false"] if domain.exclusive is False else []  # labels are not asked then
    if schema.types:
        lines += ["", "[types]", *(f"{_key(t.name)} = {_type(t)}" for t in schema.types)]
    if schema.predicates:
        lines += ["", "[predicates]", *_predicate_lines(schema)]
    if schema.functions:
        lines += ["", "[functions]", *_function_lines(schema)]
    lines += _time_lines(domain.clock, time_unit)
    return "\n".join(lines).lstrip("\n") + "\n"


def _time_lines(clock: Clock, unit: str | None) -> list[str]:
    values = {
        "unit": unit and _quoted(unit),
        "step": clock.step and str(clock.step),
        "holds": clock.holds and _quoted(clock.holds.value),
    }
    lines = [f"{key} = {value}" for key, value in values.items() if value]
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
