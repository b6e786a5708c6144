"""Replay recorded actions, to prove a recording exact or to continue an episode whose process died."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from interplay.envs import make
from interplay.envs.base import PlayableEnv
from interplay.record import journal
from interplay.record.errors import RecordingError
from interplay.record.format import spaces
from interplay.record.format.schema import frame_hash
from interplay.record.format.spaces import plain_action
from interplay.record.journal import Journal
from interplay.record.recorder import Recorder
from interplay.record.sealed.seal import total_of
from interplay.record.stepper import RecordedEpisode

if TYPE_CHECKING:
    from interplay.record.archive import Archive
    from interplay.record.sealed.episode import Episode


@dataclass(frozen=True)
class ResumedState:
    """State of a resumed episode.

    Attributes:
        num_steps: Number of steps made so far.
        total_rewards: Seat -> sum of its finite rewards, over all owners.
        own: Seat -> number of steps and sum of finite rewards of its first owner.
        is_own: Seat -> whether its first owner made the last step.
        terminated, truncated: Flags of the last step; if one is set, the episode has ended.
        info: Recorded info of the last step.
        clock_us: Time of the last step on the recorder's clock; 0 before the first step.
    """

    num_steps: int
    total_rewards: Mapping[str, float]
    own: Mapping[str, tuple[int, float]]
    is_own: Mapping[str, bool]
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    clock_us: int

    @property
    def total_reward(self) -> float:
        return next(iter(self.total_rewards.values()))


class Resumed(NamedTuple):
    """An environment at the last recorded step, a recorder that continues the journal, and the state of the episode."""

    env: PlayableEnv
    recorder: Recorder
    state: ResumedState


def play_again(episode: Episode) -> float:
    with closing(make(episode.task)) as env:
        again = RecordedEpisode(env)
        again.start(episode.seed)
        first = again.seats[0]
        rewards = [again.step(actions).rewards[first] for actions in episode.joint_actions()]
    return total_of(np.array(rewards, np.float64))  # in the order of the sum it is compared with: 0.1 + 0.2 + ... has several


def resume(archive: Archive, episode_id: str) -> Resumed:
    """Rebuild a running episode from its journal after its process died.

    Raises:
        RecordingError: If there is no journal, its process still runs, the world cannot be replayed, or the replay
            differs from the recording.
    """
    paths = journal.segments(archive.journal_folder, episode_id)
    if not paths:
        raise RecordingError(f"episode {episode_id} has no journal in {archive.journal_folder}; it ended, or never started")
    with journal.claim(paths):
        record = Journal(paths)
        table = _resumable(record, episode_id)
        world = make(record.header.task, frames=record.header.frames)
        try:
            return _resume(archive, record, table, world)
        except BaseException:
            world.close()
            raise


def _resumable(record: Journal, episode_id: str) -> pa.Table:
    table = record.table()
    if table.num_rows == 0:
        raise RecordingError(f"the journal of episode {episode_id} holds no observation; start the episode anew")
    if not record.header.deterministic:
        raise RecordingError(
            f"episode {episode_id}: {record.header.task.env.id} is not deterministic, so it cannot be rebuilt.\n"
            "The recording is kept; seal it with:  interplay episodes repair"
        )
    return table


def _resume(archive: Archive, record: Journal, table: pa.Table, world: PlayableEnv) -> Resumed:
    header = record.header
    episode_id = header.episode
    num_steps = table.num_rows - 1
    by_seat = {
        seat: spaces.from_arrow(space, table.column(f"action.{seat}").combine_chunks().slice(1))
        for seat, space in header.action_spaces.items()
    }
    snapshots = table.select(["step", "snapshot"]).drop_null()
    position = 0
    recorder = Recorder(record.next_path, world, replace(header, first_step=num_steps + 1), num_steps=num_steps)
    recorder.collection.sittings = archive.sittings(header)
    again = RecordedEpisode(world, collection=recorder.collection)
    again.start(header.seed)
    kept, state = snapshots.num_rows - 1, None
    if header.statistics:  # without where their collectors stood, all of it is played again
        states = table.select(["step", "statistics"]).drop_null()
        known = states.column("step").to_pylist()
        steps = snapshots.column("step").to_pylist()
        kept = max((place for place, step in enumerate(steps) if step in known), default=-1)
        state = None if kept < 0 else states.column("statistics")[known.index(steps[kept])].as_py()
    if kept >= 0:
        position = snapshots.column("step")[kept].as_py()
        world.restore(snapshots.column("snapshot")[kept].as_py())
        again.num_steps = position
    if state is not None:
        recorder.collection.restore(state)
    owners = [table.column(f"owner.{seat}").to_pylist()[1:] for seat in header.seats]
    for step in range(position, num_steps):
        actions = {seat: plain_action(given[step]) for seat, given in by_seat.items()}
        held = {seat: names[step] for seat, names in zip(header.seats, owners, strict=True)}
        again.step(actions, owners=held, is_seen=False)
    if header.view is not None:
        world.draw_for(header.view, table.column("view_height")[-1].as_py())
    same_pictures = world.draws_as(header.env_versions)
    recorded_hash = table.column("frame_hash")[-1].as_py()  # None where the player's browser drew
    if same_pictures and recorded_hash is not None and frame_hash(world.view().pixels) != recorded_hash:
        raise RecordingError(
            f"episode {episode_id}: playing its {num_steps} steps again shows another picture than the one recorded, so it "
            "cannot continue.\nWas the environment's version changed? The recording is kept; seal it with:  "
            "interplay episodes repair"
        )
    world.draw_for(header.view)  # the player goes on at the full size
    recorder.open()
    last = table.slice(num_steps).to_pylist()[0]
    own = {seat: [name == header.owners[seat].name for name in names] for seat, names in zip(header.seats, owners, strict=True)}
    rewards = {seat: table.column(f"reward.{seat}").slice(1).to_numpy() for seat in header.seats}
    state = ResumedState(
        num_steps=num_steps,
        total_rewards={seat: total_of(rewards[seat]) for seat in header.seats},
        own={seat: (sum(held), total_of(rewards[seat][held])) for seat, held in own.items()},
        is_own={seat: not held or held[-1] for seat, held in own.items()},
        terminated=bool(last["terminated"]),
        truncated=bool(last["truncated"]),
        info=json.loads(last["info"]),
        clock_us=last["time_us"] or 0,
    )
    return Resumed(world, recorder, state)
