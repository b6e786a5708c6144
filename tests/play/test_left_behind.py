"""What a game leaves behind is freed by its reference counts: full collections leave out what has survived one."""

import gc
import weakref
from pathlib import Path

import pytest

import interplay.record
from interplay.envs import make
from interplay.play import tables
from interplay.play.connections.wire import PlayerInput
from interplay.play.workers.live import LiveEpisode
from interplay.record import Archive, Owner
from interplay.tasks import find

TICK_US = 50_000


def _played(archive: Archive, task_id: str) -> LiveEpisode:
    """A live game as a worker plays it, some steps long."""
    env = make(find(task_id))
    env.draw_for(env.people_see)
    drawn = env.scene_tables()
    name = None if drawn is None else tables.keep(archive.root, drawn)
    live = LiveEpisode(1, env, start=env.reset(seed=5), send=lambda _: None, tables=name)
    env.get_ready()
    owners = {seat: Owner(seat, "human") for seat in env.task.seats}
    live.open_journal(archive.recorder(env.task, env, seed=5, owners=owners))
    for seat in live.seats:
        live.draw_by(seat, None if name is None else (320, 180), 0)
    live.start(0)
    for step in range(1, 30):
        for seat in live.seats:
            live.input(seat, PlayerInput(step % 8, step - 1, 0.0, received_us=step * TICK_US))
        live.tick(step * TICK_US)
    return live


@pytest.mark.long_proof
@pytest.mark.parametrize(
    "task_id", ["atari/space_invaders", "atari-two/space_invaders_cooperative", "basalt/find_cave", "overcooked/cramped_room"]
)
def test_a_game_that_is_over_needs_no_collector(tmp_path: Path, task_id: str) -> None:
    archive = interplay.record.open(tmp_path)
    gc.collect()
    gc.disable()
    try:
        live = _played(archive, task_id)
        kept = [weakref.ref(one) for one in (live, live.env, live.episode, *live.seats)]
        if task_id.startswith("basalt/"):
            kept.append(weakref.ref(live.env.world))  # type: ignore[attr-defined]
        live.finish("quit")
        live.driving.close()
        live.env.close()
        del live
        assert [one() for one in kept] == [None] * len(kept)
    finally:
        gc.enable()
        archive.close()
