"""Waiting for others: who waits long may play with an agent or leave, and what is known of waiting is written down."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from test_partners import PONG, Page, come, ended, see, server_here, until, verified

import interplay.record
from interplay.play.connections import wire
from interplay.play.games.for_study import ForStudy
from interplay.play.games.seat import Seat
from interplay.play.server import PlayServer
from interplay.store import PlaySession, sessions
from interplay.study.people import People

pytest.importorskip("pettingzoo")
pytestmark = pytest.mark.processes

SOON_S = 1.3


async def waits_of(play: PlayServer, num: int) -> dict[str, tuple[float | None, str | None]]:
    """Actor -> how long they waited and who came, once so many have waited."""
    found: dict[str, tuple[float | None, str | None]] = {}

    def all_are_written() -> bool:
        with play.archive.database.read() as database:
            found.update({row.actor: (row.waited_s, row.came) for row in database.query(PlaySession)})
        return sum(came is not None for _, came in found.values()) >= num

    await until(all_are_written)
    return found


def told(page: Page) -> dict[str, Any]:
    return page.said("lobby")[-1]


def test_who_waits_long_enough_may_play_with_an_agent_and_not_sooner(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partner_after_s=SOON_S) as play:
            ann = await come(play, PONG, "ann")
            await until(lambda: ann.said("lobby"))
            facts = told(ann)
            assert (facts["choose_after_s"], facts["has_partner"], facts["waits"]) == (SOON_S, True, [])
            ann.seat.granted_at += 1000  # she has only just come
            ann.say("partner")
            await asyncio.sleep(0.1)
            assert "agent" not in ann.states.values()
            ann.seat.granted_at -= 1000
            await asyncio.sleep(0.4)
            ann.say("partner")
            await see(ann, 5)
            assert sorted(ann.states.values()) == ["agent", "playing"]
            ann.say("quit")
            verified(play, (await ended(ann))["episode"])
            waited_s, came = (await waits_of(play, 1))["ann"]
            assert came == "agent"
            assert (waited_s or 0) >= 0.3

    asyncio.run(scenario())


def test_the_first_has_waited_for_the_second_and_the_next_reads_how_long(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann")
            await until(lambda: ann.said("lobby"))
            bob = await come(play, PONG, "bob")
            await see(bob, 3)
            assert not bob.said("lobby"), "nobody is missing"
            waits = await waits_of(play, 1)
            assert waits["ann"][1] == "person"
            assert waits["bob"] == (None, None)
            people = People(play.archive.database)
            numbers = [people.find_or_add(name) for name in ("cid", "dan")]
            cid = await come(play, PONG, "cid", participant_id=numbers[0])
            await until(lambda: cid.said("lobby"))
            assert told(cid)["waits"] == [[waits["ann"][0], True]]
            dan = await come(play, PONG, "dan", participant_id=numbers[1])
            await see(dan, 3)
            play.dismiss(numbers[1])
            assert (await ended(dan))["outcome"] == "left"
            await until(lambda: cid.states[dan.seat.name] == "agent")  # who was dismissed keeps nobody from playing
            eve = await come(play, PONG, "eve", participant_id=numbers[1])
            await until(lambda: eve.said("lobby"))
            play.dismiss(numbers[1])
            await ended(eve)
            grant = play.create_session(PONG, participant_id=numbers[1])
            play.dismiss(numbers[1])
            await until(lambda: grant.session not in play._places)

    asyncio.run(scenario())


def test_an_agent_that_one_chooses_never_takes_the_seat_of_the_friend_who_invited(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann")
            bob = await come(play, PONG, "bob", invitation=ann.game.invitation, partner="noop")
            assert bob.game is not ann.game
            assert [seat.agent for seat in ann.game.seats] == [None, None]

    asyncio.run(scenario())


def test_in_a_study_nobody_chooses_an_agent_and_nobody_else_joins(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partner_after_s=0.0) as play:
            stranger = await come(play, PONG, "stranger")
            ann = await come(play, PONG, "ann", study=ForStudy("orders"))
            await until(lambda: ann.said("lobby"))
            assert not told(ann)["has_partner"]
            ann.game.on_command(ann.seat, wire.ClientCommand("partner"))
            assert [seat.agent for seat in ann.game.seats] == [None, None]
            others = [await come(play, PONG, "bob"), await come(play, PONG, "cid", study=ForStudy("points"))]
            assert others[0].game is stranger.game
            assert others[1].game not in (stranger.game, ann.game)
            assert ann.game.open_seat is not None
            dan = await come(play, PONG, "dan", study=ForStudy("orders"))
            assert dan.game is ann.game

    asyncio.run(scenario())


def test_a_study_says_with_which_agents_its_people_play_and_names_none_of_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", study=ForStudy("orders", partner="noop"))
            await see(ann, 3)
            assert ann.states[ann.game.seats[1].name] == "agent"
            assert "noop" not in str(ann.said("seats")), "so that it is not judged by its name"
            eve = await come(play, PONG, "eve", study=ForStudy("orders", wait_s=0.0))
            assert (await waits_of(play, 1))["eve"][1] == "nobody", "though the server may be killed before she leaves"
            assert eve.game.open_seat is not None
            cid = await come(play, PONG, "cid", study=ForStudy("orders", fallback="noop", wait_s=0.0, is_blind=True))
            assert cid.game is not ann.game
            await until(lambda: cid.said("lobby"))
            assert (told(cid)["has_partner"], told(cid)["choose_after_s"], told(cid)["waits"]) == (False, None, [])
            await see(cid, 3)  # it comes by itself
            assert cid.states[cid.game.seats[1].name] == "playing", "as a person is told of"
            assert "agent" not in str(cid.said("seats"))

    asyncio.run(scenario())


@pytest.mark.parametrize(("after_s", "outcome"), [(0.0, "no_partner"), (60.0, "quit")])
def test_who_leaves_after_a_long_wait_had_no_partner(tmp_path: Path, after_s: float, outcome: str) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partner_after_s=after_s) as play:
            ann = await come(play, PONG, "ann")
            await until(lambda: ann.said("lobby"))
            ann.say("quit")
            assert (await ended(ann))["outcome"] == outcome
            assert (await waits_of(play, 1))["ann"][1] == "nobody"

    asyncio.run(scenario())


def test_who_is_away_does_not_wait() -> None:
    seat = Seat("left", 0)
    here: Any = object()  # a socket that nothing is said to
    seat.take(here)
    seat.lose(here)
    seat.granted_at, seat.lost_at = 100.0, 105.0
    assert seat.held_s == 5.0
    seat.take(here)
    assert seat.granted_at > 100.0, "and goes on from there"


def test_who_is_left_alone_before_the_start_waits_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path) as play:
            ann = await come(play, PONG, "ann", resumes=False)
            bob = await come(play, PONG, "bob", resumes=False)
            await until(lambda: ann.states and bob.said("welcome"))
            assert not bob.said("lobby")
            num_told = len(ann.said("lobby"))
            bob.say("quit")
            await until(lambda: len(ann.said("lobby")) > num_told)
            assert "open" in ann.states.values()
            assert (await waits_of(play, 1))["ann"][1] == "person"
            ann.say("quit")
            await ended(ann)
        assert (await waits_of(play, 1))["ann"][1] == "nobody", "in the end"

    asyncio.run(scenario())


def test_who_is_ready_need_not_wait_for_somebody_who_is_there_and_does_not_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partner_after_s=30.0) as play:
            ann = await come(play, PONG, "ann")
            bob = await come(play, PONG, "bob", resumes=False)
            await until(lambda: bob.said("welcome") and ann.said("lobby") and told(ann)["missing"] == "start")
            assert not bob.said("lobby"), "he is the one who is waited for"
            ann.say("partner")
            await asyncio.sleep(0.05)
            assert ann.states == {"left": "ready", "right": "here"}, "she has not waited long enough for anybody"
            ann.seat.granted_at -= 100
            ann.say("partner")
            assert (await ended(bob))["episode"] is None
            await see(ann, 5)
            assert ann.states == {"left": "playing", "right": "agent"}
            ann.say("quit")
            verified(play, (await ended(ann))["episode"])

    asyncio.run(scenario())


def test_strangers_who_come_and_go_do_not_move_the_clock_and_are_told_of_seldom(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, partner_after_s=50.0) as play:
            ann = await come(play, PONG, "ann")
            await until(lambda: ann.said("lobby"))
            for _ in range(60):
                stranger = await come(play, PONG, "stranger", resumes=False)
                assert stranger.game is ann.game
                ann.game.on_command(stranger.seat, wire.ClientCommand("quit"))
            assert {facts["choose_after_s"] for facts in ann.said("lobby")} == {50.0}
            assert len(ann.words) < 50, "not four for each stranger"
            await come(play, PONG, "stranger", resumes=False)
            ann.seat.granted_at -= 50  # the clock of the first who waits
            ann.say("partner")
            await see(ann, 3)
            assert sorted(ann.states.values()) == ["agent", "playing"]

    asyncio.run(scenario())


def test_a_seat_counts_with_its_socket(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_here(tmp_path, max_worlds=1) as play:
            play.limits.mark_slow(play.task(PONG), 20.0)

            def ask(name: str) -> str:
                return play.create_session(PONG, actor=name, countdown_s=0, client=name).token

            async def comes(token: str) -> Page:
                game, seat = await play._place_of(token)
                page = Page(game, seat)
                game.attach(seat, page)  # type: ignore[arg-type]
                return page

            ghosts = [ask("ghost")]  # opens a game, and nobody comes
            ann = await comes(ask("ann"))
            await until(lambda: ann.said("lobby"))
            assert ann.states == {"left": "open", "right": "ready"}
            bobs = ask("bob")
            bob = await comes(bobs)
            assert bob.game is ann.game, "though both of its seats were granted, and there is no second place"
            assert play._places[play._tokens.verify(ghosts[0])].game is not ann.game
            await see(bob, 3)
            (session,) = [one for one, place in play._places.items() if place.seat is bob.seat]
            assert session == play._tokens.verify(bobs)
            await asyncio.to_thread(play._notes.submit(lambda: None).result)
            with play.archive.database.read() as database:
                row = database.get(PlaySession, session)
                assert row is not None
                assert (row.seed, row.seat) == (ann.game.seed, "left")

    asyncio.run(scenario())


def test_waits_are_those_of_this_hour_on_the_last_seven_days(tmp_path: Path) -> None:
    now = datetime(2026, 3, 8, 0, 20, tzinfo=UTC)
    hours_ago = {0.5: 1.0, 1.5: 2.0, 24.0: 3.0, 23.2: 4.0, 12.0: 5.0, 6 * 24.0: 6.0, 8 * 24.0: 7.0}
    archive = interplay.record.open(tmp_path)
    try:
        with archive.database.write() as database:
            for hours, seconds in hours_ago.items():
                task: dict[str, Any] = {
                    "task": "a/b",
                    "task_hash": "",
                    "seed": 0,
                    "actor": "x",
                    "actor_kind": "human",
                    "participant_id": None,
                }
                sessions.open_session(database, id=str(hours), **task, now=now - timedelta(hours=hours))
                sessions.note_waited(database, str(hours), seconds, "person" if seconds < 4 else "nobody")
            sessions.note_waited(database, "0.5", 9.0, "nobody")  # who came has left before the start
        with archive.database.read() as database:
            found = sessions.waits(database, "a/b", now)
    finally:
        archive.close()
    assert found == [(9.0, False), (4.0, False), (3.0, True), (6.0, False)]
