"""Domains: the ones that ship, and ``domain.toml`` read and written."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import InputError, SpliceError, UnknownName
from splice.inputs.domains import domain_names, load_domain
from splice.io.domain_file import parse_domain
from splice.io.domain_text import format_domain
from splice.io.oled_modes import parse_oled_modes
from splice.logic.domain import Domain
from splice.logic.modes import Marker, Mode, Modes
from splice.logic.schema import FunctionDecl, PredicateDecl, Schema, Signature, TypeDecl
from splice.logic.syntax import parse_literal

NAMES = st.one_of(
    st.sampled_from(["id", "a.b", 'q"', "\\", "", "é", "a b", "#", "\x7f", "[x]", "'", "=", "\t"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
).filter(bool)
TYPES = st.lists(NAMES, max_size=3).map(tuple)


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    spellings = draw(
        st.lists(NAMES, unique_by=lambda name: Schema().internal_name(name), max_size=4)
    )
    predicates = [PredicateDecl(Schema().internal_name(s), draw(TYPES), s) for s in spellings]
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    functions = [
        FunctionDecl(name, ("x",) * arity, draw(NAMES))
        for name in names
        for arity in draw(st.lists(st.integers(1, 3), unique=True, min_size=1, max_size=2))
    ]
    types = [TypeDecl(name, draw(TYPES)) for name in draw(st.lists(NAMES, unique=True, max_size=2))]
    if draw(st.booleans()):
        types.append(TypeDecl("\0bounded", bounds=(-3, 5)))
    fluents = tuple(sorted({decl.name for decl in functions}))[: draw(st.integers(0, 1))]
    schema = Schema(tuple(types), tuple(predicates), tuple(functions))
    name = draw(st.one_of(st.just(""), NAMES))
    return Domain(name, schema, Modes(), fluents=fluents, closed=draw(st.booleans()))


@given(domain=domains())
def test_domains_are_read_as_written(domain: Domain) -> None:
    assert parse_domain(format_domain(domain)).domain == domain


def test_modes_and_another_name_for_a_predicate_survive() -> None:
    schema = Schema(predicates=(PredicateDecl("nearby", ("id", "time"), "Close"),))
    mode = Mode(Signature("close", 2), 3, (Marker("."), Marker("+")), spelling="Close")
    domain = Domain("d", schema, Modes((mode,)), Signature("nearby", 2), closed=False)
    assert parse_domain(format_domain(domain)).domain == domain


def test_what_rules_may_have_survives() -> None:
    texts = ("initiatedAt(light(L)=C,T)", "happensAt(go(_lamp),T)", "not close(X,Y,34,T)")
    modes = Modes(literals=frozenset(map(parse_literal, texts)))
    domain = Domain("d", modes=modes)
    assert parse_domain(format_domain(domain)).domain == domain
    nothing = Domain("d", modes=Modes(literals=frozenset()))
    assert parse_domain(format_domain(nothing)).domain == nothing


def test_modes_of_oled_become_a_domain_that_learns_the_same() -> None:
    text = """
    modeh(initiatedAt(meet(+id,+id),+time))
    modeb(happensAt(active(+id),+time))
    modeb(not happensAt(exit(+id),+time))
    modeb(close(+id,+id,#dist,+time))
    """
    domain = parse_oled_modes(text)
    again = parse_domain(format_domain(domain)).domain
    assert again.modes.literals == domain.modes.literals
    assert str(again.modes) == str(domain.modes)
    assert (again.fluents, again.query) == (domain.fluents, domain.query)


@pytest.mark.parametrize(
    ("literals", "said"),
    [
        ('"close"', "no list of texts"),
        ('["close(X"]', "'close(X' is no literal"),
        ('["close(X,T) ; p(X)"]', "is no literal: expected one literal"),
        ('["clos(X,T)"]', "unknown predicate 'clos'"),
        ('["happensAt(activ(X),T)"]', "unknown function 'activ'"),
    ],
)
def test_what_rules_may_have_is_checked(literals: str, said: str) -> None:
    rest = '[predicates]\nClose = ["id", "time"]\n[functions]\n'
    rest += 'active = { args = ["id"], returns = "event" }\n'
    with pytest.raises(InputError, match=re.escape(said)) as failed:
        parse_domain(f"literals = {literals}\n{rest}", "d.toml")
    assert str(failed.value).startswith("d.toml:1:1: ")
    assert "hint: " in str(failed.value)


@given(data=st.data())
def test_mutated_domains_raise_nothing_but_our_errors(data: st.DataObject) -> None:
    text = (
        format_domain(load_domain("plaza").domain)
        + '[[tables]]\nfile = "a"\natom = "Happens({e}({i}),{t})"\n'
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 6))
        new = data.draw(
            st.sampled_from(["", '"', "[", "]", "=", "\n", "{", "}", "5", "x", "'", "/"])
        )
        text = text[:at] + new + text[at + cut :]
    with suppress(SpliceError):
        parse_domain(text)


def test_the_shipped_domains() -> None:
    ours = ("caviar-meet", "caviar-move", "plaza", "rendezvous")
    assert domain_names() == tuple(sorted((*ours, "jaad", "occupancy", "skab")))
    for name in domain_names():
        file = load_domain(name)
        assert (file.domain.name, file.domain.closed) == (name, True)
        assert parse_domain(format_domain(file.domain)).domain == file.domain
        for mode in file.domain.modes:
            known = (
                file.domain.schema.function if mode.is_function else file.domain.schema.predicate
            )
            assert known(mode.signature) is not None
    for fluent, recall in (("meet", 0), ("move", 1)):
        domain = load_domain(f"caviar-{fluent}").domain
        mode = domain.modes.predicate(Signature("orientationMove", 3))
        assert mode is not None
        assert mode.recall == recall
        assert domain.fluents == (fluent,)


def test_a_domain_is_found_by_name_file_or_folder(tmp_path: Path) -> None:
    path = tmp_path / "domain.toml"
    path.write_text('name = "mine"\n', encoding="utf-8")
    assert load_domain(path) == load_domain(tmp_path) == load_domain(str(path))
    assert load_domain(path).domain == Domain("mine")
    with pytest.raises(UnknownName, match="did you mean 'caviar-meet'"):
        load_domain("caviar-meat")
    with pytest.raises(SpliceError, match="no such file"):
        load_domain(tmp_path / "other.toml")
