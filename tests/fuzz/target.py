"""What a target is, and the usual ways to damage an input and to have it read."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fuzz.mutations import mutated_bytes
from fuzz.samples import EVENTS, LABELS

__all__ = ["Target", "damaged", "in_file", "packed", "whole_tables"]


@dataclass(frozen=True)
class Target:
    """Something that reads: how an input is made from a number, and what reads it.

    ``make`` returns bytes from chance, ``read`` takes them, with a folder to work in.
    """

    name: str
    make: Callable[[random.Random], bytes]
    read: Callable[[bytes, Path], object]
    seconds: float = 5.0
    """So long may one input take."""
    turn: int = 100
    """Inputs in a turn: what is slow has fewer, so that every target has about the same time."""


def damaged(*seeds: str | bytes) -> Callable[[random.Random], bytes]:
    whole = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
    return lambda chance: mutated_bytes(chance.choice(whole), whole, chance)


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def reading(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return reading


def packed(make: Callable[[random.Random], bytes]) -> Callable[[random.Random], bytes]:
    def packed(chance: random.Random) -> bytes:
        data = gzip.compress(make(chance), 1)
        return mutated_bytes(data, [data], chance) if chance.random() < 0.5 else data

    return packed


def whole_tables(folder: Path) -> Path:
    home = folder / "whole"
    if not home.exists():
        home.mkdir()
        (home / "events.csv").write_text(EVENTS, "utf-8")
        (home / "labels.csv").write_text(LABELS, "utf-8")
    return home
