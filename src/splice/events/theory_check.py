"""What is wrong with a theory that could be read: the check before anything is recognised."""

from __future__ import annotations

from dataclasses import replace

from splice.errors import InputError, Problem
from splice.events.crisp.program import compile_program
from splice.logic.domain import Domain, Holds
from splice.logic.theory import Theory


def other_convention(theory: Theory, domain: Domain) -> str | None:
    """Return what to tell where rules were meant to hold from another moment on than the data says.

    >>> from splice.logic.domain import Clock, Holds
    >>> theory = Theory(holds=Holds.FROM)
    >>> print(other_convention(theory, Domain(clock=Clock(holds=Holds.AFTER))))
    the rules were learned where what begins at a time-point holds from it on, and the data says after it: --holds from says otherwise
    >>> other_convention(theory, Domain(clock=Clock(holds=Holds.FROM)))
    """
    meant, said = theory.holds, domain.clock.holds
    if meant is None or said is None or meant is said:
        return None
    words = {Holds.FROM: "from it on", Holds.AFTER: "after it"}
    return (
        f"the rules were learned where what begins at a time-point holds {words[meant]}, "
        f"and the data says {words[said]}: --holds {meant.value} says otherwise"
    )


def theory_problems(theory: Theory, domain: Domain) -> list[Problem]:
    """Return what is wrong with a theory that could be read.

    A weighted theory is looked at again without the statements that are to blame, as long as there
    are any.
    """
    from splice.events.weighted.inference import infer  # noqa: PLC0415  (numba: only with weights)
    from splice.stream.table import AtomTable  # noqa: PLC0415
    from splice.stream.vocabulary import Vocabulary  # noqa: PLC0415

    try:
        if theory.is_crisp:
            compile_program(theory, domain)
        else:
            infer(theory, AtomTable.empty(Vocabulary()), domain)
    except InputError as error:
        found = list(error.problems)
        blamed = {problem.place for problem in found}
        rest = tuple(s for s in theory.statements if s.place not in blamed)
        again = len(rest) < len(theory) and not theory.is_crisp
        return found + (theory_problems(replace(theory, statements=rest), domain) if again else [])
    return []
