"""The choices of supervision completion, as values, and the three named bundles of them.

Where the paper, its pseudo-code and the released code disagree, each reading is a value here;
``docs/explanation/deviations.md`` says who does what.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from splice.errors import SpliceError, UnknownName

__all__ = [
    "KNN",
    "PROFILES",
    "Caching",
    "ClassMass",
    "Connector",
    "Direction",
    "Distance",
    "EpsilonNN",
    "Filter",
    "FirstBatch",
    "Ground",
    "Harmonic",
    "Identity",
    "LabelPropagation",
    "LabelSpreading",
    "Lifted",
    "LogOdds",
    "Neighbours",
    "Numbers",
    "OrderedRows",
    "Profile",
    "PseudoInverse",
    "SetRule",
    "Solver",
    "Temporal",
    "Threshold",
    "TinyWeight",
    "Undecided",
    "Unreached",
    "Weighting",
    "Zero",
    "profile",
]


class SetRule(Enum):
    """How a distance of atoms becomes a distance of sets of atoms."""

    MATCHING = "matching"
    """Optimal one-to-one matching; each unmatched atom costs 1 (``eq:cost``)."""
    HAUSDORFF = "hausdorff"


class Numbers(Enum):
    """How constants that the modes mark as numeric are compared."""

    EQUAL = "equal"
    BY_VALUE = "value"


@dataclass(frozen=True, slots=True)
class Ground:
    """The structural distance over ground atoms: persons and times count."""

    sets: SetRule = SetRule.MATCHING
    numbers: Numbers = Numbers.EQUAL


@dataclass(frozen=True, slots=True)
class Lifted:
    """The structural distance over lifted atoms: function symbols and kept constants count."""

    sets: SetRule = SetRule.MATCHING
    numbers: Numbers = Numbers.EQUAL


Distance: TypeAlias = Ground | Lifted


class Neighbours(Enum):
    """Which vertices an unlabelled vertex may choose as its neighbours."""

    ALL = "all"
    LABELLED = "labelled"


class Direction(Enum):
    """When two vertices are linked: the choosing one to the chosen, or both ways."""

    DIRECTED = "directed"
    UNION = "union"
    """Linked if either chose the other."""
    MUTUAL = "mutual"
    """Linked if each chose the other."""


@dataclass(frozen=True, slots=True)
class KNN:
    """Choose all vertices whose weight is among the k largest *distinct* ones."""

    k: int = 2
    neighbours: Neighbours = Neighbours.ALL
    direction: Direction = Direction.DIRECTED

    def __post_init__(self) -> None:
        if self.k < 1:
            raise SpliceError(f"k must be at least 1, not {self.k}")


@dataclass(frozen=True, slots=True)
class EpsilonNN:
    """Choose all vertices whose weight is at least epsilon."""

    epsilon: float = 0.75
    neighbours: Neighbours = Neighbours.ALL
    direction: Direction = Direction.DIRECTED

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise SpliceError(f"epsilon lies between 0 and 1, not at {self.epsilon:g}")


Connector: TypeAlias = KNN | EpsilonNN


@dataclass(frozen=True, slots=True)
class Temporal:
    """Link each vertex to the same entities at the neighbouring time-points of the sequence.

    A link weighs the similarity of the two times the odds that the past is right where it and the
    labels of the pattern disagree, as far as labels tell (:mod:`splice.completion.persistence`);
    ``strength`` is the most, and what is assumed before they do. A batch is linked to the one
    before it, never to a later one.
    """

    strength: float = 100.0

    def __post_init__(self) -> None:
        if not self.strength > 0:
            raise SpliceError(f"the strength of links must be positive, not {self.strength:g}")


class Unreached(Enum):
    """What becomes of a vertex that no label can reach; it is always reported."""

    NEGATIVE = "negative"
    MEAN = "mean"
    """The mean of the given labels."""
    ABSTAIN = "abstain"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Harmonic:
    """The closed form (``equation:minimum.cut.closed``) where a label reaches."""

    unreached: Unreached = Unreached.NEGATIVE


@dataclass(frozen=True, slots=True)
class TinyWeight:
    """The closed form on a graph whose unconnected pairs get a tiny weight instead of none."""

    weight: float = 1e-4


@dataclass(frozen=True, slots=True)
class PseudoInverse:
    """The closed form by pseudo-inverse, unconnected pairs with the given weight."""

    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """The released code of 2019: rows cut one after another, each reusing the ones before it.

    A row reuses the already cut value of an earlier row, unconnected pairs get the tiny
    weight, and the system is solved by pseudo-inverse.
    """

    weight: float = 1e-4


@dataclass(frozen=True, slots=True)
class LabelPropagation:
    """Zhu and Ghahramani's iteration, labels clamped; it tends to the harmonic solution."""

    sweeps: int = 1000


@dataclass(frozen=True, slots=True)
class LabelSpreading:
    """The iteration of Zhou et al. on the normalised graph, labels mixed in at each step."""

    alpha: float = 0.2
    sweeps: int = 1000


Solver: TypeAlias = (
    Harmonic | TinyWeight | PseudoInverse | OrderedRows | LabelPropagation | LabelSpreading
)


@dataclass(frozen=True, slots=True)
class Zero:
    """True above a value, which is zero in the paper."""

    at: float = 0.0


@dataclass(frozen=True, slots=True)
class LogOdds:
    """True where the log-odds of the value and of the class prior add up to more than zero."""


@dataclass(frozen=True, slots=True)
class ClassMass:
    """True where the class's mass, scaled to its prior, is the larger one (Zhu et al. 2003)."""


Threshold: TypeAlias = Zero | LogOdds | ClassMass


class Identity(Enum):
    """When two lifted examples are the same."""

    SHARED = "shared"
    """One renaming of variables makes them equal."""
    LITERALWISE = "literalwise"
    """Their literals can be paired, each pair under a renaming of its own."""


class Filter(Enum):
    """When a cached label gives way to the opposite one for the same pattern."""

    HOEFFDING = "hoeffding"
    MAJORITY = "majority"
    NONE = "none"


class Undecided(Enum):
    """What becomes of a contradiction that the bound does not decide yet."""

    KEEP = "keep"
    """Both labels are used (the paper's prose)."""
    DROP = "drop"
    """Neither is (Algorithm 3, read literally)."""


class FirstBatch(Enum):
    """How the labelled examples of the first batch enter the cache."""

    FILTERED = "filtered"
    AS_IT_IS = "as it is"
    """Neither deduplicated nor filtered; a dropped label returns only when seen again."""


class Weighting(Enum):
    """How much a cached label counts in the graph."""

    ONCE = "once"
    COUNTS = "counts"
    """By how often it was seen: its weight times its share of the labels it stands beside."""


@dataclass(frozen=True, slots=True)
class Caching:
    """The label cache and its filter (Algorithm 3, ``alg:cache_update``).

    The bound is ``sqrt(ln(numerator/delta) / 2N)``. ``cap`` limits the number of patterns (those
    seen longest ago go first) and ``decay`` multiplies all counts after each labelled batch: for
    endless and for drifting streams.
    """

    delta: float = 1e-4
    numerator: float = 2.0
    filter: Filter = Filter.HOEFFDING
    undecided: Undecided = Undecided.KEEP
    first: FirstBatch = FirstBatch.FILTERED
    weighting: Weighting = Weighting.ONCE
    cap: int | None = None
    decay: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise SpliceError(f"delta lies between 0 and 1, not at {self.delta:g}")
        if not 0 < self.decay <= 1:
            raise SpliceError(f"decay lies between 0 and 1, not at {self.decay:g}")

    @property
    def adds_up(self) -> bool:
        """Whether labels that were counted apart are, merged, what they are counted in turn."""
        whole = self.first is FirstBatch.FILTERED
        return whole and self.cap is None and self.decay == 1


@dataclass(frozen=True, slots=True)
class Profile:
    """Every choice of supervision completion."""

    name: str
    distance: Distance
    connector: Connector
    solver: Solver
    caching: Caching | None
    """None: each batch is completed from its own labels alone."""
    links: Temporal | None = None
    threshold: Threshold = field(default_factory=Zero)
    identity: Identity = Identity.SHARED
    margin: float = 0.0
    """Values this near to the threshold are abstentions."""


PROFILES: Final[dict[str, Profile]] = {
    bundle.name: bundle
    for bundle in (
        Profile(
            "default",
            distance=Lifted(),
            connector=KNN(1, Neighbours.LABELLED),
            solver=Harmonic(),
            caching=Caching(weighting=Weighting.COUNTS),
            links=Temporal(100.0),
        ),
        Profile(
            "patterns",
            distance=Lifted(),
            connector=KNN(1, Neighbours.LABELLED),
            solver=Harmonic(),
            caching=Caching(weighting=Weighting.COUNTS),
        ),
        Profile(
            "paper",
            distance=Ground(),
            connector=KNN(2),
            solver=TinyWeight(1e-4),
            caching=Caching(),
        ),
        Profile(
            "lomrf-2019",
            distance=Ground(),
            connector=KNN(2),
            solver=OrderedRows(1e-4),
            caching=Caching(numerator=1.0, first=FirstBatch.AS_IT_IS),
            threshold=Zero(1e-4),
            identity=Identity.LITERALWISE,
        ),
    )
}


def profile(name: str, **changes: object) -> Profile:
    """Return a named bundle of choices, some of them changed.

    >>> profile("paper", connector=KNN(3)).connector
    KNN(k=3, neighbours=<Neighbours.ALL: 'all'>, direction=<Direction.DIRECTED: 'directed'>)
    """
    if name not in PROFILES:
        raise UnknownName("profile", name, PROFILES)
    return replace(PROFILES[name], **changes)  # type: ignore[arg-type]
