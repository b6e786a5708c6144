"""Decode scene and land frames as a browser does, for tests and measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockworld.errors import WorldError
from blockworld.scene import packing
from blockworld.scene.land import SECTION

SCENE_FRAME, LAND_FRAME = 4, 5


class SceneDecoder:
    """A client's copy of the world, built from the frames that it has received.

    Attributes:
        document: The newest value of each key of scene frames.
        blocks, light, known: uint16, uint8 and bool, shape (SX, SZ, SY): states, light, and which cells were sent.
        figures: Id -> row of `figures.standing`.
        models, sprites: Numbers of the models and keys of the sprites defined so far.
        numbers, bright: The newest received arrays of these names.
        left: Number of land frames that are still to come, from the newest land frame.
        num_unknown: Number of frames that changed cells whose land was not sent before: 0 unless the encoder has an error.
    """

    def __init__(self) -> None:
        self.document: dict[str, Any] = {}
        self.left: int | None = None
        self._begin((0, 0, 0))

    def _begin(self, size: tuple[int, int, int]) -> None:
        shape = size[0], size[2], size[1]
        self.blocks, self.light, self.known = np.zeros(shape, np.uint16), np.zeros(shape, np.uint8), np.zeros(shape, np.bool_)
        self.figures: dict[int, np.ndarray] = {}
        self.models: set[int] = set()
        self.sprites: set[str] = set()
        self.numbers = self.bright = np.zeros(0, np.float32)
        self.num_unknown = 0
        self._generated: tuple[np.ndarray, np.ndarray] | None = None

    def apply(self, kind: int, payload: bytes) -> None:
        """Apply the payload of a frame; WorldError if the bytes are not a payload."""
        document, arrays = packing.unpack(packing.inflate(payload))
        if kind == SCENE_FRAME:
            self._scene(document, arrays)
        elif kind == LAND_FRAME:
            self._land(document, arrays)
        else:
            raise WorldError(f"a scene has frames of kind {SCENE_FRAME} and {LAND_FRAME}, got {kind}")

    def _scene(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if "size" in document:
            self.document = {}
            self._begin(tuple(document["size"]))
        if "again" in document:
            self._again()
        self.document |= document
        self.left = document.get("left", self.left)
        for target, at, values in ((self.blocks, "cells", "states"), (self.light, "lit", "lights")):
            if at in arrays:
                self.num_unknown += not self.known.reshape(-1)[arrays[at]].all()
                target.reshape(-1)[arrays[at]] = arrays[values]
        for number in arrays.get("gone", np.zeros(0)).tolist():
            del self.figures[number]
        if "figures" in arrays:
            self.figures.update(zip(arrays["figure_ids"].tolist(), arrays["figures"], strict=True))
        self.models.update(one["model"] for one in document.get("models", ()))
        self.sprites.update(one[0] for one in document.get("sprites", ()))
        self.numbers, self.bright = arrays.get("numbers", self.numbers), arrays.get("bright", self.bright)

    def _again(self) -> None:
        """Forget everything except the land as generated and the definitions of models and sprites."""
        if self._generated is None:
            self._generated = self.blocks.copy(), self.light.copy()
        self.blocks[:], self.light[:] = self._generated
        self.document = {}
        self.figures = {}

    def _land(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if "size" in document:
            self._begin(tuple(document["size"]))
        states = arrays["palette"][arrays["cells"]]
        for row, (x, y, z) in enumerate(arrays["at"].tolist()):
            box = tuple(slice(at * SECTION, at * SECTION + SECTION) for at in (x, z, y))
            self.blocks[box], self.light[box], self.known[box] = states[row], arrays["lights"][row], True
        self.left = document["left"]
