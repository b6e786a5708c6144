"""Agents that decide in the process beside: seated, late, wrong, and when that process dies."""

import asyncio
import os
import signal
import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_partners import PONG, Page, come, ended, runs, see, server_here, until, verified
from trial_suite import suite_text

import interplay.record
from interplay.play.partners import decider, messages
from interplay.play.partners.deciding import Asker, Key, Player, Shared
from interplay.play.partners.messages import Board
from interplay.play.server import PlayServer
from interplay.play.workers.channel import Unpacker
from interplay.tasks import find, parse_suite

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.processes

UP, DOWN = 1, 2


@pytest.fixture(autouse=True)
def finds_the_trial_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process beside finds modules where this one does."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


async def quit_game(play: PlayServer, page: Page) -> Any:
    page.say("quit")
    return verified(play, (await ended(page))["episode"])


@pytest.mark.parametrize("agent", ["Good", "Seeing", "Simple"])
def test_an_agent_of_ones_own_plays_and_is_recorded_under_its_own_name(tmp_path: Path, agent: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner=f"trial_agents:{agent}")
            await until(lambda: ann.said("started"))
            await see(ann, 24)
            episode = await quit_game(play, ann)
            assert runs(episode, "right") == [(agent.lower(), 0)]
            actions = episode.steps().column("action.right").to_pylist()[:-1]
            seen = episode.steps().column("input.right.painted_step").to_pylist()[:-1]
            changes = [step for step, (before, after) in enumerate(pairwise(seen), 1) if before != after]
            if agent == "Good":  # a late decision makes its run longer, and none shorter
                assert {UP, DOWN} <= set(actions)
                assert all(after - before >= 4 for before, after in pairwise(changes))
            elif agent == "Seeing":
                assert all(step % 4 == 0 for step in seen if step is not None)
            assert all(step is None or step <= at for at, step in enumerate(seen))

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("raises", "the volcano erupted"),
        ("nonsense", "99"),
        ("chats", "UP, please"),
        ("dies", "died several times while agent"),
        ("hangs", "has not decided"),
    ],
)
def test_an_agent_that_fails_loses_its_seat_and_no_game_misses_a_frame(tmp_path: Path, agent: str, reason: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner=f"trial_agents:{agent.capitalize()}")
            bob = await come(play, PONG, "bob", partner="trial_agents:Good")
            await until(lambda: ann.said("agent_failed"))
            (failed,) = ann.said("agent_failed")
            assert (failed["seat"], failed["agent"]) == ("right", f"trial_agents:{agent.capitalize()}")
            assert reason in failed["message"]
            await see(ann, 5)
            await see(bob, 5)
            episode = await quit_game(play, ann)
            other = await quit_game(play, bob)
            assert [name for name, _ in runs(episode, "right")] == [agent, "noop"]
            assert [name for name, _ in runs(other, "right")] == ["good"]
            assert not bob.said("agent_failed")
            for page in (ann, bob):
                assert max(after - before for before, after in pairwise(page.steps)) <= 2

    asyncio.run(scenario())


def test_an_agent_that_cannot_begin_leaves_its_seat_open(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner="trial_agents:Refuses")
            await until(lambda: ann.said("agent_failed"))
            assert "I only play chess" in ann.said("agent_failed")[0]["message"]
            assert ann.states == {"left": "ready", "right": "open"}
            assert ann.said("lobby"), "she waits for a person now"
            bob = await come(play, PONG, "bob")
            assert bob.game is ann.game
            await until(lambda: ann.said("started"))

    asyncio.run(scenario())


def test_an_agent_that_is_not_wanted_any_more_does_not_begin(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    ours, theirs = socket.socketpair()
    try:
        player = Player("trial_agents:Good", Shared(archive, Board(tmp_path), frozenset(), frozenset()))
        begin = messages.Begin("trial_agents:Good", find(PONG, [parse_suite(suite_text())]).to_json(), 0)
        gone, stays = (Key(Asker(theirs), 1, seat) for seat in range(2))
        with player._changed:  # its thread takes nothing meanwhile
            player.begin(gone, begin)
            player.begin(stays, begin)
            player.leave(gone)
        ours.settimeout(60)
        (answer,) = Unpacker().feed(ours.recv(1 << 16))
        assert answer[:3] == (1, 1, messages.ToAsker.BEGUN)
        assert player._seated.keys() == {stays}
    finally:
        archive.close()
        ours.close()
        theirs.close()


def test_late_decisions_are_counted_and_the_last_action_is_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner="trial_agents:Slow")
            await until(lambda: ann.said("started"))
            await see(ann, 40)
            (worker,) = play.statistics()["workers"]
            assert 0 < worker["num_late"] <= worker["num_decisions"]
            episode = await quit_game(play, ann)
            seen = [one for one in episode.steps().column("input.right.painted_step").to_pylist()[:-1] if one is not None]
            assert all(after >= before for before, after in pairwise(seen))
            assert len(set(seen)) < len(seen) / 2
            assert max(after - before for before, after in pairwise(ann.steps)) <= 2

    asyncio.run(scenario())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_stops_is_started_again_and_games_go_on(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decider, "SILENT_S", 2.0)

    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner="trial_agents:Good")
            await until(lambda: ann.said("started"))
            await see(ann, 10)
            os.kill(play.statistics()["agents"]["pid"], number)
            await until(lambda: play.statistics()["agents"]["deaths"] == 1)
            at = ann.step
            await until(lambda: (play.statistics()["agents"].get("num_decisions") or 0) > 3)
            await see(ann, 10)
            episode = await quit_game(play, ann)
            assert runs(episode, "right") == [("good", 0)]
            seen = episode.steps().column("input.right.painted_step").to_pylist()[:-1]
            assert seen[-1] > at
            assert max(after - before for before, after in pairwise(ann.steps)) <= 2

    asyncio.run(scenario())


def test_an_agent_beside_takes_over_for_a_person_and_survives_its_worker(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partners={PONG: "trial_agents:Good"}, seat_kept_s=1.0) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await until(lambda: (play.statistics()["agents"] or {}).get("num_decisions") == 0)  # it is there, and loaded
            await see(bob, 8)
            lost_at = bob.step
            ann.game.detach(ann.seat, ann)  # type: ignore[arg-type]
            await until(lambda: bob.states == {"left": "agent", "right": "playing"})
            await see(bob, 8)
            assert bob.game.hosting.link is not None
            os.kill(bob.game.hosting.link.process.pid, signal.SIGKILL)
            await until(lambda: bob.said("resumed"))
            await until(lambda: ann.seat.is_gone)
            await see(bob, 20)
            episode = await quit_game(play, bob)
            owners = runs(episode, "left")
            assert [name for name, _ in owners] == ["ann", "good"]
            assert lost_at <= owners[1][1] <= lost_at + 3
            seen = episode.steps().column("input.left.painted_step").to_pylist()[:-1]
            assert seen[-1] > episode.num_steps - 12  # it decides again

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "value",
    [
        3,
        -1.5,
        "text",
        [np.int64(7), 1],
        {
            "picture": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
            "info": {"lives": np.asarray(3.0, np.float32)},
            "text": "ä",
        },
        {"camera": np.array([1.5, -2.0], np.float32), "jump": np.int64(1)},
        {"empty": np.zeros((0, 3), np.float64), "big": np.array([1, 2], ">i4")},
    ],
)
def test_what_agents_see_and_do_is_the_same_on_the_other_side(value: Any) -> None:
    def same(one: Any, other: Any) -> bool:
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        if isinstance(one, list):
            return len(one) == len(other) and all(map(same, one, other))
        if isinstance(one, np.ndarray | np.generic):
            return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
        return one == other

    assert same(value, messages.decode_value(messages.encode_value(value)))


def test_what_is_no_value_is_refused() -> None:
    for value in (object(), np.array([object()]), {"a": lambda: 0}):
        with pytest.raises(TypeError, match="cannot be sent"):
            messages.encode_value(value)
