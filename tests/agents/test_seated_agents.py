"""Agents in several seats of one game: recorded, repeatable, named wherever episodes are, and refused with what to do."""

import json

import numpy as np
import pytest

from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.agents.base import AgentError, check_agent
from interplay.agents.evaluate import evaluate
from interplay.cli import _run
from interplay.record import verify
from interplay.store import entrants
from interplay.tasks import load_suite

pytest.importorskip("pettingzoo", reason="games of several seats need interplay[pettingzoo]")

PONG = """
[suite]
id = "lab"
title = "Lab"

[[task]]
name = "pong"
title = "Pong together"
goal = "Keep the ball in play."
instructions = "Move your paddle up and down."
frame_rate_hz = 15
time_limit_s = 10
held_out_seeds = [8, 9]
seats = ["first", "second"]
env.id = "pettingzoo:butterfly/cooperative_pong-v6"
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Which pair played better?" }]

[task.keys]
buttons = ["UP", "DOWN"]
bindings = { KeyW = "UP", KeyS = "DOWN" }
actions = { "" = 0, "UP" = 1, "DOWN" = 2 }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text(PONG)
    return path


@pytest.fixture
def pong(file):
    return load_suite(file).tasks[0]


def sitting(episode) -> dict[str, str]:
    """Seat -> who held it."""
    return {held.seat: held.actor for held in episode.seats}


def test_two_agents_play_from_the_command_line(archive, file, capsys):
    """Recorded, proved, listed with both names; run again, nothing is played twice; seats swapped is another game."""
    data = ["--data", str(archive.root), "--json"]
    play = ["play", f"{file}:pong", "--seeds", "8", "--max-seconds", "3", "--no-video", *data]
    assert _run([*play, "--seat", "first=random", "--seat", "second=noop"]) == 0
    played = json.loads(capsys.readouterr().out)
    (one,) = played["episodes"]
    assert played["seats"] == {"first": "random", "second": "noop"}
    assert one["returns"].keys() == {"first", "second"}
    assert one["total_reward"] == one["returns"]["first"]
    episode = archive.get(one["episode"])
    assert sitting(episode) == {"first": "random", "second": "noop"}
    assert len(set(episode.actions("first").tolist())) > 1
    assert set(episode.actions("second").tolist()) == {0}
    assert _run([*play, "--seat", "second=noop", "--seat", "first=random"]) == 0
    assert [again["episode"] for again in json.loads(capsys.readouterr().out)["episodes"]] == [one["episode"]]
    assert _run([*play, "--seat", "first=noop", "--seat", "second=random"]) == 0
    (swapped,) = json.loads(capsys.readouterr().out)["episodes"]
    assert swapped["episode"] != one["episode"]
    assert _run(["episodes", "verify", "--all", *data]) == 0
    assert json.loads(capsys.readouterr().out)["num_equal"] == 2
    assert _run(["episodes", "list", *data[:2], "--where", "seat.first.actor = random"]) == 0
    listed = capsys.readouterr().out
    assert "first=random second=noop" in listed
    assert swapped["episode"] not in listed


def test_one_agent_can_take_every_seat(archive, file, capsys):
    """`--agent` fills all of them; each seat has an agent of its own, which draws for itself."""
    play = ["play", f"{file}:pong", "--agent", "random", "--seeds", "8", "--max-seconds", "3", "--no-video"]
    assert _run([*play, "--data", str(archive.root)]) == 0
    said = capsys.readouterr().out
    assert "return first" in said
    assert "Mean return first " in said
    (episode,) = archive.episodes()
    assert sitting(episode) == {"first": "random", "second": "random"}
    assert episode.actions("first").tolist() != episode.actions("second").tolist()


def test_the_same_seed_and_generator_give_the_same_game(archive, pong):
    def play():
        agents = {"first": find_agent("random"), "second": find_agent("random")}
        return rollout(archive, pong, agents, seed=8, rng=np.random.default_rng(4), max_steps=40)

    one, two = play(), play()
    for seat in pong.seats:
        np.testing.assert_array_equal(one.actions(seat), two.actions(seat))
        np.testing.assert_array_equal(one.rewards(seat), two.rewards(seat))
    assert verify(two).equal


def test_only_a_game_of_one_agent_admits_it_to_judging(archive, pong):
    def admitted():
        with archive.database.read() as session:
            return [entrant.name for entrant in entrants.entrants(session, pong.id)]

    evaluate(archive, pong, {"first": "random", "second": "noop"}, [8], max_steps=10)
    assert admitted() == []
    evaluate(archive, pong, "noop", [8], max_steps=10)
    assert admitted() == ["noop"]


def test_an_agent_is_checked_in_a_seat(pong):
    check_agent(find_agent("random"), pong, num_decisions=10)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "give --agent A, or --seat NAME=A for each seat"),
        (["--agent", "random", "--seat", "first=random"], 2, "give --agent A, or --seat NAME=A for each seat"),
        (["--seat", "first"], 2, "--seat takes NAME=AGENT, such as --seat left=random; got 'first'"),
        (["--seat", "first=random", "--seat", "first=noop"], 2, "--seat first is given twice: random and noop"),
        (["--seat", "first=random"], 1, "nobody sits in second"),
        (["--seat", "first=random", "--seat", "secnd=random"], 2, "did you mean 'second'"),
        (["--seat", "first=random", "--seat", "second=randm"], 2, "did you mean 'random'"),
    ],
)
def test_seats_that_cannot_be_filled_are_refused_with_what_to_do(archive, file, capsys, arguments, status, message):
    assert _run(["play", f"{file}:pong", "--seeds", "8", "--data", str(archive.root), *arguments]) == status
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert archive.episodes() == []


def test_one_simple_agent_in_two_seats_is_refused_with_what_to_do(archive, pong):
    class Still:
        name, observation = "still", "picture"

        def reset(self, task, *, rng):
            pass

        def act(self, observation):
            return 0

    still = Still()
    with pytest.raises(AgentError, match=r"'still' sits in first and in second, .*\nBuild another one for each seat"):
        rollout(archive, pong, {"first": still, "second": still}, seed=8, rng=np.random.default_rng(0))
    assert list(archive.journal_folder.iterdir()) == []


def test_a_seat_without_an_agent_leaves_no_trace(archive, pong):
    with pytest.raises(AgentError, match=r"nobody sits in second\nName an agent for each:  interplay play lab/pong --seat"):
        rollout(archive, pong, find_agent("random"), seed=8, rng=np.random.default_rng(0))
    assert list(archive.journal_folder.iterdir()) == []
