"""Judging recorded episodes of instances again: each is played again from its actions, and every tick is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interplay.envs import make
from interplay.envs.voxel import VoxelEnv
from interplay.errors import InterplayError, unknown_name
from interplay.explore import checking, facts
from interplay.explore.instance import Instance
from interplay.explore.rules import SEMANTICS, VERSION, Progress

if TYPE_CHECKING:
    from interplay.record import Episode

_SCENE = ("kind", "time", "rules", "commands")
"""Options of a task that make its scene."""


class JudgingError(InterplayError):
    """An episode that cannot be judged by an instance."""


@dataclass(frozen=True)
class Judgement:
    """What was reached in one episode.

    Attributes:
        episode: Its id.
        instance: Name of the instance.
        semantics: What the rules mean: one of `rules.SEMANTICS`.
        num_steps: Of the episode.
        milestones: Ids of all milestones that can be judged, in their order.
        reached: Id -> the step at which it was reached, 0 if it was so before the first one.
        by_player: Id -> whether the player did it, of milestones reached because something went: see `Progress`.
    """

    episode: str
    instance: str
    semantics: str
    num_steps: int
    milestones: tuple[str, ...]
    reached: dict[str, int]
    by_player: dict[str, bool]

    @property
    def success(self) -> bool:
        """Whether all were reached."""
        return len(self.reached) == len(self.milestones) > 0


def judge(episode: Episode, instance: Instance, semantics: str = VERSION) -> Judgement:
    """Play an episode again, in the version of the task in which it was recorded, and judge it after every step.

    A milestone whose rules are missing or mean nothing is left out: it is never reached, and is in no total.

    Raises:
        JudgingError: If the episode is not of this instance, or of another scene of that name.
        NotFoundError: If there are no such semantics.
    """
    if semantics not in SEMANTICS:
        raise unknown_name("semantics", semantics, SEMANTICS)
    _check(episode, instance)
    milestones = {one.id: one.rules for one in instance.milestones if checking.is_judged(one)}
    rules = [rule for rules in milestones.values() for rule in rules]
    progress = Progress(milestones, semantics)
    env = make(episode.task)
    assert isinstance(env, VoxelEnv)
    try:
        env.reset(seed=episode.seed)
        spawn = facts.feet(facts.ready(env.world))
        progress.update(facts.for_rules(env.world, spawn, rules), 0)
        for step, action in enumerate(episode.joint_actions(), 1):
            env.step_unseen(action)
            if len(progress.reached) < len(milestones):
                progress.update(facts.for_rules(env.world, spawn, rules), step)
    finally:
        env.close()
    done = dict(progress.reached), dict(progress.by_player)
    return Judgement(episode.id, instance.name, semantics, episode.num_steps, tuple(milestones), *done)


def _check(episode: Episode, instance: Instance) -> None:
    """Refuse what is no episode of the instance."""
    today = instance.task()
    if episode.task_id != today.id or episode.is_video_only:
        what = "is a video only" if episode.is_video_only else f"is of {episode.task_id}"
        raise JudgingError(
            f"episode {episode.id} {what}, and not played in {today.id}\nRemedy: name the instance it was played in."
        )
    played: Any = episode.task.env.options
    other = [name for name in _SCENE if played.get(name) != today.to_json()["env"]["options"][name]]
    if other or episode.seed != instance.seed:
        parts = ", ".join([*other, *(["seed"] if episode.seed != instance.seed else [])])
        raise JudgingError(
            f"episode {episode.id} was played in another scene of {today.id}: {parts} differ\n"
            "Remedy: judge it by the instance as it was then."
        )
