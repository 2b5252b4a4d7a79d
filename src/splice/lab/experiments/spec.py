"""What the files of all kinds of experiments say in the same words: datasets, masks, methods."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from splice.completion.registry import check_key
from splice.errors import SpliceError, UnknownName
from splice.inputs.open import InputOptions, open_input
from splice.lab.maritime import WordChoice, make_maritime
from splice.lab.plaza import check_plaza, make_plaza
from splice.stream.batch import query_rows
from splice.stream.mask import Keep, KeepAtoms, KeepBatches, KeepSequences, Unit
from splice.stream.source import MemorySource, Source, collect

Table: TypeAlias = Mapping[str, Any]

_BRACES: Final = re.compile(r"\{(\w+(?:\[\w+\])?)\}")
_MOST_CELLS: Final = 100_000
_MOST_SAMPLES: Final = 10_000

GROWS: Final = {"maritime": "vessels", "plaza": "sequences"}
"""What there is more of in larger data, for each simulator."""

_DESCRIBED: Final = {
    "maritime": ("vessels", "days", "seed", "vocabulary", "target"),
    "plaza": ("sequences", "people", "frames", "seed"),
}
"""What a dataset may say of each simulation."""

_NUMBERS: Final = frozenset({"vessels", "days", "seed", "sequences", "people", "frames"})


def methods_of(configuration: Table) -> list[dict[str, Any]]:
    """Return the methods, those with several values taken apart; each has a name of its own."""
    tables = list_of(configuration, "methods")
    if not all(isinstance(method, Mapping) for method in tables):
        raise SpliceError("'methods' are tables", "write [[methods]]")
    methods = [m for method in tables for m in _expanded(method)]
    if not methods:
        raise SpliceError("the experiment has no method", "add a table: [[methods]]")
    names = {method["name"] for method in methods}
    if len(names) < len(methods) or "" in names:
        raise SpliceError(
            "every method needs a name of its own",
            'where a choice has several values, name it: name = "paper {connector}"',
        )
    return methods


def datasets(configuration: Table) -> list[str]:
    """Return the inputs that a configuration reads, by name."""
    entries = list_of(configuration["grid"], "datasets")
    return list(dict.fromkeys(str(d["name"] if isinstance(d, Mapping) else d) for d in entries))


def list_of(table: Table, name: str, usual: Sequence[Any] = ()) -> list[Any]:
    """Return a list of a configuration."""
    value = table.get(name, usual)
    if not isinstance(value, list | tuple):
        raise SpliceError(f"'{name}' is a list, not {value!r}", f"write {name} = [..]")
    return list(value)


def datasets_of(grid: Table) -> list[object]:
    """Return the datasets of a grid, if their words are known."""
    return list(map(dataset_of, list_of(grid, "datasets")))


def dataset_of(dataset: object) -> object:
    """Return a dataset of a configuration, if its words are known."""
    described = dict(dataset) if isinstance(dataset, Mapping) else {"name": dataset}
    name = described.get("name")
    if not isinstance(name, str) or not name:
        raise SpliceError(f"{dataset!r} is not a dataset", 'write "caviar-meet" or { name = .. }')
    fluent = described.get("fluent", "")
    if not isinstance(fluent, str):
        raise SpliceError(f"{fluent!r} is not a fluent of '{name}'", 'write fluent = "meet"')
    keys = ("name", "fluent", *_DESCRIBED.get(name, ("domain",)))
    check_key(described, keys, f"the dataset '{name}' has no")
    for key in _NUMBERS & described.keys():
        least = 0 if key == "seed" else 1e-3 if key == "days" else 1
        numbers_of({key: [described[key]]}, key, (), least=least, whole=key != "days")
    parameters: dict[str, Any] = {k: v for k, v in described.items() if k not in ("name", "fluent")}
    if name == "plaza":
        check_plaza(**parameters)
    elif name == "maritime":
        _maritime(parameters)
    return dataset


def _simulated(name: str, described: Table) -> Source:
    """Return a simulated dataset; what nobody could simulate is an error."""
    return make_plaza(**described).source if name == "plaza" else _maritime(described)


def _maritime(described: Table) -> Source:
    """Return vessels at sea, of whom nothing is made before it is read."""
    words = described.get("vocabulary", WordChoice.Y2019.value)
    if words not in [choice.value for choice in WordChoice]:
        raise UnknownName("vocabulary", str(words), [choice.value for choice in WordChoice])
    others = {key: value for key, value in described.items() if key != "vocabulary"}
    return make_maritime(**others, choice=WordChoice(words))


@lru_cache(maxsize=4)
def source_of(dataset: str) -> MemorySource:
    """Return a dataset, read once in each process."""
    source = opened(dataset)
    return MemorySource(collect(source), source.domain)


def opened(dataset: str, grown: int | None = None) -> Source:
    """Return a dataset as a stream; ``grown`` says how much of it is simulated."""
    parsed = json.loads(dataset)
    described = {"name": parsed} if isinstance(parsed, str) else dict(parsed)
    name, fluent = described.pop("name"), described.pop("fluent", None)
    if grown is not None:
        described[GROWS[name]] = grown
    if name in _DESCRIBED:
        source = _simulated(name, described)
    else:
        source = open_input(name, InputOptions(domain=described.get("domain")))
    if not fluent:
        return source
    table = collect(source)
    kinds = (k for k in source.vocabulary.kinds if k.signature == source.domain.query)
    fluents = sorted({kind.functor for kind in kinds})
    if fluent not in fluents:
        raise UnknownName("fluent", str(fluent), fluents)
    return MemorySource(table, replace(source.domain, fluents=(fluent,)))


def ce_of(dataset: object) -> str:
    """Return the composite event of a dataset, as the papers name it."""
    name = str(dataset)
    if "maritime" in name:
        return "pilotOps" if "pilotOps" in name else "rendezvous"
    return name.removeprefix("caviar-")


def _expanded(method: Table) -> Iterator[dict[str, Any]]:
    """Yield a method for each combination of its listed values, its name filled in."""
    lists = {k: value for k, value in method.items() if isinstance(value, list) and k != "levels"}
    check_cells(*map(len, lists.values()))
    for values in product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        yield {**method, **chosen, "name": _filled(str(method.get("name", "")), chosen)}


def _filled(name: str, chosen: Mapping[str, Any]) -> str:
    """Return a name with the values of the choices that it mentions in braces, and nothing else.

    >>> _filled("paper {connector}, {caching[filter]}", {"connector": "knn:2", "caching": {"filter": "none"}})
    'paper knn:2, none'
    """
    words = {key: str(value) for key, value in chosen.items()}
    for key, value in chosen.items():
        if isinstance(value, Mapping):
            words |= {f"{key}[{inner}]": str(word) for inner, word in value.items()}
    parts = _BRACES.split(name)
    literal = "".join(parts[::2])
    if not words.keys() >= set(parts[1::2]) or "{" in literal or "}" in literal:
        hint = f"it may mention {', '.join(words) or 'nothing'} in braces"
        raise SpliceError(f"'{name}' is not a name for methods", hint)
    parts[1::2] = [words[part] for part in parts[1::2]]
    return "".join(parts)


def check_cells(*sizes: int) -> None:
    """Refuse a grid of more cells than anybody computes, before they are made.

    Parameters
    ----------
    sizes
        How many values each axis has.
    """
    if math.prod(sizes) > _MOST_CELLS:
        count = " x ".join(f"{size:,}" for size in sizes)
        raise SpliceError(
            f"the experiment has {count} cells, and {_MOST_CELLS:,} is the most",
            "take fewer samples, levels, batch sizes, masks, datasets or methods",
        )


def check_plain(value: object, path: str = "the experiment") -> None:
    """Refuse what a manifest cannot hold: dates, and numbers that are none."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_plain(item, f"'{key}'")
    elif isinstance(value, list):
        for item in value:
            check_plain(item, path)
    elif isinstance(value, float) and not math.isfinite(value):
        raise SpliceError(f"{path} is {value}", "write a number")
    elif not isinstance(value, str | int | float):
        raise SpliceError(f"{path} is '{value}'", "an experiment has texts, numbers and lists")


STRATIFIED: Final = "batches, stratified"
"""The random scenario of SPLICE+: batches with and without a true label are kept alike."""
SEQUENCES: Final = "sequences"
"""The early scenario of SPLICE+: a level is a number of sequences, which are labelled and come first."""


def mask_of(mask: object) -> tuple[str, str]:
    """Return what a mask hides: the scope and the unit."""
    if not isinstance(mask, Mapping) or mask.get("scope") not in ("atoms", "batches", SEQUENCES):
        raise SpliceError(f"'{mask}' is not a mask", 'write { scope = "atoms", unit = "pair" }')
    scope, stratify = str(mask["scope"]), mask.get("stratify", False)
    if not isinstance(stratify, bool) or (stratify and scope != "batches"):
        raise SpliceError("only batches can be stratified", "write stratify = true with batches")
    unit = mask.get("unit", "atom") if scope == "atoms" else "atom"
    if unit not in ("atom", "pair"):
        raise SpliceError(f"'{unit}' is not a unit", "write atom or pair")
    return STRATIFIED if stratify else scope, str(unit)


def table_of(configuration: Table, name: str, keys: Sequence[str]) -> Table:
    """Return a table of a configuration, which holds known keys only."""
    table = configuration.get(name)
    if not isinstance(table, Mapping):
        raise SpliceError(f"the experiment has no table [{name}]", f"it holds {', '.join(keys)}")
    check_key(table, keys, f"[{name}] has no")
    return table


def numbers_of(
    table: Table,
    name: str,
    usual: Sequence[float],
    *,
    least: float = 1,
    most: float = math.inf,
    whole: bool = False,
) -> list[float]:
    """Return a list of numbers of a configuration, each in one spelling.

    >>> numbers_of({"levels": [5, 10.0]}, "levels", ())
    [5, 10]
    """
    values = table.get(name, usual)
    if not isinstance(values, list | tuple) or not values:
        raise SpliceError(f"'{name}' is a list of numbers, not {values!r}", f"write {name} = [..]")
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        number = number and math.isfinite(value)
        if not number or not least <= value <= most or (whole and value != int(value)):
            kind, upto = (
                "whole numbers" if whole else "numbers",
                f" to {most:g}" * (most < math.inf),
            )
            raise SpliceError(
                f"{value!r} is not of '{name}'", f"it holds {kind} from {least:g}{upto}"
            )
    return [number_of(value) for value in values]


def levels_of(table: Table, usual: Sequence[float] = ()) -> list[float]:
    """Return the levels of a configuration: percents."""
    return numbers_of(table, "levels", usual, least=1e-9, most=100)


def whole_of(table: Table, name: str, usual: int) -> int:
    """Return a whole number of a configuration, from 1 to some thousands."""
    given = {name: [table.get(name, usual)]}
    return int(numbers_of(given, name, (), most=_MOST_SAMPLES, whole=True)[0])


def number_of(level: float) -> float:
    """Return a level in one spelling: 5 and 5.0 are the same cell."""
    return int(level) if level == int(level) else float(level)


def keep_of(scope: str, unit: str, level: float) -> Keep:
    """Return the labels that a mask keeps at a level."""
    if scope == SEQUENCES:
        return KeepSequences(int(level))
    if scope == "atoms":
        return KeepAtoms(level, Unit(unit))
    return KeepBatches(level, stratified=scope == STRATIFIED)


def in_order(source: MemorySource, scope: str, sample: int) -> MemorySource:
    """Return a source with its sequences in the order in which a sample of a mask sees them.

    Where the first sequences are labelled, those that have true and false labels come first, in an order
    that the sample fixes; the others follow as they are. All other masks leave the order alone.
    """
    if scope != SEQUENCES:
        return source
    table = source.table
    rows = query_rows(table, source.domain)
    number = table.sequence
    distinct = list(dict.fromkeys(number.tolist()))
    both = [
        sequence
        for sequence in distinct
        if {-1, 1} <= set(table.truth[rows & (number == sequence)].tolist())
    ]
    first = np.random.default_rng(sample).permutation(both).tolist() if both else []
    chosen = set(first)
    order = [*first, *(sequence for sequence in distinct if sequence not in chosen)]
    parts = [np.flatnonzero(number == sequence) for sequence in order]
    return MemorySource(table.take(np.concatenate(parts)), source.domain) if parts else source
