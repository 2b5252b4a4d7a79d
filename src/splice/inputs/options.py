"""What an input means, and how strictly it is read: declared once, for Python and for the command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from splice.errors import SpliceError
from splice.limits import LIMITS, Limits
from splice.options import Checked, option

if TYPE_CHECKING:
    from splice.logic.domain import Domain


@dataclass(frozen=True, slots=True)
class InputOptions(Checked):
    """What an input means and how strictly it is read, as the command's options say it.

    Parameters
    ----------
    domain
        A domain that ships, by its name, the path of a ``domain.toml``, or a domain.
    schema
        The schema as a LoMRF file.
    modes
        The modes as a LoMRF or an OLED file.
    query
        The query predicate; default: ``HoldsAt/2``.
    open_world
        Add every ground query atom that nobody mentions, as unknown.
    sort
        Sort rows that are out of order, in memory.
    max_bad
        The share of bad rows in tables that are left out and reported.
    time_unit
        The unit of ISO timestamps: d, h, min, s, ms or us.
    every
        The step of a grid that time is put on, such as 1min; auto: as the data has it.
    holds
        ``after``: what begins at a time-point holds from the next one on; ``from``: from it on.
    exhaustive
        Between the first label of a sequence and its last, what is not labelled true is false.
    partial
        The schema is a beginning: what it does not declare is inferred.
    limits
        How much a file may be, how long its lines, and so on.
    """

    domain: str | Domain | None = option(
        None,
        "Schema, modes and target: a shipped domain or a domain.toml.",
        metavar="NAME|FILE",
    )
    schema: Path | None = option(None, "The schema as a LoMRF file.", metavar="S.mln", kind=Path)
    modes: Path | None = option(
        None, "The modes as a LoMRF or an OLED file.", metavar="M.modes", kind=Path
    )
    query: str | None = option(
        None, "The query predicate (default: HoldsAt/2).", metavar="NAME/ARITY"
    )
    open_world: bool = option(
        False, "Add every ground query atom that nobody mentions, as unknown."
    )
    sort: bool = option(False, "Sort rows that are out of order (in memory).")
    max_bad: float = option(
        0.0,
        "The share of bad rows in tables to leave out and report.",
        metavar="SHARE",
        at_least=0.0,
        at_most=1.0,
    )
    time_unit: str | None = option(
        None, "The unit of ISO timestamps: d, h, min, s, ms, us.", metavar="UNIT"
    )
    every: str | None = option(
        None,
        "Put time on a grid with this step, such as 1min; a number counts units of the data, auto "
        "takes the step that the data has.",
        metavar="STEP",
    )
    holds: str | None = option(
        None,
        "What begins at a time-point holds from it on, or after it: from the next one on (default: as "
        "the domain says, else as the theory says or the labels suggest).",
        metavar="from|after",
    )
    exhaustive: bool = option(
        False,
        "From the first label of a sequence to its last, what is not labelled true is false.",
    )
    partial: bool = False
    limits: Limits = LIMITS

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        for name in ("query", "time_unit", "every", "holds"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                example = "such as every='1min'" if name == "every" else ""
                raise SpliceError(f"{name} must be a text, not {value!r}", example)
        for name in ("schema", "modes"):
            value = getattr(self, name)
            if not isinstance(value, str | Path | None):
                raise SpliceError(f"{name} must be the path of a file, not {value!r}")
            if isinstance(value, str):
                object.__setattr__(self, name, Path(value))
        if not isinstance(self.limits, Limits):
            raise SpliceError(f"limits must be a splice.Limits, not {self.limits!r}")
