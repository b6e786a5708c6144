"""Check whether files of runs agree with their episodes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError, NotFoundError
from interplay.explore import published
from interplay.explore.evaluation.metrics import Result, result_at
from interplay.explore.evaluation.runs import Run, RunError, files, header, id_of
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance
from interplay.explore.judgement_cache import Judgement
from interplay.explore.rules import VERSION
from interplay.files import write_bytes
from interplay.record import Archive, Episode

FOLDER = Path("media") / "runs"
"""Folder of the results of `compared` inside a data folder; its files can be made again."""


class WrongRun(NamedTuple):
    """A file of a run that contradicts its episode, or cannot be compared with an episode."""

    file: str
    text: str


def wrong_runs(
    data: Path, episodes: Mapping[str, str], judgements: Mapping[str, Judgement], whole: Collection[str] = ()
) -> Iterator[WrongRun]:
    """Yield the runs of a data folder whose files are wrong; failed runs are not checked, because no rate counts them.

    Args:
        episodes: Id -> task, of the episodes to compare with.
        judgements: Id -> judgement, for the episodes that can be judged.
        whole: Tasks with all their episodes in `episodes`, so that a run of the task without an episode there is wrong. If
            `whole` is not empty, unreadable files are wrong, too.
    """
    results = {path: result_at(path) for path in files(data)}
    played = {path: one for path, one in results.items() if isinstance(one, Result) and one.failed is None}
    claims = Counter(one.episode for one in played.values())
    for path, error in results.items():
        if isinstance(error, RunError) and whole:
            yield WrongRun(str(path), str(error))
    for path, one in played.items():
        if one.episode is None or one.episode not in episodes:
            if one.task in whole:
                text = f"there is no episode {one.episode} of {one.task}. Move the file away, and play the run again."
                yield WrongRun(str(path), text)
            continue
        if claims[one.episode] > 1:
            text = f"{claims[one.episode]} runs say that they are episode {one.episode}. Move those away that are copies."
            yield WrongRun(str(path), text)
        there = judgements.get(one.episode)
        if there is not None and (text := difference(one, episodes[one.episode], there)):
            yield WrongRun(str(path), f"{text}. Move the file away, and play the run again.")


def difference(result: Result, task: str, judgement: Judgement) -> str:
    """Describe the difference between a run and its episode in words; empty if they agree. `task` is the episode's task."""
    if (task, judgement.reached, set(judgement.milestones)) == (result.task, result.reached, result.judged):
        return ""
    said = ", ".join(f"{name} at step {step}" for name, step in result.reached.items()) or "nothing reached"
    return f"it says otherwise than episode {result.episode}: {said}"


def compared(
    archive: Archive | None, path: Path, run: Run, result: Result, judge: Callable[[Episode, Instance], Judgement]
) -> str | None:
    """Compare a run with its episode, and return the error in words; the result is cached for these two files.

    The text is empty if there is no error, or if the run failed; `None` if unknown, as for files of an earlier release.
    """
    if result.failed is not None:
        return ""
    episode = None
    if archive is not None:
        with suppress(NotFoundError):
            episode = archive.get(result.episode or "")
    if archive is None or episode is None:
        return f"there is no episode {result.episode} of {result.task} in this data folder"
    instance = run.instance or published.instances().get(result.task)
    if instance is None:
        return None
    files = {"run": path, "episode": episode.path}
    hashes = {name: hashlib.sha256(one.read_bytes()).hexdigest() for name, one in files.items()} | {"semantics": VERSION}
    if (known := last_verdict(archive.root, path)) is None or {name: known.get(name) for name in hashes} != hashes:
        known = hashes | {"why": _wrong(run, result, instance, episode, judge)}
        place = archive.root / FOLDER / f"{path.stem}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(place, json.dumps(known).encode())
    return known["why"]


def last_verdict(root: Path, path: Path) -> dict[str, str] | None:
    """Read the last result of `compared` for a run, with the hashes of the two files; `None` if missing."""
    try:
        known = json.loads((root / FOLDER / f"{path.stem}.json").read_bytes())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and isinstance(known.get("why"), str) else None


def _wrong(
    run: Run, result: Result, instance: Instance, episode: Episode, judge: Callable[[Episode, Instance], Judgement]
) -> str:
    settings = Settings(**run.header["settings"])
    as_made = header(instance, settings, result.model, result.epoch)
    if result.run != id_of(run.header) or any(
        run.header[name] != as_made[name] for name in ("task", "task_hash", "seed", "hops", "capabilities", "milestones")
    ):
        return "its first line says otherwise than its instance, or was changed"
    made_of = [tag for tag in episode.task.tags if tag.startswith("instance ")]
    if made_of not in ([], [f"instance {instance.content_hash}"]) or episode.num_steps > settings.max_steps:
        return f"episode {episode.id} was recorded with other milestones, or is longer than a run"
    ended = "quit" if result.ended == "limit" else result.ended
    if (result.num_steps, ended) != (episode.num_steps, episode.outcome):
        return (
            f"it says {result.num_steps} ticks and {ended}, episode {episode.id} has {episode.num_steps} and {episode.outcome}"
        )
    if result.said_done and ended != "terminated":
        return "it says that the model was done, and that the game went on"
    try:
        return difference(result, episode.task_id, judge(episode, instance))
    except InterplayError as error:
        return str(error).partition("\n")[0]
