"""A world of composed keys over the real socket: buttons and turns arrive as they were sent, and nothing of them is lost."""

import asyncio
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from play_server import RunningServer
from trial_suite import suite_text
from trial_worlds import Look

import interplay.record
from interplay.envs import make
from interplay.play.client import PlayClient
from interplay.record import Archive, Episode, InputTiming
from interplay.tasks import parse_suite

pytestmark = pytest.mark.processes

TASK = next(task for task in parse_suite(suite_text()).tasks if task.name == "look")
KEYS = TASK.keys


@pytest.fixture(scope="module")
def archive(server):
    return interplay.record.open(server.data)


def action(*pressed: str, camera: tuple[float, float] = (0.0, 0.0)) -> dict[str, Any]:
    """A composed action."""
    return {name: int(name in pressed) for name in Look.BUTTONS} | {"camera": np.array(camera, np.float32)}


async def until(client: PlayClient, picture: np.ndarray) -> None:
    """Play on until the player sees this."""
    async for frame in client.frames():
        if np.array_equal(frame.rgb(), picture):
            return


async def play_on(client: PlayClient, num_frames: int) -> None:
    async for _ in client.frames():
        num_frames -= 1
        if num_frames == 0:
            return


async def played(server: RunningServer, archive: Archive, scenario) -> Episode:
    """The episode that a scenario plays; it must be what a replay shows."""
    async with await server.open("trial/look") as client:
        await client.start()
        await scenario(client)
        if client.ended is None:
            await client.quit()
        async for _ in client.frames():
            pass
        assert client.ended is not None
        episode = archive.get(client.ended["episode"])
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
    assert verdict.replayed
    return episode


def cameras(episode: Episode) -> np.ndarray:
    """Every recorded turn, float64, shape (T, 2)."""
    return np.array([one["camera"] for one in episode.actions()], np.float64)


SCRIPT = [
    action("forward"),
    action("forward", "jump", camera=(0.25, -12.5)),
    action("forward", "attack", "hotbar.2", camera=(0.0, 180.0)),
    action(camera=(-180.0, 0.10000000149011612)),  # a float32 with no short form in decimals
    action("use", "ESC"),
    action("left", "back", "hotbar.3", camera=(89.5, -179.75)),
    action(),
]


def test_recorded_actions_are_those_that_were_sent(server, archive) -> None:
    async def scenario(client: PlayClient) -> None:
        world = Look()
        world.reset()
        for one in SCRIPT:
            world.step(one)
            await client.press(KEYS.mask_of_action(one), *KEYS.turn_of_action(one))
            await until(client, world.render())

    episode = asyncio.run(played(server, archive, scenario))
    actions = list(episode.actions())
    masks = [KEYS.mask_of_action(one) for one in actions]
    assert [mask for mask, _ in groupby([0, *masks])] == [0, *(KEYS.mask_of_action(one) for one in SCRIPT)]
    turned = [tuple(one["camera"].tolist()) for one in actions if one["camera"].any()]
    assert turned == [KEYS.turn_of_action(one) for one in SCRIPT if one["camera"].any()]
    column = episode.steps().column("input.player.buttons")
    assert column.type == pa.uint32()
    assert [value or 0 for value in column.to_pylist()[:-1]] == masks
    assert episode.raw_observations()[-1].tolist() == cameras(episode).sum(axis=0).tolist()


def test_turns_add_up_exactly_and_what_one_step_cannot_turn_waits(server, archive) -> None:
    async def scenario(client: PlayClient) -> None:
        await play_on(client, 3)
        for number in range(40):  # many between two steps; quarters of a degree are exact in float32
            await client.press(0, pitch=-0.25, yaw=0.25 * number)
        await play_on(client, 5)
        for _ in range(3):
            await client.press(0, yaw=-170.0)
        await play_on(client, 8)

    episode = asyncio.run(played(server, archive, scenario))
    turns = cameras(episode)
    assert turns.sum(axis=0).tolist() == [-10.0, 0.25 * sum(range(40)) - 510.0]
    assert np.abs(turns).max() <= 180.0


def test_a_press_between_two_steps_counts_for_one_and_held_keys_turn_in_each(server, archive) -> None:
    async def scenario(client: PlayClient) -> None:
        await play_on(client, 3)
        await client.press(KEYS.mask({"attack"}))
        await client.press(0)
        await play_on(client, 4)
        await client.press(KEYS.mask({"look_right", "look_down", "forward", "back"}))
        await play_on(client, 20)  # on a busy machine the press is in force some steps later
        await client.press(KEYS.mask({"look_right", "look_left"}), pitch=1.0)
        await play_on(client, 4)

    episode = asyncio.run(played(server, archive, scenario))
    attacks = [one["attack"] for one in episode.actions()]
    assert 1 <= sum(attacks) <= 2  # two where a step fell between press and release
    turns = [tuple(turn) for turn in cameras(episode).tolist()]
    assert turns.count((5.0, 5.0)) >= 4
    assert set(turns) <= {(0.0, 0.0), (5.0, 5.0), (1.0, 0.0), (6.0, 5.0)}  # (6, 5): both inputs in one step
    assert not any(one["forward"] or one["back"] for one in episode.actions())


def test_a_pause_releases_buttons_and_forgets_turns(server, archive) -> None:
    paused_at = 0

    async def scenario(client: PlayClient) -> None:
        nonlocal paused_at
        await play_on(client, 3)
        await client.press(KEYS.mask({"forward"}), yaw=1.0)
        await play_on(client, 4)
        await client.pause()
        while client.state != "paused":
            await client.receive()
        await client.press(KEYS.mask({"jump"}), pitch=33.0, yaw=44.0)
        await asyncio.sleep(0.2)
        paused_at = client.decoder.step
        await client.resume()
        await play_on(client, 8)

    episode = asyncio.run(played(server, archive, scenario))
    actions = episode.actions()
    assert actions[paused_at - 1]["forward"] == 1
    # What is held when play goes on is what the player says next: their heartbeat still names the button they pressed.
    assert [one["forward"] for one in actions[paused_at + 1 :]] == [0] * (len(actions) - paused_at - 1)
    assert cameras(episode).sum(axis=0).tolist() == [0.0, 1.0]


def test_32_buttons_and_composed_actions_survive_a_recording_and_its_resumption(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    env = make(TASK)
    recorder = archive.recorder(TASK, env, seed=3, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=3))
    held = InputTiming(0, 0.0, 0, 2**32 - 1, None)
    for step, one in enumerate(SCRIPT):
        recorder.step({"player": one}, env.step({"player": one}), timing={"player": held}, clock_us=step * 50_000)
    recorder.flush()
    recorder.abandon()
    resumed = interplay.record.resume(archive, recorder.episode_id)
    assert resumed.state.num_steps == len(SCRIPT)
    assert np.array_equal(resumed.env.view().rgb(), env.view().rgb())
    noop = {"player": KEYS.noop}
    resumed.recorder.step(noop, resumed.env.step(noop), clock_us=len(SCRIPT) * 50_000)
    episode = archive.seal(resumed.recorder.finish("quit"))
    assert interplay.record.verify(episode).equal
    assert episode.steps().column("input.player.buttons").to_pylist() == [2**32 - 1] * len(SCRIPT) + [None, None]
    for one, recorded in zip(SCRIPT, episode.actions(), strict=False):
        assert KEYS.mask_of_action(recorded) == KEYS.mask_of_action(one)
        assert KEYS.turn_of_action(recorded) == KEYS.turn_of_action(one)
    archive.close()
