"""Pictures of the scene of an instance, and what its player carries: made once, kept in the data folder, for reviewers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interplay.envs import Frame
from interplay.envs.pictures import png
from interplay.explore import facts, views
from interplay.explore.instance import Instance
from interplay.explore.make.sandbox import build_instance
from interplay.files import write_bytes

FOLDER = Path("media") / "reviews"
"""Of a data folder. What is in it can be made again."""
_ABOUT = "about.json"


def about(root: Path, instance: Instance) -> dict[str, Any]:
    """What is to be said beside the pictures: `carried`, what the player begins with. All of it is made if it is missing,
    in some tenths of a second.

    Args:
        root: The data folder.
    """
    folder = root / FOLDER / instance.content_hash
    try:
        return json.loads((folder / _ABOUT).read_bytes())
    except (OSError, ValueError):  # it is not there, or was torn
        pass
    scene = build_instance(instance)
    folder.mkdir(parents=True, exist_ok=True)
    spawn = facts.feet(scene.world)
    for view in views.VIEWS:
        write_bytes(folder / _name(view), png(Frame(views.picture(scene.world, spawn, view)), level=6))
    said = {"carried": scene.carried()}
    write_bytes(folder / _ABOUT, json.dumps(said).encode())  # the last: what is there is whole
    return said


def path(root: Path, instance: Instance, view: str) -> Path:
    """The PNG of one of `views.VIEWS`."""
    about(root, instance)
    return root / FOLDER / instance.content_hash / _name(view)


def _name(view: str) -> str:
    return f"{view.replace(' ', '-')}.png"
