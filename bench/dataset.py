"""How fast a published evaluation set comes in and goes out, beside the simplest way of entering the same rows.

    python -m bench.dataset --json

The set is that of `bench.synthetic_bedd`: 3,049 answers in the published format. The baseline enters the same matches and
answers one by one through the object mapper, a transaction each, as a loop over the file would.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import interplay.record
from bench.synthetic_bedd import synthetic_answers
from interplay.judge.published import Selection, export_answers, import_answers
from interplay.judge.published.dataset_export import write_items
from interplay.record import Archive
from interplay.store import Answer, EpisodeRow, Match, TaskRow
from interplay.store.uploads import exported
from interplay.tasks import find

MAX_SECONDS = 30.0


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.seed)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")
    raise SystemExit(0 if result["passed"] else 1)


def measure(seed: int) -> dict[str, Any]:
    """Every figure of one run."""
    items = synthetic_answers(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "answers.json"
        path.write_text(json.dumps(items))
        archive = interplay.record.open(root / "data")
        begin = time.perf_counter()
        report = import_answers(archive, path)
        import_s = time.perf_counter() - begin
        begin = time.perf_counter()
        again = import_answers(archive, path)
        again_s = time.perf_counter() - begin
        begin = time.perf_counter()
        with archive.database.read() as session:
            write_items(export_answers(session, Selection(name="bedd")), root / "out.json")
        export_s = time.perf_counter() - begin
        is_equal = json.loads((root / "out.json").read_text()) == items
        begin = time.perf_counter()
        json.loads(path.read_bytes())
        parse_s = time.perf_counter() - begin
        naive_s = parse_s + one_by_one(archive, root / "naive")
        archive.close()
    return {
        "num_answers": len(items),
        "import_s": round(import_s, 3),
        "import_again_s": round(again_s, 3),
        "export_s": round(export_s, 3),
        "one_by_one_s": round(naive_s, 3),
        "ratio_to_one_by_one": round(naive_s / import_s, 1),
        "is_export_equal": is_equal,
        "passed": import_s <= MAX_SECONDS and is_equal and report["num_imported"] == len(items) and not again["num_imported"],
    }


def one_by_one(archive: Archive, folder: Path) -> float:
    """Seconds to enter what the archive holds into a fresh one, an object and a transaction at a time."""
    with archive.database.read() as session:
        answers = list(exported(session))
        episodes = [
            {column.name: getattr(row, column.name) for column in EpisodeRow.__table__.columns}
            for row in session.query(EpisodeRow)
        ]
        tasks = sorted({answer.task for answer in answers})
    other = interplay.record.open(folder)
    begin = time.perf_counter()
    for task in map(find, tasks):
        with other.database.write() as session:
            now = answers[0].created_at
            session.add(TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=now))
    for values in episodes:
        with other.database.write() as session:
            session.add(EpisodeRow(**values))
    for answer in answers:
        with other.database.write() as session:
            shared = {name: getattr(answer, name) for name in ("task", "seed", "left_agent", "right_agent", "judge")}
            session.add(
                Match(
                    **shared,
                    id=answer.match_id,
                    task_hash=answer.task_hash,
                    left_episode_id=answer.left_episode_id,
                    right_episode_id=answer.right_episode_id,
                    served_at=answer.served_at,
                    seen_at=answer.created_at,
                    answered_at=answer.created_at,
                )
            )
            session.flush()
            own = ("match_id", "outcome", "responses", "reason", "created_at", "duration_s", "viewing", "source")
            session.add(Answer(**shared, **{name: getattr(answer, name) for name in own}))
    seconds = time.perf_counter() - begin
    other.close()
    return seconds


if __name__ == "__main__":
    main()
