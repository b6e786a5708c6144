"""From a task to its environment."""

from __future__ import annotations

from interplay.envs.base import EnvError, FramePolicy, PlayableEnv
from interplay.tasks import Task, find


def make(task: Task | str, *, frames: FramePolicy | None = None) -> PlayableEnv:
    """Build the environment of a task.

    Args:
        task: A task, or the id of one (`"atari/space_invaders"`).
        frames: Overrides the world's own frame policy for episodes recorded from it.
    Raises:
        NotFoundError: If no task has that id; the nearest is offered.
        EnvError: If the world cannot be built: an extra is not installed, a ROM or id does not exist, an option is wrong.
    """
    if isinstance(task, str):
        task = find(task)
    check_playable(task)
    match task.env.door:
        case "ale":
            from interplay.envs.atari import AtariEnv

            env: PlayableEnv = AtariEnv(task)
        case "gym":
            from interplay.envs.gym import GymEnv

            env = GymEnv(task)
        case "voxel":
            try:
                from interplay.envs.voxel import VoxelEnv
            except ModuleNotFoundError as error:
                raise EnvError(
                    f"task {task.id} is played in the block world, which needs {error.name}; it is not installed\n"
                    "Install it with:  pip install 'interplay[world]'"
                ) from None
            env = VoxelEnv(task)
        case "minerl":
            from interplay.envs.minerl import MinerlEnv

            env = MinerlEnv(task)
        case "minestudio":
            from interplay.envs.minestudio import MinestudioEnv

            env = MinestudioEnv(task)
        case door:
            raise EnvError(
                f"task {task.id}: no door leads to {door!r}; environments are 'ale:<rom>', 'voxel:<name>', "
                "'gym:<registered id>', 'minerl:<MineRL id>' or 'minestudio:MinecraftSim'"
            )
    if frames is not None:
        if frames == "replay" and not env.deterministic:
            raise EnvError(f"task {task.id} is not deterministic, so frames='replay' cannot rebuild it; use 'video'")
        env.frame_policy = frames
    return env


def check_playable(task: Task) -> None:
    """Refuse a task that has no world.

    Raises:
        EnvError: If there are videos only.
    """
    if not task.env.is_playable:
        raise EnvError(
            f"task {task.id} has no world: there are videos only, and nobody can play it\n"
            "Add videos of an agent, to be judged:  interplay judge add-agent NAME DIR"
        )
