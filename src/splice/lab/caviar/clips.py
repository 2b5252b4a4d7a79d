"""The clips of CAVIAR and the pairs of persons that experiments are about: published facts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

CLIPS: Final[dict[str, str]] = {
    "01-Walk1": "wk1gt.xml",
    "02-Walk2": "wk2gt.xml",
    "03-Walk3": "wk3gt.xml",
    "04-Browse1": "br1gt.xml",
    "05-Browse2": "br2gt.xml",
    "06-Browse3": "br3gt.xml",
    "07-Browse4": "br4gt.xml",
    "08-Browse_WhileWaiting1": "bww1gt.xml",
    "09-Browse_WhileWaiting2": "bww2gt.xml",
    "10-Rest_InChair": "ricgt.xml",
    "11-Rest_SlumpOnFloor": "rsfgt.xml",
    "12-Rest_WiggleOnFloor": "rwgt.xml",
    "13-Rest_FallOnFloor": "rffgt.xml",
    "14-LeftBag": "lb1gt.xml",
    "15-LeftBag_AtChair": "lb2gt.xml",
    "16-LeftBag_BehindChair": "lbbcgt.xml",
    "17-LeftBox": "lbgt.xml",
    "18-LeftBag_PickedUp": "lbpugt.xml",
    "19-Meet_WalkTogether1": "mwt1gt.xml",
    "20-Meet_WalkTogether2": "mwt2gt.xml",
    "21-Meet_WalkSplit": "mws1gt.xml",
    "22-Meet_Split3rdGuy": "ms3ggt.xml",
    "23-Meet_Crowd": "mc1gt.xml",
    "24-Meet_Split": "spgt.xml",
    "25-Fight_RunAway1": "fra1gt.xml",
    "26-Fight_RunAway2": "fra2gt.xml",
    "27-Fight_OneManDown1": "fomdgt1.xml",
    "27-Fight_OneManDown2": "fomdgt2.xml",
    "27-Fight_OneManDown3": "fomdgt3.xml",
    "28-Fight_Chase": "fcgt.xml",
}
"""The clips and their ground-truth files."""


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two persons of a clip, by the numbers that the annotators gave them.

    >>> Pair("01-Walk1", 4, 5).name
    '01-Walk1.id4_id5'
    """

    clip: str
    first: int
    second: int

    @property
    def name(self) -> str:
        """The name of the sequence."""
        return f"{self.clip}.id{self.first}_id{self.second}"


PUBLISHED: Final = (
    Pair("01-Walk1", 4, 5),
    Pair("02-Walk2", 1, 2),
    Pair("12-Rest_WiggleOnFloor", 0, 1),
    Pair("13-Rest_FallOnFloor", 0, 1),
    Pair("14-LeftBag", 1, 2),
    Pair("19-Meet_WalkTogether1", 1, 2),
    Pair("19-Meet_WalkTogether1", 3, 4),
    Pair("19-Meet_WalkTogether1", 5, 6),
    Pair("20-Meet_WalkTogether2", 1, 2),
    Pair("21-Meet_WalkSplit", 1, 3),
    Pair("22-Meet_Split3rdGuy", 0, 1),
    *(Pair("23-Meet_Crowd", first, second) for first, second in combinations(range(4), 2)),
    Pair("24-Meet_Split", 0, 1),
    Pair("27-Fight_OneManDown2", 2, 6),
)
"""The 19 sequences that the published experiments are about."""
