"""Profiles: every choice of supervision completion, and the named bundles of them.

Where the paper, its pseudo-code and the released code disagree, each reading is a strategy;
``docs/explanation/deviations.md`` says who does what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

from splice.completion.cache import Caching, FirstBatch, Weighting, caching_of
from splice.completion.calibration import Calibration
from splice.completion.connector import CONNECTORS, KNN, Connector, Neighbours
from splice.completion.distance import DISTANCES, Distance, Ground, Lifted
from splice.completion.filter import FILTERS, Hoeffding
from splice.completion.hybrid import Hybrid
from splice.completion.mode import Mode
from splice.completion.persistence import Fixed, Temporal, links_of
from splice.completion.registry import Registry, check_key, number_of, word_of
from splice.completion.solver import SOLVERS, Harmonic, OrderedRows, Solver, TinyWeight
from splice.completion.teacher import TEACHERS, Regression, Teacher
from splice.completion.threshold import THRESHOLDS, Threshold, Zero
from splice.errors import SpliceError, UnknownName

KINDS: Final[dict[str, Registry[Any]]] = {
    "connector": CONNECTORS,
    "distance": DISTANCES,
    "solver": SOLVERS,
    "threshold": THRESHOLDS,
    "filter": FILTERS,
    "teacher": TEACHERS,
}
"""The strategies that have names, by kind; all but the cache's filter are fields of a profile."""


class Identity(Enum):
    """When two lifted examples are the same."""

    SHARED = "shared"
    """One renaming of variables makes them equal."""
    LITERALWISE = "literalwise"
    """Their literals can be paired, each pair under a renaming of its own."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Every choice of supervision completion.

    Parameters
    ----------
    name
        What it is called.
    distance
        How unlike two examples are.
    connector
        Which vertices of the graph are linked.
    solver
        How labels become values of what has none.
    caching
        How labels are remembered; None: each batch is completed from its own labels alone.
    links
        Links to the neighbouring time-points; None: none.
    threshold
        Where the line between true and false is drawn.
    identity
        When two lifted examples are the same pattern.
    margin
        What is less sure than this is an abstention.
    teacher
        What learns from labels what patterns mean; then neither distance, connector nor solver is
        asked, and links are a Markov chain. None: neighbours say it.
    near
        Within so many points of a given label neighbours and links speak, and the teacher elsewhere; None:
        the teacher alone does.
    given_alone
        Names of fluents whose missing labels stay missing.
    calibration
        What labels that were held out say of how sure values are; None: a value is as sure as it is
        far from zero.
    """

    name: str
    distance: Distance
    connector: Connector
    solver: Solver
    caching: Caching | None
    links: Temporal | None = None
    threshold: Threshold = field(default_factory=Zero)
    identity: Identity = Identity.SHARED
    margin: float = 0.0
    teacher: Teacher | None = None
    near: int | None = None
    given_alone: tuple[str, ...] = ()
    calibration: Calibration | None = field(default=None, repr=False)

    def mode(self, wanted: Mode) -> Mode:
        """Return the mode in which this profile runs, where one is wanted.

        It is online where what is remembered depends on the order of batches: by a cache that
        forgets, or by distances over ground atoms, to which the first example of a label stands
        for all; and where each batch has its own labels alone.

        Examples
        --------
        >>> [PROFILES[name].mode(Mode.HINDSIGHT).value for name in ("default", "paper")]
        ['hindsight', 'online']
        """
        adds_up = self.caching is not None and self.caching.adds_up
        return wanted if adds_up and not self.distance.ground else Mode.ONLINE

    def check_hindsight(self) -> None:
        """Raise an error where nothing can be completed with labels that come later."""
        if self.mode(Mode.HINDSIGHT) is not Mode.HINDSIGHT:
            raise SpliceError(
                f"the profile '{self.name}' completes online only: "
                "what it remembers depends on the order of batches",
                "use lifted distances, and a cache without cap and decay",
            )

    @property
    def hears_votes(self) -> bool:
        """Whether a theory can vote: values then follow from labels alone, so a vote is one more."""
        return self.teacher is not None or self.connector.neighbours is Neighbours.LABELLED

    @property
    def asks_neighbours(self) -> bool:
        """Whether neighbours speak, everywhere or near a given label."""
        return self.teacher is None or self.near is not None

    @property
    def blockwise(self) -> bool:
        """Whether many batches can be solved as one: no example is the neighbour of an unlabelled one.

        Links in time are no hindrance, they are chains; and chains have a solver of their own.
        """
        alone = self.connector.neighbours is Neighbours.LABELLED
        return alone and (self.links is not None or self.solver.blockwise)


_PATTERNS: Final = Profile(
    "patterns",
    distance=Lifted(),
    connector=KNN(1, Neighbours.LABELLED),
    solver=Harmonic(),
    caching=Caching(weighting=Weighting.COUNTS),
)
_DEFAULT: Final = replace(_PATTERNS, name="default", links=Temporal(100.0))
_REGRESSION: Final = replace(_DEFAULT, name="regression", teacher=Regression())
_MIXED: Final = replace(_REGRESSION, name="mixed", near=10)

PROFILES: Final[dict[str, Profile]] = {
    bundle.name: bundle
    for bundle in (
        _DEFAULT,
        _PATTERNS,
        _REGRESSION,
        _MIXED,
        # A run looks at labels that it holds out, and takes one of those above (pipeline/auto.py).
        replace(_REGRESSION, name="auto"),
        # The published successor: a distance that learns, links to labelled vertices and in time.
        Profile(
            "splice-plus",
            distance=Hybrid(),
            connector=KNN(1, Neighbours.LABELLED),
            solver=Harmonic(),
            caching=Caching(),
            links=Fixed(),
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
            caching=Caching(Hoeffding(numerator=1.0), first=FirstBatch.AS_IT_IS),
            threshold=Zero(1e-4),
            identity=Identity.LITERALWISE,
        ),
    )
}
SESSION_PROFILE: Final = _REGRESSION
"""What completes while somebody labels (``ask``, the studio): ``learn`` begins with it, too."""


def profile(name: str, **changes: object) -> Profile:
    """Return a named bundle of choices, some of them changed.

    Parameters
    ----------
    name
        ``default``, ``patterns`` (no links in time), ``regression``, ``mixed``, ``auto``, ``splice-plus``, ``paper`` or ``lomrf-2019``.
    **changes
        Fields of ``Profile`` with other values.

    Examples
    --------
    >>> profile("paper", connector=KNN(3)).connector
    KNN(k=3, neighbours=<Neighbours.ALL: 'all'>, direction=<Direction.DIRECTED: 'directed'>)
    """
    if name not in PROFILES:
        raise UnknownName("profile", name, PROFILES)
    return replace(PROFILES[name], **changes)  # type: ignore[arg-type]


def profile_of(name: str, changes: Mapping[str, object] | None = None) -> Profile:
    """Return a profile, with the changes that a table of words asks for.

    ``links`` is the strength of the temporal links, or false for none; ``caching`` is a table, or
    false for none.

    >>> profile_of("paper", {"connector": "knn:3", "links": 100}).links
    Temporal(strength=100.0)
    """
    base, given = profile(name), changes or {}
    check_key(given, _READERS, "completion has no choice")
    made = {key: _READERS[key](value, base) for key, value in given.items()}
    return replace(base, **made)


def _named(registry: Registry[Any]) -> Callable[[object, Profile], Any]:
    return lambda value, _: registry.parse(str(value))


def near_of(value: object) -> int | None:
    """Return how near to a given label neighbours speak; false: nowhere.

    >>> near_of(10), near_of(False)
    (10, None)
    """
    if value is False:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SpliceError(
            f"'near' is a number of points, not {value!r}", "write near = 10, or false"
        )
    return value


_READERS: Final[dict[str, Callable[[object, Profile], Any]]] = {
    **{kind: _named(registry) for kind, registry in KINDS.items() if kind != "filter"},
    "caching": lambda value, base: caching_of(value, base.caching),
    "identity": lambda value, _: word_of(value, Identity, "an identity of patterns"),
    "links": lambda value, _: links_of(value),
    "margin": lambda value, _: number_of(value, "'margin'"),
    "near": lambda value, _: near_of(value),
}
"""How each field of a profile is read from a table of words."""
