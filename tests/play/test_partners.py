"""Agents in the seats of live games: from the start, for a person who is gone, and at a wheel that a person shares."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from play_server import RunningServer, environment, running_server
from trial_suite import suite_text
from typer.testing import CliRunner

import interplay.record
from interplay.cli.serve import app as cli
from interplay.errors import NotFoundError
from interplay.play.client import PlayClient, PlayClientError, request_session
from interplay.play.connections import wire
from interplay.play.games.game import Game
from interplay.play.games.interfaces import State
from interplay.play.games.seat import Seat
from interplay.play.server import PlayServer
from interplay.record import Episode
from interplay.store import PlaySession
from interplay.tasks import builtin_suites, parse_suite

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.processes

PONG = "trial/pong"
"""Its ball is slow, so that a game lasts."""
TURNS = "gymnasium/cliff_walking"
FOR_TWO = [
    "together/cooperative_pong",
    pytest.param("overcooked/cramped_room", marks=pytest.mark.filterwarnings("ignore")),
    "atari-two/space_invaders_cooperative",
]


class Page:
    """Stands where a player's socket does; it says start as soon as it is welcome."""

    def __init__(self, game: Game, seat: Seat, *, resumes: bool = True) -> None:
        self.game, self.seat = game, seat
        self.words: list[dict[str, Any]] = []
        self.steps: list[int] = []
        self.resumes = resumes

    def send_text(self, message: str) -> None:
        words = json.loads(message)
        self.words.append(words)
        if words["type"] == "welcome" and self.resumes:
            self.say("start" if words["state"] == "waiting" else "resume")

    def say(self, kind: str, **fields: Any) -> None:
        asyncio.get_running_loop().call_soon(self.game.on_command, self.seat, wire.ClientCommand(kind, **fields))

    def hold(self, buttons: int) -> None:
        self.game.on_input(self.seat, wire.PlayerInput(buttons, max(self.steps, default=0), 0.0))

    def send_frame(self, message: bytes, *, last: bool = False) -> None:
        self.steps.append(wire.unpack_header(message).step)
        self.hold(0)

    def close(self, code: int, reason: str = "") -> None: ...

    def said(self, kind: str) -> list[dict[str, Any]]:
        return [words for words in self.words if words["type"] == kind]

    @property
    def step(self) -> int:
        return max(self.steps, default=0)

    @property
    def states(self) -> dict[str, str]:
        """Seat -> state, as this player was told last."""
        told = self.said("seats")
        return {one["seat"]: one["state"] for one in told[-1]["seats"]} if told else {}


@contextlib.asynccontextmanager
async def server_here(root: Path, **options: Any) -> AsyncIterator[PlayServer]:
    """A server in this process, without its sockets."""
    archive = interplay.record.open(root)
    play = PlayServer(
        archive, secret=b"s" * 32, num_workers=1, suites=[*builtin_suites(), parse_suite(suite_text())], **options
    )
    await play.start()
    try:
        yield play
    finally:
        await play.stop()
        archive.close()


async def until(is_so: Callable[[], Any], within_s: float = 90.0) -> None:
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.005)


async def come(play: PlayServer, task: str, actor: str, *, resumes: bool = True, **wanted: Any) -> Page:
    """A person takes a seat."""
    grant = await asyncio.to_thread(play.create_session, task, actor=actor, countdown_s=0, **wanted)
    game, seat = play._places[grant.session]
    page = Page(game, seat, resumes=resumes)
    game.attach(seat, page)  # type: ignore[arg-type]
    return page


async def see(page: Page, num_steps: int) -> None:
    """This player sees so many more steps."""
    goal = page.step + num_steps
    await until(lambda: page.step >= goal or page.said("ended"))


async def ended(page: Page) -> dict[str, Any]:
    await until(lambda: page.said("ended"))
    return page.said("ended")[-1]


def runs(episode: Episode, seat: str) -> list[tuple[str, int]]:
    """Who acted for a seat, and from which step on."""
    names = episode.steps().column(f"owner.{seat}").to_pylist()[:-1]
    return [(name, step) for step, name in enumerate(names) if step == 0 or names[step - 1] != name]


def episodes_of(play: PlayServer) -> dict[str, str | None]:
    """Actor -> the episode of their session: what a study pays for."""
    with play.archive.database.read() as database:
        return {row.actor: row.episode_id for row in database.query(PlaySession) if row.state == "ended"}


def verified(play: PlayServer, episode_id: str) -> Episode:
    episode = play.archive.get(episode_id)
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
    return episode


@pytest.mark.parametrize("task", FOR_TWO)
def test_an_agent_plays_from_the_start_with_a_person_and_is_recorded_as_itself(tmp_path: Path, task: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, task, "ann", partner="scripted", seed=0)  # so that the ball soon flies past a paddle
            mine, other = (seat.name for seat in ann.game.seats)
            await until(lambda: ann.said("started"))
            await until(lambda: ann.states == {mine: "playing", other: "agent"})
            await see(ann, 30)
            ann.say("quit")
            words = await ended(ann)
            assert words["outcome"] == "quit"
            episode = verified(play, words["episode"])
            assert runs(episode, mine) == [("ann", 0)]
            assert runs(episode, other) == [("scripted", 0)]
            assert [(one.seat, one.actor, one.actor_kind) for one in episode.seats] == [
                (mine, "ann", "human"),
                (other, "scripted", "agent"),
            ]
            assert any(
                action != ann.game.task.keys.noop for action in episode.steps().column(f"action.{other}").to_pylist()[:-1]
            )
            seen = episode.steps().column(f"input.{other}.painted_step").to_pylist()[:-1]
            assert seen == list(range(len(seen)))

    asyncio.run(scenario())


@pytest.mark.parametrize("task", FOR_TWO)
def test_an_agent_acts_three_frames_after_a_socket_was_lost_and_the_other_player_misses_nothing(
    tmp_path: Path, task: str
) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann, bob = await come(play, task, "ann"), await come(play, task, "bob")
            mine, other = (seat.name for seat in ann.game.seats)
            await see(bob, 12)
            lost_at = bob.step
            ann.game.detach(ann.seat, ann)  # type: ignore[arg-type]
            await until(lambda: bob.states == {mine: "agent", other: "playing"})
            await see(bob, 12)
            again = Page(ann.game, ann.seat)
            ann.game.attach(ann.seat, again)  # type: ignore[arg-type]
            await until(lambda: bob.states == {mine: "playing", other: "playing"})
            await see(bob, 8)
            bob.say("quit")
            await ended(bob)
            again.say("quit")
            words = await ended(again)
            episode = verified(play, words["episode"])
            owners = runs(episode, mine)
            assert [name for name, _ in owners] == ["ann", "scripted", "ann"]
            assert lost_at <= owners[1][1] <= lost_at + 3
            assert [name for name, _ in runs(episode, other)] in (["bob", "scripted"], ["bob"])
            assert max(after - before for before, after in pairwise(bob.steps)) <= 2

    asyncio.run(scenario())


def test_who_leaves_is_told_so_and_the_game_goes_on_until_the_last_person_leaves(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await see(bob, 5)
            ann.say("quit")
            words = await ended(ann)
            assert (words["outcome"], words["goes_on"]) == ("quit", True)
            assert words["num_steps"] >= 5
            await see(bob, 5)
            bob.say("quit")
            last = await ended(bob)
            assert (last["outcome"], last["by"]) == ("quit", "right")
            assert last["episode"] == words["episode"]
            episode = verified(play, last["episode"])
            assert [name for name, _ in runs(episode, "left")] == ["ann", "scripted"]
            assert runs(episode, "left")[1][1] == words["num_steps"]
            await until(lambda: episodes_of(play) == {"ann": episode.id, "bob": episode.id})
            late = Page(ann.game, ann.seat)
            ann.game.attach(ann.seat, late)  # type: ignore[arg-type]
            assert late.said("ended")[-1]["episode"] == words["episode"]

    asyncio.run(scenario())


def test_who_stays_away_too_long_has_left_and_the_last_one_who_does_ends_the_game(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, seat_kept_s=0.5) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await see(bob, 5)
            ann.game.detach(ann.seat, ann)  # type: ignore[arg-type]
            await until(lambda: ann.seat.is_gone)
            await see(bob, 5)
            assert bob.game.state is State.PLAYING
            bob.game.detach(bob.seat, bob)  # type: ignore[arg-type]
            await until(lambda: bob.game.state is State.ENDED)
            (episode,) = play.archive.episodes()
            assert episode.outcome == "left"
            assert [name for name, _ in runs(episode, "left")] == ["ann", "scripted"]
            assert [name for name, _ in runs(episode, "right")] == ["bob"]

    asyncio.run(scenario())


def test_no_step_is_played_when_the_last_one_who_looks_leaves(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await see(bob, 5)
            bob.say("pause")
            await until(lambda: bob.said("paused"))
            ann.say("quit")
            words = await ended(ann)
            assert ann.game.state is State.PAUSED
            bob.say("resume")
            await see(bob, 5)
            bob.say("quit")
            episode = verified(play, (await ended(bob))["episode"])
            assert [name for name, _ in runs(episode, "left")] == ["ann", "scripted"]
            assert episode.num_steps > words["num_steps"]

    asyncio.run(scenario())


def test_who_has_left_takes_no_wheel_any_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann, bob = await come(play, PONG, "ann", wheel="scripted"), await come(play, PONG, "bob")
            await until(lambda: ann.said("wheel"))
            ann.say("wheel", who="me")
            await until(lambda: ann.said("wheel")[-1]["who"] == "me")
            await see(bob, 5)
            ann.say("quit")
            ann.say("wheel", who="me")
            assert (await ended(ann))["goes_on"]
            await see(bob, 5)

    asyncio.run(scenario())


def test_who_comes_back_while_the_world_is_restored_is_recorded_from_then_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await see(bob, 5)
            ann.game.detach(ann.seat, ann)  # type: ignore[arg-type]
            await until(lambda: "agent" in bob.states.values())
            await see(bob, round(ann.game.task.frame_rate_hz))  # the journal may lack the last second
            assert ann.game.hosting.link is not None
            os.kill(ann.game.hosting.link.process.pid, signal.SIGKILL)
            await until(lambda: ann.game.state is State.RECOVERING)
            again = Page(ann.game, ann.seat)
            ann.game.attach(ann.seat, again)  # type: ignore[arg-type]
            ann.game.on_command(ann.seat, wire.ClientCommand("resume"))
            assert ann.game.state is State.RECOVERING
            await until(lambda: again.steps)
            await see(again, 5)
            bob.say("quit")
            again.say("quit")
            episode = verified(play, (await ended(again))["episode"])
            assert [name for name, _ in runs(episode, "left")] == ["ann", "scripted", "ann"]

    asyncio.run(scenario())


def test_a_game_without_a_partner_ends_when_one_leaves(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partners={PONG: "none"}) as play:
            ann, bob = await come(play, PONG, "ann"), await come(play, PONG, "bob")
            await see(bob, 5)
            ann.say("quit")
            words = await ended(bob)
            assert (words["outcome"], words["by"]) == ("quit", "left")

    asyncio.run(scenario())


def test_a_worker_that_is_killed_takes_no_agent_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", partner="scripted")
            await see(ann, 20)
            assert ann.game.hosting.link is not None
            os.kill(ann.game.hosting.link.process.pid, signal.SIGKILL)
            await until(lambda: ann.said("resumed"))
            await see(ann, 20)
            ann.say("quit")
            episode = verified(play, (await ended(ann))["episode"])
            assert runs(episode, "left") == [("ann", 0)]
            assert runs(episode, "right") == [("scripted", 0)]
            decided = [one for one in episode.steps().column("input.right.painted_step").to_pylist()[:-1] if one is not None]
            assert len(decided) == episode.num_steps

    asyncio.run(scenario())


def test_a_person_and_an_agent_share_a_wheel(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, "atari/breakout", "ann", wheel="scripted")
            await see(ann, 30)
            assert [words["who"] for words in ann.said("wheel")] == ["agent"]
            ann.say("wheel", who="me")
            await until(lambda: [words["who"] for words in ann.said("wheel")] == ["agent", "me"])
            await see(ann, 20)
            ann.say("wheel", who="agent")
            await until(lambda: len(ann.said("wheel")) == 3)
            huds = len(ann.said("hud"))
            await until(lambda: len(ann.said("hud")) > huds)
            ann.say("quit")
            episode = verified(play, (await ended(ann))["episode"])
            changes = [words["step"] for words in ann.said("wheel")]
            owners = episode.steps().column("owner.player").to_pylist()
            own = [(hud["own"]["step"], owners[: hud["step"]].count("ann")) for hud in ann.said("hud") if "own" in hud]
            assert len({told for told, _ in own}) > 2
            assert [told for told, _ in own] == [played for _, played in own], "what the agent did is not the player's"
            final = next(one for one in episode.seats if one.actor == "ann")
            assert (ann.said("hud")[-1]["own"]["step"], ann.said("hud")[-1]["own"]["score"]) == (
                final.num_steps,
                final.total_reward,
            )
            assert runs(episode, "player") == list(zip(("scripted", "ann", "scripted"), changes, strict=True))
            actions = episode.steps().column("action.player").to_pylist()[:-1]
            assert set(actions[changes[1] : changes[2]]) == {0}
            assert any(actions[: changes[1]])
            assert [(one.actor, one.actor_kind) for one in episode.seats] == [("ann", "human"), ("scripted", "agent")]

    asyncio.run(scenario())


def test_agents_and_tasks_that_are_not_there_are_refused_by_name(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    options: dict[str, Any] = {"secret": b"s" * 32, "num_workers": 1, "suites": [*builtin_suites(), parse_suite(suite_text())]}
    with pytest.raises(NotFoundError, match="cooperative_pong"):
        PlayServer(archive, partners={"together/cooperative_pongg": "scripted"}, **options)
    with pytest.raises(NotFoundError, match="scripted"):
        PlayServer(archive, partners={PONG: "scriptd"}, **options)
    play = PlayServer(archive, partners={PONG: "random", "atari/breakout": "noop"}, **options)
    assert play.partner(play.task(PONG)) == "random"
    assert play.roster.choices(play.task("atari/breakout")) == ["noop", "scripted", "random"]
    with pytest.raises(NotFoundError, match="scripted"):
        play.create_session(PONG, partner="scriptedd")
    archive.close()


def test_a_players_process_that_is_killed_is_an_agents_seat_in_three_frames_and_the_other_player_misses_none(
    tmp_path: Path,
) -> None:
    """Over real sockets, with the command line's option; people may name the agents on offer."""

    async def scenario(server: RunningServer) -> tuple[str, int]:
        steps: list[int] = []

        async def see(is_so: Callable[[], Any]) -> None:
            while not is_so():
                await bob.receive()
                if bob.step >= 0:
                    steps.append(bob.step)

        ann, bob = await server.open(PONG, actor="ann", connect=False), await server.open(PONG, actor="bob")
        command = [sys.executable, str(Path(__file__).with_name("player_process.py")), server.address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment(), text=True) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(ann.grant) + "\n")
            process.stdin.close()
            await bob.start()
            async with asyncio.timeout(120):
                await see(lambda: bob.step >= 5)
                process.kill()
                await see(lambda: {"seat": "left", "state": "away"} in seats_told(bob))
                known_at = bob.step
        async with asyncio.timeout(60):
            await see(lambda: {"seat": "left", "state": "agent", "agent": "random"} in seats_told(bob))
            goal = bob.step + 5
            await see(lambda: bob.step >= goal)
            assert max(after - before for before, after in pairwise(steps)) <= 2
            with pytest.raises(PlayClientError, match="choose one of: random, scripted, noop"):
                request_session(server.address, PONG, partner="trial_agents:Good")
            with pytest.raises(PlayClientError, match="'policy-of-mine' cannot be the wheel"):
                request_session(server.address, "atari/breakout", wheel="policy-of-mine")
            assert request_session(server.address, PONG, partner="scripted")["token"]
            ann = PlayClient(server.address, ann.grant)
            await ann.connect()
            await ann.quit()
            while ann.ended is None:
                await ann.receive()
            assert ann.ended["goes_on"] is True
            await bob.quit()
            while bob.ended is None:
                await bob.receive()
        for client in (ann, bob):
            await client.close()
        return bob.ended["episode"], known_at

    def seats_told(client: PlayClient) -> list[dict[str, str]]:
        return [seat for message in client.messages if message["type"] == "seats" for seat in message["seats"]]

    with running_server(tmp_path, "--workers", "1", partners=("trial/pong=random",)) as server:
        episode_id, known_at = asyncio.run(scenario(server))
        archive = interplay.record.open(server.data)
        episode = archive.get(episode_id)
        assert interplay.record.verify(episode).equal
        (before, _), (after, taken_at) = runs(episode, "left")
        assert (before, after) == ("ann", "random")
        assert known_at <= taken_at <= known_at + 3
        assert [name for name, _ in runs(episode, "right")] == ["bob"]
        archive.close()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("atari/pong", "TASK=AGENT"),
        ("atari/nothing=scripted", "unknown task"),
        ("atari/breakout=scriptedd", "did you mean .scripted."),
        ("gymnasium/cliff_walking=scripted", "cannot be the partner of gymnasium/cliff_walking: there is no scripted player"),
        ("together/cooperative_pong=trial_agents:Gud", "did you mean .Good."),
        ("together/cooperative_pong=trial_agents:Refuses", "I only play chess"),
    ],
)
def test_a_partner_that_cannot_be_is_refused_when_the_server_starts(
    tmp_path: Path, given: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    result = CliRunner().invoke(cli, ["--port", "0", "--data", str(tmp_path), "--empty", "--partner", given])
    assert result.exit_code != 0
    assert re.search(reason, result.output + str(result.exception))


def test_a_game_with_an_agent_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    async def before(server: RunningServer) -> dict[str, Any]:
        client = await server.open(PONG, actor="ann", partner="scripted")
        await client.start()
        async with asyncio.timeout(60):
            while client.step < 30:
                await client.receive()
        os.kill(server.process.pid, signal.SIGKILL)
        await client.close()
        return client.grant

    async def after(server: RunningServer, grant: dict[str, Any]) -> tuple[int, str]:
        client = PlayClient(server.address, grant)
        await client.connect()
        restored_at = client.welcome["step"]
        await client.resume()
        async with asyncio.timeout(60):
            while client.step < restored_at + 20:
                await client.receive()
            await client.quit()
            while client.ended is None:
                await client.receive()
        await client.close()
        return restored_at, client.ended["episode"]

    with running_server(tmp_path, "--workers", "1", partners=(), expect_exit=None) as server:
        grant = asyncio.run(before(server))
    with running_server(tmp_path, "--workers", "1", partners=()) as server:
        restored_at, episode_id = asyncio.run(after(server, grant))
        archive = interplay.record.open(server.data)
        episode = archive.get(episode_id)
        assert 0 < restored_at < episode.num_steps
        assert interplay.record.verify(episode).equal
        assert runs(episode, "left") == [("ann", 0)]
        assert runs(episode, "right") == [("scripted", 0)]
        archive.close()


def test_a_game_of_turns_that_ends_before_its_first_step_leaves_no_episode(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, TURNS, "ann")
            await until(lambda: ann.said("started"))
            ann.say("quit")
            words = await ended(ann)
            assert (words["episode"], words["outcome"], words["num_steps"]) == (None, "quit", 0)
            assert not play.archive.episodes()
            assert not list(play.archive.journal_folder.iterdir())
            await until(lambda: episodes_of(play) == {"ann": None})

    asyncio.run(scenario())


@pytest.mark.parametrize("agent", ["random", "trial_agents:Good"])
def test_a_world_of_turns_waits_for_the_person_at_the_wheel_and_not_for_the_agent(
    tmp_path: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, TURNS, "ann", wheel=agent, seed=1)
            await until(lambda: ann.said("started") and ann.step >= 3)
            ann.say("wheel", who="me")
            await until(lambda: ann.said("wheel")[-1]["who"] == "me")
            mine = ann.said("wheel")[-1]["step"]
            await asyncio.sleep(0.5)
            assert ann.step == mine
            ann.say("quit")
            episode = verified(play, (await ended(ann))["episode"])
            assert episode.num_steps == mine

    asyncio.run(scenario())
