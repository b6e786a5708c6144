"""The result of `interplay rank`: as one JSON document, as CSV, or as tables for people."""

from __future__ import annotations

import csv
import dataclasses
import sys
from typing import Any

import numpy as np

from interplay.cli.output import table
from interplay.rank import LeaderboardRow
from interplay.rank.agreement import METRICS, Judgement, agreement, questions
from interplay.rank.bias import judges, length_bias, side_bias
from interplay.rank.compare import above, beats
from interplay.rank.leaderboards import Board, Boards, Resampling
from interplay.rank.ranking import Options
from interplay.rank.transitivity import expected, transitivity
from interplay.wording import amount


def leaderboards(
    result: Boards, task: str | None, method: str, draws: Resampling | None, *, normalised: bool
) -> dict[str, Any]:
    """Return the result as JSON: the leaderboard of `task`, or the overall leaderboard.
    If there are several tasks, the leaderboard of each follows the overall one."""
    document: dict[str, Any] = {"task": task, **_leaderboard(result.overall), "method": method}
    notes = [*result.overall.notes]
    if task is None and len(result.tasks) > 1:
        document["tasks"] = {name: _leaderboard(board) for name, board in sorted(result.tasks.items())}
        notes += [f"{name}: {note}" for name, board in sorted(result.tasks.items()) for note in board.notes]
    if notes:
        document["notes"] = notes
    if draws is not None:
        document["bootstrap"] = dataclasses.asdict(draws)
    if normalised and result.normalised is not None:
        document["normalised"] = [_fields(row) for row in result.normalised]
    return document


def _leaderboard(board: Board) -> dict[str, Any]:
    return {
        "leaderboard": [_fields(row) for row in board.rows],
        "num_answers": len(board.log),
        "num_judges": board.num_judges,
    }


def _fields(row: Any) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(row).items() if value is not None}


def probabilities(board: Board, options: Options) -> dict[str, Any]:
    """Return the probabilities that one agent beats another, and that one is above another, in the order of the leaderboard."""
    order = np.array([board.ranking.agents.index(row.agent) for row in board.rows], int)
    by = "fit" if board.resampled is None else "bootstrap"
    over = above(board.ranking) if board.resampled is None else board.resampled.above()
    return {
        "agents": [row.agent for row in board.rows],
        "beats": beats(board.ranking, options)[np.ix_(order, order)].tolist(),
        "above": over[np.ix_(order, order)].tolist(),
        "above_by": by,
    }


def agreement_by_question(judgements: list[Judgement], draws: Resampling | None) -> dict[str, Any]:
    seed = draws.seed if draws else 0
    draw: dict[str, Any] = {"num_resamples": draws.num_resamples, "level": draws.level} if draws else {}
    return {
        question: {
            metric: dataclasses.asdict(
                agreement(judgements, question=question, metric=metric, rng=np.random.default_rng(seed), **draw)
            )
            for metric in METRICS
        }
        for question in questions(judgements)
    }


def bias(judgements: list[Judgement]) -> dict[str, Any]:
    """Return the tendencies of all judges together (side, draws, length of reasons), and of each judge."""
    return {
        "side": dataclasses.asdict(side_bias(judgements)),
        "length": dataclasses.asdict(length_bias(judgements)),
        "judges": [dataclasses.asdict(row) for row in judges(judgements)],
    }


def triads(board: Board, seed: int) -> dict[str, Any]:
    wins, ties = board.log.counts()
    found = transitivity(wins, ties)
    document: dict[str, Any] = {**found._asdict(), "share_cyclic": found.share_cyclic, "seed": seed}
    for name, equal in (("expected_if_equal", True), ("expected_by_model", False)):
        ranges = expected(wins, ties, rng=np.random.default_rng(seed), equal=equal)
        document[name] = {
            count: dict(zip(("mean", "low", "high"), values, strict=True)) for count, values in ranges._asdict().items()
        }
    return document


def print_csv(result: Boards, task: str | None, normalised: bool) -> None:
    """Print the leaderboards as one table with a column `board`: `overall`, `task` or `normalised`."""
    columns = [field.name for field in dataclasses.fields(LeaderboardRow)]
    writer = csv.DictWriter(sys.stdout, ["board", "task", *columns], lineterminator="\n")
    writer.writeheader()

    def write(board: str, name: str, rows: list[Any]) -> None:
        for row in rows:
            writer.writerow({"board": board, "task": name, **_fields(row)})

    if task is not None:
        write("task", task, result.overall.rows)
        return
    write("overall", "", result.overall.rows)
    if len(result.tasks) > 1:
        for name, board in sorted(result.tasks.items()):
            write("task", name, board.rows)
    if normalised and result.normalised is not None:
        write("normalised", "", result.normalised)


_LEGEND = {
    "trueskill": "Agents are sorted by mu - 3 sigma, a skill they have with near certainty.",
    "bradley-terry": "Agents are sorted by log strength; 1 more means odds of 2.7 to 1. A tie is half a win for either.",
    "davidson": "Agents are sorted by log strength; 1 more means odds of 2.7 to 1 where neither ties.",
}


def text(document: dict[str, Any], result: Boards, task: str | None) -> Any:
    from rich.console import Group

    if document["num_answers"] == 0:
        return "No answers yet.\nCompare some videos:  interplay serve, then open http://127.0.0.1:8000/judge"
    method, several = document["method"], "tasks" in document
    names = sorted(result.tasks)
    title = task or ("all tasks" if several else (names[0] if names else "") or None)
    parts: list[Any] = [_board(document, title, method)]
    if several:
        for name, board in document["tasks"].items():
            parts += ["", _board(board, name or "(no task named)", method)]
    if "normalised" in document:
        parts += ["", "mean over the tasks of mu's z-score in each", _normalised(document["normalised"])]
    if "probabilities" in document:
        parts += ["", *_matrices(document["probabilities"])]
    if "agreement" in document:
        title = "agreement of judges (Krippendorff's alpha: 1 is perfect, 0 is chance)"
        parts += ["", title, _agreement(document["agreement"])]
    if "bias" in document:
        parts += ["", *_bias(document["bias"])]
    if "transitivity" in document:
        parts += ["", _transitivity(document["transitivity"])]
    parts += ["", _LEGEND[method]]
    if "bootstrap" in document:
        draws = document["bootstrap"]
        what = f"{draws['num_resamples']:,} resamples of {draws['unit']} (seed {draws['seed']})"
        boards = [document, *document.get("tasks", {}).values()]
        empty = any("score_low" not in row for board in boards for row in board["leaderboard"])
        why = f" There is no interval from only one of the {draws['unit']}, or if all {draws['unit']} say the same."
        parts.append(f"Intervals hold {draws['level']:.0%} of {what}.{why if empty else ''}")
    parts += [f"Note: {note}." for note in document.get("notes", ())]
    return Group(*parts)


def _board(board: dict[str, Any], title: str | None, method: str) -> Any:
    is_skill = method == "trueskill"
    rows = board["leaderboard"]
    has_interval = any("score_low" in row for row in rows)
    has_groups = any(row["group"] > 1 for row in rows)
    headers = [*(["#group"] if has_groups else []), "#rank", "agent"]
    headers += ["#mu", "#sigma", "#mu - 3 sigma"] if is_skill else ["#log strength", "#std. error"]
    headers += ["#score interval", "#rank interval"] if has_interval else []
    headers += ["#won", "#drew", "#lost", "#answers"]
    cells = []
    for row in rows:
        line = [row["rank"], row["agent"], f"{row['mu']:.3f}", f"{row['sigma']:.3f}"]
        line += [f"{row['score']:.3f}"] if is_skill else []
        line += _interval(row) if has_interval else []
        line = [row["group"], *line] if has_groups else line
        cells.append([*line, row["won"], row["drew"], row["lost"], row["num_answers"]])
    num = board["num_answers"]
    answers = amount(num, "answer")
    return table(headers, cells, title=f"{title}: {answers}" if title else answers)


def _interval(row: dict[str, Any]) -> list[str]:
    """Return both intervals as text; empty if there were too few answers to resample."""
    if "score_low" not in row:
        return ["", ""]
    return [f"{row['score_low']:.2f} to {row['score_high']:.2f}", f"{row['rank_low']} to {row['rank_high']}"]


def _normalised(rows: list[dict[str, Any]]) -> Any:
    has_interval = any("score_low" in row for row in rows)
    headers = ["#rank", "agent", "#normalised", "#std. error"]
    headers += [*(["#interval", "#rank interval"] if has_interval else []), "#tasks"]
    cells = [
        [
            row["rank"],
            row["agent"],
            f"{row['score']:.3f}",
            f"{row['sigma']:.3f}",
            *(_interval(row) if has_interval else []),
            row["num_tasks"],
        ]
        for row in rows
    ]
    return table(headers, cells)


def _matrices(document: dict[str, Any]) -> list[Any]:
    """Return both matrices in per cent; their columns are named by rank."""
    parts: list[Any] = []
    for name, title in (
        ("beats", "chance in % that the row's agent beats the column's next time (draws left out)"),
        ("above", f"chance in % that the row's agent is above the column's (by {document['above_by']})"),
    ):
        headers = ["agent", *(f"#{number}" for number in range(1, len(document["agents"]) + 1))]
        cells = [
            [f"{number} {agent}", *("" if other == number - 1 else _chance(p) for other, p in enumerate(row))]
            for number, (agent, row) in enumerate(zip(document["agents"], document[name], strict=True), start=1)
        ]
        parts += [title, table(headers, cells), ""]
    return parts[:-1]


def _agreement(document: dict[str, Any]) -> Any:
    headers = ["question", "#alpha", "#interval", "#ordinal alpha", "#units", "#judges"]
    cells = []
    for question, metrics in document.items():
        nominal, ordinal = metrics["nominal"], metrics["ordinal"]
        interval = "" if nominal["low"] is None else f"{nominal['low']:.3f} to {nominal['high']:.3f}"
        alphas = ["undefined" if one["alpha"] is None else f"{one['alpha']:.3f}" for one in (nominal, ordinal)]
        cells.append([question, alphas[0], interval, alphas[1], nominal["num_units"], nominal["num_judges"]])
    return table(headers, cells)


def _bias(document: dict[str, Any]) -> list[Any]:
    side, length = document["side"], document["length"]
    lines = [
        f"left share of decided answers: {_share(side['left'])}; exact p against one half: {side['p']:.3g}",
        f"share of draws: {_share(side['draws'])}",
    ]
    if length["h"] is None:
        lines.append("length of reasons by outcome: not enough reasons of known length")
    else:
        medians = ", ".join(f"{name} {value:.0f}" for name, value in length["median_chars"].items() if value is not None)
        lines.append(f"median characters of reasons: {medians}; p that length and outcome are unrelated: {length['p']:.3g}")
    cells = [
        [
            row["judge"],
            row["num_answers"],
            *("" if (share := row[name]["share"]) is None else f"{100 * share:.0f}" for name in ("left", "draws", "agreement")),
            row["agreement"]["num"],
            "" if row["median_duration_s"] is None else f"{row['median_duration_s']:.0f}",
        ]
        for row in document["judges"]
    ]
    headers = ["judge", "#answers", "#left %", "#draws %", "#agrees with others %", "#of", "#median s"]
    return ["\n".join(lines), "", table(headers, cells, title="judges")]


def _transitivity(document: dict[str, Any]) -> Any:
    cells = []
    for name, words in (
        ("num_cyclic", "cyclic triads"),
        ("num_weak_violations", "weak transitivity violated"),
        ("num_strong_violations", "strong transitivity violated"),
    ):
        chance, model = (document[f"expected_{key}"][name] for key in ("if_equal", "by_model"))
        cells.append(
            [words, document[name], *(f"{one['mean']:.1f} ({one['low']:.0f} to {one['high']:.0f})" for one in (chance, model))]
        )
    title = f"{document['num_triads']:,} triads, {document['num_decided']:,} with three majorities"
    return table(["triads", "#found", "#if all were equal", "#if the fitted model holds"], cells, title=title)


def _share(share: dict[str, Any]) -> str:
    if share["share"] is None:
        return "no answers"
    return f"{share['share']:.1%} of {share['num']:,} ({share['low']:.1%} to {share['high']:.1%})"


def _chance(p: float) -> str:
    """Return a probability in whole per cent; 0 and 100 appear only for exact values."""
    return "<1" if 0 < p < 0.005 else ">99" if 0.995 < p < 1 else f"{100 * p:.0f}"
