"""How the house is built, in numbers: modules, lines, comments, and the way of one `splice learn`.

`python -m benchmarks.house` prints them, and what the lines of each room are. They are counts, not times: the same on any machine.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tempfile
import tokenize
from collections import Counter
from pathlib import Path
from types import FrameType

import splice
from splice.cli import main as command

PACKAGE = Path(splice.__file__).resolve().parent


def events(folder: Path) -> None:
    """Write two small tables: who is near whom, and a few labels."""
    rows, labels = ["time,event,arg1,arg2"], ["fluent,start,end,label"]
    for time in range(200):
        near = (time // 20) % 2 == 0
        rows += [f"{time},walking,a,", f"{time},{'near' if near else 'far'},a,b"]
    for start in range(0, 200, 20):
        label = "true" if (start // 20) % 2 == 0 else "false"
        labels.append(f'"together(a,b)",{start},{start + 20},{label if start < 100 else ""}')
    (folder / "events.csv").write_text("\n".join(rows), "utf-8")
    (folder / "labels.csv").write_text("\n".join(labels), "utf-8")


class Way:
    """The modules that a run enters, and how often it goes from one room to another."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.changes: Counter[tuple[str, str]] = Counter()
        self.partitions = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_name in ("<module>", "<genexpr>", "<lambda>"):
            return
        here = self._module(frame)
        if here is None:
            return
        self.modules.add(here)
        self.partitions += here == "patterns.partition" and frame.f_code.co_name == "partition"
        before = self._module(frame.f_back) if frame.f_back else None
        if before is not None:
            rooms = before.partition(".")[0], here.partition(".")[0]
            self.changes[rooms] += rooms[0] != rooms[1]

    @staticmethod
    def _module(frame: FrameType | None) -> str | None:
        file = frame.f_code.co_filename if frame else ""
        if not file.startswith(str(PACKAGE)):
            return None
        return ".".join(Path(file).relative_to(PACKAGE).with_suffix("").parts)


def learn() -> Way:
    """Trace one `splice learn` on two CSV files; one before it loads what it needs."""
    way = Way()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "data"
        folder.mkdir()
        events(folder)
        words = ["learn", str(folder), "--out", str(Path(name) / "found.rules")]
        run(words)
        sys.setprofile(way)
        try:
            run([*words, "--force"])
        finally:
            sys.setprofile(None)
    return way


def run(words: list[str]) -> None:
    """Run the command, and listen to nothing that it says."""
    silent = io.StringIO()
    with contextlib.redirect_stderr(silent), contextlib.redirect_stdout(silent):
        try:
            command(words)
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(silent.getvalue()) from ended


def comments(path: Path) -> int:
    """Return how many lines of a file are comments that are no directives."""
    with path.open("rb") as file:
        texts = [t.string for t in tokenize.tokenize(file.readline) if t.type == tokenize.COMMENT]
    return sum(not text.startswith(("# noqa", "# type:", "# fmt", "# pragma")) for text in texts)


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(path: Path) -> Counter[str]:
    """Return what the lines of a file are: code, docstrings, blank lines, imports, comments."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    kinds = ["code" if line.strip() else "blank" for line in lines]
    for i, line in enumerate(lines):
        if line.strip().startswith("#"):
            kinds[i] = "comments"
    for node in ast.walk(ast.parse(text)):
        part: ast.stmt | None = None
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            part, kind = node.body[0], "docstrings"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            part, kind = node, "imports"
        if part is not None:
            end = part.end_lineno or part.lineno
            kinds[part.lineno - 1 : end] = [kind] * (end - part.lineno + 1)
    return Counter(kinds)


def rooms() -> dict[str, Counter[str]]:
    """Return the modules and the kinds of lines of each room, the largest first."""
    by_room: dict[str, Counter[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        room = by_room.setdefault(inside[0] if len(inside) > 1 else "(root)", Counter())
        lines = lines_of(path)
        room.update(lines, modules=1, lines=lines.total())
    return dict(sorted(by_room.items(), key=lambda item: -item[1]["lines"]))


def main() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
    comment_lines = sum(map(comments, files))
    way = learn()
    shell = list((PACKAGE / "cli").glob("*.py"))
    rows = {
        "modules": len(files),
        "lines": lines,
        "comments": comment_lines,
        "comments per 1,000 lines": round(1000 * comment_lines / lines, 1),
        "lines of the command": sum(len(p.read_text("utf-8").splitlines()) for p in shell),
        "modules that one `splice learn` on two CSV files enters": len(way.modules),
        "room changes on its way": sum(way.changes.values()),
        "of these, learners <-> completion": way.changes["learners", "completion"]
        + way.changes["completion", "learners"],
        "partitions of its batches": way.partitions,
    }
    for name, value in rows.items():
        print(f"{name:<60} {value:>10,}")
    columns = ("modules", "lines", "code", "docstrings", "blank", "imports", "comments")
    print("\n" + " ".join(f"{name:>12}" for name in ("room", *columns)))
    table = rooms()
    total = sum(table.values(), Counter[str]())
    for room, counts in {**table, "all": total}.items():
        print(f"{room:>12}", *(f"{counts[name]:>12,}" for name in columns))


if __name__ == "__main__":
    main()
