"""Plots of reports, and how plots are saved.

Each plot is a function from tidy records to an Axes; plots are readable in grey and on paper of any colour."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError, not_installed
from interplay.report.table import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#5e6a66"
"""Colour of lines and text; pages replace it by their own text colour."""

SPREAD_CAPTION = (
    "Thin line: from the 5th to the 95th percentile; thick line: the middle half; white stroke: median; diamond: mean."
)

# Luminance between 0.14 and 0.30: each stands out by 3:1 from white and from the dark page alike (a test checks it).
_COLOURS = ("#3f7fd1", "#c8642b", "#2c9270", "#ab58a5", "#8f7d1f", "#7a808c", "#cf5270", "#3b8fa3", "#6c8f2e", "#8b6fd0")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_SENTIMENTS = {"positive": ("#2c9270", ""), "neutral": ("#7a808c", "...."), "negative": ("#c8642b", "////")}


def agent_styles(roster: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return agent -> (colour, marker), by place in the roster, so that an agent looks the same in all figures.

    After ten agents the colours repeat, with other markers.
    """
    return {agent: (_COLOURS[place % 10], _MARKERS[(place + 3 * (place // 10)) % 10]) for place, agent in enumerate(roster)}


def plot_sentiments(table: list[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Plot the shares of positive, neutral and negative reasons, one bar for each group.

    Records have `name`, `num`, and counts `positive`, `neutral`, `negative`.
    """
    ax = ax or _new_axes()
    places = range(len(table))
    begin = [0.0] * len(table)
    for kind, (colour, hatch) in _SENTIMENTS.items():
        shares = [100 * row[kind] / row["num"] for row in table]
        ax.barh(
            places, shares, left=begin, color=colour, hatch=hatch, edgecolor="#ffffff", linewidth=0.8, height=0.66, label=kind
        )
        for place, share, start in zip(places, shares, begin, strict=True):
            if share >= (12 if hatch else 6):
                look: dict[str, Any] = {"color": "#ffffff", "ha": "center", "va": "center", "weight": "bold"}
                if hatch:
                    look["bbox"] = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
                ax.text(start + share / 2, place, f"{share:.0f} %", **look)
        begin = [start + share for start, share in zip(begin, shares, strict=True)]
    _name_rows(ax, [f"{row['name']}\nn = {row['num']:,}" for row in table])
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of reasons (%)")
    ax.legend(loc="lower center", bbox_to_anchor=(0.42, 1.0), ncols=3, frameon=False, handlelength=1.6)
    return ax


def plot_intervals(
    table: list[dict[str, Any]],
    ax: Axes | None = None,
    *,
    label: str = "mean",
    roster: Sequence[str] = (),
    zero: bool = False,
) -> Axes:
    """Plot one value with its interval in each row.

    Records have `name`, `value`, `low`, `high` and `num`; the first is drawn on top. `label` has the unit. If rows are
    agents, `roster` decides their colours (see `agent_styles`).
    """
    ax = ax or _new_axes()
    styles = agent_styles(roster)
    for place, row in enumerate(table):
        colour, marker = styles.get(row["name"], (_COLOURS[0], _MARKERS[0]))
        # Not `errorbar`, which wants the value inside: a percentile interval may leave it out.
        ax.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1.8, marker="|", markersize=8)
        ax.plot(row["value"], place, color=colour, marker=marker, markersize=7, linestyle="")
    if zero:
        ax.axvline(0, color=INK, linewidth=0.8, linestyle=":")
    _name_rows(ax, [f"{row['name']}\nn = {row['num']:,}" for row in table])
    ax.margins(x=0.08)
    ax.set_xlabel(label)
    return ax


def plot_spreads(table: list[dict[str, Any]], ax: Axes | None = None, *, label: str) -> Axes:
    """Plot distributions: a thin line from the 5th to the 95th percentile, a thick line for the middle half, and the median.

    Records have `name`, `num`, `p5`, `p25`, `median`, `p75`, `p95`, `mean`.
    """
    ax = ax or _new_axes()
    for place, row in enumerate(table):
        ax.plot([row["p5"], row["p95"]], [place, place], color=_COLOURS[0], linewidth=1.6)
        ax.plot([row["p25"], row["p75"]], [place, place], color=_COLOURS[0], linewidth=9, solid_capstyle="butt")
        ax.plot([row["median"]] * 2, [place - 0.17, place + 0.17], color="#ffffff", linewidth=2.4)
        ax.plot(row["mean"], place, marker="D", color=_COLOURS[1], markersize=6, markeredgecolor="#ffffff", linestyle="")
    _name_rows(ax, [f"{row['name']}\nn = {row['num']:,}" for row in table])
    ax.set_xlim(left=0)
    ax.set_xlabel(label)
    return ax


def plot_factor_scores(table: list[dict[str, Any]], ax: Axes | None = None, *, roster: Sequence[str] = ()) -> Axes:
    """Plot every agent's mean score in each factor of one task.

    Filled marks are over all comparisons, with the standard error; hollow marks are over comparisons among the shown agents.

    Records have `comparisons` ("all" or another word), `factor`, `agent`, `num`, `mean`, `se` (None for a single answer).
    `roster` is that of `agent_styles`, by default the agents of the table.
    """
    ax = ax or _new_axes(height_in=7)
    factors = list(dict.fromkeys(row["factor"] for row in table))
    agents = list(dict.fromkeys(row["agent"] for row in table))
    styles = agent_styles(roster or agents)
    step = 0.5 / max(1, len(agents) - 1)
    for agent in agents:
        colour, marker = styles[agent]
        height = {factor: place - 0.2 + step * agents.index(agent) for place, factor in enumerate(factors)}
        rows = [row for row in table if row["agent"] == agent and row["comparisons"] == "all"]
        inside = [row for row in table if row["agent"] == agent and row["comparisons"] != "all"]
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": ""}
        means, heights = [row["mean"] for row in inside], [height[row["factor"]] for row in inside]
        ax.plot(means, heights, markersize=7.5, markerfacecolor="none", **look)
        means, heights = [row["mean"] for row in rows], [height[row["factor"]] for row in rows]
        errors = [row["se"] or 0.0 for row in rows]
        ax.errorbar(means, heights, xerr=errors, markersize=5.5, elinewidth=1.4, capsize=2.5, label=agent, **look)
    for place, factor in enumerate(factors):
        ax.text(0.0, place - 0.42, factor, ha="left", va="center", color=INK, weight="bold")
        if place:
            ax.axhline(place - 0.58, color=INK, linewidth=0.4, alpha=0.5)
    ax.set_ylim(len(factors) - 0.48, -0.6)
    ax.set_yticks([])
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel("mean score (higher is better)")
    ax.grid(axis="x", alpha=0.25, color=INK)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, handletextpad=0.3, columnspacing=1.2)
    _quiet(ax)
    return ax


def plot_map(table: list[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Plot points in a plane by group; points that were placed in the map later are hollow.

    Records have `group`, `placed`, `x`, `y`.
    """
    ax = ax or _new_axes(height_in=4.2)
    groups = list(dict.fromkeys((row["group"], row["placed"]) for row in table))
    styles = agent_styles([f"{name}/{is_placed}" for name, is_placed in groups])
    for name, is_placed in groups:
        rows = [row for row in table if (row["group"], row["placed"]) == (name, is_placed)]
        colour, marker = styles[f"{name}/{is_placed}"]
        ax.plot(
            [row["x"] for row in rows],
            [row["y"] for row in rows],
            linestyle="",
            marker=marker,
            markersize=6.5 if is_placed else 4.5,
            color=colour,
            markerfacecolor="none" if is_placed else colour,
            alpha=1.0 if is_placed else 0.75,
            label=f"{name} (n = {len(rows):,})",
        )
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_alpha(0.4)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, handletextpad=0.2, columnspacing=1.2)
    return ax


def plot_shares_below(table: list[dict[str, Any]], ax: Axes | None = None, *, label: str) -> Axes:
    """Plot distributions as rising lines, one for each name: the share of values that are at most a given value.

    Records have `name`, `num`, `value` and `share` in percent, in order of name and share.
    """
    ax = ax or _new_axes()
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in table:
        lines.setdefault(row["name"], []).append(row)
    styles = agent_styles(list(lines))
    for place, (name, rows) in enumerate(lines.items()):
        ax.step(
            [row["value"] for row in rows],
            [row["share"] for row in rows],
            where="post",
            color=styles[name][0],
            linestyle=("-", "--", "-.", ":")[place % 4],
            linewidth=1.8,
            label=f"{name} (n = {rows[0]['num']:,})",
        )
    ax.set_ylim(0, 100)
    ax.set_xlim(left=0)
    ax.set_xlabel(label)
    ax.set_ylabel("share of inputs (%)")
    ax.grid(alpha=0.25, color=INK)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, columnspacing=1.2)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_profiles(table: list[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """Plot performance profiles: for each name, the share of runs above each score, with a band.

    Records have `name`, `score`, `value`, `low` and `high`, in order of name and score.
    """
    ax = ax or _new_axes()
    styles = agent_styles(list(dict.fromkeys(row["name"] for row in table)))
    for place, (name, (colour, _)) in enumerate(styles.items()):
        rows = [row for row in table if row["name"] == name]
        scores = [row["score"] for row in rows]
        ax.fill_between(
            scores, [row["low"] for row in rows], [row["high"] for row in rows], color=colour, alpha=0.15, linewidth=0
        )
        ax.plot(
            scores,
            [row["value"] for row in rows],
            color=colour,
            linestyle=("-", "--", "-.", ":")[place % 4],
            linewidth=1.8,
            label=name,
        )
    ax.set_ylim(-0.02, 1.02)
    ax.margins(x=0)
    ax.set_xlabel("score (0 is random play, 1 the best game)")
    ax.set_ylabel("share of runs above it")
    ax.grid(alpha=0.25, color=INK)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, columnspacing=1.2)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_matrix(table: list[dict[str, Any]], ax: Axes | None = None, *, rows: str, columns: str, digits: int = 1) -> Axes:
    """Plot a matrix of numbers as shades, each number in its cell; a cell has a frame if its row and column have the same name.

    Records have `row`, `column`, `value` (None where there is nothing) and `num`.
    """
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    ax = ax or _new_axes(height_in=4.2)
    names = [list(dict.fromkeys(row[key] for row in table)) for key in ("row", "column")]
    values = np.full((len(names[0]), len(names[1])), np.nan)
    for row in table:
        if row["value"] is not None:
            values[names[0].index(row["row"]), names[1].index(row["column"])] = row["value"]
    shades = LinearSegmentedColormap.from_list("shades", ["#e8eef7", "#3f7fd1", "#173d6e"])
    lit = values[np.isfinite(values)]
    low, high = (float(lit.min()), float(lit.max())) if len(lit) else (0.0, 1.0)
    ax.imshow(values, cmap=shades, vmin=low, vmax=high if high > low else low + 1, aspect="auto")
    for (down, right), value in np.ndenumerate(values):
        is_dark = np.isfinite(value) and high > low and (value - low) / (high - low) > 0.35
        colour = INK if not np.isfinite(value) else "#ffffff" if is_dark else "#1d2422"
        text = "–" if not np.isfinite(value) else f"{value:,.{digits}f}".replace("-", "−")
        ax.text(right, down, text, ha="center", va="center", color=colour)
        if names[0][down] == names[1][right]:
            ax.add_patch(Rectangle((right - 0.47, down - 0.47), 0.94, 0.94, fill=False, edgecolor="#c8642b", linewidth=1.8))
    ax.set_xticks(
        range(len(names[1])), names[1], rotation=30 if len(names[1]) > 3 else 0, ha="right" if len(names[1]) > 3 else "center"
    )
    ax.set_yticks(range(len(names[0])), names[0])
    ax.set_xlabel(columns)
    ax.set_ylabel(rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _new_axes(height_in: float = 3.2) -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=(5, height_in), layout="constrained").subplots()


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.grid(axis="x", alpha=0.25, color=INK)
    ax.set_axisbelow(True)
    _quiet(ax)


def _quiet(ax: Axes) -> None:
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


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
    """Draw a figure as an `<svg>` element for a page: lines and text have `currentColor`; ids begin with the figure's id."""
    drawn = _save(figure, {"svg.hashsalt": figure.id}, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = drawn.decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{figure.id}-", text)
    text = re.sub(r'^<svg[^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" xmlns:xlink="http://www.w3.org/1999/xlink">', text)
    return text.replace(INK, "currentColor").strip()


def png(figure: Figure) -> bytes:
    return _save(figure, {}, format="png", dpi=200, facecolor="white", metadata={"Software": None})


def _save(figure: Figure, settings: dict[str, Any], **options: Any) -> bytes:
    """Draw and save a figure with our settings instead of those of the process."""
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
