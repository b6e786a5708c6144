"""Make the report of an import: counts, dropped rows with reasons, and notes on rows that needed interpretation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from interplay.judge.published.questions import questions
from interplay.judge.published.row import PublishedAnswer, ReadItems

_ROWS_NAMED = 10
_JOINED = (
    "these agents were here already; the published agent and the earlier agent of the same name are now one agent, with one "
    "rating and one page. --name renames judges, not agents, and answers are never taken back: to keep them apart, import the "
    "file into a folder of its own, with --data OTHER"
)


def import_report(
    *,
    name: str,
    file: Path,
    sha256: str,
    num_rows: int,
    read: ReadItems,
    conflicts: Sequence[tuple[int, str, str]],
    num_imported: int,
    banned: Sequence[str],
    num_new_bans: int,
    videos: Mapping[str, Sequence[tuple[str, int]]],
    video_notes: Sequence[str],
    order: str,
    joined: Sequence[str],
) -> dict[str, Any]:
    """Return the report as JSON values; docs/dataset.md describes its keys.

    Args:
        conflicts: (row, hash, reason) of each row that was imported before with another content.
        videos: Agent -> task and seed of each of its videos.
        joined: Agents of the set that were on this server before the set.
    """
    in_conflict = {row for row, _, _ in conflicts}
    answers = [answer for answer in read.answers if answer.row not in in_conflict]
    dropped = sorted([*read.dropped, *conflicts])
    workers = {answer.worker for answer in answers}
    unheard = set(banned)
    return {
        "name": name,
        "file": file.name,
        "sha256": sha256,
        "imported_at": datetime.now(UTC).isoformat(),
        "num_rows": num_rows,
        "num_imported": num_imported,
        "num_there_already": len(answers) - num_imported,
        "num_dropped": len(dropped),
        "dropped": [{"row": row, "hash": key, "reason": reason} for row, key, reason in dropped],
        "notes": _notes(answers),
        "order": order,
        "first": min((answer.answered_at.isoformat() for answer in answers), default=None),
        "last": max((answer.answered_at.isoformat() for answer in answers), default=None),
        "num_workers": len(workers),
        "num_workers_banned": len(workers & unheard),
        "num_answers_banned": sum(answer.worker in unheard for answer in answers),
        "num_new_bans": num_new_bans,
        "banned_without_answers": sorted(unheard - workers),
        "tasks": _tasks(answers, read),
        "agents": _agents(answers, videos),
        "joined_agents": list(joined),
        "joined_note": _JOINED if joined else "",
        "num_points": sum(len(answer.responses) + 1 for answer in answers),
        "num_videos": sum(map(len, videos.values())),
        "video_notes": list(video_notes),
    }


def _notes(answers: Sequence[PublishedAnswer]) -> list[dict[str, Any]]:
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for answer in answers:
        for note in dict.fromkeys(answer.notes):
            rows[note].append(answer.row)
    return [
        {"note": note, "num_rows": len(where), "rows": where[:_ROWS_NAMED]}
        for note, where in sorted(rows.items(), key=lambda entry: -len(entry[1]))
    ]


def _tasks(answers: Sequence[PublishedAnswer], read: ReadItems) -> dict[str, dict[str, Any]]:
    by_task: defaultdict[str, list[PublishedAnswer]] = defaultdict(list)
    for answer in answers:
        by_task[answer.task.id].append(answer)
    result = {}
    for task_id, here in sorted(by_task.items()):
        seconds = [answer.duration_s for answer in here]
        words = [len(answer.reason.split()) for answer in here]
        forms = {}
        for kind in ("direct", "comparative"):
            counts = read.wordings.counts[task_id, kind]
            forms[kind] = {
                "asked": len(questions(here[0].task, kind)),
                "found": {str(count): num for count, num in sorted(counts.items())},
            }
        result[task_id] = {
            "published_name": Counter(str(answer.item["task"]) for answer in here).most_common(1)[0][0],
            "num_answers": len(here),
            "mean_duration_s": round(fmean(seconds), 3),
            "total_hours": round(sum(seconds) / 3600, 3),
            "num_words": sum(words),
            "mean_words": round(fmean(words), 3),
            "outcomes": dict(sorted(Counter(answer.outcome for answer in here).items())),
            "num_agents": len({agent for answer in here for agent in (answer.left, answer.right)}),
            "num_workers": len({answer.worker for answer in here}),
            "seeds": sorted({answer.seed for answer in here}),
            "questions": forms,
        }
    return result


def _agents(answers: Sequence[PublishedAnswer], videos: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, dict[str, Any]]:
    num_answers = Counter(agent for answer in answers for agent in (answer.left, answer.right))
    shown: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for answer in answers:
        for agent in (answer.left, answer.right):
            shown[agent].add((answer.task.id, answer.seed))
    return {
        agent: {
            "num_answers": count,
            "num_videos_judged": len(shown[agent]),
            "num_videos_brought": len(videos.get(agent, ())),
        }
        for agent, count in sorted(num_answers.items())
    }


def report_text(report: Mapping[str, Any]) -> str:
    lines = [
        f"{report['file']}: {report['num_rows']:,} rows, {report['num_imported']:,} imported as {report['name']!r}, "
        f"{report['num_there_already']:,} there already, {report['num_dropped']:,} dropped"
    ]
    for entry in report["dropped"][:_ROWS_NAMED]:
        lines.append(f"  row {entry['row']} {entry['reason']}")
    if report["num_dropped"] > _ROWS_NAMED:
        lines.append(f"  ... and {report['num_dropped'] - _ROWS_NAMED} more; the report lists them all")
    lines += [f"  note: {note['note']} ({note['num_rows']} rows, first {note['rows'][0]})" for note in report["notes"]]
    lines.append("")
    lines.append(f"{'task':36} {'answers':>8} {'agents':>7} {'mean s':>8} {'hours':>7} {'words':>8}")
    for task, facts in report["tasks"].items():
        lines.append(
            f"{task:36} {facts['num_answers']:8,} {facts['num_agents']:7} {facts['mean_duration_s']:8.2f} "
            f"{facts['total_hours']:7.2f} {facts['num_words']:8,}"
        )
        for kind, form in facts["questions"].items():
            if set(form["found"]) - {str(form["asked"])}:
                found = ", ".join(f"{num} rows with {count}" for count, num in form["found"].items())
                lines.append(f"  note: {form['asked']} {kind} questions asked; {found}")
    total_h = sum(facts["total_hours"] for facts in report["tasks"].values())
    num_lost = report["num_answers_banned"]
    lines += [
        f"{report['num_workers']} workers, {report['num_workers_banned']} of them banned ({num_lost} answers left out)",
        f"{len(report['agents'])} agents, {report['num_points']:,} comparison points, {total_h:.2f} h",
    ]
    if report["joined_agents"]:
        lines += [f"joined: {', '.join(report['joined_agents'])}", f"  note: {report['joined_note']}"]
    if report["banned_without_answers"]:
        lines.append(f"{len(report['banned_without_answers'])} banned workers have no answers here")
    lines.append(
        f"{report['num_videos']:,} videos imported" + ("" if report["num_videos"] else "; without them nothing can be shown")
    )
    lines += [f"  note: {note}" for note in report["video_notes"][:_ROWS_NAMED]]
    return "\n".join(lines)
