"""What a player is shown while playing is what the recording says, at every frame rate, and after a crash."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from play_server import RunningServer, running_server

import interplay.record
from interplay.cli import _run
from interplay.envs import make
from interplay.play.background import sealer
from interplay.play.client import PlayClient
from interplay.record import Archive, Episode, RecordedEpisode
from interplay.statistics import Collection
from interplay.tasks import find

pytestmark = pytest.mark.processes

RATES_HZ = (15, 30, 60)
SUITE = """
[suite]
id = "rates"
title = "Rates"
[defaults]
env.id = "ale:breakout"
time_limit_s = 60
held_out_seeds = [1]
title = "A game"
goal = "Play."
instructions = "Play."
statistics = [{ name = "active_time", action_timeout_s = 1, reward_timeout_s = 0 }]
questions = [{ id = "better", factor = "overall", kind = "overall", text = "Which is better?" }]
keys = { buttons = ["FIRE"], bindings = { Space = "FIRE" }, actions = { "" = 0, "FIRE" = 1 } }
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[RunningServer]:
    """A server with two statistics of a user, and a game at three rates."""
    folder = tmp_path_factory.mktemp("statistics")
    suite = folder / "rates.toml"
    suite.write_text(SUITE + "".join(f'[[task]]\nname = "at_{rate}"\nframe_rate_hz = {rate}\n' for rate in RATES_HZ))
    own = [option for one in ("Shots", "Failing") for option in ("--statistic", f"trial_statistics:{one}")]
    with running_server(folder / "data", "--workers", "2", "--suite", str(suite), *own) as running:
        yield running


@pytest.fixture(scope="module")
def archive(server) -> Iterator[Archive]:
    archive = interplay.record.open(server.data)
    yield archive
    archive.close()


async def watch(client: PlayClient, shown: list[dict], *, num_steps: int) -> None:
    """Press and let go, and note what the page would show, until so many steps are played."""
    while client.step < num_steps:
        message = await client.receive()
        if isinstance(message, dict) and message["type"] == "hud":
            shown.append(message)
        elif client.step % 20 == 0:
            await client.press(client.step // 20 % 2)


async def to_the_end(client: PlayClient, shown: list[dict]) -> str:
    await client.quit()
    while client.ended is None:
        message = await client.receive()
        if isinstance(message, dict) and message["type"] == "hud":
            shown.append(message)
    await client.close()
    return client.ended["episode"]


def computed(episode: Episode, steps: set[int], seat: str = "player") -> dict[int, dict]:
    """Step -> values of the recording after so many steps."""
    env = make(episode.task)
    collection = Collection(episode.header.statistics, episode.task.setting, dict.fromkeys(episode.task.seats, ""))
    again = RecordedEpisode(env, collection=collection)
    again.start(episode.seed)
    found = {}
    for step, actions in enumerate(episode.joint_actions(), 1):
        again.step(actions)
        if step in steps:
            found[step] = collection.values(seat)
    env.close()
    return found


def measured(server: RunningServer, capsys, *options: str) -> dict:
    """`interplay episodes measure --all --check`."""
    status = _run(["episodes", "measure", "--all", "--check", "--json", "--data", str(server.data), *options])
    document = json.loads(capsys.readouterr().out)
    assert status == 0, document
    return document


@pytest.mark.journey("statistics shown live and computed again from recordings")
def test_what_is_shown_is_what_the_recording_says_at_every_rate(server, archive, capsys):
    async def play(rate: int) -> tuple[str, list[dict]]:
        shown: list[dict] = []
        client = await server.open(f"rates/at_{rate}", seed=5)
        await client.start()
        await watch(client, shown, num_steps=3 * rate)
        return await to_the_end(client, shown), shown

    async def scenario() -> list[tuple[str, list[dict]]]:
        return await asyncio.gather(*map(play, RATES_HZ))

    for rate, (name, shown) in zip(RATES_HZ, asyncio.run(scenario()), strict=True):
        episode = archive.get(name)
        expected = computed(episode, {message["step"] for message in shown})
        assert len(expected) >= 3
        for message in shown:
            ours = message["statistics"]
            assert ours.pop("failing", 0) == 0
            assert ours == {key: value for key, value in expected[message["step"]].items() if key != "failing"}
        last = {one.name: one.value for one in archive.measures([name])[name] if one.name != "failing"}
        assert last == shown[-1]["statistics"]
        assert last["button_steps"] == last["acting_steps"] > 0
        assert last["active_time"] * rate == pytest.approx(round(last["active_time"] * rate))
        assert 1 <= last["active_time"] <= episode.num_steps / rate
    assert measured(server, capsys)["num_different"] == 0


def test_each_of_two_players_is_shown_what_they_did(server, archive):
    async def scenario() -> list[list[dict]]:
        clients = [await server.open("atari-two/space_invaders_competitive", seed=5) for _ in range(2)]
        shown: list[list[dict]] = [[], []]
        await asyncio.gather(*(client.start() for client in clients))
        playing = (watch(client, ours, num_steps=170) for client, ours in zip(clients, shown, strict=True))
        await asyncio.gather(*playing)
        names = await asyncio.gather(*(to_the_end(client, ours) for client, ours in zip(clients, shown, strict=True)))
        assert names[0] == names[1]
        return [*shown, names[0]]

    first, second, name = asyncio.run(scenario())
    episode = archive.get(name)
    for seat, shown in (("first", first), ("second", second)):
        expected = computed(episode, {message["step"] for message in shown}, seat)
        for message in shown:
            ours = {key: value for key, value in message["statistics"].items() if key != "failing"}
            assert ours == {key: value for key, value in expected[message["step"]].items() if key != "failing"}
        people = (one for one in archive.measures([name])[name] if one.actor != "scripted")  # who acts after the first has left
        kept = {one.name: one.value for one in people if one.seat == seat}
        last = shown[-1]  # an agent may have acted for a moment already
        assert kept == last.get("own", last)["statistics"]
        assert kept["accuracy"] is not None


def test_a_collector_that_fails_is_left_out_and_the_log_says_which(server, archive):
    async def scenario() -> tuple[str, list[dict]]:
        shown: list[dict] = []
        client = await server.open("atari/space_invaders", seed=5)
        await client.start()
        await watch(client, shown, num_steps=150)
        return await to_the_end(client, shown), shown

    name, shown = asyncio.run(scenario())
    assert all(("failing" in message["statistics"]) == (message["step"] < 60) for message in shown)
    assert shown[-1]["step"] >= 150
    assert archive.get(name).num_steps == shown[-1]["step"]
    assert "failing" not in {one.name for one in archive.measures([name])[name]}
    log = (Path(server.data) / "server.log").read_text()
    assert "statistic failing is left out of a game of ale:space_invaders from step 60 on" in log
    assert "ValueError: a mistake of its author" in log


def test_a_game_whose_worker_was_killed_ends_with_the_right_values(server, archive, capsys):
    async def scenario() -> tuple[str, list[dict], int]:
        shown: list[dict] = []
        client = await server.open("atari/space_invaders", seed=7)
        await client.start()
        await watch(client, shown, num_steps=150)
        workers = (await server.statistics())["workers"]
        os.kill(next(worker["pid"] for worker in workers if worker["seats"] == 1), signal.SIGKILL)
        while client.state != "paused":
            await client.receive()
        num_before = len(shown)
        while client.state != "playing":
            await client.receive()
        await watch(client, shown, num_steps=client.step + 120)
        return await to_the_end(client, shown), shown, num_before

    name, shown, num_before = asyncio.run(scenario())
    episode = archive.get(name)
    after = shown[num_before:]
    expected = computed(episode, {message["step"] for message in after})
    assert len(after) >= 3
    for message in after:
        assert message["statistics"] == {key: value for key, value in expected[message["step"]].items() if key != "failing"}
    assert {one.name: one.value for one in episode.live_measures} == after[-1]["statistics"]
    assert measured(server, capsys, "--statistic", "score")["num_different"] == 0


def test_a_game_nobody_goes_on_with_is_sealed_with_its_values(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    env = make(find("atari/space_invaders"))
    recorder = archive.recorder(env.task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(3)
    for step in range(150):
        episode.step({"player": (3, 1, 4)[step % 3]})
    expected = recorder.collection.measures()
    recorder.flush()
    recorder.abandon()  # as a process that is killed
    name = sealer._seal(archive, recorder.path, None)
    assert archive.get(name).live_measures == ()
    assert {one.name: one for one in archive.measures([name])[name]} == {one.name: one for one in expected}
    archive.close()


def test_a_page_says_what_is_computed(server):
    import httpx

    page = httpx.get(f"{server.address}/play/atari/space_invaders", timeout=60).text
    facts = json.loads(page.split('id="task">')[1].split("</script>")[0])
    assert [one["name"] for one in facts["statistics"]][-2:] == ["button_steps", "failing"]
    assert {"name": "aliens_hit", "title": "Invaders shot", "kind": "int"}.items() <= facts["statistics"][5].items()


@pytest.mark.parametrize(
    ("name", "text"),
    [("scor", "unknown statistic 'scor'; did you mean 'score'"), ("no_such:thing", "cannot be imported: ModuleNotFoundError")],
)
def test_a_server_refuses_a_statistic_it_cannot_compute(tmp_path, capsys, name, text):
    assert _run(["serve", "--data", str(tmp_path), "--statistic", name]) in (1, 2)
    assert text in capsys.readouterr().err


def test_tasks_that_ship_keep_their_hashes_and_may_have_statistics():
    task = find("atari/space_invaders")
    assert "statistics" not in task.to_json()
