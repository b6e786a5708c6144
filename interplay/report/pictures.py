"""Figures as SVG that takes the page's colours, and as PNG for paper; same figure, same bytes."""

from __future__ import annotations

import io
import re
from typing import Any

from interplay.errors import InterplayError, not_installed
from interplay.report.plots import INK
from interplay.report.table import Figure

WIDTH_IN = 5.0
_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "hatch.linewidth": 0.7,
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are names, whatever dollars they have
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def svg(figure: Figure) -> str:
    """An `<svg>` element to stand in a page: its ink is `currentColor`, its ids begin with the figure's."""
    drawn = _save(figure, {"svg.hashsalt": figure.id}, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = drawn.decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{figure.id}-", text)
    text = re.sub(r'^<svg[^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" xmlns:xlink="http://www.w3.org/1999/xlink">', text)
    return text.replace(INK, "currentColor").strip()


def png(figure: Figure, *, dots_per_inch: int = 200) -> bytes:
    """The figure on white."""
    return _save(figure, {}, format="png", dpi=dots_per_inch, facecolor="white", metadata={"Software": None})


def _save(figure: Figure, settings: dict[str, Any], **options: Any) -> bytes:
    """Draw and save under our settings, whatever those of the process are."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise InterplayError(not_installed("figures need", "matplotlib", "report")) from None
    from matplotlib.figure import Figure as Canvas

    out = io.BytesIO()
    with matplotlib.rc_context(_SETTINGS | settings):  # type: ignore[arg-type]
        canvas = Canvas(figsize=(WIDTH_IN, figure.height_in), layout="constrained")
        figure.plot(figure.table, canvas.subplots())
        canvas.savefig(out, **options)
    return out.getvalue()
