"""Pictures drawn again beside the games: the right ones, none that nobody wants any more, and some whatever dies."""

import asyncio
import os
import signal

import numpy as np
import pytest

import interplay.record
from interplay.agents import rollout
from interplay.agents.simple import RandomAgent
from interplay.play.background import drawer as drawers
from interplay.play.background.drawer import Drawer, DrawerBusyError
from interplay.play.connections.codec import FrameDecoder, palette_from_text
from interplay.play.connections.frame_list import FrameList
from interplay.record import Archive, Episode, RecordingError
from interplay.tasks import parse_suite

CARTPOLE = """
[suite]
id = "lab"
title = "Lab"
[[task]]
name = "cartpole"
title = "Cart pole"
goal = "Keep the pole up."
instructions = "Push left or right."
frame_rate_hz = 50
time_limit_s = 4
held_out_seeds = [1]
env.id = "gym:CartPole-v1"
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who played better?" }]
[task.keys]
buttons = ["LEFT", "RIGHT"]
bindings = { ArrowLeft = "LEFT", ArrowRight = "RIGHT" }
actions = { "" = 0, "LEFT" = 0, "RIGHT" = 1 }
"""


@pytest.fixture(scope="module")
def episode(tmp_path_factory) -> Episode:
    archive: Archive = interplay.record.open(tmp_path_factory.mktemp("drawn"))
    return rollout(archive, parse_suite(CARTPOLE).tasks[0], RandomAgent(), 2, rng=np.random.default_rng(0), max_steps=40)


def drawn(what):
    """The result of a coroutine that is given a drawer."""

    async def run():
        drawer = Drawer()
        try:
            return await what(drawer)
        finally:
            await drawer.stop()

    return asyncio.run(run())


def pictures(body: bytes, palette: str | None):
    """Head and RGB picture of each message; one picture may be compressed to other bytes elsewhere."""
    decoder = FrameDecoder(600, 400, palette_from_text(palette))
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "little")
        head = decoder.apply(body[at + 4 : at + 4 + size])
        yield head, decoder.frame().rgb().copy()
        at += 4 + size


@pytest.mark.long_proof
def test_the_frames_are_those_of_the_episode_in_any_order(episode):
    async def what(drawer):
        asked = (range(5, 9), range(2, 3), range(0, episode.num_steps + 1, 4))
        return list(zip(asked, await asyncio.gather(*(drawer.draw(episode.path, steps) for steps in asked)), strict=True))

    for steps, found in drawn(what):
        expected = FrameList(episode)
        for step in steps:
            expected.add(step, episode.frames[step])
        assert found.tables is None
        for (head, picture), (expected_head, _), step in zip(
            pictures(found.body, found.palette), pictures(expected.body, expected.palette), steps, strict=True
        ):
            assert head == expected_head
            assert np.array_equal(picture, episode.frames[step].rgb())


def test_what_nobody_wants_any_more_is_not_drawn(episode):
    async def what(drawer):
        await drawer.draw(episode.path, range(1))
        left = [asyncio.create_task(drawer.draw(episode.path, range(40))) for _ in range(20)]
        await asyncio.sleep(0)
        for one in left:
            one.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await drawer.draw(episode.path, range(3, 4))
        return drawer._requests

    assert drawn(what) == {}


def test_a_killed_process_is_replaced_and_its_work_done_again(episode):
    async def what(drawer):
        await drawer.draw(episode.path, range(1))
        asked = asyncio.create_task(drawer.draw(episode.path, range(8)))
        await asyncio.sleep(0)
        os.kill(drawer._link.process.pid, signal.SIGKILL)
        return await asked

    assert drawn(what).body


def test_too_many_waiting_are_told_so(episode, monkeypatch):
    monkeypatch.setattr(drawers, "MAX_WAITING", 1)

    async def what(drawer):
        first = asyncio.create_task(drawer.draw(episode.path, range(1)))
        await asyncio.sleep(0)
        with pytest.raises(DrawerBusyError, match="try again in a few seconds"):
            await drawer.draw(episode.path, range(1))
        return await first

    assert drawn(what).body


def test_a_file_that_is_gone_is_an_error_and_the_next_episode_is_drawn(episode, tmp_path):
    async def what(drawer):
        with pytest.raises(RecordingError, match="no such file"):
            await drawer.draw(tmp_path / "missing.parquet", range(1))
        return await drawer.draw(episode.path, range(1))

    assert drawn(what).body
