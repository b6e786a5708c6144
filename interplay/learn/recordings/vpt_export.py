"""Write episodes as recordings in the form that VPT and BEDD publish, for programs that read such recordings.

A line is the player's action in a step, and its frame is the observation before the action. The video has one more frame, the
last observation. Lines have BEDD's fields: mouse, keyboard, whether a menu is open, and the hotbar's slot. They have no angles;
the mouse gives the camera. The slot is the last slot chosen by a key, so readers interpret a change of slot as that key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

from interplay.envs import minerl_actions
from interplay.files import replacing
from interplay.learn.recordings.labels import DEGREES_A_PIXEL, KEYBOARD, MOUSE
from interplay.learn.recordings.names import FOLDERS, RecordingName, folder_of
from interplay.learn.recordings.pictures import SCREEN_ROWS
from interplay.learn.recordings.vpt_import import task_of_recordings
from interplay.record import Episode, RecordingError
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.films.film import write_mp4
from interplay.tasks import Task
from interplay.tasks.task import published_name

_SCREEN = (1280, SCREEN_ROWS)
_GUI_SCALE = 2
"""Pixels of `_SCREEN` for each pixel of a menu."""
_MS_A_STEP = 50
_NAMES = {name: key for key, name in KEYBOARD.items()}


@dataclass
class ExportedRecordings:
    """The result of an export: written and existing files (without ending), and the reason for each episode left out."""

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def export(
    episodes: Sequence[Episode], out: Path, *, pseudonyms: Pseudonyms, advance: Callable[[int], None] | None = None
) -> ExportedRecordings:
    """Write each episode as `<folder of its task>/<player>-<session>-<YYYYMMDD>-<HHMMSS>` with `.mp4` and `.jsonl`.

    Existing files are kept, so the same call continues a stopped export. `RecordingError` if a file cannot be written.
    """
    result = ExportedRecordings()
    for episode in episodes:
        if reason := why_not(episode):
            result.left_out[episode.id] = reason
            continue
        target = out / folder_for(episode.task) / name_of(episode, pseudonyms).stem()
        video, text = (target.with_name(f"{target.name}{ending}") for ending in (".mp4", ".jsonl"))
        if video.exists() and text.exists():
            result.kept.append(str(target))
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_mp4(episode, video, advance=advance, frames=episode.observed)
            with replacing(text) as part, part.open("w", encoding="utf-8") as file:
                for line in lines_of(episode):
                    file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise RecordingError(
                f"cannot write {target.parent}: {error.strerror or error}\nFree some space or name another folder with --out."
            ) from error
        finally:
            episode.close()
        result.written.append(str(target))
    return result


def why_not(episode: Episode) -> str:
    """Reason why an episode cannot be exported as such a recording; empty if it can."""
    if episode.is_video_only:
        return "it is only a video: nothing was recorded step by step"
    if not episode.num_steps:
        return "it has no step"
    if len(episode.task.seats) > 1:
        return "it has several seats, but such a recording has one player"
    (space,) = episode.header.action_spaces.values()
    if set(getattr(space, "spaces", {})) != {*minerl_actions.KEYS, minerl_actions.CAMERA}:
        return "its actions are not the keys and the camera of Minecraft"
    return ""


def folder_for(task: Task) -> str:
    """The folder for recordings of a task; for BEDD's own tasks, the published folder name.

    >>> folder_for(task_of_recordings("FindCave"))
    'find-cave'
    """
    imported = {task_of_recordings(name).id: name for name in FOLDERS.values()}
    return folder_of(imported.get(task.id) or published_name(task))


def name_of(episode: Episode, pseudonyms: Pseudonyms) -> RecordingName:
    """The name of an episode's files; every episode is a session of its own."""
    player = pseudonyms.player(episode.actor, episode.actor_kind).removeprefix("imported/")
    alias = re.sub(r"[^\w.+]+", "-", player).strip("-.") or "unknown"
    session = hashlib.sha256(episode.id.encode()).hexdigest()[:12]
    return RecordingName(alias, session, episode.created_at.astimezone(UTC))


def lines_of(episode: Episode) -> Iterator[dict[str, Any]]:
    infos = episode.steps().column("info").to_pylist()
    begin_ms = round(episode.created_at.timestamp() * 1000)
    held_keys: set[str] = set()
    held_buttons: set[int] = set()
    slot, pointer = 0, (0.0, 0.0)
    for step, action in enumerate(episode.actions()):
        pressed = minerl_actions.read(action)
        menu = str(json.loads(infos[step]).get("gui") or "")
        keys = {_NAMES[name] for name, is_held in pressed.keys.items() if is_held and name in _NAMES}
        buttons = {button for button, name in enumerate(MOUSE) if pressed.keys[name]}
        right, down = (turn / DEGREES_A_PIXEL for turn in (pressed.yaw, pressed.pitch))
        if not menu:
            pointer = (0.0, 0.0)  # a menu opens with the mouse in its middle
        yield {
            "mouse": {
                **dict(zip(("x", "y"), map(_on_screen, pointer, _SCREEN), strict=True)),
                "dx": right,
                "dy": down,
                "scaledX": pointer[0],
                "scaledY": pointer[1],
                "dwheel": 0.0,
                "buttons": sorted(buttons),
                # In the first line a new left button would say that attack is stuck.
                "newButtons": sorted(buttons - held_buttons) if step else [],
            },
            "keyboard": {"keys": sorted(keys), "newKeys": sorted(keys - held_keys), "chars": ""},
            "isGuiOpen": bool(menu),
            "isGuiInventory": menu == "inventory",
            "hotbar": slot,
            "tick": step,
            "milli": begin_ms + step * _MS_A_STEP,
        }
        pointer = pointer[0] + right, pointer[1] + down
        held_keys, held_buttons = keys, buttons
        slot = pressed.hotbar - 1 if pressed.hotbar else slot


def _on_screen(from_middle: float, side: int) -> float:
    return min(max(side / 2 + _GUI_SCALE * from_middle, 0.0), float(side - _GUI_SCALE))
