"""LoMRF's ``.modes`` files: ``modeP(2, Happens(-,+))``, ``modeF(1, meet(.,.))``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, cast

from splice.errors import InputError, Problem, did_you_mean, raise_problems
from splice.logic.lexer import END, Cursor, Lexicon, SourceText
from splice.logic.modes import UNBOUNDED, Marker, Mode, Modes, Symbol
from splice.logic.schema import Schema, Signature

_LEXICON: Final = Lexicon(
    patterns=(
        ("name", r"[A-Za-z_][A-Za-z0-9_]*"),
        ("number", r"[0-9]+"),
        ("sign", r"~/>|[-(),.*#+/]"),
    ),
    line_comment="//",
    block_comment=("/*", "*/"),
)

_KEYWORDS: Final = ("modeP", "modeF")


class _Parser(Cursor):
    def __init__(self, source: SourceText) -> None:
        super().__init__(source, list(_LEXICON.scan(source)))

    def mode(self) -> Mode:
        keyword = self.token
        if keyword.text not in _KEYWORDS:
            hint = did_you_mean(keyword.text, _KEYWORDS) or "write modeP(...) or modeF(...)"
            self.fail(f"expected a mode declaration but found {self.shown()}", hint)
        self.next()
        self.expect("(")
        recall = self._recall()
        self.expect(",")
        symbol = self._name("a predicate or function")
        markers = self._markers()
        is_function = keyword.text == "modeF"
        forbidden = self._forbidden()
        self.expect(")", "a declaration ends with ')'")
        name = symbol if is_function else Schema().internal_name(symbol)
        return Mode(
            Signature(name, len(markers)),
            recall,
            markers,
            forbidden,
            is_function,
            "" if is_function else symbol,
        )

    def recover(self) -> None:
        """Go to the next keyword."""
        self.next()
        while not self.at_kind(END) and not self.token.text.startswith("mode"):
            self.next()

    def _recall(self) -> int:
        if self.accept("*"):
            return UNBOUNDED
        if not self.at_kind("number"):
            self.fail(
                f"expected a recall but found {self.shown()}",
                "the recall is 0, a positive integer or '*'",
            )
        digits = self.next().text
        return min(int(digits), UNBOUNDED) if len(digits) < 12 else UNBOUNDED

    def _name(self, what: str) -> str:
        if not self.at_kind("name"):
            self.fail(f"expected {what} but found {self.shown()}")
        return self.next().text

    def _markers(self) -> tuple[Marker, ...]:
        if not self.accept("("):
            return ()
        markers = [] if self.at(")") else self.several(self._marker)
        if sum(marker.ordered for marker in markers) > 1:
            self.fail("more than one ordered ('o') argument", "at most one argument is ordered")
        self.expect(")", "each argument has one marker: + - . with # n o p before it")
        return tuple(markers)

    def _marker(self) -> Marker:
        constant = self.accept("#") is not None
        flags = self.next().text if self.at_kind("name") else ""
        unknown = set(flags) - set("nop")
        direction = self.token.text
        if unknown or direction not in ("+", "-", "."):
            self.fail(
                f"expected a marker but found '{flags or direction}'",
                "a marker is + - or . with # n o p before it",
            )
        self.next()
        return Marker(
            cast('Literal["+", "-", "."]', direction),
            constant=constant,
            numeric="n" in flags,
            ordered="o" in flags,
            partition="p" in flags,
        )

    def _forbidden(self) -> tuple[Symbol, ...]:
        if not self.at("body"):
            return ()
        self.next()
        self.expect("~/>")
        return tuple(self.several(self._symbol))

    def _symbol(self) -> Symbol:
        name = self._name("a signature")
        self.expect("/", "a signature is name/arity")
        if not self.at_kind("number"):
            self.fail(f"expected an arity but found {self.shown()}")
        digits = self.next().text
        if len(digits) > 9:
            self.fail(f"an arity of {len(digits)} digits")
        arity = int(digits)
        if name[:1].islower():
            return Symbol(Signature(name, arity), is_function=True)
        return Symbol(Signature(Schema().internal_name(name), arity))


def parse_modes_all(text: str, file: str = "<modes>") -> tuple[Modes, list[Problem]]:
    """Read what can be read of mode declarations, and every problem of the rest."""
    parser = _Parser(SourceText(text, file))
    modes, problems = parser.statements(parser.mode)
    return Modes(tuple(modes)), problems


def parse_modes(text: str, file: str = "<modes>") -> Modes:
    """Read mode declarations; return them as a value.

    Parameters
    ----------
    text
        The declarations, as a ``.modes`` file of LoMRF has them.
    file
        What to call the text in errors.

    Examples
    --------
    >>> modes = parse_modes("modeP(2, Happens(-,+))  modeF(7, foo(-, .))")
    >>> for mode in modes: print(mode)
    modeP(2, Happens(-,+))
    modeF(7, foo(-,.))
    """
    modes, problems = parse_modes_all(text, file)
    raise_problems(problems)
    return modes


def some_modes(text: str, file: str) -> Modes:
    """Read mode declarations, of which there must be one at least."""
    modes = parse_modes(text, file)
    if not len(modes):
        problem = SourceText("", file).problem(0, "no mode declaration", "is it the right file?")
        raise InputError(problem)
    return modes


def format_modes(modes: Iterable[Mode]) -> str:
    """Write mode declarations, one a line."""
    return "".join(f"{mode}\n" for mode in modes)
