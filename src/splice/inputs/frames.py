"""DataFrames that are given as an input: one, several, or by name."""

from __future__ import annotations

from collections.abc import Mapping

from splice.errors import SpliceError
from splice.io.dataframes import AnyFrame, is_frame
from splice.io.tables.frame_table import Columns, Frames, FrameTable


def as_frames(value: object) -> Frames | None:
    """Return what is given as frames that belong together; None where it is no frame.

    Of one frame and of several, the columns say which is which.
    """
    if isinstance(value, Frames):
        return value
    if isinstance(value, Mapping):
        return frames_of(**{str(name): frame for name, frame in value.items()})
    if isinstance(value, list | tuple):
        if not any(map(is_frame, value)):
            return None
        return frames_of(**{f"frame {i}": frame for i, frame in enumerate(value, start=1)})
    return frames_of(frame=value) if is_frame(value) else None


def frames_of(columns: Columns | None = None, **frames: AnyFrame) -> Frames:
    """Return frames by name, each with the columns that it calls otherwise than usual.

    Parameters
    ----------
    columns
        What the frames call their columns.
    frames
        Them; None is left out.
    """
    given = {name: frame for name, frame in frames.items() if frame is not None}
    for name, frame in given.items():
        if not is_frame(frame):
            raise SpliceError(
                f"{name} is of type {type(frame).__name__}, which is no DataFrame",
                "give a frame of pandas, polars, Arrow or DuckDB, such as polars.read_csv('events.csv')",
            )
    return Frames({name: FrameTable(frame, name, columns) for name, frame in given.items()})
