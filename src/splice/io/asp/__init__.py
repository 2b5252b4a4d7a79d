"""Answer set programming: theories as programs for clingo, and streams as its facts.

Run by clingo, an exported theory gives the intervals that recognition gives, as atoms
``interval(Fluent,Start,End)``.
"""

from splice.io.asp.program import format_asp, format_asp_facts

__all__ = ["format_asp", "format_asp_facts"]
