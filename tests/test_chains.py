"""Binary chains: the kernels against every choice of states, one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import mln_chains as twin
from splice.events.weighted.chains import forward_backward, viterbi


@st.composite
def chains(
    draw: st.DrawFn, longest: int, numbers: st.SearchStrategy[float]
) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(1, longest))
    cells = draw(st.lists(numbers, min_size=6 * n, max_size=6 * n))
    return np.array(cells[: 2 * n]).reshape(n, 2), np.array(cells[2 * n :]).reshape(n, 2, 2)


WHOLE = st.integers(-3, 3).map(float)  # many ties, and no rounding
FORBIDDING = st.one_of(WHOLE, WHOLE, WHOLE, st.just(-np.inf))
REAL = st.floats(-40, 40)


def ends(n: int) -> np.ndarray:
    return np.array([0, n])


@given(chains(8, FORBIDDING))
@settings(max_examples=300)
def test_the_best_states_are_those_of_all_choices_and_ties_are_off(chain) -> None:
    unary, pairwise = chain
    found = viterbi(unary, pairwise, ends(len(unary)))
    wanted = twin.best(unary, pairwise)
    if wanted is None:
        assert found.broken == 0
    else:
        assert (tuple(found.states), found.broken) == (wanted, -1)


@given(chains(12, REAL))
@settings(max_examples=25)
def test_marginals_are_those_of_all_choices(chain) -> None:
    unary, pairwise = chain
    found = forward_backward(unary, pairwise, ends(len(unary)))
    probability, log_partition = twin.marginals(unary, pairwise)
    assert np.abs(found.probability - probability).max() < 1e-10
    assert abs(found.log_partition[0] - log_partition) < 1e-10 * max(1, abs(log_partition))


@given(chains(8, FORBIDDING))
def test_what_is_forbidden_has_probability_0_and_a_chain_without_states_is_named(chain) -> None:
    unary, pairwise = chain
    found = forward_backward(unary, pairwise, ends(len(unary)))
    if twin.best(unary, pairwise) is None:
        assert found.broken == 0
        return
    probability, log_partition = twin.marginals(unary, pairwise)
    assert np.abs(found.probability - probability).max() < 1e-10
    assert ((found.probability == 0) == (probability == 0)).all()
    assert abs(found.log_partition[0] - log_partition) < 1e-9


@given(st.lists(chains(6, REAL), min_size=1, max_size=5))
@settings(max_examples=50)
def test_chains_end_to_end_do_not_touch_each_other(parts) -> None:
    unary = np.concatenate([part[0] for part in parts])
    pairwise = np.concatenate([part[1] for part in parts])
    offsets = np.cumsum([0, *(len(part[0]) for part in parts)])
    states = viterbi(unary, pairwise, offsets).states
    marginals = forward_backward(unary, pairwise, offsets)
    alone = [forward_backward(u, p, ends(len(u))) for u, p in parts]
    assert states.tolist() == [
        s for u, p in parts for s in viterbi(u, p, ends(len(u))).states.tolist()
    ]
    assert marginals.probability.tolist() == [x for one in alone for x in one.probability]
    assert marginals.log_partition.tolist() == [one.log_partition[0] for one in alone]


def test_an_empty_chain_and_no_chain_at_all_are_fine() -> None:
    none = np.empty((0, 2)), np.empty((0, 2, 2))
    for offsets in ([0], [0, 0], [0, 0, 0]):
        assert viterbi(*none, np.array(offsets)).broken == -1
        assert forward_backward(*none, np.array(offsets)).log_partition.tolist() == [0.0] * (
            len(offsets) - 1
        )


def test_the_first_broken_chain_is_named() -> None:
    unary = np.zeros((6, 2))
    unary[2] = -np.inf
    unary[4] = -np.inf
    pairwise = np.zeros((6, 2, 2))
    offsets = np.array([0, 2, 4, 6])
    assert viterbi(unary, pairwise, offsets).broken == 1
    assert forward_backward(unary, pairwise, offsets).broken == 1


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_million_points_are_finite_and_as_exact_as_few(scale: float) -> None:
    """A long chain that was cut by certain states is its pieces: nothing is lost on the way."""
    n, piece = 1_000_000, 10
    rng = np.random.default_rng(5)
    unary = rng.normal(0, scale, (n, 2))
    unary[::piece, 1] = -np.inf
    pairwise = rng.normal(0, scale, (n, 2, 2))
    found = forward_backward(unary, pairwise, ends(n))
    assert np.isfinite(found.probability).all()
    assert np.isfinite(found.log_partition).all()
    states = viterbi(unary, pairwise, ends(n)).states
    at = slice(n - 2 * piece, n - piece + 1)
    probability, _ = twin.marginals(unary[at], pairwise[at])
    assert np.abs(found.probability[at][:-1] - probability[:-1]).max() < 1e-9
    assert tuple(states[at]) == twin.best(unary[at], pairwise[at])


@given(chains(8, REAL), st.floats(-1e6, 1e6))
@settings(max_examples=50)
def test_a_constant_changes_nothing_but_the_partition_function(chain, constant: float) -> None:
    unary, pairwise = chain
    n = len(unary)
    before = forward_backward(unary, pairwise, ends(n))
    after = forward_backward(unary + constant, pairwise, ends(n))
    assert np.abs(before.probability - after.probability).max() < 1e-7
    assert abs(after.log_partition[0] - before.log_partition[0] - n * constant) < 1e-7


def test_weights_that_are_equal_but_for_rounding_are_a_tie() -> None:
    unary = np.array([[0.3, 0.1 + 0.2], [0.0, 0.0]])
    assert viterbi(unary, np.zeros((2, 2, 2)), ends(2)).states.tolist() == [0, 0]
