"""Recorded play becomes an entrant: of people with their agreement, on held-out seeds, never shown to its player."""

import json
import re

import numpy as np
import pytest
from judging_world import AT_ONCE, START, TASKS, add_episode, fill, form, open_study
from model_judges_world import small_video

from interplay.judge import Judging
from interplay.judge.errors import NothingToJudgeError, WithdrawnError
from interplay.judge.pairing.matchmaking import Candidate
from interplay.judge.published import Selection, export_answers, flat_table
from interplay.model_judges import answer_by_looking
from interplay.model_judges.features import couples_of
from interplay.store import EpisodeRow, EpisodeSeat, EpisodeStatistic, Match, entrants, judging
from interplay.store.participants import add_participant, judge_name
from interplay.tasks import find

TASK = TASKS[0]
SEEDS = find(TASK).held_out_seeds


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
    assert not re.search(r"\bada\b", str(match))  # its id is in hexadecimal
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


def test_a_game_whose_player_takes_the_yes_back_is_served_to_nobody_again_not_even_to_who_had_it_open(archive):
    fill(archive, agents=("ada",))
    person = new_person(archive, "a")
    games = [play(archive, person, seed) for seed in SEEDS[:3]]
    judging = room(archive)
    open_here, drafted, other = (judging.serve(judge, TASK) for judge in ("eve", "ann", "bob"))
    judging.heartbeat(drafted.id, "ann", {"reason": "the left one"})
    for game in games:
        with archive.database.write() as session:
            entrants.agree(session, episode_id=game, participant_id=person, agreed=False, now=START)
    assert judging.heartbeat(open_here.id, "eve", {"reason": "what I was writing"}) == "released"
    with pytest.raises(WithdrawnError, match="ask for another pair"):
        judging.get(open_here.id, "eve")
    for side in ("left", "right"):
        with pytest.raises(WithdrawnError, match="does not want it to be compared any more"):
            judging.video(open_here.id, side, "eve")
    for judge in ("eve", "ann", "bob"):
        with pytest.raises(NothingToJudgeError):
            judging.serve(judge, TASK)
    judging.answer(other.id, "bob", **form(TASK, "left"))  # work that is done is kept
    assert judging.get(other.id, "bob").state == "answered"
    assert judging.video(other.id, "left", "bob")


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
    assert "experts has 2 episodes more to be judged." in text
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
        ((), "say whose episodes: exactly one of --actor human, --participant NUMBER, --agent NAME"),
        (("--actor", "human", "--agent", "ada"), "say whose episodes: exactly one of"),
        (("--actor", "agent"), "--actor takes human, got 'agent'"),
        (("--actor", "human"), "no recorded episode of people was found"),
        (("--participant", "9"), "no recorded episode of participant-9 was found"),
        (("--agent", "nobody"), "no recorded episode of nobody was found"),
        (("--agent", "ada", "--where", "seed = 1"), "selected episodes need another name"),
        (("--agent", "ada", "--as", "people"), "'people' cannot be a name on the leaderboard"),
        (("--agent", "ada", "--as", "participant-3"), "'participant-3' cannot be a name on the leaderboard"),
        (("--agent", "ada", "--as", "bob"), "'bob' is the name of another agent or person"),
        (("--agent", "ada", "--as", "BOB"), "'BOB' is the name of another agent or person"),
        (("--agent", "ada", "--where", "speed > 3", "--as", "x"), "unknown episode value 'speed'"),
    ],
)
def test_mistakes_are_named(archive, judge, arguments, says):
    fill(archive, agents=("ada", "bob"), num_seeds=1)
    status, _, error = judge("add-episodes", *arguments)
    is_misuse = says.startswith(("say whose", "--actor takes", "unknown episode value"))
    assert status == (2 if is_misuse else 1)
    assert says in " ".join(error.replace("│", " ").split())


def test_people_cannot_be_entered_under_the_name_of_an_agent_nor_one_person_as_another(archive, judge):
    fill(archive, agents=("ada",), num_seeds=1)
    person, other = new_person(archive, "a"), new_person(archive, "b")
    play(archive, person, SEEDS[0])
    play(archive, other, SEEDS[0])
    assert "'ada' is the name of an agent on the leaderboard" in judge("add-episodes", "--actor", "human", "--as", "ada")[2]
    assert judge("add-episodes", "--participant", str(person), "--as", "first")[0] == 0
    assert (
        "'first' is the name of another agent or person"
        in judge("add-episodes", "--participant", str(other), "--as", "first")[2]
    )


# Games of several seats

PAIR = find("together/cooperative_pong")
LEFT, RIGHT = PAIR.seats


def play_together(archive, seed: int, left: int | str, right: int | str) -> str:
    """A game of two, each a person who agreed or an agent by name."""
    names = [judge_name(one) if isinstance(one, int) else one for one in (left, right)]
    name = add_episode(archive, PAIR.id, names[0], seed, copy=names[1])
    with archive.database.write() as session:
        row = session.get_one(EpisodeRow, name)
        row.seats = []
        session.flush()
        for position, (seat, who, known) in enumerate(zip(PAIR.seats, (left, right), names, strict=True)):
            person = who if isinstance(who, int) else None
            held = {"actor": known, "actor_kind": "agent" if person is None else "human", "participant_id": person}
            row.seats.append(EpisodeSeat(seat=seat, num_steps=9, total_reward=1.0, position=position, **held))
        row.actor_kind, row.participant_id = row.seats[0].actor_kind, row.seats[0].participant_id
        session.flush()
        for person in (one for one in (left, right) if isinstance(one, int)):
            entrants.agree(session, episode_id=name, participant_id=person, agreed=True, now=START)
    return name


def judged_seats(archive, entrant: str) -> set[tuple[str, str]]:
    """Episode and seat, of all that judges may be shown of an entrant."""
    with archive.database.read() as session:
        found = judging.candidates(session, PAIR.id, PAIR.content_hash, PAIR.held_out_seeds)
    return {(one.episode_id, one.seat) for one in found if one.agent == entrant}


def test_a_person_is_found_in_whichever_seat_they_played(archive, judge):
    ann, ben = new_person(archive, "a"), new_person(archive, "b")
    first = play_together(archive, PAIR.held_out_seeds[0], ann, "ada")
    second = play_together(archive, PAIR.held_out_seeds[1], "ada", ann)
    together = play_together(archive, PAIR.held_out_seeds[2], ben, ann)
    status, text, _ = judge("add-episodes", "--participant", str(ann))
    assert status == 0
    assert f"{PAIR.id}: 3 episodes added\n  judged in these seats: left (1 episode), right (2 episodes)" in text
    assert judged_seats(archive, judge_name(ann)) == {(first, LEFT), (second, RIGHT), (together, RIGHT)}
    assert judge("add-episodes", "--participant", str(ben))[0] == 0
    assert judged_seats(archive, judge_name(ben)) == {(together, LEFT)}


def test_both_of_two_people_in_one_game_count_as_people(archive):
    ann, ben = new_person(archive, "a"), new_person(archive, "b")
    both = play_together(archive, PAIR.held_out_seeds[0], ann, ben)
    one = play_together(archive, PAIR.held_out_seeds[1], "ada", ben)
    assert judged_seats(archive, "people") == {(both, LEFT), (both, RIGHT), (one, RIGHT)}


def test_an_agent_counts_in_every_seat_it_held_also_under_another_name(archive, judge):
    alone = play_together(archive, PAIR.held_out_seeds[0], "ada", "ada")
    other = play_together(archive, PAIR.held_out_seeds[1], "bob", "ada")
    assert judge("add-episodes", "--agent", "ada")[0] == 0
    assert judged_seats(archive, "ada") == {(alone, LEFT), (alone, RIGHT), (other, RIGHT)}
    part = ("--where", f"seed = {PAIR.held_out_seeds[1]}", "--as", "ada-second")
    assert "judged in these seats: right (1 episode)" in judge("add-episodes", "--agent", "ada", *part)[1]
    assert judged_seats(archive, "ada-second") == {(other, RIGHT)}


def test_judges_are_told_which_seat_is_compared_and_it_is_the_same_on_both_sides(archive, judge):
    person = new_person(archive, "a")
    people = play_together(archive, PAIR.held_out_seeds[0], "ada", person)
    bob = play_together(archive, PAIR.held_out_seeds[0], "ada", "bob")
    assert judge("add-episodes", "--agent", "bob")[0] == 0
    match = room(archive).serve("eve", PAIR.id)
    assert match.seat == RIGHT
    with archive.database.read() as session:
        row = session.get_one(Match, match.id)
        assert {row.left_episode_id, row.right_episode_id} == {people, bob}
        assert (row.seat, {row.left_agent, row.right_agent}) == (RIGHT, {"people", "bob"})


def play_alone(archive, *agents: str, num_seeds: int) -> list[str]:
    """Admit agents that held both seats of each of their games; returns the episodes."""
    episodes = [play_together(archive, seed, agent, agent) for agent in agents for seed in PAIR.held_out_seeds[:num_seeds]]
    with archive.database.write() as session:
        for agent in agents:
            entrants.admit(session, name=agent, task=PAIR.id, kind="agent", now=START)
    return episodes


def test_model_judges_answer_once_about_each_seat(archive):
    for episode in play_alone(archive, "ada", "bob", num_seeds=2):
        small_video(archive.video_place(episode), 40)
        archive.keep_video(episode)

    def look() -> int:
        said = {"outcome": "left", "responses": {}, "reason": "It is brighter."}
        return answer_by_looking(
            archive, "eye", PAIR.id, lambda left, right: said, now=lambda: START, rng=np.random.default_rng(0)
        )

    assert (look(), look()) == (4, 0)
    with archive.database.read() as session:
        answered = [(one.seed, one.seat) for one in session.query(Match).all()]
    assert sorted(answered) == sorted((seed, seat) for seed in PAIR.held_out_seeds[:2] for seat in PAIR.seats)


def test_model_judges_compare_no_game_with_itself():
    one = Candidate("ada", "", 1, "x", 9, False, seat=LEFT)
    assert couples_of([one, one._replace(agent="bob")]) == []
    assert couples_of([one, one._replace(agent="bob", episode_id="y", seat=RIGHT)]) == []
    other = one._replace(agent="bob", episode_id="y")
    assert couples_of([other, one]) == [(one, other)]


def test_a_game_that_passed_its_check_counts_once_for_an_agent_in_both_seats(archive):
    episodes = play_alone(archive, "ada", "bob", num_seeds=1)
    with archive.database.write() as session:
        for episode in episodes:
            row = session.get_one(EpisodeRow, episode)
            row.statistics.append(EpisodeStatistic(name="automatic_success", number=1.0))
    service = room(archive)
    service.answer(service.serve("eve", PAIR.id).id, "eve", **form(PAIR.id))
    rows = service.leaderboard(PAIR.id)["rows"]
    assert {row["agent"]: (row["num_passed"], row["num_checked"]) for row in rows} == {"ada": (1, 1), "bob": (1, 1)}


def test_exports_say_which_seat_an_answer_is_about(archive):
    play_alone(archive, "ada", "bob", num_seeds=1)
    fill(archive, agents=("ada", "bob"))
    service = room(archive)
    seats = []
    for task in (PAIR.id, TASK):
        match = service.serve("eve", task)
        service.answer(match.id, "eve", **form(task))
        seats.append(match.seat)
    assert seats[0] in PAIR.seats
    assert seats[1] is None
    with archive.database.read() as session:
        items = export_answers(session, Selection())
        assert flat_table(session, Selection()).column("seat").to_pylist() == seats
    assert [item["result"]["eval_metadata"]["seat"] for item in reversed(items)] == seats


def test_a_game_of_one_player_names_no_seat(archive):
    match = room(fill(archive, agents=("ada", "bob"))).serve("eve", TASK)
    assert match.seat is None


def test_a_repeat_asks_about_the_same_seat_and_the_same_two(archive):
    ann, ben = new_person(archive, "a"), new_person(archive, "b")
    for seed in PAIR.held_out_seeds[:3]:
        play_together(archive, seed, ann, ben)
        play_together(archive, seed, "ada", "ada")
    with archive.database.write() as session:
        entrants.admit(session, name="ada", task=PAIR.id, kind="agent", now=START)
        entrants.admit(session, name="bob", task=PAIR.id, kind="agent", now=START)
    study = open_study(archive, repeat_every=4, tasks=[PAIR.id])
    service = room(archive)
    for _ in range(4):
        match = service.serve("robot", study=study, judge_kind="program")
        service.answer(match.id, "robot", **form(PAIR.id))
    with archive.database.read() as session:
        repeat = session.query(Match).filter(Match.purpose == "repeat").one()
        first = session.get_one(Match, repeat.repeat_of)
        assert (repeat.seat, repeat.left_agent, repeat.right_agent) == (first.seat, first.right_agent, first.left_agent)
