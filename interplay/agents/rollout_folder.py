"""Write rollouts in the layout of other projects: `<folder>/<task>/seed_<n>.mp4`, each with its steps in `seed_<n>.jsonl`.

Each line describes one step: the info before the step, and the action. Zeros and empty values are left out, as in BEDD's
rollouts (Milani et al. 2023). `interplay judge add-agent` reads such a folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.agents.base import AgentError
from interplay.envs import make
from interplay.files import replacing
from interplay.record import Archive, Episode
from interplay.record.films.film import film


def write_rollouts(archive: Archive, episodes: Sequence[Episode], folder: Path) -> list[Path]:
    """Write the video and the steps of each episode, one for each task and seed; keep existing files; return the videos.

    Raises:
        AgentError: If two episodes have the same task and seed, or the folder cannot be written to.
        RecordingError: If a video cannot be made.
    """
    places = [folder / episode.task.name / f"seed_{episode.seed}.mp4" for episode in episodes]
    twice = next((place for index, place in enumerate(places) if place in places[:index]), None)
    if twice is not None:
        raise AgentError(f"there are two episodes for {twice}\nPlay one episode for each seed.")
    try:
        for episode, video in zip(episodes, places, strict=True):
            video.parent.mkdir(parents=True, exist_ok=True)
            if not video.exists():
                with replacing(video) as part:
                    shutil.copyfile(film(archive, episode.id), part)
            text = video.with_suffix(".jsonl")
            if not text.exists():
                with replacing(text) as part, part.open("w", encoding="utf-8") as file:
                    file.writelines(json.dumps(line) + "\n" for line in facts(episode))
    except OSError as error:
        raise AgentError(
            f"{folder} cannot be written to: {error.strerror}\n"
            "Finished files stay. Make room, or name another folder:  --out DIR"
        ) from None
    return places


def facts(episode: Episode) -> Iterator[dict[str, Any]]:
    """Yield a line for each of the T steps: `step`, `info` before the step, and `action`, without zeros and empty values.

    If the world can be replayed from its seed, `info` is the complete info of the replay; else it is the recorded info.
    """
    for step, (info, actions) in enumerate(zip(_infos(episode), episode.joint_actions(), strict=False)):
        action = actions if len(actions) > 1 else actions.popitem()[1]
        yield {"step": step, "info": _plain(info), "action": _plain(action)}


def _infos(episode: Episode) -> Iterator[Mapping[str, Any]]:
    if episode.frame_policy != "replay":
        yield from (json.loads(text) for text in episode.steps().column("info").to_pylist())
        return
    env = make(episode.task)
    try:
        yield env.reset(seed=episode.seed)[1]
        for action in episode.joint_actions()[:-1]:
            yield env.step_unseen(action)[-1]
    finally:
        env.close()


def _plain(value: Any) -> Any:
    """Convert to JSON values without zeros and empty values; an action that is one number is always kept."""
    if isinstance(value, Mapping):
        return {str(name): plain for name, part in value.items() if not _is_nothing(plain := _plain(part))}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return round(value, 4) if isinstance(value, float) else value


def _is_nothing(value: Any) -> bool:
    return value in (0, "", None) or (isinstance(value, dict | list) and not (any(value) if isinstance(value, list) else value))
