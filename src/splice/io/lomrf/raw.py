"""Evidence as a ``.db`` file writes it, before anyone asks what it means.

:func:`parse_raw` gives columns of names: the regular lines (one ground atom each, which is
nearly all of a file) by vectorised string operations, every other line by the grammar. Where
anything is wrong the grammar reads the whole file and reports every problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from splice import labels
from splice.errors import InputError
from splice.io.lomrf.db_grammar import FunctionFact, RawAtom, parse_statements
from splice.logic.lexer import SourceText

_NAME: Final = r"-?[A-Za-z0-9_][A-Za-z0-9_.:+@-]*"
_REGULAR: Final = (
    rf"^[ \t]*([!?]?)[ \t]*([A-Z][A-Za-z0-9_]*)[ \t]*"
    rf"\(([ \t]*{_NAME}[ \t]*(?:,[ \t]*{_NAME}[ \t]*)*)\)"
    r"(?:[ \t]+([01](?:\.0+)?))?[ \t]*(?://.*)?$"
)
_BLANK: Final = r"^[ \t]*(?://.*)?$"
_COMMENT_OR_QUOTE: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL
)


@dataclass(frozen=True, eq=False)
class RawEvidence:
    """The atoms of a file as columns of text, and its function facts.

    ``atoms`` has the columns ``name``, ``truth``, ``arity``, ``line`` and ``a0``, ``a1``, ... in
    the order of the lines.
    """

    source: SourceText
    atoms: pl.DataFrame
    functions: tuple[FunctionFact, ...]


def parse_raw(source: SourceText) -> RawEvidence:
    """Read evidence; raise all problems of the file if there is one."""
    text = _without_block_comments(source.text)
    lines = pl.Series("text", text.split("\n"), dtype=pl.String)
    parts = lines.str.extract_groups(_REGULAR).struct.unnest()
    regular = parts.get_column("2").is_not_null() & ~_denied_with_probability(parts)
    other = ~regular & ~lines.str.contains(_BLANK)
    atoms: list[RawAtom] = []
    functions: list[FunctionFact] = []
    for first, block in _blocks(lines, other):
        found, facts, problems = parse_statements(SourceText(block, source.file, first + 1))
        if problems:
            return parse_raw_by_grammar(source)
        atoms.extend(found)
        functions.extend(facts)
    fast = _regular_frame(parts.with_row_index("line", 1).filter(regular))
    frame = pl.concat([fast, _frame(atoms)], how="diagonal").sort("line", maintain_order=True)
    return RawEvidence(source, frame, tuple(functions))


def parse_raw_by_grammar(source: SourceText) -> RawEvidence:
    """Read evidence by the grammar alone: the obvious twin of :func:`parse_raw`."""
    atoms, functions, problems = parse_statements(source)
    if problems:
        raise InputError(problems)
    return RawEvidence(source, _frame(atoms), tuple(functions))


def parse_readable(source: SourceText, without: set[int]) -> RawEvidence:
    """Return what can be read of a text, certain lines left out."""
    atoms, functions, _ = parse_statements(source)
    return RawEvidence(
        source,
        _frame([atom for atom in atoms if atom.line not in without]),
        tuple(fact for fact in functions if fact.line not in without),
    )


def _denied_with_probability(parts: pl.DataFrame) -> pl.Series:
    """``!P(A) 1.0`` says two things at once: leave it to the grammar."""
    return (parts.get_column("1") != "") & parts.get_column("4").is_not_null()


def _regular_frame(parts: pl.DataFrame) -> pl.DataFrame:
    sign, probability = pl.col("1"), pl.col("4")
    truth = (
        pl.when((sign == "!") | probability.str.starts_with("0"))
        .then(labels.FALSE)
        .when(sign == "?")
        .then(labels.UNKNOWN)
        .otherwise(labels.TRUE)
    )
    arity = pl.col("3").str.count_matches(",", literal=True) + 1
    frame = parts.select(
        name=pl.col("2"),
        truth=truth.cast(pl.Int8),
        arity=arity.cast(pl.Int32),
        line=pl.col("line").cast(pl.Int64),
        args=pl.col("3"),
    )
    width = int(frame["arity"].max() or 0)  # type: ignore[arg-type]
    if not width:
        return frame.drop("args")
    args = frame["args"].str.split_exact(",", width - 1).struct.unnest()
    args.columns = [f"a{i}" for i in range(width)]
    stripped = args.with_columns(pl.all().str.strip_chars(" \t"))
    return pl.concat([frame.drop("args"), stripped], how="horizontal")


def _frame(atoms: list[RawAtom]) -> pl.DataFrame:
    width = max((len(atom.args) for atom in atoms), default=0)
    columns: dict[str, pl.Series] = {
        "name": pl.Series([atom.name for atom in atoms], dtype=pl.String),
        "truth": pl.Series([atom.truth for atom in atoms], dtype=pl.Int8),
        "arity": pl.Series([len(atom.args) for atom in atoms], dtype=pl.Int32),
        "line": pl.Series([atom.line for atom in atoms], dtype=pl.Int64),
    }
    for i in range(width):
        values = [atom.args[i] if i < len(atom.args) else None for atom in atoms]
        columns[f"a{i}"] = pl.Series(values, dtype=pl.String)
    return pl.DataFrame(columns)


def _blocks(lines: pl.Series, chosen: pl.Series) -> Iterator[tuple[int, str]]:
    """Yield runs of neighbouring chosen lines with the number of the first one."""
    rows = chosen.arg_true().to_list()
    start = 0
    for i in range(1, len(rows) + 1):
        if i == len(rows) or rows[i] != rows[i - 1] + 1:
            first, last = rows[start], rows[i - 1]
            yield first, "\n".join(lines.slice(first, last - first + 1).to_list())
            start = i


def _without_block_comments(text: str) -> str:
    """Blank out block comments, keeping every line where it is."""
    if "/*" not in text:
        return text
    return _COMMENT_OR_QUOTE.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    found = match[0]
    return re.sub(r"[^\n]", " ", found) if found.startswith("/*") else found
