"""Whether files of runs say what their episodes show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from interplay.explore.evaluation.metrics import Result, result_at
from interplay.explore.evaluation.runs import RunError, files
from interplay.explore.judgements import Judgement


class WrongRun(NamedTuple):
    """A file that says something else than its episode, or cannot be compared with one.

    Attributes:
        file: Its path.
        text: What is wrong, and what to do.
    """

    file: str
    text: str


def wrong_runs(
    data: Path, episodes: Mapping[str, str], judgements: Mapping[str, Judgement], whole: Collection[str] = ()
) -> Iterator[WrongRun]:
    """Runs of a data folder whose files are wrong; a run that failed counts as nothing reached, and is not looked at.

    Args:
        data: The data folder.
        episodes: Id -> task, of the episodes that are looked at.
        judgements: Id -> what was reached, of those of them that can be judged.
        whole: Tasks of which `episodes` has all episodes: a run of theirs must be one of them. If there are any, files that
            cannot be read are wrong, too.
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
        shown = None if there is None else (episodes[one.episode], there.reached, set(there.milestones))
        if shown is not None and shown != (one.task, one.reached, one.judged):
            said = ", ".join(f"{name} at step {step}" for name, step in one.reached.items()) or "nothing reached"
            text = f"it says otherwise than episode {one.episode}: {said}. Move the file away, and play the run again."
            yield WrongRun(str(path), text)
