"""Everything that reads: what it is given whole, and what is done with what came of the damage."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fuzz.mutations import mutated_bytes, mutated_value
from hostile import NAMES

__all__ = ["TARGETS", "Target"]

EVENTS = "sequence,time,event,arg1,arg2\n" + "".join(
    f"{s},{t},{'walk' if t % 3 else 'press'},p{t % 4},{t}.5\n" for s in "ab" for t in range(12)
)
LABELS = "sequence,fluent,time,label\n" + "".join(
    f'{s},"lit(p{p},p{q})",{t},{("false", "true", "")[(t + p) % 3]}\n'
    for s in "ab"
    for t in range(12)
    for p, q in ((0, 1), (1, 0), (2, 3))
)
SPANS = "sequence,fluent,start,end,label\na,lit(p0),1,5,true\na,lit(p1),2,9,false\nb,watched,0,9,\n"
CALENDAR = "time,event,arg1\n2024-01-01T00:00:00Z,a,b\n2024-01-01T00:00:01Z,a,c\n"
DB = "Press_A = press(A)\nHappens(Press_A, 1)\nHappens(Walk, 2)\nClose(A, B, 34, 2)\nHoldsAt(Lit, 1)\n!HoldsAt(Lit, 2)\n?HoldsAt(Lit, 3)\n"
RTEC = "press|1|1|a\nwalk|2|2|a|b\nspeed|3|3|a|1.5\ngap|4|4|9|true|a\n"
MLN = """time = {1, ..., 9}
event press(id)
fluent lit(id,id)
HoldsAt(fluent,time)
Happens(event,time)
Next(time,time)
1.5 Happens(press(x),t) ^ Next(t,t2) => HoldsAt(lit(x,x),t2)
!HoldsAt(lit(x,y),t) v Happens(press(x),t).
-0.5 HoldsAt(lit(x,x),t) <=> Happens(press(x),t)
"""
MODES = "modeP(2, Happens(-,+))\nmodeF(1, press(.))\nmodeP(1, Close(.,.,#+,+))\n"
OLED_MODES = "modeh(initiatedAt(lit(+id,+id),+time))\nmodeb(happensAt(press(+id),+time))\nexamplePattern(holdsAt(lit(+id,+id),+time))\n"
RULES = """% a comment
initiatedAt(lit(X,Y),T) :- happensAt(press(X),T), happensAt(walk(Y,_),T), not holdsAt(low(Y),T), X != Y.
terminatedAt(lit(X,Y),T) :- happensAt(walk(X,V),T), V >= 2.5.
holdsFor(up(X),I) :- holdsFor(lit(X,_),J), union_all([J],I).
initiatedAt(low(X),T) :- happensAt(walk(X,V),T), V < 3.
"""
WEIGHTED = """1.25 :: initiatedAt(lit(X,Y),T) :- happensAt(press(X),T), happensAt(walk(Y,V),T).
0.5 :: terminatedAt(lit(X,Y),T) :- happensAt(walk(X,V),T).
"""
WEIGHTED_MLN = """Happens(event,time)
HoldsAt(fluent,time)
InitiatedAt(fluent,time)
TerminatedAt(fluent,time)
Next(time,time)
event press(id)
fluent lit(id,id)
1.5 Happens(press(x),t) => InitiatedAt(lit(x,x),t)
0.5 Happens(press(x),t) => TerminatedAt(lit(x,x),t)
Next(t1,t0) ^ InitiatedAt(f,t0) => HoldsAt(f,t1).
1 Next(t1,t0) ^ HoldsAt(f,t0) ^ !TerminatedAt(f,t0) => HoldsAt(f,t1)
"""
DOMAIN = '''name = "lamp"
modes = """
modeP(2, Happens(-,+))
"""
literals = ["initiatedAt(lit(X,Y),T)", "happensAt(press(X),T)"]
[target]
query = "HoldsAt/2"
fluents = ["lit"]
exclusive = false
[types]
time = { first = 1, last = 90 }
id = ["a", "b"]
[predicates]
Happens = ["event", "time"]
HoldsAt = ["fluent", "time"]
Close = { name = "close", args = ["id", "id", "number", "time"] }
[functions]
press = { args = ["id"], returns = "event" }
lit = { args = ["id", "id"], returns = "fluent" }
[time]
unit = "s"
every = "1min"
[states]
on = "*_on"
off = "*_off"
[[tables]]
file = "events.csv*"
sequence = "sequence"
atom = "Happens({event}({id}),{frame})"
where = { kind = ["a", "b"] }
'''
EXPERIMENT = """kind = "completion"
[grid]
datasets = ["plaza", { name = "plaza", sequences = 2, people = 3, frames = 100, seed = 1 }]
masks = [{ scope = "atoms", unit = "pair" }, { scope = "batches" }]
levels = [5, 10]
samples = 2
batch_sizes = [25, 50]
[[methods]]
name = "paper {connector}"
profile = "paper"
connector = ["knn:2", "enn:0.5"]
[[methods]]
name = "default"
"""
CVML = """<?xml version="1.0"?><dataset name="x"><frame number="0"><objectlist><object id="0"><orientation>90</orientation>
<box xc="10" yc="10" w="4" h="4"/><appearance>visible</appearance><hypothesislist><hypothesis id="1" prev="1.0" evaluation="1.0">
<movement evaluation="1.0">walking</movement><role evaluation="1.0">walker</role><context evaluation="1.0">walking</context>
<situation evaluation="1.0">moving</situation></hypothesis></hypothesislist></object></objectlist><grouplist></grouplist></frame></dataset>
"""
AIS = "sourcemmsi,speedoverground,courseoverground,lon,lat,t\n1,5.1,90,-4.5,48.1,10\n2,0.1,180.5,-4.4,48.2,11\n1,5.2,91,-4.49,48.1,20\n"
RESULTS = "dataset,scope,unit,batch_size,method,level,n,f1,f1_sd,published\nplaza,atoms,pair,25,a,5,20,.8,.1,.7\nplaza,atoms,pair,25,a,10,20,.85,.1,\n"
INTERVALS = "sequence,fluent,start,end,probability\na,lit(p0),1,5,0.5\na,lit(p1),2,9,1\n"


@dataclass(frozen=True)
class Target:
    """Something that reads: how an input is made from a number, and what reads it.

    ``make`` returns bytes from chance, ``read`` takes them, with a folder to work in.
    """

    name: str
    make: Callable[[random.Random], bytes]
    read: Callable[[bytes, Path], object]
    seconds: float = 5.0
    """So long may one input take."""


def _bytes(*seeds: str | bytes) -> Callable[[random.Random], bytes]:
    whole = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
    return lambda chance: mutated_bytes(chance.choice(whole), whole, chance)


def _file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def reading(data: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(data)
        return read(path)

    return reading


# data: read as a stream, and checked


def _stream(path: Path) -> None:
    from splice.inputs.check import input_problems
    from splice.inputs.open import InputOptions, open_input

    options = InputOptions(time_unit="s" if path.stat().st_size % 2 else None)
    source = open_input(str(path), options)
    with _left_to_the_check():
        for chunk in source.chunks():
            assert chunk.lines is None or len(chunk.lines) == len(chunk)
    for problem in input_problems(str(path), options):
        assert problem.place.file
        str(problem)


@contextlib.contextmanager
def _left_to_the_check() -> Iterator[None]:
    from splice.errors import SpliceError

    with contextlib.suppress(SpliceError):
        yield


def _packed(make: Callable[[random.Random], bytes]) -> Callable[[random.Random], bytes]:
    import gzip

    def packed(chance: random.Random) -> bytes:
        data = gzip.compress(make(chance), 1)
        return mutated_bytes(data, [data], chance) if chance.random() < 0.5 else data

    return packed


@functools.cache
def _parquet() -> bytes:
    frame = pl.read_csv(io.BytesIO(EVENTS.encode()))
    with io.BytesIO() as stream:
        frame.write_parquet(stream)
        return stream.getvalue()


def _ndjson(text: str) -> str:
    return pl.read_csv(io.BytesIO(text.encode()), infer_schema=False).write_ndjson()


def _folder(data: bytes, folder: Path) -> None:
    """Read a domain.toml beside tables, and the tables by it."""
    home = folder / "data"
    home.mkdir(exist_ok=True)
    (home / "events.csv").write_text(EVENTS, "utf-8")
    (home / "labels.csv").write_text(LABELS, "utf-8")
    (home / "domain.toml").write_bytes(data)
    _stream(home)


# knowledge


def _domain(path: Path) -> None:
    from splice.io.domain_file import format_domain, parse_domain, read_domain_file

    found = read_domain_file(path)
    again = parse_domain(format_domain(found.domain, time_unit=found.layout.time_unit))
    assert again.domain.schema == found.domain.schema


def _mln(path: Path) -> None:
    from splice.io.lomrf.mln import read_mln

    str(read_mln(path))


def _modes(path: Path) -> None:
    from splice.io.lomrf.modes import format_modes, some_modes
    from splice.io.oled_modes import is_oled_modes, parse_oled_modes
    from splice.io.text import read_text

    text = read_text(path)
    if is_oled_modes(text):
        parse_oled_modes(text, str(path))
    else:
        format_modes(some_modes(text, str(path)))


def _rules(path: Path) -> None:
    from splice.events.crisp.program import compile_program
    from splice.inputs.theories import load_theory
    from splice.logic.domain import Domain
    from splice.logic.syntax import parse_theory

    theory = load_theory(str(path))
    assert parse_theory(str(theory)) == parse_theory(str(parse_theory(str(theory))))
    compile_program(theory, Domain())


def _recognised(data: bytes, folder: Path) -> None:
    """Recognise by a damaged theory, on tables that are whole."""
    from splice.events.recognise import recognise
    from splice.inputs.open import open_input
    from splice.inputs.theories import load_theory

    home = _whole_tables(folder)
    (folder / "t.rules").write_bytes(data)
    theory = load_theory(str(folder / "t.rules"))
    recognise(theory, open_input(str(home))).intervals()


def _recognised_mln(data: bytes, folder: Path) -> None:
    """Work out a damaged knowledge base on evidence that is whole."""
    from splice.events.recognise import recognise
    from splice.inputs.open import open_input
    from splice.inputs.theories import load_theory

    (folder / "e.db").write_text(DB, "utf-8")
    (folder / "t.mln").write_bytes(data)
    theory = load_theory(str(folder / "t.mln"))
    recognise(theory, open_input(str(folder / "e.db"))).intervals()


def _intervals(path: Path) -> None:
    from splice.io.intervals import read_intervals

    read_intervals(path, time_unit="s")


# states


@functools.cache
def _run_states() -> tuple[dict[str, Any], ...]:
    """Return the checkpoints of runs in the midst: OLED, with completion, and OSLa."""
    from splice.learners.registry import LEARNERS
    from splice.pipeline.learned import LearnOptions

    return tuple(
        _checkpoint_of(LearnOptions(learner=LEARNERS.choose(name))) for name in ("oled", "osla")
    )


def _checkpoint_of(choices: Any) -> dict[str, Any]:
    from splice.io.checkpoints import read_checkpoint
    from splice.pipeline.checkpoint import Checkpointing
    from splice.pipeline.progress import LearnedBatch
    from splice.pipeline.run import learn

    class _Stop(BaseException):
        pass

    with tempfile.TemporaryDirectory() as name:
        home, path = _whole_tables(Path(name)), Path(name) / "c"

        def stop(event: object) -> None:
            if isinstance(event, LearnedBatch) and event.learned.batches >= 5:
                raise _Stop

        with contextlib.suppress(_Stop):
            learn(
                str(home),
                None,
                _small(choices),
                checkpoint=Checkpointing(path, every=0),
                watch=stop,
            )
        return read_checkpoint(path).state


def _small(choices: Any) -> Any:
    from dataclasses import replace

    return replace(choices, batch_size=3)


def _whole_tables(folder: Path) -> Path:
    home = folder / "whole"
    if not home.exists():
        home.mkdir()
        (home / "events.csv").write_text(EVENTS, "utf-8")
        (home / "labels.csv").write_text(LABELS, "utf-8")
    return home


def _state(chance: random.Random) -> bytes:
    which = chance.randrange(2)
    return json.dumps([which, mutated_value(_run_states()[which], chance)]).encode()


def _resume(data: bytes, folder: Path) -> None:
    """Go on from a checkpoint whose sum is right and whose content is damaged."""
    from splice.io.checkpoints import Checkpoint, write_checkpoint
    from splice.learners.registry import LEARNERS
    from splice.pipeline.checkpoint import Checkpointing, run_identity
    from splice.pipeline.learned import LearnOptions
    from splice.pipeline.run import InputOptions, learn

    which, state = json.loads(data)
    home, path = _whole_tables(folder), folder / "c"
    choices = _small(LearnOptions(learner=LEARNERS.choose(("oled", "osla")[which])))
    identity = run_identity(str(home), InputOptions(), choices.identity())
    write_checkpoint(path, Checkpoint(identity, state))
    learned = learn(
        str(home), None, choices, checkpoint=Checkpointing(path, resume=True, every=1e9)
    )
    [rule.as_json() for rule in learned.rules]


@functools.cache
def _whole_checkpoint() -> bytes:
    from splice.io.checkpoints import Checkpoint, write_checkpoint

    with tempfile.TemporaryDirectory() as name:
        write_checkpoint(Path(name) / "c", Checkpoint({"a": "b"}, _run_states()[0]))
        return (Path(name) / "c").read_bytes()


def _checkpoint(chance: random.Random) -> bytes:
    """Return a damaged file, or one whose sum is right and whose packed content is no state."""
    import hashlib
    import zlib

    if chance.random() < 0.5:
        return mutated_bytes(_whole_checkpoint(), [b"{}"], chance)
    text = mutated_bytes(
        b'{"identity":{"a":"b"},"state":{"pass":0,"batch":[1.5]}}', [b"[" * 99], chance
    )
    packed = zlib.compress(text, 1) if chance.random() < 0.8 else text
    return b"splice checkpoint 1 %s\n" % hashlib.sha256(packed).hexdigest().encode() + packed


def _read_checkpoint(path: Path) -> None:
    from splice.io.checkpoints import read_checkpoint

    read_checkpoint(path)


# what the laboratory reads


def _experiment(path: Path) -> None:
    from splice.lab.experiments.run import load

    for cell in load(path).cells()[:50]:
        str(cell)


def _cvml(path: Path) -> None:
    from splice.lab.cvml import read_cvml

    read_cvml(path, "clip")


def _ais(path: Path) -> None:
    from splice.lab.ais import read_ais
    from splice.stream.source import ReadReport

    for frame in read_ais(path, ReadReport(), max_bad=0.5):
        assert frame.width


def _results(path: Path) -> None:
    from splice.lab.figures.results import read_results

    read_results(path)


def _manifest(data: bytes, folder: Path) -> None:
    from splice.lab.experiments.run import rows_of

    (folder / "manifest.json").write_bytes(data)
    rows_of(folder)


# options: any of a command's, with values that are none


@functools.cache
def _commands() -> dict[str, Any]:
    import typer

    from splice.cli.commands import COMMANDS, app

    root = typer.main.get_command(app)
    found = {}
    for words in COMMANDS:
        command: Any = root
        for word in words.split():
            command = command.commands[word]
        if words.split()[0] in _RUNNABLE or words in _RUNNABLE:
            found[words] = command
    return found


_RUNNABLE = {
    "data show": ["DATA"], "data check": ["DATA"], "data convert": ["DATA", "OUT"], "mask": ["DATA"],
    "complete": ["DATA"], "learn": ["DATA"], "recognise": ["RULES", "DATA"], "evaluate": ["DATA", "DATA"],
    "explain label": ["DATA"], "explain interval": ["RULES", "DATA"], "explain rule": ["DATA"],
    "theory show": ["RULES"], "theory check": ["RULES"], "theory diff": ["RULES", "RULES"],
    "theory export": ["RULES"], "theory rates": ["RULES", "DATA"], "data list": [],
}  # fmt: skip
_NEEDED = {"mask": ["--level", "50", "--out", "OUT"], "data convert": ["--to", "ndjson"]}
_FORMS = [
    "knn:2",
    "enn:0.5",
    "lifted",
    "ground",
    "hoeffding",
    "log-odds",
    "1min",
    "auto",
    "50",
    "0.5",
    "json",
    "csv",
]
_LEFT_OUT = {"--help", "--report", "--jobs", "--shards", "--page", "--engine", "--debug"}
"""Files of their own, processes, and help."""


def _words(chance: random.Random) -> bytes:
    """Return a command line as JSON: a command, its arguments, and some options with odd values."""
    command = chance.choice([name for name in _RUNNABLE if name in _commands_named()])
    options = [p for p in _options_of(command) if p[0] not in _LEFT_OUT]
    words = [*command.split(), *_RUNNABLE[command], *_NEEDED.get(command, [])]
    for name, takes in chance.sample(options, min(len(options), chance.choice((1, 1, 2, 3)))):
        words.append(name)
        if takes:
            seed = chance.choice([*_FORMS, *NAMES]).encode()
            value = mutated_bytes(seed, [b"1"], chance) if chance.random() < 0.7 else seed
            words.append(value[:300].decode("utf-8", "replace").replace("\0", ""))
    return json.dumps(words).encode()


@functools.cache
def _commands_named() -> frozenset[str]:
    from splice.cli.commands import COMMANDS

    return frozenset(COMMANDS)


@functools.cache
def _options_of(words: str) -> list[tuple[str, bool]]:
    """Return the options of a command, and whether each takes a value."""
    import typer

    from splice.cli.commands import app

    command: Any = typer.main.get_command(app)
    context = None
    for word in words.split():
        context = typer.Context(command, parent=context)
        command = command.get_command(context, word)
    command = command.load()  # what is listed has no options before
    context = typer.Context(command, parent=context)
    return sorted(
        (name, not parameter.is_flag)
        for parameter in command.get_params(context)
        if hasattr(parameter, "is_flag")
        for name in parameter.opts
    )


def _command(data: bytes, folder: Path) -> None:
    from splice.cli import _exit_code
    from splice.cli.commands import app

    home, rules, out = _whole_tables(folder), folder / "t.rules", folder / "out"
    rules.write_text(RULES, "utf-8")
    places = {"DATA": str(home), "RULES": str(rules), "OUT": str(out)}
    words = [places.get(word, word) for word in json.loads(data)]
    for i, word in enumerate(words[:-1]):
        if word in ("--out", "--checkpoint", "--table") and words[i + 1] != str(out):
            name = words[i + 1].replace("/", "_")
            words[i + 1] = str(folder / f"x{name}")[:200]
    shutil.rmtree(out, ignore_errors=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            app(args=words, prog_name="splice", standalone_mode=False)
        except SystemExit:
            pass
        except Exception as error:
            known = hasattr(error, "show") or isinstance(error, OSError)
            if not known:
                raise
            _exit_code(error)


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("csv events", _bytes(EVENTS, CALENDAR, LABELS), _file("events.csv", _stream)),
        Target("csv labels", _bytes(LABELS, SPANS), _file("labels.csv", _stream)),
        Target("csv.gz", _packed(_bytes(EVENTS)), _file("events.csv.gz", _stream)),
        Target("ndjson", _bytes(_ndjson(EVENTS), _ndjson(LABELS)), _file("events.ndjson", _stream)),
        Target("parquet", _bytes(_parquet()), _file("events.parquet", _stream)),
        Target("db", _bytes(DB), _file("a.db", _stream)),
        Target("db.gz", _packed(_bytes(DB)), _file("a.db.gz", _stream)),
        Target("rtec", _bytes(RTEC), _file("stream.csv", _stream)),
        Target("domain", _bytes(DOMAIN), _file("domain.toml", _domain)),
        Target("folder", _bytes(DOMAIN, "[time]\nevery = '2s'\n"), _folder),
        Target("mln", _bytes(MLN), _file("a.mln", _mln)),
        Target("modes", _bytes(MODES, OLED_MODES), _file("a.modes", _modes)),
        Target("rules", _bytes(RULES), _file("a.rules", _rules)),
        Target("recognise", _bytes(RULES, WEIGHTED), _recognised),
        Target("recognise mln", _bytes(MLN, WEIGHTED_MLN), _recognised_mln),
        Target("intervals csv", _bytes(INTERVALS), _file("a.csv", _intervals)),
        Target("intervals ndjson", _bytes(_ndjson(INTERVALS)), _file("a.ndjson", _intervals)),
        Target(
            "intervals json",
            _bytes('[{"fluent":"lit(a)","start":1,"end":2}]'),
            _file("a.json", _intervals),
        ),
        Target("checkpoint", _checkpoint, _file("c", _read_checkpoint)),
        Target("state", _state, _resume, seconds=20.0),
        Target("experiment", _bytes(EXPERIMENT), _file("e.toml", _experiment)),
        Target(
            "manifest", _bytes('{"format":1,"name":"x","configuration":{},"cells":[]}'), _manifest
        ),
        Target("cvml", _bytes(CVML), _file("a.xml", _cvml)),
        Target("ais", _bytes(AIS), _file("ais.csv", _ais)),
        Target("results", _bytes(RESULTS), _file("r.csv", _results)),
        Target("command", _words, _command, seconds=20.0),
    )
}
