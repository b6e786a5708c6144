"""Judge a running world or a recorded episode by an instance's rules, at each tick."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from blockworld import World
from interplay.envs import make
from interplay.envs.voxel import VoxelEnv
from interplay.errors import InterplayError, unknown_name
from interplay.explore import checking, facts, judgement_cache, published
from interplay.explore.instance import Instance, Milestone
from interplay.explore.judgement_cache import Judgement
from interplay.explore.rules import SEMANTICS, VERSION, Facts, Progress, Rule
from interplay.record import Archive, Episode

_SCENE = ("kind", "time", "rules", "commands")


class JudgingError(InterplayError):
    """Raised when an instance cannot judge an episode."""


class Watch:
    """Judge an instance's milestones while its world is played; milestones without valid rules are left out.

    Attributes:
        spawn: The `facts.feet` when the scene was ready.
        facts: Facts of the last judgement.
    """

    def __init__(self, world: World, instance: Instance, semantics: str = VERSION) -> None:
        self._world, self._name = facts.ready(world), instance.name
        self.spawn = facts.feet(self._world)
        self.progress = Progress({one.id: one.rules for one in judged(instance)}, semantics)
        self.facts: Facts = {}
        self._carried: tuple[tuple[str, int] | None, ...] | None = None
        self.look(0)
        self._world = world

    def look(self, tick: int) -> None:
        """Judge the milestones that are not reached yet; `__init__` has judged tick 0, the moment when the scene was ready."""
        progress = self.progress
        left = [rule for name, rules in progress.milestones.items() if name not in progress.reached for rule in rules]
        if not left or self._is_as_before(left):
            return
        self.facts = facts.for_rules(self._world, self.spawn, left)
        progress.update(self.facts, tick)

    def _is_as_before(self, rules: list[Rule]) -> bool:
        """Whether all rules are about carried items, and no carried item has changed; then nothing needs to be judged."""
        before, self._carried = self._carried, None
        if all(rule.type == "inventory_has" for rule in rules):
            slots = self._world.player.slots
            self._carried = tuple(None if slot is None else (slot.item, slot.count) for slot in slots)
        return self._carried is not None and self._carried == before

    def judgement(self, episode: Episode) -> Judgement:
        done = self.progress
        reached = tuple(done.milestones), done.reached, done.by_player
        return Judgement(episode.id, self._name, done.semantics, episode.num_steps, *reached)

    def fork(self, world: World) -> Watch:
        twin = copy(self)
        twin._world, twin.progress = world, self.progress.fork()
        return twin


def judged(instance: Instance) -> list[Milestone]:
    return [one for one in instance.milestones if checking.is_judged(one)]


def judge(
    episode: Episode, instance: Instance, semantics: str = VERSION, *, advance: Callable[[int], None] = lambda _: None
) -> Judgement:
    """Play an episode again, in the version of the task in which it was recorded, and judge it after every step.

    Raises:
        JudgingError: If the episode is of another instance, or of another scene with the same name.
        NotFoundError: For unknown semantics.
    """
    if semantics not in SEMANTICS:
        raise unknown_name("semantics", semantics, SEMANTICS)
    _check(episode, instance)
    env = make(episode.task)
    assert isinstance(env, VoxelEnv)
    try:
        env.reset(seed=episode.seed)
        watch = Watch(env.world, instance, semantics)
        for step, actions in enumerate(episode.joint_actions(), 1):
            env.step_unseen(actions)
            watch.look(step)
            advance(1)
    finally:
        env.close()
    return watch.judgement(episode)


def known(archive: Archive, episode_id: str, *, advance: Callable[[int], None] = lambda _: None) -> Judgement:
    """Return an episode's judgement by an instance that comes with the package; judge the episode if none is cached.

    Raises:
        NotFoundError: If there is no such episode.
        JudgingError: If the package has no instance for the episode, or has another scene with its name.
    """
    there = judgement_cache.read(archive.root, episode_id)
    if there is not None:
        return there
    episode = archive.get(episode_id)
    instance = published.instances().get(episode.task_id)
    if instance is None:
        raise JudgingError(f"{episode.task_id} is not an instance of the package\nRemedy: name the instance's file.")
    made = judge(episode, instance, advance=advance)
    judgement_cache.write(archive.root, made, instance)
    return made


def of_instance(archive: Archive, episode: Episode, instance: Instance) -> Judgement:
    """Return an episode's judgement by exactly this version of an instance; judge the episode if no judgement is cached."""
    there = judgement_cache.read(archive.root, episode.id, instance.task().content_hash)
    if there is None:
        there = judge(episode, instance)
        judgement_cache.write(archive.root, there, instance)
    return there


def _check(episode: Episode, instance: Instance) -> None:
    today = instance.task()
    if episode.task_id != today.id or episode.is_video_only:
        what = "is a video only" if episode.is_video_only else f"is of {episode.task_id}"
        raise JudgingError(
            f"episode {episode.id} {what}, and was not played in {today.id}\nRemedy: name the instance in which it was played."
        )
    played: Any = episode.task.env.options
    other = [name for name in _SCENE if played.get(name) != today.to_json()["env"]["options"][name]]
    if other or episode.seed != instance.seed:
        parts = ", ".join([*other, *(["seed"] if episode.seed != instance.seed else [])])
        raise JudgingError(
            f"episode {episode.id} was played in another scene of {today.id}: {parts} differ\n"
            "Remedy: judge it by the version of the instance in which it was played."
        )
