"""How the times of a stream are written: integers, or timestamps counted in a unit since 1970.

Inside, every time-point is an integer. A stream's :class:`~splice.stream.vocabulary.Vocabulary` has
a :class:`TimeFormat` beside its names, and whoever tells a time to somebody asks it: tables that
are written, explanations, errors, pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    import polars as pl

UNITS: Final = {
    "us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000,
    "d": 86_400_000_000,
}  # fmt: skip
"""Units of time, in microseconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:(?P<sep>[T ])\d\d:\d\d(?P<s>:\d\d)?(?P<f>[.,]\d+)?)?(?P<zone>[Zz]|[-+]\d\d:?\d\d)?"
)
_DETAIL: Final = ("date", "minutes", "seconds", "milliseconds", "microseconds")


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How times are written.

    Parameters
    ----------
    unit
        What timestamps are counted in, or None where none can be read.
    stamps
        Whether times are written as timestamps; if not, as integers.
    zone
        How timestamps say their zone: nothing, ``Z``, ``+02:00``, or the name of a zone.
    separator
        What stands between the date and the time of day.
    detail
        The least that is written: ``date``, ``minutes``, ``seconds``, ``milliseconds`` or
        ``microseconds``. A moment that needs more has more.

    >>> TimeFormat.like("2024-05-01 10:00:00+02:00", "s").text(1714550405)
    '2024-05-01 10:00:05+02:00'
    >>> TimeFormat().text(1714550405)
    '1714550405'
    """

    unit: str | None = None
    stamps: bool = False
    zone: str = ""
    separator: str = "T"
    detail: str = "seconds"

    @classmethod
    def like(cls, text: str, unit: str) -> TimeFormat:
        """Return the format of a timestamp that was read, counted in a unit."""
        match = _STAMP.fullmatch(text)
        moment = moment_in(text)
        if match is None:  # another form of ISO 8601, which is written in the usual one
            offset = moment.strftime("%z") if moment and moment.tzinfo else ""
            return cls(unit, stamps=True, zone=offset)
        fraction = len(match["f"] or "") - 1
        detail = 0 if not match["sep"] else 1 if not match["s"] else 2 if fraction < 1 else 3
        detail += detail == 3 and fraction > 3
        return cls(unit, True, match["zone"] or "", match["sep"] or "T", _DETAIL[detail])

    def text(self, time: int) -> str:
        """Return a time as it is written."""
        if not self.stamps or self.unit is None:
            return str(int(time))
        try:
            moment = _EPOCH + timedelta(microseconds=int(time) * UNITS[self.unit])
            moment = moment.astimezone(_zone(self.zone)) if self.zone else moment
        except OverflowError:
            return str(int(time))
        needed = 4 if moment.microsecond % 1000 else 3 if moment.microsecond else 0
        needed = max(needed, 2 if moment.second else 1 if moment.hour or moment.minute else 0)
        detail = _DETAIL[max(needed, _DETAIL.index(self.detail))]
        plain = moment.replace(tzinfo=None)
        if detail == "date":
            shown = plain.date().isoformat()
        else:
            shown = plain.isoformat(self.separator, detail)
        return shown + (self.zone if _is_offset(self.zone) else moment.isoformat()[-6:])

    def value(self, time: int) -> int | str:
        """Return a time as JSON has it: an integer, or a timestamp as text."""
        return self.text(time) if self.stamps else int(time)

    def texts(self, times: pl.Series) -> pl.Series:
        """Return a column of times as it is written: integers as they are."""
        if not self.stamps:
            return times
        distinct = times.unique().drop_nulls().to_list()
        written = [self.text(time) for time in distinct]
        import polars as pl  # noqa: PLC0415  (options are read without it)

        return times.replace_strict(distinct, written, default=None, return_dtype=pl.String)

    def wall_clock(self, time: int) -> int:
        """Return the milliseconds from 1970 to what a clock on the wall shows at a time."""
        if not self.stamps or self.unit is None:
            return int(time)
        moment = _EPOCH + timedelta(microseconds=int(time) * UNITS[self.unit])
        offset = moment.astimezone(_zone(self.zone)).utcoffset() if self.zone else None
        return round(((moment - _EPOCH) + (offset or timedelta())) / timedelta(milliseconds=1))


def moment_in(text: str) -> datetime | None:
    """Return the moment that an ISO 8601 text says, or None."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def microseconds_of(moment: datetime) -> int:
    """Return the microseconds from 1970 to a moment; one without a zone is taken as UTC."""
    difference = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (difference.days * 86_400 + difference.seconds) * 1_000_000 + difference.microseconds


def _is_offset(zone: str) -> bool:
    return zone in ("", "Z", "z") or zone[0] in "+-"


def _zone(zone: str) -> tzinfo:
    if not _is_offset(zone):
        return ZoneInfo(zone)
    if zone in ("Z", "z"):
        return UTC
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4] or 0))
    return timezone(-offset if zone[0] == "-" else offset)
