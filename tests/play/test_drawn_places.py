"""Games that their players' pages draw take no place of a slow world; pictures move them where there is room."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from test_play_seats import Listener

import interplay.record
from interplay.play.connections import wire
from interplay.play.games.game import Game
from interplay.play.games.interfaces import State
from interplay.play.games.seat import Seat
from interplay.play.limits import PlayError
from interplay.play.server import PlayServer
from interplay.play.workers import channel

CAVE = "basalt/find_cave"
HERE, SERVER = (wire.ClientCommand("scene", drawn=who, gui_width=320, gui_height=180) for who in ("here", "server"))


class Worker:
    """Of a pool without processes: takes games, and keeps what it is told."""

    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.stopping = self.is_loaded = False
        self.games: dict[int, Any] = {}
        self.ready: dict[str, int | None] = {}
        self.told: list[Any] = []

    def command(self, number: int, command: Any, seat: int = 0) -> None:
        self.told.append(command)

    def send(self, *message: Any) -> None: ...


@contextlib.asynccontextmanager
async def server_here(root: Path, **options: Any) -> AsyncIterator[PlayServer]:
    """A server without sockets and workers."""
    archive = interplay.record.open(root)
    try:
        yield PlayServer(archive, secret=b"s" * 32, num_workers=1, **options)
    finally:
        archive.close()


def ask(play: PlayServer, *, drawn_here: bool, client: str | None = "192.0.2.1", task: str = CAVE) -> tuple[Game, Seat]:
    grant = play.create_session(task, client=client, drawn_here=drawn_here)
    return play._places[grant.session]


def two_drawn(play: PlayServer) -> tuple[Worker, tuple[Game, Seat], tuple[Game, Seat]]:
    """Two games that are played in one worker, and that their pages draw."""
    shared, places = Worker(alone=False), [ask(play, drawn_here=True) for _ in range(2)]
    for game, _ in places:
        game.hosting.link, game.state, game.hosting.is_opened = shared, State.PLAYING, True  # type: ignore[assignment]
        shared.games[game.number] = game
    return shared, *places


def test_a_class_behind_one_address_plays_what_its_pages_draw(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=2, max_drawn_games=30) as play:
            games = [ask(play, drawn_here=True)[0] for _ in range(30)]
            assert not any(game.holds_world for game in games)
            with pytest.raises(PlayError, match="all 30 places for games that are drawn in the players' browsers") as full:
                ask(play, drawn_here=True, client="192.0.2.2")
            assert (full.value.is_own, full.value.retry_after_s) == (False, 180)
            assert ask(play, drawn_here=False)[0].holds_world  # its place was not taken
            for game in games:
                game.state = State.PLAYING
            assert play.cores_needed() == pytest.approx(30 * 0.05 + 0.25)

    asyncio.run(scenario())


def test_a_world_that_pages_cannot_draw_takes_its_place_whatever_was_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=1) as play:
            play.limits.mark_slow(play.task("atari/breakout"), 20.0)
            assert ask(play, drawn_here=True, task="atari/breakout")[0].holds_world
            with pytest.raises(PlayError, match="1 game like this one is open from your address"):
                ask(play, drawn_here=True, task="atari/breakout")

    asyncio.run(scenario())


@pytest.mark.parametrize("has_room", [True, False])
def test_a_drawn_game_that_is_to_be_sent_pictures_moves_where_there_is_room(tmp_path: Path, has_room: bool) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=1 if has_room else 0) as play:
            shared, (game, seat), (other, _) = two_drawn(play)
            game.on_command(seat, HERE)
            assert (game.holds_world, game.state) == (False, State.PLAYING)
            game.on_command(seat, SERVER)
            assert game.holds_world
            moved = any(isinstance(command, channel.Release) for command in shared.told)
            assert (moved, game.state) == ((True, State.RECOVERING) if has_room else (False, State.PLAYING))
            assert (other.holds_world, other.state) == (False, State.PLAYING)

    asyncio.run(scenario())


def test_a_socket_that_comes_back_and_asks_for_no_scenes_is_sent_pictures_elsewhere(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=1) as play:
            shared, (game, seat), _ = two_drawn(play)
            seat.take(Listener())  # type: ignore[arg-type]
            seat.is_away = True
            game.state = State.PAUSED
            game.on_command(seat, wire.ClientCommand("resume"))
            assert isinstance(shared.told[-1], channel.Release)
            assert game.holds_world

    asyncio.run(scenario())


def test_a_drawn_game_is_not_moved_for_being_slow_once_but_one_that_never_asked_for_scenes_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=2) as play:
            _, (drawn, seat), (silent, _) = two_drawn(play)
            drawn.on_command(seat, HERE)
            for one in (drawn, silent):
                one.on_event(0, channel.Slow(20.0, True))
            assert (drawn.state, silent.state) == (State.PLAYING, State.RECOVERING)

    asyncio.run(scenario())
