"""The package's front door: every public name is there, once, and none is private."""

from __future__ import annotations

import importlib
import pkgutil

import splice.logic

INNER = {"grammar", "ground_text", "lexer", "symmetry"}


def test_the_facade_holds_what_the_modules_export() -> None:
    found = []
    for module in pkgutil.iter_modules(splice.logic.__path__):
        if module.name not in INNER:
            inside = importlib.import_module(f"splice.logic.{module.name}")
            found += [(name, getattr(inside, name)) for name in inside.__all__]
    assert sorted(name for name, _ in found) == sorted(splice.logic.__all__)
    assert all(getattr(splice.logic, name) is value for name, value in found)


def test_the_facade_is_sorted_public_and_explained() -> None:
    assert not [name for name in splice.logic.__all__ if name.startswith("_")]
    assert len(splice.logic.__all__) == len(set(splice.logic.__all__))
    functions = [getattr(splice.logic, name) for name in splice.logic.__all__]
    assert all(value.__doc__ for value in functions if callable(value))
