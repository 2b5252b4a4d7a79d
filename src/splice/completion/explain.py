"""Why a query atom got its label, in words that a domain expert can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from splice import labels
from splice.arrays import Floats, Indices, Mask
from splice.completion.cache import Caching, Labelled
from splice.completion.connector import Graph
from splice.completion.distance import assignment
from splice.completion.links import in_series
from splice.completion.mode import Mode
from splice.completion.propagation import Answer
from splice.completion.result import Completion
from splice.completion.similarity import Similarity, Vertices
from splice.completion.solver import edge_weights
from splice.display import preformatted
from splice.logic.atoms import Atom, Rule
from splice.patterns.lifting import PatternStore
from splice.patterns.numeric import stream_text
from splice.patterns.partition import Examples


@dataclass(frozen=True, slots=True)
class Match:
    """Two atoms that were matched and what it cost; without a partner an atom costs 1."""

    own: Atom | None
    other: Atom | None
    cost: float

    def __str__(self) -> str:
        own, other = (stream_text(atom) if atom else None for atom in (self.own, self.other))
        if own is None:
            return f"missing here: {other} (cost 1)"
        if other is None:
            return f"only here: {own} (cost 1)"
        if self.cost == 0:
            return f"the same: {own}"
        return f"{own} against {other} (cost {self.cost:.3g})"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A labelled pattern that the atom was linked to."""

    rule: Rule
    label: bool
    count: float
    similarity: float
    weight: float
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Peer:
    """Query atoms of the same batch that have no label either, but are alike."""

    rule: Rule
    size: int
    value: float
    similarity: float
    weight: float


@dataclass(frozen=True, slots=True)
class Link:
    """The same entities at a neighbouring time-point."""

    time: int | str | None
    """As the input writes it; None: before the batch."""
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Decisive:
    """A literal of the atom's pattern, and the weight that labels gave it.

    To a teacher it is what the literal adds to the log-odds; to a learned distance how much it counts, from 0 to 1.
    """

    literal: Atom
    weight: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of a query atom as the average that it is.

    Parameters
    ----------
    query
        The atom.
    evidence
        What is known about it: the atoms of its example.
    value
        Its value in [-1, 1].
    label
        Its label; None: unknown.
    given
        Whether the label was given, not completed.
    reached
        Whether a label reached it.
    neighbours
        The labelled patterns that it was linked to, the weightiest first.
    peers
        Unlabelled patterns of the same batch that it was linked to.
    links
        The same entities at neighbouring time-points.
    decisive
        The literals of its pattern that labels gave a weight, the heaviest first; none where its own was given.
    """

    query: Atom
    evidence: tuple[Atom, ...]
    value: float
    label: bool | None
    given: bool
    reached: bool
    neighbours: tuple[Neighbour, ...] = ()
    peers: tuple[Peer, ...] = ()
    links: tuple[Link, ...] = ()
    decisive: tuple[Decisive, ...] = ()

    def average(self) -> float | None:
        """Return the weighted average of neighbours and links: what the value must be."""
        parts = [(n.weight, 1.0 if n.label else -1.0) for n in self.neighbours]
        parts += [(peer.weight, peer.value) for peer in self.peers]
        parts += [(link.weight, link.value) for link in self.links]
        total = sum(weight for weight, _ in parts)
        return sum(weight * value for weight, value in parts) / total if total else None

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as plain values, atoms and rules as text."""
        return {
            "query": str(self.query),
            "evidence": [stream_text(atom) for atom in self.evidence],
            "value": self.value,
            "label": self.label,
            "given": self.given,
            "reached": self.reached,
            "neighbours": [
                {
                    "rule": str(n.rule),
                    "label": n.label,
                    "count": n.count,
                    "similarity": n.similarity,
                    "weight": n.weight,
                    "matches": [
                        {
                            "own": m.own and stream_text(m.own),
                            "other": m.other and stream_text(m.other),
                            "cost": m.cost,
                        }
                        for m in n.matches
                    ],
                }
                for n in self.neighbours
            ],
            "peers": [
                {"size": p.size, "value": p.value, "similarity": p.similarity, "weight": p.weight}
                for p in self.peers
            ],
            "links": [{"time": k.time, "value": k.value, "weight": k.weight} for k in self.links],
            "average": self.average(),
            "decisive": [
                {"literal": stream_text(one.literal), "weight": one.weight} for one in self.decisive
            ],
        }

    def __str__(self) -> str:
        word = {True: "true", False: "false", None: "unknown"}[self.label]
        lines = [f"{self.query} is {word} (value {self.value:+.3f})"]
        if self.given:
            return f"{lines[0]}: this label was given"
        if not self.evidence:
            return f"{lines[0]}: there is no evidence about it, which reads as false"
        lines.append("what is known: " + ", ".join(map(stream_text, self.evidence)))
        if not self.reached:
            lines.append("no label reaches it: nothing like it has been labelled so far")
        if self.decisive:
            conditions = (f"{stream_text(one.literal)} {one.weight:+.3g}" for one in self.decisive)
            lines.append("what decides, by the labels so far: " + ", ".join(conditions))
        for neighbour in self.neighbours:
            lines.extend(_told(neighbour))
        lines.extend(_told_peer(peer) for peer in self.peers)
        lines.extend(_told_link(link) for link in self.links)
        average = self.average()
        if average is not None:
            lines.append(f"weighted average of these: {average:+.3f}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def _told(neighbour: Neighbour) -> list[str]:
    kind = "true" if neighbour.label else "false"
    times = f"{neighbour.count:g} time{'s' * (neighbour.count != 1)}"
    first = (
        f"like a pattern labelled {kind} {times}: "
        f"similarity {neighbour.similarity:.3f}, weight {neighbour.weight:.3g}"
    )
    same = [stream_text(match.own) for match in neighbour.matches if match.own and match.cost == 0]
    apart = [f"    {match}" for match in neighbour.matches if match.cost > 0]
    return [first, f"    the same: {', '.join(same) or 'nothing'}", *apart]


def _told_peer(peer: Peer) -> str:
    return (
        f"like {peer.size} unlabelled in this batch, of value {peer.value:+.3f}: "
        f"similarity {peer.similarity:.3f}, weight {peer.weight:.3g}"
    )


def _told_link(link: Link) -> str:
    when = "before this batch" if link.time is None else f"at {link.time}"
    return f"the same entities {when} have value {link.value:+.3f}: weight {link.weight:.3g}"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that one completion was worked out from."""

    completion: Completion
    examples: Examples
    vertices: Vertices
    store: PatternStore
    similarity: Similarity
    labelled: Labelled
    caching: Caching | None
    missing: Indices
    answer: Answer | None
    values: Floats
    """What neighbours say, of given labels what they are."""
    mode: Mode
    decisive: Callable[[int], Mapping[Atom, float]]
    by_teacher: Mask | None
    """Of which atoms a teacher speaks; None: there is none."""

    @property
    def graph(self) -> Graph | None:
        """The graph of what has no label; None where neighbours had nothing to say."""
        return self.answer.graph if self.answer else None

    @property
    def which(self) -> Indices:
        """The class in the graph of each atom whose label is missing."""
        return self.answer.which if self.answer else np.empty(0, np.intp)


def explain(scene: Scene, row: int) -> Explanation:
    """Explain the value of the query atom in a row of the batch."""
    done = scene.completion
    evidence = tuple(scene.examples.evidence.atom(int(i)) for i in scene.examples.rows(row))
    place = np.flatnonzero(scene.missing == row)
    taught = scene.by_teacher is not None and bool(scene.by_teacher[row])
    cls = None
    if len(place) and scene.graph is not None and not taught:
        cls = int(scene.which[place[0]])
    weighed = not done.given[row] and (taught or scene.by_teacher is None)
    return Explanation(
        query=done.batch.queries.atom(row),
        evidence=evidence,
        value=float(done.values[row]),
        label=labels.decode(int(done.labels[row])),
        given=bool(done.given[row]),
        reached=bool(done.reached[row]),
        neighbours=() if cls is None else tuple(_neighbours(scene, cls, row)),
        peers=() if cls is None else tuple(_peers(scene, cls)),
        links=() if cls is None else tuple(_links(scene, row)),
        decisive=tuple(_decisive(scene, row)) if weighed else (),
    )


def _decisive(scene: Scene, row: int) -> Iterator[Decisive]:
    weights = scene.decisive(int(scene.completion.patterns[row]))
    for literal in sorted(weights, key=lambda one: (-abs(weights[one]), str(one))):
        yield Decisive(literal, weights[literal])


def _neighbours(scene: Scene, cls: int, row: int) -> Iterator[Neighbour]:
    assert scene.graph is not None
    edges, weights = scene.graph.edges, edge_weights(scene.graph, scene.labelled, scene.caching)
    for edge in sorted(np.flatnonzero(edges.row == cls), key=lambda edge: -weights[edge]):
        j = edges.column[edge]
        width = max(scene.vertices.entities.shape[1], scene.labelled.vertices.entities.shape[1])
        vertex = scene.vertices.take(np.array([row])).widened(width)
        others = scene.labelled.vertices.take(scene.labelled.owner == j).widened(width)
        nearest = scene.similarity.between(vertex, others)[0].argmax()
        other = others.take(np.array([nearest]))
        yield Neighbour(
            rule=scene.store[int(other.pattern[0])].rule,
            label=bool(scene.labelled.labels[j] > 0),
            count=float(scene.labelled.counts[j]),
            similarity=float(edges.similarity[edge]),
            weight=float(weights[edge]),
            matches=match(scene.similarity, vertex, other),
        )


def _peers(scene: Scene, cls: int) -> Iterator[Peer]:
    assert scene.graph is not None
    for j in np.flatnonzero(scene.graph.joined[cls]) if scene.graph.joined.any() else ():
        if j == cls:
            continue
        row = scene.missing[np.flatnonzero(scene.which == j)[0]]
        weight, size = float(scene.graph.unlabelled[cls, j]), int(scene.graph.sizes[j])
        yield Peer(
            rule=scene.store[int(scene.vertices.pattern[row])].rule,
            size=size,
            value=float(scene.values[row]),
            similarity=weight,
            weight=weight * size,
        )


def _links(scene: Scene, row: int) -> Iterator[Link]:
    """Yield the neighbours in time that tell on a value.

    In hindsight, or where a given label follows, these are both neighbours, at the weight of their
    links. Online where none does, it is the one before alone, as firmly as the labels before it hold its own value.
    """
    assert scene.answer is not None
    chains = scene.answer.chains
    if chains is None:
        return
    order, link = chains.layout.order, chains.link
    place = int(np.flatnonzero(order == row)[0])
    queries = scene.completion.batch.queries
    times, values = queries.time, scene.values
    written = queries.vocabulary.times.value
    if chains.carried[place] > 0:
        yield Link(None, float(chains.value[place]), float(chains.carried[place]))
    both = _label_follows(scene, place)
    if link[place] > 0:
        other = int(order[place - 1])
        firm = np.inf if both else float(scene.answer.solved.firm[other])
        weight = in_series(float(link[place]), firm)
        yield Link(written(int(times[other])), float(values[other]), weight)
    if both and place + 1 < len(order) and link[place + 1] > 0:
        other = int(order[place + 1])
        yield Link(written(int(times[other])), float(values[other]), float(link[place + 1]))


def _label_follows(scene: Scene, place: int) -> bool:
    """Whether what comes after a vertex tells on it: see :func:`solve_chain`."""
    assert scene.answer is not None
    assert scene.graph is not None
    chains = scene.answer.chains
    assert chains is not None
    if scene.mode is Mode.HINDSIGHT:
        return True
    order, link, missing = chains.layout.order, chains.link, set(scene.missing)
    if scene.graph.joined.any():
        return True
    place += 1
    while place < len(order) and link[place] > 0 and order[place] in missing:
        place += 1
    return bool(place < len(order) and link[place] > 0 and scene.completion.given[order[place]])


def match(similarity: Similarity, vertex: Vertices, other: Vertices) -> tuple[Match, ...]:
    """Return how the atoms of two single vertices are matched, and what is left over."""
    left, right, costs = similarity.costs(vertex, other)
    rows, columns = assignment(costs) if costs.size else ((), ())
    pairs = [
        Match(left[i], right[j], float(costs[i, j])) for i, j in zip(rows, columns, strict=True)
    ]
    alone = [Match(atom, None, 1.0) for i, atom in enumerate(left) if i not in set(rows)]
    absent = [Match(None, atom, 1.0) for j, atom in enumerate(right) if j not in set(columns)]
    return (*sorted(pairs, key=lambda m: -m.cost), *alone, *absent)
