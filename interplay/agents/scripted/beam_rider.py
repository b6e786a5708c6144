"""Beam Rider: move to the beam of the nearest saucer, shoot, and leave a beam on which something comes down."""

from __future__ import annotations

import numpy as np

from interplay.agents.scripted.screen import Box, find, find_all

SHIP, GRID, BLACK = 26, 164, 0
OWN_SHOT = (54,)
SAUCERS = (6, 8, 10, 12, 14)
CENTRE, BEAM_WIDTH, NEAR = 84, 25.5, 160
"""Column of the middle beam; distance between two beams near the ship, in columns; row in which beams have this distance."""

NARROWING = 0.0051
"""Share of `BEAM_WIDTH` by which the beams come closer together with each row above the row `NEAR`."""


_THING = np.ones(256, np.uint8)
_THING[[BLACK, GRID, *OWN_SHOT]] = 0


class BeamRider:
    """The player of Beam Rider. Saucers are grey, brighter if nearer; the grid is blue; avoid everything else that moves."""

    danger_top = 112

    def reset(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._count = 0

    def see(self, pixels: np.ndarray) -> None:
        """Do nothing: this player needs only the present frame."""

    def decide(self, pixels: np.ndarray) -> set[str]:
        self._count += 1
        fire = {"FIRE"} if self._count % 2 else set()
        ship = find(pixels, SHIP, top=166, bottom=181)
        if ship is None:
            # Between two ships the game waits for the stick.
            return {"LEFT" if self._count % 16 < 8 else "RIGHT"}
        lane = (ship.x - CENTRE) / BEAM_WIDTH
        things = find_all(_THING[pixels], 1, top=52, bottom=163)
        saucers = [box for box in things if int(pixels[box.top : box.bottom + 1, box.left : box.right + 1].max()) in SAUCERS]
        threats = [_lane(box) for box in things if box.bottom >= self.danger_top and (box not in saucers or box.bottom > 145)]
        blocked = [any(abs(threat - beam) < 0.55 for threat in threats) for beam in range(-2, 3)]
        here = max(-2, min(2, round(lane)))
        if saucers:
            target = min(saucers, key=lambda box: abs(_lane(box) - lane) - box.y / 100)
            aim = max(-2, min(2, round(_lane(target))))
        else:
            aim = here
        if blocked[aim + 2]:
            free = [beam for beam in range(-2, 3) if not blocked[beam + 2]]
            aim = min(free, key=lambda beam: abs(beam - lane) + abs(beam) / 10, default=here)
        if abs(aim - lane) < 0.4:
            return fire
        step = 1 if aim > lane else -1
        if blocked[max(0, min(4, here + step + 2))] and not blocked[here + 2]:
            return fire
        return {"RIGHT" if step > 0 else "LEFT"}


def _lane(box: Box) -> float:
    """Number of the beam on which a thing is, -2 to 2; a fraction if the thing is between two beams."""
    return (box.x - CENTRE) / (BEAM_WIDTH * (1 - NARROWING * (NEAR - box.bottom)))
