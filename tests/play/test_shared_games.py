"""Games for two at awkward moments: seats that free themselves, countdowns that break, notes cut off."""

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from test_several_seats import PONG, Listener
from trial_suite import suite_text

import interplay.record
from interplay.play.connections import wire
from interplay.play.games.game import Game
from interplay.play.games.interfaces import State
from interplay.play.limits import PlayError
from interplay.play.server import PlayServer
from interplay.play.workers import channel
from interplay.record import journal
from interplay.store import Participant, PlaySession, sessions
from interplay.tasks import parse_suite

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.processes


@contextlib.asynccontextmanager
async def server_here(root: Path, *, with_workers: bool = True, **options: Any) -> AsyncIterator[PlayServer]:
    """A server in this process, without its sockets and, where no world is needed, without its workers."""
    archive = interplay.record.open(root)
    options = {"partners": {PONG: "none"}} | options
    play = PlayServer(archive, secret=b"s" * 32, num_workers=1, suites=[parse_suite(suite_text())], **options)
    if with_workers:
        await play.start()
    try:
        yield play
    finally:
        await play.stop()
        archive.close()


async def until(is_so: Callable[[], Any], within_s: float = 60.0) -> None:
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.02)


async def seated(play: PlayServer, **wanted: Any) -> tuple[Game, list[Listener]]:
    """A game whose two players are all connected and have been told what they will see."""
    listeners = [Listener() for _ in range(2)]
    for listener in listeners:
        grant = await asyncio.to_thread(play.create_session, PONG, **wanted)
        game, seat = play._places[grant.session]
        game.attach(seat, listener)  # type: ignore[arg-type]
    await until(lambda: all(seat.is_welcomed for seat in game.seats))
    return game, listeners


def test_a_game_that_has_ended_stays_over_when_a_seat_nobody_came_for_is_freed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False) as play:
            grants = [play.create_session(PONG) for _ in range(2)]
            game, _ = play._places[grants[0].session]
            game.on_event(0, channel.Failed("world_failed", "the volcano erupted"))
            await asyncio.gather(*game.pending)
            play._drop_untaken(grants[1].session)
            assert game.state is State.ENDED
            assert play._places[play.create_session(PONG).session].game is not game

    asyncio.run(scenario())


def test_nobody_joins_a_game_while_it_ends(tmp_path: Path) -> None:
    class Granting:
        """Keeps the states the game was in when it was taken and when it was let go."""

        def __enter__(self) -> None:
            states.append(game.state)

        def __exit__(self, *_: object) -> None:
            states.append(game.state)

    async def scenario() -> None:
        nonlocal game
        async with server_here(tmp_path, with_workers=False) as play:
            game, _ = play._places[play.create_session(PONG).session]
            play.granting = Granting()  # type: ignore[assignment]
            game.on_event(0, channel.Failed("world_failed", "the volcano erupted"))
            await asyncio.gather(*game.pending)

    game: Any = None
    states: list[State] = []
    asyncio.run(scenario())
    assert states == [State.EMPTY, State.ENDING]


@pytest.mark.parametrize("command", ["pause", "quit"])
def test_who_is_left_with_a_broken_countdown_keeps_the_seat_only_so_long(tmp_path: Path, command: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, idle_s=1.0) as play:
            game, listeners = await seated(play, countdown_s=30)
            for seat in game.seats:
                game.on_command(seat, wire.ClientCommand("start"))
            assert game.state is State.COUNTDOWN
            game.on_command(game.seats[0], wire.ClientCommand(command))
            assert game.state is State.WAITING
            await until(lambda: listeners[1].words[-1]["type"] == "ended", within_s=60)
            assert listeners[1].words[-1]["outcome"] == "left"
            await until(lambda: game.state is State.ENDED, within_s=60)

    asyncio.run(scenario())


def test_a_second_player_needs_no_place_for_a_slow_world_of_their_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False, max_worlds=1, max_seats_of_address=2) as play:
            play.limits.mark_slow(play.task(PONG), 20.0)
            left, right = (play.create_session(PONG, client="192.0.2.1") for _ in range(2))
            assert play._places[left.session].game is play._places[right.session].game
            with pytest.raises(PlayError, match="all 1 places"):
                play.create_session(PONG, client="192.0.2.2")

    asyncio.run(scenario())


def test_a_second_player_is_still_refused_more_seats_than_an_address_may_hold(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False, max_seats_of_address=1) as play:
            play.create_session(PONG, client="192.0.2.1")
            with pytest.raises(PlayError, match="open from your address"):
                play.create_session(PONG, client="192.0.2.1")

    asyncio.run(scenario())


def test_one_person_gets_one_seat_of_a_game(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False) as play:
            with play.archive.database.write() as database:
                people = [Participant(key=secrets.token_hex(8), created_at=datetime.now(UTC)) for _ in range(2)]
                database.add_all(people)
                database.flush()
                ann, bob = (person.id for person in people)
            first, second, other = (play.create_session(PONG, participant_id=one) for one in (ann, ann, bob))
            games = [play._places[grant.session].game for grant in (first, second, other)]
            assert games[0] is not games[1]
            assert games[0] is games[2]

    asyncio.run(scenario())


def test_a_restored_game_waits_for_who_was_back_and_looks_away_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False) as play:
            game = play._new_game(play.task(PONG), 4, state=State.PAUSED)
            listeners = [Listener() for _ in game.seats]
            for seat, listener in zip(game.seats, listeners, strict=True):
                seat.take(listener)  # type: ignore[arg-type]
                seat.session = seat.name
                seat.is_welcomed = seat.is_away = seat.is_restored = True
            left, right = game.seats
            game.on_command(left, wire.ClientCommand("resume"))
            assert {"type": "paused", "reason": "others"} in listeners[0].words
            game.on_command(left, wire.ClientCommand("pause"))
            game.on_command(right, wire.ClientCommand("resume"))
            assert game.state is State.PAUSED
            assert [seat.is_playing for seat in game.seats] == [False, True]
            game.on_command(left, wire.ClientCommand("resume"))
            assert game.state is State.PLAYING

    asyncio.run(scenario())


async def being_brought_back(play: PlayServer) -> tuple[Game, list[Listener]]:
    """A game for two that was played until its worker was killed, a moment ago."""
    game, listeners = await seated(play, countdown_s=0)
    for seat in game.seats:
        game.on_command(seat, wire.ClientCommand("start"))
    await until(lambda: all("started" in kinds(one) for one in listeners))
    folder = play.archive.journal_folder
    await until(lambda: (paths := journal.segments(folder, game.episode_id)) and journal.holds_steps(paths))
    assert game.hosting.link is not None
    os.kill(game.hosting.link.process.pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        while game.state is not State.RECOVERING:
            await asyncio.sleep(0)  # at every turn of the loop: the moment must not be missed
    return game, listeners


def kinds(listener: Listener) -> list[str]:
    return [message["type"] for message in listener.words]


def test_who_takes_a_seat_over_while_its_game_is_brought_back_is_asked_before_it_goes_on_for_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            game, _ = await being_brought_back(play)
            left, second_page = game.seats[0], Listener()
            game.attach(left, second_page)  # type: ignore[arg-type]
            await until(lambda: game.state is State.PLAYING and left.is_welcomed)
            assert [seat.is_playing for seat in game.seats] == [False, True]
            assert next(one for one in second_page.words if one["type"] == "welcome")["state"] == "paused"
            assert "resumed" not in kinds(second_page)
            game.on_command(left, wire.ClientCommand("resume"))
            await until(lambda: "resumed" in kinds(second_page))
            assert left.is_playing

    asyncio.run(scenario())


def test_a_game_whose_players_pause_while_it_is_brought_back_waits_only_so_long_and_is_kept(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, idle_s=4.0) as play:
            game, listeners = await being_brought_back(play)
            for seat in game.seats:
                game.on_command(seat, wire.ClientCommand("pause"))
            await until(lambda: game.state is State.ENDED)
            ended = listeners[0].words[-1]
            assert (ended["type"], ended["outcome"]) == ("ended", "left")
            (episode,) = play.archive.episodes()
            assert (episode.id, episode.outcome, episode.num_steps) == (ended["episode"], "left", ended["num_steps"])

    asyncio.run(scenario())


def test_who_pauses_and_comes_back_while_the_game_is_brought_back_plays_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, idle_s=3600.0) as play:
            game, listeners = await being_brought_back(play)
            left, right = game.seats
            while game.hosting.link is None:
                await asyncio.sleep(0)
            game.on_command(left, wire.ClientCommand("pause"))
            game._give_up(left)  # as the timer does that the pause has started
            assert game.state is State.RECOVERING
            for seat in (left, right):
                game.on_command(seat, wire.ClientCommand("resume"))
            await until(lambda: all("resumed" in kinds(one) for one in listeners))
            assert game.state is State.PLAYING

    asyncio.run(scenario())


def test_a_kill_between_two_notes_cuts_no_player_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, with_workers=False) as play:
            grants = [play.create_session(PONG) for _ in range(2)]
            game, _ = play._places[grants[0].session]
            written: list[str] = []
            set_session_state = sessions.set_session_state

            def until_killed(database: Any, session: str, *args: Any, **options: Any) -> None:
                if written:
                    raise RuntimeError("killed")
                written.append(session)
                set_session_state(database, session, *args, **options)

            monkeypatch.setattr(sessions, "set_session_state", until_killed)
            play.note_started(game)
            await asyncio.to_thread(play._notes.shutdown)
            with play.archive.database.read() as database:
                rows = [database.get_one(PlaySession, grant.session) for grant in grants]
                assert [(row.state, row.episode_id) for row in rows] == [("waiting", None)] * 2

    asyncio.run(scenario())
