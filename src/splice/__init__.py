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
    from splice.completion.completer import SupervisionCompleter as SupervisionCompleter
    from splice.completion.completion import Completion as Completion
    from splice.completion.explain import Explanation as Explanation
    from splice.completion.source import CompletedSource as CompletedSource
    from splice.completion.strategies import Profile as Profile
    from splice.completion.strategies import profile as profile
    from splice.datasets.caviar import caviar_source as caviar_source
    from splice.datasets.domains import load_domain as load_domain
    from splice.datasets.fetch import fetch as fetch
    from splice.datasets.inputs import InputOptions as InputOptions
    from splice.datasets.inputs import open_input as open_input
    from splice.datasets.maritime import make_maritime as make_maritime
    from splice.datasets.maritime.deriving import derive_ais as derive_ais
    from splice.datasets.outputs import OutFormat as OutFormat
    from splice.datasets.outputs import write_source as write_source
    from splice.datasets.plaza import make_plaza as make_plaza
    from splice.datasets.theories import load_theory as load_theory
    from splice.errors import InputError as InputError
    from splice.errors import OutputError as OutputError
    from splice.errors import Problem as Problem
    from splice.errors import SpliceError as SpliceError
    from splice.errors import UnknownName as UnknownName
    from splice.evaluation.confusion import Confusion as Confusion
    from splice.evaluation.reinitiation import reinitiation_rates as reinitiation_rates
    from splice.events.explain import explain_interval as explain_interval
    from splice.events.inference import Inference as Inference
    from splice.events.inference import infer as infer
    from splice.events.inference import infer_events as infer_events
    from splice.events.intervals import Intervals as Intervals
    from splice.events.points import Observed as Observed
    from splice.events.points import Step as Step
    from splice.events.program import Program as Program
    from splice.events.program import Simultaneous as Simultaneous
    from splice.events.program import compile_program as compile_program
    from splice.events.recognition import Recognised as Recognised
    from splice.events.recognition import recognise as recognise
    from splice.events.windows import WindowedRecogniser as WindowedRecogniser
    from splice.io.caviar_xml import read_cvml_files as read_cvml_files
    from splice.io.checkpoints import Checkpoint as Checkpoint
    from splice.io.checkpoints import read_checkpoint as read_checkpoint
    from splice.io.checkpoints import write_checkpoint as write_checkpoint
    from splice.learners.oled.learner import Oled as Oled
    from splice.learners.osla.learner import Osla as Osla
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
    from splice.pipeline import Splice as Splice
    from splice.pipeline import StepReport as StepReport
    from splice.report.document import Report as Report
    from splice.report.html import report_page as report_page
    from splice.report.results import read_results as read_results
    from splice.report.results import results_report as results_report
    from splice.stream.batch import MicroBatch as MicroBatch
    from splice.stream.cutting import Duration as Duration
    from splice.stream.cutting import Entities as Entities
    from splice.stream.cutting import TimePoints as TimePoints
    from splice.stream.cutting import batches as batches
    from splice.stream.masking import KeepAtoms as KeepAtoms
    from splice.stream.masking import KeepBatches as KeepBatches
    from splice.stream.masking import KeepSequences as KeepSequences
    from splice.stream.masking import MaskedSource as MaskedSource
    from splice.stream.masking import Unit as Unit
    from splice.stream.openworld import OpenWorldSource as OpenWorldSource
    from splice.stream.source import MemorySource as MemorySource
    from splice.stream.source import Source as Source
    from splice.stream.source import collect as collect
    from splice.stream.source import sequences as sequences
    from splice.stream.table import AtomTable as AtomTable
    from splice.stream.vocabulary import Vocabulary as Vocabulary

__version__: Final = "0.1.0"

# Each public name and the module that defines it; the block above says the same to type
# checkers, and a test keeps the two equal.
_HOMES: Final[dict[str, str]] = {
    "Atom": "splice.logic.atoms",
    "AtomTable": "splice.stream.table",
    "Checkpoint": "splice.io.checkpoints",
    "Clause": "splice.logic.clauses",
    "CompletedSource": "splice.completion.source",
    "Completion": "splice.completion.completion",
    "Confusion": "splice.evaluation.confusion",
    "Constant": "splice.logic.terms",
    "Domain": "splice.logic.domain",
    "Duration": "splice.stream.cutting",
    "Entities": "splice.stream.cutting",
    "Explanation": "splice.completion.explain",
    "Function": "splice.logic.terms",
    "Inference": "splice.events.inference",
    "InputError": "splice.errors",
    "InputOptions": "splice.datasets.inputs",
    "Intervals": "splice.events.intervals",
    "KeepAtoms": "splice.stream.masking",
    "KeepBatches": "splice.stream.masking",
    "KeepSequences": "splice.stream.masking",
    "Literal": "splice.logic.atoms",
    "MaskedSource": "splice.stream.masking",
    "MemorySource": "splice.stream.source",
    "MicroBatch": "splice.stream.batch",
    "Modes": "splice.logic.modes",
    "Observed": "splice.events.points",
    "Oled": "splice.learners.oled.learner",
    "OpenWorldSource": "splice.stream.openworld",
    "Osla": "splice.learners.osla.learner",
    "OutFormat": "splice.datasets.outputs",
    "OutputError": "splice.errors",
    "Problem": "splice.errors",
    "Profile": "splice.completion.strategies",
    "Program": "splice.events.program",
    "Recognised": "splice.events.recognition",
    "Report": "splice.report.document",
    "Rule": "splice.logic.clauses",
    "Schema": "splice.logic.schema",
    "Simultaneous": "splice.events.program",
    "Source": "splice.stream.source",
    "Splice": "splice.pipeline",
    "SpliceError": "splice.errors",
    "Step": "splice.events.points",
    "StepReport": "splice.pipeline",
    "SupervisionCompleter": "splice.completion.completer",
    "Theory": "splice.logic.theory",
    "TimePoints": "splice.stream.cutting",
    "Unit": "splice.stream.masking",
    "UnknownName": "splice.errors",
    "Variable": "splice.logic.terms",
    "Vocabulary": "splice.stream.vocabulary",
    "WindowedRecogniser": "splice.events.windows",
    "batches": "splice.stream.cutting",
    "caviar_source": "splice.datasets.caviar",
    "collect": "splice.stream.source",
    "compile_program": "splice.events.program",
    "derive_ais": "splice.datasets.maritime.deriving",
    "explain_interval": "splice.events.explain",
    "fetch": "splice.datasets.fetch",
    "infer": "splice.events.inference",
    "infer_events": "splice.events.inference",
    "load_domain": "splice.datasets.domains",
    "load_theory": "splice.datasets.theories",
    "make_maritime": "splice.datasets.maritime",
    "make_plaza": "splice.datasets.plaza",
    "open_input": "splice.datasets.inputs",
    "parse_atom": "splice.logic.syntax",
    "parse_rule": "splice.logic.syntax",
    "parse_term": "splice.logic.syntax",
    "parse_theory": "splice.logic.syntax",
    "profile": "splice.completion.strategies",
    "read_checkpoint": "splice.io.checkpoints",
    "read_cvml_files": "splice.io.caviar_xml",
    "read_results": "splice.report.results",
    "recognise": "splice.events.recognition",
    "reinitiation_rates": "splice.evaluation.reinitiation",
    "report_page": "splice.report.html",
    "results_report": "splice.report.results",
    "sequences": "splice.stream.source",
    "write_checkpoint": "splice.io.checkpoints",
    "write_source": "splice.datasets.outputs",
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
