"""A visit of a study of play on a real server that is killed in the middle of a game: what counts and what is earned."""

import asyncio
import json
import random
import signal
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from play_server import RunningServer, running_server
from play_watcher import Watcher

import interplay.record
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.connections.tokens import server_secret
from interplay.record import Archive
from interplay.store import Enrolment
from interplay.study import Arrival, tokens
from interplay.study.definition import parse_study
from interplay.study.money.payroll import Payroll
from interplay.study.play.visits import Visits
from interplay.study.studies import Studies

pytestmark = pytest.mark.processes

STUDY = """
[study]
id = "orders"
kind = "play"
title = "Orders"
summary = "Play."
minutes = 5
contact = "Ada"
instructions = "Play."
[pay]
reward = 0.75
[[requirements]]
statistic = "time"
required = 3
[bonus]
max = 1.50
correct = "inside_out.all"
out_of = "aliens_hit"
full_at = 20
[[variants]]
task = "atari/space_invaders"
[channels.prolific]
codes = { done = "D1" }
"""


def enrol(archive: Archive) -> Enrolment:
    """Ada agrees, and is given what there is."""
    studies = Studies(archive.database)
    study = parse_study(STUDY)
    studies.open(study)
    admission = studies.enrol(study, Arrival("prolific", worker="ada", assignment="a1", hit="S1"))
    enrolment = studies.enrolment(admission.enrolment)
    assert enrolment is not None
    Visits(archive.database, studies).give(enrolment)
    return enrolment


def test_a_game_in_which_the_server_was_killed_counts_as_it_was_recorded(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with closing(interplay.record.open(data)) as archive:
        enrolment = enrol(archive)
    token = tokens.make(server_secret(data), enrolment.id)
    watcher = Watcher(None, random.Random(3))  # type: ignore[arg-type]

    def ask(server: RunningServer) -> dict:
        headers = {"Interplay-Enrolment": token, "Content-Type": "application/json"}
        body = json.dumps({"task": "atari/space_invaders"}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{server.address}/api/sessions", body, headers)) as answer:
            return json.load(answer)

    async def first(server: RunningServer) -> None:
        watcher.client = PlayClient(server.address, ask(server))
        await watcher.client.connect()
        await watcher.client.start()
        await watcher.play(200)
        server.process.kill()
        with pytest.raises(PlayClientError):
            await watcher.play()

    async def second(server: RunningServer) -> None:
        client = PlayClient(server.address, watcher.client.grant)
        await client.connect()
        watcher.client = client
        await client.resume()
        await watcher.play(len(watcher.steps) + 100)
        await client.quit()
        await watcher.play()

    with running_server(data, "--workers", "1", expect_exit=-signal.SIGKILL) as server:
        asyncio.run(first(server))
    with running_server(data, "--workers", "1") as server:
        asyncio.run(second(server))

    with closing(interplay.record.open(data)) as archive:
        (episode,) = archive.episodes()
        studies = Studies(archive.database)
        visit = Visits(archive.database, studies).get(enrolment)
        (game,) = visit.games
        measures = {one.name: one for one in archive.measures([episode])[episode.id]}
        assert game.episode == episode.id
        assert game.statistics["time"] == episode.num_steps / 60
        assert game.statistics["aliens_hit"] == measures["aliens_hit"].value
        assert game.statistics["inside_out.all"] == measures["inside_out"].counts["all"] == measures["aliens_hit"].value
        assert studies.finish(enrolment, "done").outcome == "done"
        explained = Payroll(archive.database).explain("orders", enrolment.id)
        # Every hit is among all hits, so the share is 1 and the bonus 150 x hits / 20, rounded up.
        hits = int(game.statistics["aliens_hit"])
        assert explained.agrees
        assert (explained.reward_cents, explained.bonus_cents) == (75, min(150, -(-150 * hits // 20)))
