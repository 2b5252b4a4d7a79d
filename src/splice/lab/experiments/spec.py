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

from splice.errors import SpliceError, UnknownName, did_you_mean
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


_NUMBERS: Final = frozenset({"vessels", "days", "seed", "sequences", "people", "frames"})


def methods_of(configuration: Table) -> list[dict[str, Any]]:
    """Return the methods, those with several values taken apart; each has a name of its own."""
    given = list_of(configuration, "methods")
    if not all(isinstance(method, Mapping) for method in given):
        raise SpliceError("'methods' are tables", "write [[methods]]")
    methods = [m for method in given for m in _expanded(method)]
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
    found = list_of(configuration["grid"], "datasets")
    return list(dict.fromkeys(str(d["name"] if isinstance(d, Mapping) else d) for d in found))


def list_of(table: Table, name: str, usual: Sequence[Any] = ()) -> list[Any]:
    """Return a list of a configuration."""
    given = table.get(name, usual)
    if not isinstance(given, list | tuple):
        raise SpliceError(f"'{name}' is a list, not {given!r}", f"write {name} = [..]")
    return list(given)


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
    known = ("name", "fluent", *_DESCRIBED.get(name, ("domain",)))
    for key in described:
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise SpliceError(f"the dataset '{name}' has no '{key}'", hint)
    for key in _NUMBERS & described.keys():
        least = 0 if key == "seed" else 1e-3 if key == "days" else 1
        numbers_of({key: [described[key]]}, key, (), least=least, whole=key != "days")
    if name in _DESCRIBED:  # nothing is simulated yet: only whether it could be is looked at
        _simulated(name, {k: v for k, v in described.items() if k not in ("name", "fluent")})
    return dataset


def _simulated(name: str, described: Table, *, made: bool = False) -> Source | None:
    """Return a simulated dataset, where it is wanted; what nobody could simulate is an error."""
    if name == "plaza":
        if made:
            return make_plaza(**described).source
        check_plaza(**described)
        return None
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
    given = json.loads(dataset)
    described = {"name": given} if isinstance(given, str) else dict(given)
    name, fluent = described.pop("name"), described.pop("fluent", None)
    if grown is not None:
        described[GROWS[name]] = grown
    source = _simulated(name, described, made=True) if name in _DESCRIBED else None
    source = source or open_input(name, InputOptions(domain=described.get("domain")))
    if not fluent:
        return source
    table = collect(source)
    kinds = (k for k in source.vocabulary.kinds if k.signature == source.domain.query)
    known = sorted({kind.functor for kind in kinds})
    if fluent not in known:
        raise UnknownName("fluent", str(fluent), known)
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
    rest = "".join(parts[::2])
    if not words.keys() >= set(parts[1::2]) or "{" in rest or "}" in rest:
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
        for key, one in value.items():
            check_plain(one, f"'{key}'")
    elif isinstance(value, list):
        for one in value:
            check_plain(one, path)
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


def table_of(configuration: Table, name: str, known: Sequence[str]) -> Table:
    """Return a table of a configuration, which holds known keys only."""
    table = configuration.get(name)
    if not isinstance(table, Mapping):
        raise SpliceError(f"the experiment has no table [{name}]", f"it holds {', '.join(known)}")
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise SpliceError(f"[{name}] has no '{key}'", hint)
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
    given = table.get(name, usual)
    if not isinstance(given, list | tuple) or not given:
        raise SpliceError(f"'{name}' is a list of numbers, not {given!r}", f"write {name} = [..]")
    for value in given:
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
    return [number_of(value) for value in given]


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
    both = [one for one in distinct if {-1, 1} <= set(table.truth[rows & (number == one)].tolist())]
    first = np.random.default_rng(sample).permutation(both).tolist() if both else []
    chosen = set(first)
    order = [*first, *(one for one in distinct if one not in chosen)]
    parts = [np.flatnonzero(number == one) for one in order]
    return MemorySource(table.take(np.concatenate(parts)), source.domain) if parts else source
