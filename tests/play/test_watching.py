"""Somebody watches a seat: the player has every frame, the recording is the same, and who watches cannot act."""

import asyncio
import contextlib
from typing import Any, ClassVar

import httpx
import numpy as np
import pytest
from play_watcher import Watcher as Player
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import interplay.record
from interplay.envs import Frame
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, FrameEncoder, palette_from_text
from interplay.play.connections.connection import Connection
from interplay.play.games.seat import Seat
from interplay.play.games.watching import Watcher, Watchers
from interplay.play.workers import channel
from interplay.record import verify
from interplay.tasks import find

pytestmark = pytest.mark.processes

NUM_TURNS = 24


@pytest.fixture(scope="module")
def archive(server):
    return interplay.record.open(server.data)


async def live(server) -> list[dict[str, Any]]:
    """Games that are played now, as the operator is told."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {server.token}"}, timeout=60) as http:
        return (await http.get(f"{server.address}/api/live")).json()["games"]


def opens(server, number: int, seat: str, token: str | None = None):
    address = f"ws{server.address.removeprefix('http')}/api/watch/{number}/{seat}"
    headers = {"Authorization": f"Bearer {token or server.token}"}
    return connect(address, subprotocols=[wire.SUBPROTOCOL], additional_headers=headers, max_size=1 << 24, ping_interval=None)


class Eyes:
    """Reads all that a watcher is sent.

    Attributes:
        steps: Of the pictures, in order.
        texts: Types of the JSON messages.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.steps: list[int] = []
        self.kinds: set[int] = set()
        self.texts: list[str] = []
        self.decoder = FrameDecoder(1, 1, None)

    async def look(self, num_pictures: int | None = None) -> None:
        """Until so many pictures have come, or the socket is closed."""
        while num_pictures is None or len(self.steps) < num_pictures:
            try:
                message = await self.socket.recv()
            except ConnectionClosed:
                return
            if isinstance(message, bytes):
                header = self.decoder.apply(message)
                self.kinds.add(header.kind)
                self.steps.append(header.step)
                continue
            said = wire.msgspec.json.decode(message)
            self.texts.append(said["type"])
            if said["type"] == "welcome":
                self.decoder = FrameDecoder(said["width"], said["height"], palette_from_text(said["palette"]))


async def refused(socket: ClientConnection) -> int:
    """The code with which the server closes it."""
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 0


async def turns(client, count: int) -> list[int]:
    """Play so many turns; the steps of the pictures that came."""
    steps = []
    for number in range(count):
        goal = client.step + 1
        await client.choose(1 << number % 2)
        while client.step < goal:
            if isinstance(header := await client.receive(), wire.FrameHeader):
                steps.append(header.step)
    return steps


async def game_of_turns(server, archive, *, watched: bool):
    """A game whose pictures depend on nothing but its moves, alone or with watchers who come early, late, and to do harm."""
    async with await server.open("trial/turns", seed=78) as client:
        eyes, looking = [], []
        async with contextlib.AsyncExitStack() as sockets:

            async def watch(number: int) -> None:
                eyes.append(Eyes(await sockets.enter_async_context(opens(server, number, "player"))))
                await eyes[-1].look(1)  # what stands there
                looking.append(asyncio.create_task(eyes[-1].look()))

            if watched:
                [game] = [one for one in await live(server) if one["task"] == "trial/turns"]
                assert [(seat["who"], seat["state"]) for seat in game["seats"]] == [("tester", "here")]
                with pytest.raises(InvalidStatus):
                    await opens(server, game["number"], "player", "somebody-else").__aenter__()
                async with opens(server, game["number"], "nobody") as nowhere:
                    assert await refused(nowhere) == wire.CLOSE_EXPIRED
                await watch(game["number"])
            await client.start()
            while client.state != "playing":
                await client.receive()
            steps = await turns(client, NUM_TURNS // 2)
            if watched:
                for harm in ('{"type":"quit"}', '{"type":"start"}', "x", wire.pack_input(1, 1, 0.0)):
                    async with opens(server, game["number"], "player") as actor:
                        await actor.send(harm)
                        assert await refused(actor) == wire.CLOSE_GARBAGE
                async with opens(server, game["number"], "player") as flood:
                    with contextlib.suppress(ConnectionClosed):
                        for _ in range(4 * wire.MAX_MESSAGES_PER_S):
                            await flood.send('{"type":"key"}')
                    assert await refused(flood) == wire.CLOSE_TOO_MANY
                await watch(game["number"])
                [now] = [one for one in await live(server) if one["number"] == game["number"]]
                assert (now["num_watchers"], now["state"], len(now["seats"])) == (2, "playing", 1)
            steps += await turns(client, NUM_TURNS // 2)
            await client.quit()
            while client.ended is None:
                await client.receive()
            await asyncio.gather(*looking)
        return client, steps, archive.get(client.ended["episode"]), eyes


def test_watchers_cost_the_player_no_frame_and_change_nothing_that_is_recorded(server, archive):
    alone, alone_steps, first, _ = asyncio.run(game_of_turns(server, archive, watched=False))
    player, steps, second, eyes = asyncio.run(game_of_turns(server, archive, watched=True))
    assert steps == alone_steps
    assert player.num_frames == alone.num_frames
    kinds = [[message["type"] for message in one.messages] for one in (alone, player)]
    assert kinds[0] == kinds[1]
    tables = [one.steps() for one in (first, second)]
    same = [name for name in tables[0].column_names if name != "time_us" and not name.startswith("input.")]
    assert "frame_hash" in same
    assert tables[0].select(same).equals(tables[1].select(same))
    assert second.num_steps == NUM_TURNS
    assert [(held.seat, held.actor) for held in second.seats] == [("player", "tester")]
    assert verify(second).equal
    early, late = eyes
    assert early.steps == [0, *range(1, NUM_TURNS + 1)]
    assert late.steps == list(range(NUM_TURNS // 2, NUM_TURNS + 1))
    for one in eyes:
        assert (one.texts[0], one.texts[-1]) == ("welcome", "ended")
        assert one.kinds == {wire.KEY_FRAME, wire.DELTA_FRAME}
        assert np.array_equal(one.decoder.pixels, player.decoder.pixels)


def test_a_player_at_sixty_steps_a_second_has_every_frame_beside_a_watcher_who_reads_nothing(server, archive):
    async def scenario() -> tuple[Player, Eyes]:
        async with await server.open("trial/brief", seed=78) as client:
            [game] = [one for one in await live(server) if one["task"] == "trial/brief"]
            async with opens(server, game["number"], "player") as first, opens(server, game["number"], "player") as deaf:
                deaf.transport.pause_reading()  # type: ignore[attr-defined]
                player, eyes = Player(client), Eyes(first)
                looking = asyncio.create_task(eyes.look())
                await client.start()
                await player.play()
                await looking
                deaf.transport.abort()
                return player, eyes

    player, eyes = asyncio.run(scenario())
    assert player.steps == list(range(91))  # 1.5 s, and the first picture
    assert player.equals(archive.get(player.client.ended["episode"]))
    assert eyes.steps[-1] == 90
    assert np.array_equal(eyes.decoder.pixels, player.client.decoder.pixels)


def test_a_world_that_its_players_page_draws_is_watched_by_pictures(server, archive):
    """The player is sent scenes alone and begins no scene anew; the seat of the agent, who reads none, is watched too."""

    async def scenario() -> tuple[list[Eyes], list[wire.FrameHeader], str]:
        async with await server.open("trial/blocks", seed=5, drawn="here", partner="noop") as client:
            scenes: list[wire.FrameHeader] = []
            client.on_scene = lambda header, _: scenes.append(header)
            await client.start()
            while client.step < 4:
                await client.receive()
            [game] = [one for one in await live(server) if one["task"] == "trial/blocks"]
            assert [(seat["seat"], seat["kind"]) for seat in game["seats"]] == [("left", "human"), ("right", "agent")]
            scenes.clear()
            async with opens(server, game["number"], "left") as left, opens(server, game["number"], "right") as right:
                eyes = [Eyes(left), Eyes(right)]
                looking = asyncio.gather(*(one.look(2) for one in eyes))
                while not looking.done():
                    await client.receive()
            await client.quit()
            while client.ended is None:
                await client.receive()
            return eyes, scenes, client.ended["episode"]

    eyes, scenes, episode = asyncio.run(scenario())
    for one in eyes:
        assert one.steps == sorted(set(one.steps))
        assert one.decoder.pixels.std() > 1  # there is something to see
    assert eyes[0].kinds == {wire.JPEG_FRAME}
    assert {header.kind for header in scenes} == {wire.SCENE_FRAME}
    assert not any(header.flags & wire.FRESH for header in scenes)
    assert np.array_equal(np.diff([header.step for header in scenes]), np.ones(len(scenes) - 1))
    assert verify(archive.get(episode)).equal


class Reader:
    """The far end of a watcher's socket, which takes nothing before it is let to."""

    scope: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.messages: list[str | bytes] = []

    async def send(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        self.messages.append(message.get("bytes") or message["text"])


class Encoding:
    """A game of one seat whose worker is a `FrameEncoder`: what watchers ask of it is answered soon."""

    is_opened = True
    task = find("atari/breakout")

    def __init__(self, first: Frame) -> None:
        self.seats = [Seat("player", 0)]
        self.watchers = Watchers(self)
        self.encoder = FrameEncoder(first)
        self.step = 0

    def command(self, command: channel.Command, seat: Seat | None = None) -> None:
        if isinstance(command, channel.Watch) and command.is_watched:
            asyncio.get_running_loop().call_soon(self._answer)

    def _answer(self) -> None:
        self.watchers.welcome(0, channel.Watched(**self.encoder.welcome(), step=self.step))
        if (standing := self.encoder.standing()) is not None:
            self.watchers.picture(0, standing)

    def show(self, pixels: np.ndarray) -> None:
        self.step += 1
        self.watchers.frame(0, self.encoder.encode(Frame(pixels, PALETTE), step=self.step, time_ms=0, reward=0.0))


PALETTE = np.arange(768, dtype=np.uint8).reshape(256, 3)


def test_a_slow_watcher_misses_frames_and_begins_again_with_one_that_stands_alone():
    async def scenario() -> list[str | bytes]:
        rng = np.random.default_rng(0)
        pictures = rng.integers(0, 256, (12, 16, 16)).astype(np.uint8)
        game, far = Encoding(Frame(pictures[0], PALETTE)), Reader()
        watcher = Watcher(
            Connection(far, on_hold=lambda: None, on_go=lambda dropped: dropped and game.watchers.again(watcher, game.seats[0]))
        )
        sending = asyncio.create_task(watcher.connection.run())
        game.watchers.add(game.seats[0], watcher)
        await asyncio.sleep(0)
        for pixels in pictures[:10]:
            game.show(pixels)
            await asyncio.sleep(0)
        assert far.messages == []
        far.reads.set()
        while not any(isinstance(one, bytes) and wire.unpack_header(one).step == 10 for one in far.messages):
            await asyncio.sleep(0)
        for pixels in pictures[10:]:
            game.show(pixels)
            await asyncio.sleep(0)
        sending.cancel()
        frames = [one for one in far.messages if isinstance(one, bytes)]
        decoder = FrameDecoder(16, 16, PALETTE)
        for frame in frames:
            decoder.apply(frame)  # raises for a delta whose base is missing
        assert [wire.unpack_header(frame).step for frame in frames] == [1, 2, 10, 11, 12]
        assert wire.unpack_header(frames[2]).kind == wire.KEY_FRAME
        assert np.array_equal(decoder.pixels, pictures[-1])
        return far.messages

    messages = asyncio.run(scenario())
    assert [isinstance(one, str) for one in messages].count(True) == 2  # a welcome, and another after the gap
