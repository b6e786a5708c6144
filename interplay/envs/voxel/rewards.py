"""Rewards of the block world: a player gets a reward for having an item for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from blockworld import Stack
from interplay.envs.voxel.checks.obtain_diamond_shovel import MILESTONES, milestone_of


class FirstItems(NamedTuple):
    """Item -> reward when the player has it for the first time in an episode; the item `last` ends the episode."""

    worth: Mapping[str, float]
    name_of: Callable[[str], str]
    last: str

    def earn(self, slots: Iterable[Stack | None], earned: set[str]) -> float:
        """Add the items in these slots to `earned`, and return the sum of the rewards for the items that are new there."""
        reward = 0.0
        for stack in slots:
            if stack is None:
                continue
            name = self.name_of(stack.item)
            if name in self.worth and name not in earned:
                earned.add(name)
                reward += self.worth[name]
        return reward


REWARDS = {"diamond_shovel": FirstItems(MILESTONES, milestone_of, "diamond_shovel")}
"""Value of the option `reward` -> its rewards."""
