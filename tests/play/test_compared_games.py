"""Games that may be compared: on which seeds people play, who is asked, and what their answer does."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from play_server import RunningServer, running_server
from sqlalchemy import select

import interplay.record
from interplay.play.client import PlayClient
from interplay.play.games.agreement import HELD_OUT_SHARE, draw_seed, held_out_share
from interplay.record import Archive
from interplay.store import PlaySession, entrants
from interplay.tasks import builtin_suites, find

pytestmark = pytest.mark.processes

BREAKOUT = find("atari/breakout", builtin_suites())
COMPARED = """
[suite]
id = "compared"
title = "Compared"
description = "Everybody plays on the held-out seed."
[[task]]
name = "balance"
title = "Balance"
goal = "Keep the pole up."
instructions = "Push the cart."
env.id = "gym:CartPole-v1"
frame_rate_hz = 30
time_limit_s = 10
held_out_seeds = [123456]
held_out_share = 1
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who balanced longer?" }]
[task.keys]
buttons = ["RIGHT"]
bindings = { ArrowRight = "RIGHT" }
actions = { "" = 0, RIGHT = 1 }
"""


def test_one_seed_in_four_is_held_out_and_the_others_never_are() -> None:
    drawn = [draw_seed(BREAKOUT, held_out_share=HELD_OUT_SHARE) for _ in range(4000)]
    held_out = [seed for seed in drawn if seed in BREAKOUT.held_out_seeds]
    assert 800 < len(held_out) < 1200  # 1,000 expected, with a standard deviation of 27
    assert set(Counter(held_out)) <= set(BREAKOUT.held_out_seeds)
    assert not {draw_seed(BREAKOUT) for _ in range(1000)} & set(BREAKOUT.held_out_seeds)
    assert {draw_seed(BREAKOUT, held_out_share=1.0) for _ in range(200)} <= set(BREAKOUT.held_out_seeds)


def test_a_task_sets_its_share_and_the_operator_the_share_of_all() -> None:
    for of_task, of_server, share in [
        (None, None, HELD_OUT_SHARE),
        (0.0, None, 0.0),
        (0.5, None, 0.5),
        (0.5, 0.0, 0.0),
        (1, 0.0, 1.0),
    ]:
        assert held_out_share(replace(BREAKOUT, held_out_share=of_task), of_server) == share


def test_a_task_that_wants_it_is_played_on_held_out_seeds_alone(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        async with httpx.AsyncClient(base_url=server.address) as http:
            answer = await http.post("/api/sessions", json={"task": "compared/balance"})
            assert answer.status_code == 201, answer.text

    suite = tmp_path / "compared.toml"
    suite.write_text(COMPARED)
    with running_server(tmp_path / "data", "--workers", "1", "--suite", str(suite)) as server:
        asyncio.run(scenario(server))
        archive = interplay.record.open(server.data)
        with archive.database.read() as session:
            seeds = set(session.scalars(select(PlaySession.seed)))
        archive.close()
    assert seeds == {123456}


async def play_a_moment(server: RunningServer, http: httpx.AsyncClient | None) -> PlayClient:
    """A short game, of a person with a cookie or of the operator; finished early."""
    if http is None:
        client = await server.open("atari/breakout", seed=BREAKOUT.held_out_seeds[0])
    else:
        answer = await http.post("/api/sessions", json={"task": "atari/breakout"})
        assert answer.status_code == 201, answer.text
        client = PlayClient(server.address, answer.json())
        await client.connect()
    await client.start()
    while client.decoder.step < 20:
        await client.receive()
    await client.quit()
    while client.ended is None:
        await client.receive()
    await client.close()
    return client


def shown(archive: Archive) -> set[str]:
    """Games that judges may be shown for `people`."""
    with archive.database.read() as session:
        return {row.id for row in entrants.episodes_of(session, "people", BREAKOUT.id)}


def test_a_game_on_a_held_out_seed_is_compared_only_while_its_player_agrees(tmp_path: Path) -> None:
    async def scenario(server: RunningServer, archive: Archive) -> None:
        async with httpx.AsyncClient(base_url=server.address) as http:

            async def say(token: str, agreed: bool) -> httpx.Response:
                return await http.post("/api/play/agreement", json={"token": token, "agreed": agreed})

            client = await play_a_moment(server, http)
            assert client.ended is not None
            assert client.ended["may_ask"]
            episode = archive.get(client.ended["episode"])
            assert episode.seed in BREAKOUT.held_out_seeds
            token = client.grant["token"]
            assert shown(archive) == set(), "nobody has said anything yet"
            assert (await say(token, True)).json() == {"is_compared": True}
            assert shown(archive) == {episode.id}
            assert (await say(token, False)).json() == {"is_compared": False}
            assert shown(archive) == set()
            by_token = await say(token, True)
            assert by_token.json() == {"is_compared": True}

            # Later, without the token: on the page of the episode, which its player finds in the catalogue.
            about = {"episode": episode.id, "agreed": False}
            address = f"/episodes/{episode.id}"
            assert "You said yes: judges may see this game." in (await http.get(address)).text
            assert f'<option value="{episode.actor}">you</option>' in (await http.get("/episodes")).text
            async with httpx.AsyncClient(base_url=server.address) as stranger:
                assert "May we compare" not in (await stranger.get(address)).text
                refused = await stranger.post("/api/play/agreement", json=about)
                assert refused.status_code == 403
                assert "has played no game of this id" in refused.json()["message"]
            assert shown(archive) == {episode.id}
            assert (await http.post("/api/play/agreement", json=about)).json() == {"is_compared": False}
            assert shown(archive) == set()
            assert "You said no: judges do not see this game." in (await http.get(address)).text
            for named in ({}, {"token": token, "episode": episode.id}):
                unclear = await http.post("/api/play/agreement", json={"agreed": False, **named})
                assert unclear.status_code == 422
                assert "either the token of your seat or the id of your episode" in unclear.text
            unsigned = await say(token + "x", True)
            assert unsigned.status_code == 403
            assert "was not signed by this server" in unsigned.json()["message"]
            unplayed = (await http.post("/api/sessions", json={"task": "atari/qbert"})).json()
            nothing = await say(unplayed["token"], True)
            assert nothing.status_code == 409
            assert "not recorded, so there is nothing to compare" in nothing.json()["message"]
            operators = await play_a_moment(server, None)
            assert operators.ended is not None
            assert not operators.ended["may_ask"]
            refused = await say(operators.grant["token"], True)
            assert refused.status_code == 409
            assert "games that an operator opened are not compared" in refused.json()["message"]

    with running_server(tmp_path / "data", "--workers", "1", "--held-out-share", "1") as server:
        archive = interplay.record.open(server.data)
        asyncio.run(scenario(server, archive))
        archive.close()


def test_nobody_is_asked_about_a_game_on_another_seed(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> None:
        async with httpx.AsyncClient(base_url=server.address) as http:
            client = await play_a_moment(server, http)
            assert client.ended is not None
            assert not client.ended["may_ask"]

    with running_server(tmp_path / "data", "--workers", "1", "--held-out-share", "0") as server:
        asyncio.run(scenario(server))


def test_nobody_is_asked_about_a_game_in_which_nothing_was_pressed(tmp_path: Path) -> None:
    """A world that waits for its player, left before the first turn."""

    async def scenario(server: RunningServer) -> None:
        async with httpx.AsyncClient(base_url=server.address) as http:
            for num_presses in (0, 1):
                answer = await http.post("/api/sessions", json={"task": "gymnasium/frozen_lake"})
                assert answer.status_code == 201, answer.text
                client = PlayClient(server.address, answer.json())
                await client.connect()
                await client.start()
                while client.state != "playing":
                    await client.receive()
                for _ in range(num_presses):
                    await client.choose(1)
                while client.step < num_presses:
                    await client.receive()
                await client.quit()
                while client.ended is None:
                    await client.receive()
                await client.close()
                assert (client.ended["num_steps"], client.ended.get("may_ask", False)) == (num_presses, num_presses > 0)

    with running_server(tmp_path / "data", "--workers", "1", "--held-out-share", "1") as server:
        asyncio.run(scenario(server))
