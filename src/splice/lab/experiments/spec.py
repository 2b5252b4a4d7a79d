"""What the files of all kinds of experiments say in the same words: datasets, masks, methods."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, TypeAlias

from splice.errors import SpliceError, UnknownName, did_you_mean
from splice.inputs.open import InputOptions, open_input
from splice.lab.maritime import WordChoice, make_maritime
from splice.lab.plaza import make_plaza
from splice.stream.mask import Keep, KeepAtoms, KeepBatches, Unit
from splice.stream.source import MemorySource, Source, collect

Table: TypeAlias = Mapping[str, Any]

GROWS: Final = {"maritime": "vessels", "plaza": "sequences"}
"""What there is more of in larger data, for each simulator."""

_DESCRIBED: Final = {
    "maritime": ("vessels", "days", "seed", "vocabulary"),
    "plaza": ("sequences", "people", "frames", "seed"),
}


def methods_of(configuration: Table) -> list[dict[str, Any]]:
    """Return the methods, those with several values taken apart; each has a name of its own."""
    methods = [m for method in configuration.get("methods", ()) for m in _expanded(method)]
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
    found = configuration["grid"].get("datasets", ())
    return list(dict.fromkeys(str(d["name"] if isinstance(d, Mapping) else d) for d in found))


def dataset_of(dataset: object) -> object:
    """Return a dataset of a configuration, if its words are known."""
    described = dict(dataset) if isinstance(dataset, Mapping) else {"name": dataset}
    name = described.get("name")
    if not isinstance(name, str) or not name:
        raise SpliceError(f"{dataset!r} is not a dataset", 'write "caviar-meet" or { name = .. }')
    known = ("name", "fluent", *_DESCRIBED.get(name, ("domain",)))
    for key in described:
        if key not in known:
            hint = did_you_mean(key, known) or f"known: {', '.join(known)}"
            raise SpliceError(f"the dataset '{name}' has no '{key}'", hint)
    return dataset


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
    source: Source
    if name == "plaza":
        source = make_plaza(**described).source
    elif name == "maritime":
        words = WordChoice(described.pop("vocabulary", WordChoice.Y2019.value))
        source = make_maritime(**described, choice=words)
    else:
        source = open_input(name, InputOptions(domain=described.get("domain")))
    if not fluent:
        return source
    table = collect(source)
    kinds = (k for k in source.vocabulary.kinds if k.signature == source.domain.query)
    known = sorted({kind.functor for kind in kinds})
    if fluent not in known:
        raise UnknownName("fluent", str(fluent), known)
    return MemorySource(table, replace(source.domain, fluents=(fluent,)))


def ce_of(dataset: object) -> str:
    """Return the composite event of a dataset, as the paper names it."""
    name = str(dataset)
    return "rendezvous" if "maritime" in name else name.removeprefix("caviar-")


def _expanded(method: Table) -> Iterator[dict[str, Any]]:
    """Yield a method for each combination of its listed values, its name filled in."""
    lists = {k: value for k, value in method.items() if isinstance(value, list) and k != "levels"}
    for values in product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        try:
            name = str(method.get("name", "")).format(**chosen)
        except (KeyError, IndexError, ValueError):
            hint = f"it may mention {', '.join(lists) or 'nothing'} in braces"
            raise SpliceError(f"'{method['name']}' is not a name for methods", hint) from None
        yield {**method, **chosen, "name": name}


def mask_of(mask: object) -> tuple[str, str]:
    """Return what a mask hides: the scope and the unit."""
    if not isinstance(mask, Mapping) or mask.get("scope") not in ("atoms", "batches"):
        raise SpliceError(f"'{mask}' is not a mask", 'write { scope = "atoms", unit = "pair" }')
    unit = mask.get("unit", "atom") if mask["scope"] == "atoms" else "atom"
    if unit not in ("atom", "pair"):
        raise SpliceError(f"'{unit}' is not a unit", "write atom or pair")
    return str(mask["scope"]), str(unit)


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
    """Return a whole number of a configuration, 1 at least."""
    return int(numbers_of({name: [table.get(name, usual)]}, name, (), whole=True)[0])


def number_of(level: float) -> float:
    """Return a level in one spelling: 5 and 5.0 are the same cell."""
    return int(level) if level == int(level) else float(level)


def keep_of(scope: str, unit: str, level: float) -> Keep:
    """Return the labels that a mask keeps at a level."""
    return KeepBatches(level) if scope == "batches" else KeepAtoms(level, Unit(unit))
