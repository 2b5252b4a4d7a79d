"""The rules of a live run, what they say of each sequence, and how well that agrees with labels."""

from __future__ import annotations

from dataclasses import replace

from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion
from splice.events.crisp.program import Program, compile_program
from splice.events.crisp.recognition import Recognised
from splice.labels import UNKNOWN
from splice.live.output import Channel, Outbox
from splice.live.recognition import LiveRecogniser
from splice.live.score import History, Score
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain, Holds
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


class RulesInUse:
    """Recognises by rules that may be replaced, and scores them.

    Parameters
    ----------
    theory
        The rules to begin with.
    domain
        What the atoms mean.
    settings
        What is asked for.
    vocabulary
        The names of the stream.
    """

    def __init__(
        self, theory: Theory, domain: Domain, settings: LiveSettings, vocabulary: Vocabulary
    ) -> None:
        self._domain, self._settings, self._vocabulary = domain, settings, vocabulary
        self.score = Score()
        self._history: dict[int, History] = {}
        """What was said of each sequence, where labels may still come for it."""
        self.theory, program = theory, self._compiled(theory)
        self._recogniser = self._recogniser_of(program) if len(theory) else None

    def _compiled(self, theory: Theory) -> Program:
        if not theory.is_crisp:
            raise SpliceError("a live run recognises by rules without weights")
        return compile_program(theory, self._domain)

    def _recogniser_of(self, program: Program) -> LiveRecogniser:
        return LiveRecogniser(
            program,
            self._domain,
            lateness=self._settings.lateness,
            provisional=self._settings.provisional,
        )

    def replace_theory(self, theory: Theory, why: str, out: Outbox, counts: dict[str, int]) -> None:
        """Recognise by other rules from now on; say which, and why.

        What holds goes on to hold where the other rules are about it, too; the rest ends here and is said first.
        """
        program = self._compiled(theory)
        if self._recogniser is None:
            self._recogniser = self._recogniser_of(program)
        else:
            for part in self._recogniser.replace_program(program, out):
                if len(part.intervals):
                    code = int(part.fluents.sequence[0])  # the parts are of one sequence each
                    counts["intervals"] += self._remember(code, [part])
        self.theory = theory
        counts["theories"] += 1
        rules = [str(statement) for statement in self.theory.statements]
        out.put(Channel.OUT, type="theory", version=counts["theories"], why=why, rules=rules)

    def feed(self, taken: AtomTable) -> None:
        """Take in events that are in time."""
        if self._recogniser:
            self._recogniser.windows.feed(taken)

    def slide(self, code: int, now: int, out: Outbox) -> int:
        """Move the window of a sequence on; return how many intervals are final now."""
        return (
            self._remember(code, self._recogniser.slide(code, now, out)) if self._recogniser else 0
        )

    def end(self, code: int, out: Outbox) -> int:
        """End a sequence; return how many intervals are final now."""
        return self._remember(code, self._recogniser.end(code, out)) if self._recogniser else 0

    def _remember(self, code: int, recognised: list[Recognised]) -> int:
        if self._settings.learn:
            self._history.setdefault(code, History(self._vocabulary)).add(recognised)
        return sum(len(part.intervals) for part in recognised)

    def compare(self, code: int, batch: MicroBatch) -> Confusion | None:
        """Count what the rules said against the labels of a batch, if it has any."""
        if self._recogniser is None or not (batch.labels != UNKNOWN).any():
            return None
        open_ = self._recogniser.windows.provisional(code)
        history = self._history.setdefault(code, History(self._vocabulary))
        return self.score.compare(batch, history, open_)

    def forget(self, code: int, before: int | None = None) -> None:
        """Forget what was said of a sequence, of all or before a time: its labels have come."""
        if before is None:
            self._history.pop(code, None)
        elif code in self._history:
            self._history[code].forget(before)

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            **plain_theory(self.theory),
            "score": self.score.to_state(),
            "history": [[code, history.to_state()] for code, history in self._history.items()],
            "recogniser": self._recogniser.to_state() if self._recogniser else None,
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state, over the vocabulary that it was made with."""
        self.theory = theory_from(state)
        program = self._compiled(self.theory)
        # Rules that were all taken away leave windows behind, in which others may go on.
        self._recogniser = self._recogniser_of(program) if state["recogniser"] else None
        self.score = Score.restored(state["score"])
        self._history = {
            code: History.restored(history, self._vocabulary) for code, history in state["history"]
        }
        if self._recogniser and state["recogniser"]:
            self._recogniser.restore(state["recogniser"], self._vocabulary)


def plain_theory(theory: Theory) -> Plain:
    """Return a theory as plain values.

    What holds when is no part of the rules' text, and the file of learned rules says it.
    """
    return {"theory": str(theory), "holds": theory.holds.value if theory.holds else None}


def theory_from(state: Plain) -> Theory:
    """Return the theory of a state."""
    holds = Holds(state["holds"]) if state["holds"] else None
    return replace(parse_theory(state["theory"]), holds=holds)
