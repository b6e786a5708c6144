"""Run as a program, in a process whose kernels and libraries are those of another processor:

python other_machine.py pictures FOLDER     hashes of pictures of the saved worlds there, and of all textures, as JSON
python other_machine.py verify FILE         the verdict on a sealed episode, as JSON
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import numpy as np

from interplay.record import Episode
from interplay.record.verify import verify_file
from interplay.world import Renderer, World, compiling
from interplay.world.render import skins
from interplay.world.render.daylight import brightness, of_sky
from interplay.world.render.models import models
from interplay.world.render.textures import atlas

SIZES = {(640, 360): Fraction(2), (128, 128): None}
"""Sizes of pictures, and how large bars and screens are in them: as people see them, and as agents do."""


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def pictures(folder: Path) -> dict[str, str]:
    """Name -> hash of each saved world's picture in two sizes, and of what pictures are made of."""
    compiling.ensure()
    found = {}
    for path in sorted(folder.glob("*.world")):
        for size, scale in SIZES.items():
            found[f"{path.stem} {size}"] = _hash(Renderer(size).frame(World.restore(path.read_bytes()), scale))
    look = models()
    of_each = np.array([_hash(picture) for picture in atlas()])  # whose order is that in which they were asked for
    found["textures"] = _hash(of_each[np.concatenate([look.faces.reshape(-1), look.box_faces.reshape(-1)])])
    found["light"] = _hash(np.array([brightness(of_sky(time, "rain")) for time in range(0, 24_000, 500)]))
    faces = [
        face for name, (_, make) in skins.BODIES.items() if name != "item" for part in make(0, 0).parts for face in part.faces
    ]
    found["skins"] = _hash(np.concatenate([face.reshape(-1) for face in faces]))
    return found


def main() -> None:
    """Answer on standard output."""
    what, path = sys.argv[1], Path(sys.argv[2])
    if what == "pictures":
        print(json.dumps(pictures(path)))
    else:
        print(json.dumps(asdict(verify_file(path, Episode.open(path).id, None))))


if __name__ == "__main__":
    main()
