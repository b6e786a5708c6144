"""Space Invaders for two: what the player for one does, with the cannon of one's seat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from interplay.agents.scripted.space_invaders import SpaceInvaders

if TYPE_CHECKING:
    from interplay.envs import PlayableEnv

CANNONS = (196, 246)
"""Palette indices, by seat."""
DECISION_FRAMES = 4


def shoot(env: PlayableEnv, seat: str, rng: np.random.Generator) -> Iterator[set[str]]:
    """Sweep under the invaders, shoot, and turn away from bombs."""
    brain = SpaceInvaders(CANNONS[env.task.seats.index(seat)])
    brain.reset(rng)
    while True:
        brain.see(env.view().pixels)
        buttons = brain.decide(env.view().pixels)
        for frame in range(DECISION_FRAMES):
            if frame:
                brain.see(env.view().pixels)
            yield buttons
