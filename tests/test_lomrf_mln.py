"""Knowledge bases and modes: read, written, and refused with a place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malformed import MLN, MODES, Malformed
from splice.errors import InputError, SpliceError
from splice.io.lomrf.mln import format_mln, parse_mln, parse_mln_all, read_mln
from splice.io.lomrf.modes import format_modes, parse_modes, parse_modes_all, some_modes
from splice.io.text import read_text
from splice.logic.modes import UNBOUNDED
from splice.logic.schema import Signature
from splice.logic.theory import HARD

KNOWLEDGE = """
/* The Event Calculus of the paper */
time = {1, ..., 100}          // a range
person = { Anna, Bob,
           "odd one", -3, 4.5 }
HoldsAt(fluent, time)         // LoMRF trips over this comment
InitiatedAt(fluent, time)
Terminated_At(fluent, time)   // ... and over this underscore
Next(time, time)
Happens(event, time)
Flag
fluent meet(person, person)
event walking(person)

Next(t1,t0) ^ InitiatedAt(f,t0) =>
    HoldsAt(f,t1).
InitiatedAt(f,t) => HoldsAt(f,t++).
HoldsAt(f,t) ^ !(Exist e (Happens(e,t) ^ Terminated_At(f,t))) => HoldsAt(f, t + 1)
1.5 InitiatedAt(meet(x,y),t) :- Happens(walking(x),t) ^ !Happens(walking(y),t) ^ x != y
-0.25 !Happens(walking(Anna),t) v HoldsAt(meet(Anna,v),t)
0 Flag <=> Happens(e,t)
1e-3 Forall x,y !(HoldsAt(meet(x,y),t) v t % 2 * 3 >= 5 - t)
!HoldsAt(meet(p,p),t).
"""


def test_a_knowledge_base_survives_print_and_parse() -> None:
    theory = parse_mln(KNOWLEDGE)
    assert parse_mln(format_mln(theory)) == theory
    assert [s.weight for s in theory.statements] == [HARD, HARD, None, 1.5, -0.25, 0, 0.001, HARD]
    assert str(theory.statements[1]) == "hard :: initiatedAt(F,T) => holdsAt(F,T+1)."
    assert str(theory.statements[4]) == (
        "-0.25 :: not happensAt(walking('Anna'),T) ; holdsAt(meet('Anna',V),T)."
    )


def test_trained_theories_survive(shared_data: Path) -> None:
    files = sorted((shared_data / "mln-ec").rglob("*.mln"))
    assert len(files) >= 12
    for file in files:
        theory = read_mln(file)
        assert len(theory) == 25
        assert parse_mln(format_mln(theory)) == theory


def test_declarations_of_the_specification() -> None:
    """spec E.2."""
    text = "time = {1, 2, 3, 4, 5}\nspan = {1, ..., 100}\nParent(person, person)\nevent active(id)\ny f(x, z)\n"
    schema = parse_mln(text).schema
    assert [(t.name, len(t.constants), t.bounds) for t in schema.types] == [
        ("time", 5, None),
        ("span", 0, (1, 100)),
    ]
    assert str(schema.predicates[0]) == "Parent(person,person)"
    assert [str(f) for f in schema.functions] == ["event active(id)", "y f(x,z)"]


def test_a_declared_predicate_is_a_formula_the_second_time() -> None:
    theory = parse_mln("P(x)\nP(x)\n")
    assert [str(s) for s in theory.statements] == ["p(X)."]


def test_includes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.mln").write_text('P(id)\n#include "sub/more.mln"\n2 Q(x) => P(x)\n')
    (tmp_path / "sub/more.mln").write_text("Q(id)\n1 P(x) => Q(x)\n")
    theory = read_mln(tmp_path / "main.mln")
    assert [s.weight for s in theory.statements] == [1, 2]
    assert [s.place.file.rsplit("/", 1)[-1] for s in theory.statements if s.place] == [
        "more.mln",
        "main.mln",
    ]


def test_cyclic_includes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mln").write_text('P(id)\n#include "b.mln"\n')
    (tmp_path / "b.mln").write_text('#include "a.mln"\n')
    with pytest.raises(InputError, match=r"b.mln:1:10: files include each other: a.mln -> b.mln"):
        read_mln(tmp_path / "a.mln")


@pytest.mark.parametrize("case", MLN, ids=lambda case: case.name)
def test_malformed_knowledge(case: Malformed, tmp_path: Path) -> None:
    _refused(case, tmp_path / "a.mln", read_mln)


@pytest.mark.parametrize("case", MODES, ids=lambda case: case.name)
def test_malformed_modes(case: Malformed, tmp_path: Path) -> None:
    _refused(case, tmp_path / "a.modes", lambda path: some_modes(read_text(path), str(path)))


def _refused(case: Malformed, file: Path, read: object) -> None:
    file.write_bytes(case.data)
    with pytest.raises(InputError) as caught:
        read(file)  # type: ignore[operator]
    problem = caught.value.problems[0]
    assert str(problem.place).endswith(f"{file.name}:{case.place}"), str(problem)
    assert case.says in problem.message


def test_all_problems_of_a_knowledge_base_are_reported() -> None:
    _, problems = parse_mln_all("P(id)\n1 Q(x)\n2 P(x,y)\n3 P(x)\n(P(x)\n4 P(x) ^ ^ P(y)\n")
    assert [problem.place.line for problem in problems] == [2, 3, 5, 6]


@pytest.mark.parametrize(
    ("text", "signature", "recall", "markers", "forbidden"),
    [
        ("modeP(2, A(#-, +, .))", "A/3", 2, "#- + .", ""),
        ("modeP(7, E(#+) body~/> A/3, D/2)", "E/1", 7, "#+", "A/3 D/2"),
        ("modeP(0, F(+) body~/> foo/2)", "F/1", 0, "+", "AUXfoo/3"),
        ("modeP(*, J(#., +))", "J/2", UNBOUNDED, "#. +", ""),
        ("modeP(2, N(#-, #., #+))", "N/3", 2, "#- #. #+", ""),
        ("modeP(8, P(n-))", "P/1", 8, "n-", ""),
        ("modeP(17, Q(#n+))", "Q/1", 17, "#n+", ""),
        ("modeF(7, foo(-, .))", "AUXfoo/3", 7, "+ - .", ""),
        ("modeF(*, bar(-))", "AUXbar/2", UNBOUNDED, "+ -", ""),
    ],
)
def test_modes_of_the_specification(
    text: str, signature: str, recall: int, markers: str, forbidden: str
) -> None:
    """spec E.1."""
    (mode,) = parse_modes(text)
    relation, marks = mode.relation
    assert str(relation).lower() == signature.lower()
    assert mode.recall == recall
    assert " ".join(map(str, marks)) == markers
    assert " ".join(str(s.relation) for s in mode.forbidden).lower() == forbidden.lower()


def test_modes_survive_print_and_parse() -> None:
    text = "/* bias */ modeP(2, Happens(-,+)) // x\nmodeP(*, Close(.,.,#n.,o+) body~/> Happens/2, walking/1)\nmodeF(1, meet(.,.))"
    modes = parse_modes(text)
    assert list(parse_modes(format_modes(modes))) == list(modes)
    assert modes.predicate(Signature("happensAt", 2)) is not None


def test_a_later_mode_replaces_an_earlier_one() -> None:
    modes = parse_modes("modeP(2, A(+))\nmodeP(5, A(-))")
    assert [str(mode) for mode in modes] == ["modeP(5, A(-))"]


@given(st.data())
def test_mutated_knowledge_raises_nothing_else(data: st.DataObject) -> None:
    text = _mutated(KNOWLEDGE, data)
    theory, problems = parse_mln_all(text)
    if not problems:
        assert parse_mln(format_mln(theory)) == theory


@given(st.data())
def test_mutated_modes_raise_nothing_else(data: st.DataObject) -> None:
    text = _mutated(
        "modeP(*, Close(.,.,#n.,o+) body~/> Happens/2, walking/1)\nmodeF(1, f(.))", data
    )
    modes, problems = parse_modes_all(text)
    assert problems or list(parse_modes(format_modes(modes))) == list(modes)


def _mutated(text: str, data: st.DataObject) -> str:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        stop = data.draw(st.integers(start, min(start + 12, len(text))))
        middle = data.draw(
            st.sampled_from(
                [
                    "",
                    "(",
                    ")",
                    "\n",
                    "v",
                    "^",
                    "'",
                    '"',
                    "1",
                    ".",
                    "\x00",
                    "é",
                    text[start:stop] * 2,
                ]
            )
        )
        text = text[:start] + middle + text[stop:]
    return text


def test_deep_nesting_is_refused() -> None:
    _, problems = parse_mln_all("P(id)\n" + "(" * 5000 + "P(x)" + ")" * 5000)
    assert "nested" in problems[0].message
    _, problems = parse_mln_all("P(id)\n" + "P(x) => " * 5000 + "P(x)")
    assert "nested" in problems[0].message


@pytest.mark.parametrize("chain", [" + 1" * 90, " <=> P(x)" * 90])
def test_chains_in_parentheses_are_refused(chain: str) -> None:
    text = "x" if "+" in chain else "P(x)"
    for _ in range(45):
        text = f"({text}{chain})"
    _, problems = parse_mln_all(f"P(id)\n{text} > 1\n" if "+" in chain else f"P(id)\n{text}\n")
    assert "nested" in problems[0].message


def test_a_weight_is_finite() -> None:
    _, problems = parse_mln_all("P(id)\n1e999 P(x)\n-1e999 P(x)\n")
    assert [problem.message for problem in problems] == ["the weight is too large"] * 2


def test_an_absent_file_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(SpliceError, match="cannot read"):
        read_mln(tmp_path / "absent.mln")
