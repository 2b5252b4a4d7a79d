"""Ground-truth files as CAVIAR writes them, made by the tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from splice.lab.cvml import GROUPS, PERSONS, Annotation

WORDS = ("movement", "role", "context", "situation")

PERSON = {
    "x": 10, "y": 20, "w": 5, "h": 9, "orientation": 90, "appearance": "visible",
    "movement": "walking", "role": "walker", "context": "immobile", "situation": "moving",
}  # fmt: skip
GROUP = {
    "appearance": "visible", "movement": "movement", "role": "walkers", "context": "meeting",
    "situation": "moving",
}  # fmt: skip


def person(frame: int, number: int, **other: object) -> dict[str, Any]:
    """A person at a frame; what is not said is as usual."""
    return {"frame": frame, "id": number, **PERSON, **other}


def group(frame: int, number: int, members: Sequence[int], **other: object) -> dict[str, Any]:
    """A group at a frame."""
    return {"frame": frame, "id": number, "members": list(members), **GROUP, **other}


def annotation(
    persons: Iterable[dict[str, Any]], groups: Iterable[dict[str, Any]] = (), clip: str = "clip"
) -> Annotation:
    """Some persons and groups of one clip as columns."""
    return Annotation(
        pl.DataFrame([{"clip": clip, **row} for row in persons], schema=PERSONS),
        pl.DataFrame([{"clip": clip, **row} for row in groups], schema=GROUPS),
    )


def cvml(persons: Iterable[dict[str, Any]], groups: Iterable[dict[str, Any]] = ()) -> str:
    """The text of a file that says so; frames without anybody are there too."""
    rows = [(row["frame"], "object", row) for row in persons]
    rows += [(row["frame"], "group", row) for row in groups]
    by_frame: dict[int, dict[str, list[str]]] = {
        frame: {"object": [], "group": []}
        for frame in range(max((frame for frame, _, _ in rows), default=0) + 1)
    }
    for frame, what, row in rows:
        by_frame[frame][what].append(_thing(what, row))
    frames = "".join(
        f'<frame number="{frame}">\n<objectlist>{"".join(things["object"])}</objectlist>\n'
        f"<grouplist>{''.join(things['group'])}</grouplist>\n</frame>\n"
        for frame, things in by_frame.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<dataset name="x">\n{frames}</dataset>\n'


def _thing(what: str, row: dict[str, Any]) -> str:
    place = {"x": 1, "y": 2, "w": 3, "h": 4, "orientation": 5, **row}
    members = f"<members>{','.join(map(str, row.get('members', ())))}</members>"
    said = "".join(
        f'<{word} evaluation="1.0">{row[word].replace("_", " ")}</{word}>\n' for word in WORDS
    )
    return (
        f'<{what} id="{row["id"]}">\n<orientation>{place["orientation"]}</orientation>\n'
        f'<box xc="{place["x"]}" yc="{place["y"]}" w="{place["w"]}" h="{place["h"]}"/>\n'
        f"{members if what == 'group' else ''}<body><head xc='1'/></body>\n"
        f"<appearance>{row['appearance']}</appearance>\n"
        f'<hypothesislist><hypothesis id="1" prev="1.0" evaluation="1.0">\n{said}'
        f"</hypothesis></hypothesislist>\n</{what}>\n"
    )


def shared_annotation(videos: Path) -> Annotation:
    """The tracks and groups of the published tables, in the reader's columns."""
    number = pl.element().str.slice(2).cast(pl.Int64)
    persons = pl.read_csv(videos / "tracks.csv.gz").with_columns(
        pl.col("video").alias("clip"),
        pl.col("id").str.slice(2).cast(pl.Int64),
        pl.col("movement_xml").alias("movement"),
    )
    groups = pl.read_csv(videos / "groups.csv.gz").with_columns(
        pl.col("video").alias("clip"),
        pl.col("group").str.slice(3).cast(pl.Int64).alias("id"),
        pl.col("members").str.split(" ").list.eval(number),
    )
    return Annotation(
        persons.select(PERSONS.names()).cast(dict(PERSONS)),
        groups.select(GROUPS.names()).cast(dict(GROUPS)),
    )
