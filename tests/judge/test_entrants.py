"""Recorded play becomes an entrant: of people with their agreement, on held-out seeds, never shown to its player."""

from __future__ import annotations

import json

import numpy as np
import pytest
from judging_world import AT_ONCE, START, TASKS, add_episode, fill, form

from interplay.cli import main
from interplay.judge import Judging, NothingToJudgeError
from interplay.store import EpisodeRow, Match, entrants
from interplay.store.participants import add_participant, judge_name
from interplay.tasks import find

TASK = TASKS[0]
SEEDS = find(TASK).held_out_seeds


@pytest.fixture
def judge(archive, capsys):
    """Runs one command over the data folder; gives its status, and what it printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["judge", *arguments, "--data", str(archive.root)])
        return int(stop.value.code or 0), *capsys.readouterr()

    return run


def new_person(archive, key: str) -> int:
    with archive.database.write() as session:
        return add_participant(session, key, START).id


def play(
    archive, person: int, seed: int, *, agreed: bool | None = True, outcome: str = "terminated", score: float = 3.0
) -> str:
    """A person's game in the catalogue, and what they said about it."""
    name = add_episode(archive, TASK, judge_name(person), seed, outcome=outcome)
    with archive.database.write() as session:
        row = session.get_one(EpisodeRow, name)
        row.actor_kind, row.participant_id, row.total_reward = "human", person, score
        row.seats[0].actor_kind, row.seats[0].participant_id = "human", person
        session.flush()
        if agreed is not None:
            entrants.agree(session, episode_id=name, participant_id=person, agreed=agreed, now=START)
    return name


def room(archive) -> Judging:
    return Judging(archive, rng=np.random.default_rng(0), rules=AT_ONCE)


def test_people_are_judged_against_agents_by_others_and_ranked(archive):
    fill(archive, agents=("ada",))
    person = new_person(archive, "a")
    episode = play(archive, person, SEEDS[0])
    judging = room(archive)
    match = judging.serve("eve", TASK)
    with archive.database.read() as session:
        row = session.get_one(Match, match.id)
        assert {row.left_agent, row.right_agent} == {"ada", "people"}
        assert episode in (row.left_episode_id, row.right_episode_id)
        side = "left" if row.left_agent == "people" else "right"
    assert "people" not in str(match)
    assert "ada" not in str(match)
    judging.answer(match.id, "eve", **form(TASK, side))
    first = judging.leaderboard(TASK)["rows"][0]
    assert (first["agent"], first["kind"]) == ("people", "people")


def test_nobody_is_shown_a_game_of_their_own(archive):
    fill(archive, agents=("ada",))
    person = new_person(archive, "a")
    play(archive, person, SEEDS[0])
    judging = room(archive)
    with pytest.raises(NothingToJudgeError):
        judging.serve(judge_name(person), TASK)
    assert judging.serve(judge_name(new_person(archive, "b")), TASK)


def test_without_agreement_a_game_is_never_served(archive):
    fill(archive, agents=("ada",))
    person = new_person(archive, "a")
    play(archive, person, SEEDS[0], agreed=None)
    refused = play(archive, person, SEEDS[1], agreed=False)
    judging = room(archive)
    with pytest.raises(NothingToJudgeError):
        judging.serve("eve", TASK)
    with archive.database.write() as session:
        entrants.agree(session, episode_id=refused, participant_id=person, agreed=True, now=START)
    match = judging.serve("eve", TASK)
    with archive.database.read() as session:
        row = session.get_one(Match, match.id)
        assert refused in (row.left_episode_id, row.right_episode_id)


def test_two_entrants_that_share_a_game_are_not_shown_it_on_both_sides(archive, judge):
    person = new_person(archive, "a")
    play(archive, person, SEEDS[0])
    assert judge("add-episodes", "--participant", str(person))[0] == 0
    with pytest.raises(NothingToJudgeError):
        room(archive).serve("eve", TASK)


def test_episodes_are_added_once_and_the_others_are_counted_by_reason(archive, judge):
    person, other = new_person(archive, "a"), new_person(archive, "b")
    good = [play(archive, person, SEEDS[0], score=300.0), play(archive, other, SEEDS[1], score=200.0)]
    play(archive, person, SEEDS[2], agreed=None, score=300.0)
    play(archive, person, 77_777, score=300.0)
    play(archive, other, SEEDS[3], outcome="left", score=300.0)
    play(archive, other, SEEDS[4], score=1.0)
    arguments = ("add-episodes", "--actor", "human", "--where", "score >= 200", "--as", "experts")
    status, text, _ = judge(*arguments)
    assert status == 0
    assert f"{TASK}: 2 episodes added\n" in text
    for reason in ("not on a held-out seed", "the player did not agree", "the player left before the end"):
        assert f"1 episode left out: {reason}" in text
    assert "experts has 2 episodes more to be judged by." in text
    document = json.loads(judge(*arguments, "--json")[1])
    assert (document["name"], document["origin"]) == ("experts", "people")
    assert (document["tasks"][0]["entered"], document["tasks"][0]["num_there"]) == ([], 2)
    with archive.database.read() as session:
        assert [row.id for row in entrants.episodes_of(session, "experts", TASK)] == good
        assert len(entrants.episodes_of(session, "people", TASK)) == 3
    lines = judge("list-agents")[1]
    assert [line.split()[:5] for line in lines.splitlines()[1:]] == [
        ["experts", TASK, "people", "approved", "2"],
        ["people", TASK, "people", "approved", "3"],
    ]


def test_an_agent_may_be_entered_whole_or_in_part_under_another_name(archive, judge):
    for seed in SEEDS[:3]:
        add_episode(archive, TASK, "ada", seed)
    assert f"{TASK}: 3 episodes added" in judge("add-episodes", "--agent", "ada")[1]
    assert f"{TASK}: 0 episodes added, 3 there already" in judge("add-episodes", "--agent", "ada")[1]
    part = ("add-episodes", "--agent", "ada", "--where", f"seed = {SEEDS[0]}")
    assert f"{TASK}: 1 episode added" in judge(*part, "--as", "ada-first")[1]
    with archive.database.read() as session:
        assert [row.seed for row in entrants.episodes_of(session, "ada-first", TASK)] == [SEEDS[0]]
        assert len(entrants.episodes_of(session, "ada", TASK)) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "say whose episodes: exactly one of  --actor human, --participant NUMBER, --agent NAME"),
        (("--actor", "human", "--agent", "ada"), "say whose episodes: exactly one of"),
        (("--actor", "agent"), "--actor takes human, got 'agent'"),
        (("--actor", "human"), "no recorded episode of people fits"),
        (("--participant", "9"), "no recorded episode of participant-9 fits"),
        (("--agent", "nobody"), "no recorded episode of nobody fits"),
        (("--agent", "ada", "--where", "seed = 1"), "a choice of them needs a name of its own"),
        (("--agent", "ada", "--as", "people"), "'people' cannot be a name on the leaderboard"),
        (("--agent", "ada", "--as", "participant-3"), "'participant-3' cannot be a name on the leaderboard"),
        (("--agent", "ada", "--as", "bob"), "'bob' is the name of somebody else here"),
        (("--agent", "ada", "--as", "BOB"), "'BOB' is the name of somebody else here"),
        (("--agent", "ada", "--where", "speed > 3", "--as", "x"), "unknown episode value 'speed'"),
    ],
)
def test_mistakes_are_named(archive, judge, arguments, says):
    fill(archive, agents=("ada", "bob"), num_seeds=1)
    status, _, error = judge("add-episodes", *arguments)
    assert status == 1
    assert says in error


def test_people_cannot_be_entered_under_the_name_of_an_agent_nor_one_person_as_another(archive, judge):
    fill(archive, agents=("ada",), num_seeds=1)
    person, other = new_person(archive, "a"), new_person(archive, "b")
    play(archive, person, SEEDS[0])
    play(archive, other, SEEDS[0])
    assert "'ada' is the name of an agent on the leaderboard" in judge("add-episodes", "--actor", "human", "--as", "ada")[2]
    assert judge("add-episodes", "--participant", str(person), "--as", "first")[0] == 0
    assert "'first' is the name of somebody else" in judge("add-episodes", "--participant", str(other), "--as", "first")[2]
