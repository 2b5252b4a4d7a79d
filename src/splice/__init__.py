"""Semi-supervised online structure learning for composite event recognition.

A stream of simple events, a few labels, and rules that say when the composite events
hold. The words of the project are values whose text reads back:

>>> import splice
>>> rule = splice.parse_rule("initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,25,T).")
>>> print(rule.head)
initiatedAt(meet(X,Y),T)
>>> splice.parse_rule(str(rule)) == rule
True

Every public name can be taken from here. The modules behind them are loaded on first
use, so ``import splice`` alone costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from splice.completion.cache import Caching as Caching
    from splice.completion.completer import SupervisionCompleter as SupervisionCompleter
    from splice.completion.connector import KNN as KNN
    from splice.completion.connector import EpsilonNN as EpsilonNN
    from splice.completion.distance import Ground as Ground
    from splice.completion.distance import Lifted as Lifted
    from splice.completion.explain import Explanation as Explanation
    from splice.completion.filter import Filter as Filter
    from splice.completion.filter import Hoeffding as Hoeffding
    from splice.completion.filter import Majority as Majority
    from splice.completion.filter import Undecided as Undecided
    from splice.completion.filter import Unfiltered as Unfiltered
    from splice.completion.links import Temporal as Temporal
    from splice.completion.profile import Profile as Profile
    from splice.completion.profile import profile as profile
    from splice.completion.result import Completion as Completion
    from splice.completion.solver import Harmonic as Harmonic
    from splice.completion.solver import LabelPropagation as LabelPropagation
    from splice.completion.solver import LabelSpreading as LabelSpreading
    from splice.completion.solver import PseudoInverse as PseudoInverse
    from splice.completion.solver import TinyWeight as TinyWeight
    from splice.completion.solver import Unreached as Unreached
    from splice.completion.source import CompletedSource as CompletedSource
    from splice.completion.threshold import ClassMass as ClassMass
    from splice.completion.threshold import LogOdds as LogOdds
    from splice.completion.threshold import Zero as Zero
    from splice.errors import InputError as InputError
    from splice.errors import OutputError as OutputError
    from splice.errors import Problem as Problem
    from splice.errors import SpliceError as SpliceError
    from splice.errors import UnknownName as UnknownName
    from splice.evaluation.confusion import Confusion as Confusion
    from splice.evaluation.recognition import Scores as Scores
    from splice.evaluation.recognition import score as score
    from splice.evaluation.reinitiation import reinitiation_rates as reinitiation_rates
    from splice.events.crisp.explain import explain_interval as explain_interval
    from splice.events.crisp.intervals import Intervals as Intervals
    from splice.events.crisp.program import Program as Program
    from splice.events.crisp.program import Simultaneous as Simultaneous
    from splice.events.crisp.program import compile_program as compile_program
    from splice.events.crisp.recognition import Recognised as Recognised
    from splice.events.crisp.windows import WindowedRecogniser as WindowedRecogniser
    from splice.events.points import Observed as Observed
    from splice.events.points import Step as Step
    from splice.events.recognise import Recognition as Recognition
    from splice.events.recognise import interval_frame as interval_frame
    from splice.events.recognise import recognise as recognise
    from splice.events.weighted.inference import Inference as Inference
    from splice.events.weighted.inference import infer as infer
    from splice.events.weighted.inference import infer_events as infer_events
    from splice.inputs.domains import load_domain as load_domain
    from splice.inputs.open import InputOptions as InputOptions
    from splice.inputs.open import open_input as open_input
    from splice.inputs.theories import load_theory as load_theory
    from splice.inputs.write import write_source as write_source
    from splice.io.checkpoints import Checkpoint as Checkpoint
    from splice.io.checkpoints import read_checkpoint as read_checkpoint
    from splice.io.checkpoints import write_checkpoint as write_checkpoint
    from splice.io.tables.reader import TableSource as TableSource
    from splice.lab.caviar import caviar_source as caviar_source
    from splice.lab.cvml import read_cvml_files as read_cvml_files
    from splice.lab.fetch import fetch as fetch
    from splice.lab.figures.results import read_results as read_results
    from splice.lab.figures.results import results_report as results_report
    from splice.lab.maritime import make_maritime as make_maritime
    from splice.lab.maritime.deriving import derive_ais as derive_ais
    from splice.lab.plaza import make_plaza as make_plaza
    from splice.learners.oled.learner import Oled as Oled
    from splice.learners.oled.options import OledOptions as OledOptions
    from splice.learners.osla.learner import Osla as Osla
    from splice.learners.osla.options import OslaOptions as OslaOptions
    from splice.learners.weights import AdaGrad as AdaGrad
    from splice.logic.atoms import Atom as Atom
    from splice.logic.atoms import Literal as Literal
    from splice.logic.clauses import Clause as Clause
    from splice.logic.clauses import Rule as Rule
    from splice.logic.domain import Domain as Domain
    from splice.logic.modes import Modes as Modes
    from splice.logic.schema import Schema as Schema
    from splice.logic.syntax import parse_atom as parse_atom
    from splice.logic.syntax import parse_rule as parse_rule
    from splice.logic.syntax import parse_term as parse_term
    from splice.logic.syntax import parse_theory as parse_theory
    from splice.logic.terms import Constant as Constant
    from splice.logic.terms import Function as Function
    from splice.logic.terms import Variable as Variable
    from splice.logic.theory import Theory as Theory
    from splice.patterns.transitions import Unlabelled as Unlabelled
    from splice.pipeline.checkpoint import Checkpointing as Checkpointing
    from splice.pipeline.complete import complete as complete
    from splice.pipeline.counts import CompletionCounts as CompletionCounts
    from splice.pipeline.learned import Learned as Learned
    from splice.pipeline.learned import LearnOptions as LearnOptions
    from splice.pipeline.rules import LearnedRule as LearnedRule
    from splice.pipeline.run import learn as learn
    from splice.pipeline.splice import Splice as Splice
    from splice.pipeline.splice import StepReport as StepReport
    from splice.report.document import Report as Report
    from splice.report.html import report_page as report_page
    from splice.stream.batch import MicroBatch as MicroBatch
    from splice.stream.batches import Duration as Duration
    from splice.stream.batches import Entities as Entities
    from splice.stream.batches import TimePoints as TimePoints
    from splice.stream.batches import batches as batches
    from splice.stream.mask import KeepAtoms as KeepAtoms
    from splice.stream.mask import KeepBatches as KeepBatches
    from splice.stream.mask import KeepSequences as KeepSequences
    from splice.stream.mask import MaskedSource as MaskedSource
    from splice.stream.mask import Unit as Unit
    from splice.stream.open_world import OpenWorldSource as OpenWorldSource
    from splice.stream.source import MemorySource as MemorySource
    from splice.stream.source import Source as Source
    from splice.stream.source import collect as collect
    from splice.stream.source import sequences as sequences
    from splice.stream.table import AtomTable as AtomTable
    from splice.stream.vocabulary import Vocabulary as Vocabulary

__version__: Final = "0.1.0"

# Each public name and the module that defines it; the block above says the same to type
# checkers, and a test keeps the two equal.
_STRATEGIES: Final[dict[str, tuple[str, ...]]] = {
    "connector": (
        "KNN",
        "EpsilonNN",
    ),
    "cache": ("Caching",),
    "threshold": (
        "ClassMass",
        "LogOdds",
        "Zero",
    ),
    "filter": (
        "Filter",
        "Hoeffding",
        "Majority",
        "Undecided",
        "Unfiltered",
    ),
    "distance": (
        "Ground",
        "Lifted",
    ),
    "solver": (
        "Harmonic",
        "LabelPropagation",
        "LabelSpreading",
        "PseudoInverse",
        "TinyWeight",
        "Unreached",
    ),
    "links": ("Temporal",),
}
"""What a profile is made of: distances, connectors, solvers, thresholds, filters."""

_HOMES: Final[dict[str, str]] = {
    **{name: f"splice.completion.{home}" for home, names in _STRATEGIES.items() for name in names},
    "AdaGrad": "splice.learners.weights",
    "Atom": "splice.logic.atoms",
    "AtomTable": "splice.stream.table",
    "Checkpoint": "splice.io.checkpoints",
    "Checkpointing": "splice.pipeline.checkpoint",
    "Clause": "splice.logic.clauses",
    "CompletedSource": "splice.completion.source",
    "Completion": "splice.completion.result",
    "CompletionCounts": "splice.pipeline.counts",
    "Confusion": "splice.evaluation.confusion",
    "Constant": "splice.logic.terms",
    "Domain": "splice.logic.domain",
    "Duration": "splice.stream.batches",
    "Entities": "splice.stream.batches",
    "Explanation": "splice.completion.explain",
    "Function": "splice.logic.terms",
    "Inference": "splice.events.weighted.inference",
    "InputError": "splice.errors",
    "InputOptions": "splice.inputs.open",
    "Intervals": "splice.events.crisp.intervals",
    "KeepAtoms": "splice.stream.mask",
    "KeepBatches": "splice.stream.mask",
    "KeepSequences": "splice.stream.mask",
    "LearnOptions": "splice.pipeline.learned",
    "Learned": "splice.pipeline.learned",
    "LearnedRule": "splice.pipeline.rules",
    "Literal": "splice.logic.atoms",
    "MaskedSource": "splice.stream.mask",
    "MemorySource": "splice.stream.source",
    "MicroBatch": "splice.stream.batch",
    "Modes": "splice.logic.modes",
    "Observed": "splice.events.points",
    "Oled": "splice.learners.oled.learner",
    "OledOptions": "splice.learners.oled.options",
    "OpenWorldSource": "splice.stream.open_world",
    "Osla": "splice.learners.osla.learner",
    "OslaOptions": "splice.learners.osla.options",
    "OutputError": "splice.errors",
    "Problem": "splice.errors",
    "Profile": "splice.completion.profile",
    "Program": "splice.events.crisp.program",
    "Recognised": "splice.events.crisp.recognition",
    "Recognition": "splice.events.recognise",
    "Report": "splice.report.document",
    "Rule": "splice.logic.clauses",
    "Schema": "splice.logic.schema",
    "Scores": "splice.evaluation.recognition",
    "Simultaneous": "splice.events.crisp.program",
    "Source": "splice.stream.source",
    "Splice": "splice.pipeline.splice",
    "SpliceError": "splice.errors",
    "Step": "splice.events.points",
    "StepReport": "splice.pipeline.splice",
    "SupervisionCompleter": "splice.completion.completer",
    "TableSource": "splice.io.tables.reader",
    "Theory": "splice.logic.theory",
    "TimePoints": "splice.stream.batches",
    "Unit": "splice.stream.mask",
    "UnknownName": "splice.errors",
    "Unlabelled": "splice.patterns.transitions",
    "Variable": "splice.logic.terms",
    "Vocabulary": "splice.stream.vocabulary",
    "WindowedRecogniser": "splice.events.crisp.windows",
    "batches": "splice.stream.batches",
    "caviar_source": "splice.lab.caviar",
    "collect": "splice.stream.source",
    "compile_program": "splice.events.crisp.program",
    "complete": "splice.pipeline.complete",
    "derive_ais": "splice.lab.maritime.deriving",
    "explain_interval": "splice.events.crisp.explain",
    "fetch": "splice.lab.fetch",
    "infer": "splice.events.weighted.inference",
    "infer_events": "splice.events.weighted.inference",
    "interval_frame": "splice.events.recognise",
    "learn": "splice.pipeline.run",
    "load_domain": "splice.inputs.domains",
    "load_theory": "splice.inputs.theories",
    "make_maritime": "splice.lab.maritime",
    "make_plaza": "splice.lab.plaza",
    "open_input": "splice.inputs.open",
    "parse_atom": "splice.logic.syntax",
    "parse_rule": "splice.logic.syntax",
    "parse_term": "splice.logic.syntax",
    "parse_theory": "splice.logic.syntax",
    "profile": "splice.completion.profile",
    "read_checkpoint": "splice.io.checkpoints",
    "read_cvml_files": "splice.lab.cvml",
    "read_results": "splice.lab.figures.results",
    "recognise": "splice.events.recognise",
    "reinitiation_rates": "splice.evaluation.reinitiation",
    "report_page": "splice.report.html",
    "results_report": "splice.lab.figures.results",
    "score": "splice.evaluation.recognition",
    "sequences": "splice.stream.source",
    "write_checkpoint": "splice.io.checkpoints",
    "write_source": "splice.inputs.write",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  (every entry is a string)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'splice' has no attribute '{name}'")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
