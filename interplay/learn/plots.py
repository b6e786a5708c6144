"""Learning curves of a run, drawn from its metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NO_QUANTITIES = (
    "update",
    "decisions",
    "games",
    "learning_rate",
    "seconds",
    "updates_per_second",
    "final",
    "training_loss_last",
    "training_accuracy_last",
)
"""Entries of a line of `metrics.jsonl` that are not drawn as curves."""


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's `metrics.jsonl`; an incomplete last line is left out."""
    lines = []
    for text in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            break
    return lines


def plot_curve(table: list[dict[str, Any]], name: str, ax: Axes | None = None) -> Axes:
    """Plot one quantity against updates: means over training as a line, the validation value as a dot at the end."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        _, ax = plt.subplots()
    points = [(line["update"], line[name]) for line in table if name in line]
    if points:
        ax.plot(*zip(*points, strict=True), color="#1f6f8b", marker="." if len(points) < 20 else "", label="training")
    final = table[-1] if table else {}
    if f"validation_{name}" in final:
        value = final[f"validation_{name}"]
        ax.plot([final["update"]], [value], "D", color="#c4572e", label=f"held-out episodes: {value:.3g}")
    ax.set_xlabel("updates")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.set_ylabel(
        {"accuracy": "share of actions matched", "return": "mean return of the last games"}.get(name, name.replace("_", " "))
    )
    if name == "accuracy":
        ax.set_ylim(bottom=0, top=1)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return ax


def save_curves(folder: Path) -> Path | None:
    """Draw a run's metrics to `curves.svg`, or return None without matplotlib; `InterplayError` if the run wrote no metrics."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        return None
    matplotlib.use("agg", force=False)
    from matplotlib.figure import Figure

    table = read_metrics(folder)
    if not table:
        raise InterplayError(f"{folder / 'metrics.jsonl'} holds no metrics")
    every = dict.fromkeys(name for line in table for name in line)
    names = [name for name in every if name not in NO_QUANTITIES and not name.startswith("validation_")] or ["loss"]
    figure = Figure(figsize=(4.5 * len(names), 3.6), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        plot_curve(table, name, ax)
    figure.suptitle(folder.name)
    path = folder / "curves.svg"
    figure.savefig(path)
    return path
