"""The figures of a report as pictures: the same data and colours, drawn by matplotlib.

matplotlib is loaded only here, and only when a picture is asked for. The same report gives the same
bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from splice.errors import SpliceError
from splice.report.document import Curve, Figure, Panel, Report
from splice.report.figures import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FORMATS: Final = ("png", "svg")

_INCH: Final = {"width": 5.2, "height": 3.1, "dot": 0.19}
_STYLE: Final[Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "splice",
    "svg.fonttype": "none",
}


def pictures(report: Report, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield each figure of a report as a picture: a file's name and its content."""
    taken: set[str] = set()
    for figure in report.figures():
        name = figure.name
        while name in taken:
            name += "-again"
        taken.add(name)
        yield f"{name}.{kind}", draw(figure, kind)


def draw(figure: Figure, kind: str) -> bytes:
    """Return a figure as a picture, ``png`` or ``svg``."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  (slow to load, seldom asked for)
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SpliceError(
            "pictures are drawn by matplotlib, which is not installed",
            "pip install 'splice-cer[pictures]'; pages need nothing more",
        ) from error

    with mpl.rc_context(_STYLE):
        canvas = Canvas(layout="constrained")
        FigureCanvasAgg(canvas)
        _figure(canvas, figure)
        buffer = io.BytesIO()
        stamp = {"Date": None} if kind == "svg" else {"Software": None}
        canvas.savefig(buffer, format=kind, dpi=150, metadata=stamp, facecolor="white")
    return buffer.getvalue()


def _plain(text: str) -> str:
    """Return a text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")


def _figure(canvas: Canvas, figure: Figure) -> None:
    columns = min(figure.columns, len(figure.panels)) or 1
    rows = -(-len(figure.panels) // columns) or 1
    names = max((len(panel.names) for panel in figure.panels), default=0)
    tall = names * _INCH["dot"] + 0.9 if names else _INCH["height"]
    canvas.set_size_inches(columns * _INCH["width"], rows * tall + 0.7)
    grid = canvas.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(figure.panels) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for number, panel in enumerate(figure.panels):
        axes = grid.flat[number]
        _panel(axes, panel, named=number % columns == 0)
        for curve in panel.curves:
            handles.setdefault(curve.name, _curve(axes, curve, panel))
    if handles:
        count = min(len(handles), 4)
        labels = [_plain(name) for name in handles]
        canvas.legend(list(handles.values()), labels, loc="outside lower center", ncols=count)


def _panel(axes: Axes, panel: Panel, *, named: bool) -> None:
    axes.set(title=_plain(panel.title), xlabel=_plain(panel.x), ylabel=_plain(panel.y))
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    if panel.ticks:
        axes.set_xticks(panel.ticks, [f"{tick:g}" for tick in panel.ticks])
        axes.minorticks_off()
    if panel.names:
        labels = [_plain(name) for name in panel.names] if named else [""] * len(panel.names)
        axes.set_yticks(range(len(panel.names)), labels)
        axes.set_ylim(len(panel.names) - 0.5, -0.5)
        if panel.unit_y:
            axes.set_xlim(-0.02, 1.02)
    elif panel.unit_y:
        axes.set_ylim(-0.02, 1.03)


def _curve(axes: Axes, curve: Curve, panel: Panel) -> Any:
    code = colour(curve.colour)
    if curve.published:
        return axes.plot(curve.x, curve.y, "--", color=code, linewidth=1.6)[0]
    if panel.names:
        error = curve.spread or None
        return axes.errorbar(curve.x, curve.y, xerr=error, fmt="o", color=code, markersize=4)
    if any(curve.spread):
        axes.fill_between(
            curve.x, *curve.band(log=panel.log_y), color=code, alpha=0.16, linewidth=0
        )
    return axes.plot(curve.x, curve.y, "-o", color=code, markersize=4, linewidth=1.6)[0]
