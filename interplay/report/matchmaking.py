"""Plot pairing rules: rank correlation against number of answers, with the spread over seeds."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError, not_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS: tuple[str, ...] = ("policy", "method", "answers", "q1", "median", "q3", "num")
_METHOD_TITLES = {
    "trueskill": "TrueSkill (mu)",
    "bradley-terry": "Bradley-Terry",
    "trueskill-score": "TrueSkill (mu - 3 sigma)",
}
_STYLES = {
    # Luminance falls from the first to the last, and dashes differ: they are told apart in grey, too.
    "order": ("#0b3c5d", "-", "o"),
    "information": ("#c8642b", "--", "s"),
    "round-robin": ("#7a808c", "-.", "^"),
    "bedd": ("#a05a8c", (0, (5, 1, 1, 1, 1, 1)), "P"),
    "focus": ("#2c9270", ":", "D"),
}


def plot_matchmaking(table: list[dict[str, Any]], method: str, target: float, ax: Axes | None = None) -> Axes:
    """Plot rank correlation with the truth against number of answers, one line for each rule: median and quartiles over seeds.

    `table` has the columns `COLUMNS`, as `judge.simulate.curves` makes them.
    """
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(6.4, 4.2), layout="constrained").add_subplot()
    rows = [row for row in table if row["method"] == method]
    for name in dict.fromkeys(row["policy"] for row in rows):
        colour, dashes, marker = _STYLES.get(name, ("#5e6a66", "-", "v"))
        of_policy = [row for row in rows if row["policy"] == name]
        answers, low, middle, high = ([row[key] for row in of_policy] for key in ("answers", "q1", "median", "q3"))
        ax.fill_between(answers, low, high, color=colour, alpha=0.15, linewidth=0)
        ax.plot(
            answers, middle, color=colour, linestyle=dashes, linewidth=1.8, label=name,
            marker=marker, markersize=5, markevery=max(1, len(answers) // 8),
        )  # fmt: skip
    ax.axhline(target, color="#5e6a66", linewidth=0.8)
    ax.set_title(_METHOD_TITLES.get(method, method))
    ax.set_xlabel("answers")
    ax.set_ylabel("rank correlation with the truth")
    ax.set_ylim(min(0.7, target - 0.1), 1.002)  # what lies below is over after a few answers
    ax.set_xlim(left=0)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return ax


def save_matchmaking(table: list[dict[str, Any]], target: float, path: Path) -> Path:
    """Save the plot, with a panel for each rating method, and next to it its table as CSV; return the path of the table.

    Raises:
        InterplayError: If matplotlib is missing or the file cannot be written.
    """
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise InterplayError(f"cannot draw {path}: the name must end on .svg, .png or .pdf")
    try:
        import matplotlib
    except ImportError:
        raise InterplayError(not_installed("plots need", "matplotlib", "report")) from None
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(row["method"] for row in table))
    num_seeds = max(row["num"] for row in table)
    beside = path.with_suffix(".csv")
    try:
        with matplotlib.rc_context({"svg.hashsalt": "interplay", "svg.fonttype": "none", "text.parse_math": False}):
            figure = Figure(figsize=(0.8 + 5.4 * len(methods), 4.6), layout="constrained")
            for place, method in enumerate(methods, start=1):
                plot_matchmaking(table, method, target, figure.add_subplot(1, len(methods), place))
            bands = f"Lines: median over {num_seeds} seeds; bands: from the first to the third quartile."
            figure.supxlabel(bands, fontsize="small")
            figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
        with beside.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    except OSError as error:
        raise InterplayError(f"cannot write {path}: {error.strerror or error}\nName another place with --out.") from None
    return beside
