"""Q*bert: hop to the nearest cube that is not done yet, and avoid everything else that hops."""

from __future__ import annotations

from collections import deque

import numpy as np

from interplay.agents.scripted.screen import Box, find, find_all

BLACK, QBERT, SIDES, SPEECH, SAM = 0, 52, 184, 254, 196
ROW_HEIGHT, FIRST_TOP = 29, 34
MIDDLES = (36, 64, 93, 122, 151, 180)
"""For each row of cubes, the row of pixels in which the tops of the cubes are widest."""

CENTRES = (
    (77.5,),
    (65.5, 93.5),
    (53.5, 77.5, 105.5),
    (41.5, 65.5, 93.5, 117.5),
    (29.5, 53.5, 77.5, 105.5, 129.5),
    (17.5, 41.5, 65.5, 93.5, 117.5, 141.5),
)
"""For each row of cubes, the columns of the middles of the cubes' tops."""

Cube = tuple[int, int]
CUBES: tuple[Cube, ...] = tuple((row, place) for row in range(6) for place in range(row + 1))
HOPS = {"UP": (-1, 0), "LEFT": (-1, -1), "RIGHT": (1, 1), "DOWN": (1, 0)}
"""Button -> (rows down, places to the right) of the hop."""

STOOD = 6
"""Distance, in pixels, from the topmost line of a cube's top down to the feet of a Q*bert who stands on it."""


class Qbert:
    """The player of Q*bert: it knows the pyramid's geometry and sees from a cube's top whether the cube is done.

    Everything that is not black, a cube or Q*bert must be avoided; a tall purple thing is Coily, who follows Q*bert.
    """

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._feet: deque[Box | None] = deque(maxlen=3)
        self._todo_colour = -1

    def see(self, pixels: np.ndarray) -> None:
        """Remember Q*bert's place, because he can start a hop only while he stands."""
        self._feet.append(find(pixels, QBERT, top=12))

    def decide(self, pixels: np.ndarray) -> set[str]:
        box = self._feet[-1]
        if box is None or len(self._feet) < 3 or any(other != box for other in self._feet):
            return set()
        here = _cube_at(box.x, box.bottom)
        if here is None:
            return set()
        todo = self._todo(pixels)
        danger = self._danger(pixels)
        best, least = set(), 1e9
        for button in HOPS:
            there = _hop(here, button)
            if there is None:
                continue
            cost = _distance(there, todo - {here}, danger) + 30 * danger.get(there, 0.0) + float(self._rng.random()) / 2
            if cost < least:
                best, least = {button}, cost
        if danger.get(here, 0.0) <= 0 and least >= 30:
            return set()
        return best

    def _todo(self, pixels: np.ndarray) -> set[Cube]:
        """Cubes that still have the colour that all cubes had when the round began."""
        colours = {cube: int(pixels[MIDDLES[cube[0]], int(CENTRES[cube[0]][cube[1]]) - 8]) for cube in CUBES}
        seen = list(colours.values())
        if BLACK not in seen and (self._todo_colour not in seen or len(set(seen)) == 1):
            self._todo_colour = max(seen, key=seen.count)
        return {cube for cube, colour in colours.items() if colour == self._todo_colour}

    def _danger(self, pixels: np.ndarray) -> dict[Cube, float]:
        """Map cubes to their danger: 2 with an enemy on the cube, 1 if an enemy can hop to the cube next."""
        tops = {int(pixels[y, int(x) - 8]) for y, row in zip(MIDDLES, CENTRES, strict=True) for x in row}
        harmful = np.ones(256, np.uint8)
        harmful[[BLACK, QBERT, SIDES, SPEECH, SAM, max(0, self._todo_colour), *tops]] = 0
        danger: dict[Cube, float] = {}
        for box in find_all(harmful[pixels], 1, top=24, left=4, right=156):
            if box.right - box.left < 3 or box.bottom - box.top < 4:
                continue
            cube = _cube_at(box.x, box.bottom)
            if cube is None:
                continue
            danger[cube] = 2.0
            follows = box.bottom - box.top > 12
            for button in HOPS if follows else ("RIGHT", "DOWN"):
                nearby = _hop(cube, button)
                if nearby is not None:
                    danger[nearby] = max(1.0, danger.get(nearby, 0.0))
        return danger


def _hop(cube: Cube, button: str) -> Cube | None:
    """The cube at the end of a hop; None if the hop leaves the pyramid."""
    row, place = cube[0] + HOPS[button][0], cube[1] + HOPS[button][1]
    return (row, place) if 0 <= row < 6 and 0 <= place <= row else None


def _cube_at(x: float, bottom: float) -> Cube | None:
    """The cube on which a thing stands, by its column `x` and lowest line `bottom`."""
    row = round((bottom - FIRST_TOP - STOOD) / ROW_HEIGHT)
    if not 0 <= row < 6:
        return None
    place = int(np.argmin([abs(x - centre) for centre in CENTRES[row]]))
    return (row, place) if abs(x - CENTRES[row][place]) <= 10 else None


def _distance(start: Cube, goals: set[Cube], danger: dict[Cube, float]) -> float:
    """Number of hops from a cube to the nearest goal around dangerous cubes; 20 if there is no way."""
    seen, edge, hops = {start}, [start], 0
    while edge:
        if any(cube in goals for cube in edge):
            return hops
        reached = []
        for cube in edge:
            for button in HOPS:
                there = _hop(cube, button)
                if there is not None and there not in seen and danger.get(there, 0.0) < 2:
                    seen.add(there)
                    reached.append(there)
        edge = reached
        hops += 1
    return 20
