"""First attempts of people as a row beside models: whose games count, and what is made of them."""

import json
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest

import interplay.record
from interplay.explore import judgement_cache, published
from interplay.explore.evaluation.metrics import msr, tables, tsr
from interplay.explore.evaluation.settings import Settings
from interplay.explore.judgement_cache import Judgement
from interplay.explore.results.references import PEOPLE, Exposures, beside, first_attempts, references
from interplay.store import EpisodeRow, Match, entrants
from interplay.store.models import Participant
from interplay.testing import START, add_task, episode_values

TASK = "explore/0116"
SLABS = ("find_cut_red_sandstone_slab", "find_smooth_stone_slab", "find_pink_carpet")
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def judgement(episode: str, reached: dict[str, int]) -> Judgement:
    return Judgement(episode, "0116", "interplay-1", 100, SLABS, reached, {})


KNOWN = {
    "ada-1": judgement("ada-1", {SLABS[0]: 0, SLABS[1]: 40}),
    "ada-2": judgement("ada-2", {SLABS[0]: 0, SLABS[1]: 40, SLABS[2]: 90}),
    "bob-1": judgement("bob-1", {SLABS[0]: 0, SLABS[1]: 30, SLABS[2]: 400}),
}


@pytest.fixture
def archive(tmp_path):
    with closing(interplay.record.open(tmp_path)) as archive:
        for key in ("ada", "bob"):  # numbers 1 and 2
            with archive.database.write() as session:
                session.add(Participant(key=key, created_at=START))
        yield archive


def played(archive, person: int, episode: str, *, minute: float, agreed: bool | None = True, **changes) -> None:
    """A game of a person; `minute` says when."""
    task = published.instances()[TASK].task()
    values = {"actor_kind": "human", "participant_id": person, "created_at": START + timedelta(minutes=minute), "id": episode}
    with archive.database.write() as session:
        add_task(session, task)
        session.add(EpisodeRow(**episode_values(task, f"participant-{person}", 0, **values, **changes)))
        session.flush()
        if agreed is not None:
            entrants.agree(session, episode_id=episode, participant_id=person, agreed=agreed, now=NOW)


def test_the_first_game_of_each_person_counts_and_no_later_one(archive):
    played(archive, 1, "ada-2", minute=9)
    played(archive, 1, "ada-1", minute=3)
    played(archive, 2, "bob-1", minute=5)
    found = first_attempts(archive.database, KNOWN.get, {}).results
    assert [(one.episode, one.model, one.num_reached, one.at_start) for one in found] == [
        ("ada-1", PEOPLE, 1, (SLABS[0],)),
        ("bob-1", PEOPLE, 2, (SLABS[0],)),
    ]
    assert (tsr(found).value, msr(found).value) == (0.5, 0.75)
    assert len({one.run for one in found}) == 2


@pytest.mark.parametrize(
    "changes", [{"agreed": None}, {"agreed": False}, {"outcome": "left"}, {"outcome": "interrupted"}], ids=str
)
def test_a_first_game_that_may_not_count_is_not_replaced_by_a_later_one(archive, changes):
    played(archive, 1, "ada-1", minute=3, **changes)
    played(archive, 1, "ada-2", minute=9)
    played(archive, 2, "bob-1", minute=9)
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, {}).results] == ["bob-1"]


def test_a_no_afterwards_and_people_withdrawn_by_the_operator_take_the_row_away(archive):
    played(archive, 1, "ada-1", minute=3)
    played(archive, 2, "bob-1", minute=5)
    with archive.database.write() as session:
        entrants.agree(session, episode_id="ada-1", participant_id=1, agreed=False, now=NOW)
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, {}).results] == ["bob-1"]
    with archive.database.write() as session:
        entrants.withdraw(session, name="people", now=NOW, task=TASK)
    assert first_attempts(archive.database, KNOWN.get, {}).results == []


def test_who_was_shown_the_task_before_makes_no_first_attempt(archive):
    played(archive, 1, "ada-1", minute=3)
    played(archive, 2, "bob-1", minute=5)
    shown = {(1, TASK): START, (2, TASK): START + timedelta(minutes=8)}
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, shown).results] == ["bob-1"]


def test_an_attempt_that_is_not_judged_yet_is_left_out_and_counted(archive):
    played(archive, 1, "ada-1", minute=3)
    played(archive, 2, "bob-1", minute=5, agreed=False)
    task = published.instances()[TASK].task()
    assert first_attempts(archive.database, {}.get, {}) == ([], [(TASK, task.content_hash)])
    beside = references(archive.database, archive.root, {}.get)
    played(archive, 1, "ada-2", minute=9)
    (attempt,) = first_attempts(archive.database, KNOWN.get, {}).results
    assert (beside.num_waiting([attempt]), beside.num_waiting([replace(attempt, task_hash="0" * 16)])) == (1, 0)


def test_beside_runs_only_their_instances_count_and_only_the_time_they_had(archive):
    played(archive, 2, "bob-1", minute=5)
    attempts = first_attempts(archive.database, KNOWN.get, {}).results
    run = replace(attempts[0], model="m", settings=json.dumps(Settings(max_steps=300).to_json(), sort_keys=True))
    assert [one.num_reached for one in beside([run], attempts)] == [1]
    assert [one.num_reached for one in beside([replace(run, settings=json.dumps(Settings().to_json()))], attempts)] == [2]
    assert beside([replace(run, task="explore/0009")], attempts) == []
    assert beside([replace(run, task_hash="0" * 16)], attempts) == []


def test_people_are_a_row_beside_the_models_of_a_table(archive):
    played(archive, 2, "bob-1", minute=5)
    (attempt,) = first_attempts(archive.database, KNOWN.get, {}).results
    run = replace(attempt, model="m", outcomes=tuple(replace(one, tick=None, in_order=False) for one in attempt.outcomes))
    (table,) = tables([run], references=references(archive.database, archive.root, KNOWN.get).rows)
    assert [(row["model"], row["msr"]["value"]) for row in table["models"]] == [("m", 0)]
    assert [(row["model"], row["msr"]["value"], row["runs"]) for row in table["references"]] == [(PEOPLE, 1, 1)]


def test_what_was_reached_is_kept_until_the_instance_or_the_rules_change(tmp_path):
    instance, one = published.instances()[TASK], KNOWN["bob-1"]
    assert judgement_cache.read(tmp_path, "bob-1") is None
    judgement_cache.write(tmp_path, one, instance)
    assert judgement_cache.read(tmp_path, "bob-1") == one
    judgement_cache.write(tmp_path, one, replace(instance, task_text="Another."))
    assert judgement_cache.read(tmp_path, "bob-1") is None
    judgement_cache.write(tmp_path, replace(one, semantics="published-prompt"), instance)
    assert judgement_cache.read(tmp_path, "bob-1") is None
    (tmp_path / judgement_cache.FOLDER / "bob-1.json").write_text(json.dumps(asdict(one))[:40])
    assert judgement_cache.read(tmp_path, "bob-1") is None


def test_a_game_of_an_earlier_version_of_the_task_does_not_count(archive):
    played(archive, 1, "ada-1", minute=3, task_hash="0" * 16)
    played(archive, 1, "ada-2", minute=9)
    played(archive, 2, "bob-1", minute=5)
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, {}).results] == ["bob-1"]


def test_who_was_shown_the_task_while_playing_makes_no_first_attempt(archive):
    played(archive, 1, "ada-1", minute=3, duration_s=90.0)
    shown = {(1, TASK): START + timedelta(minutes=4)}
    assert first_attempts(archive.database, KNOWN.get, shown).results == []


def test_who_ended_another_game_of_the_task_meanwhile_makes_no_first_attempt(archive):
    played(archive, 1, "ada-1", minute=3, duration_s=90.0)
    played(archive, 1, "ada-2", minute=3.5, duration_s=20.0)
    played(archive, 2, "bob-1", minute=5, duration_s=90.0)
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, {}).results] == ["bob-1"]


def test_nobody_is_said_to_have_been_wrong_about_being_done_where_the_game_may_have_ended_by_death(archive):
    played(archive, 1, "ada-1", minute=3, outcome="terminated")
    (attempt,) = first_attempts(archive.database, KNOWN.get, {}).results
    assert (attempt.is_done, attempt.said_done) == (False, False)


def test_who_was_shown_a_task_is_kept_the_first_time(archive):
    shown = Exposures(archive.database)
    shown.add(1, TASK, START)
    shown.add(1, TASK, NOW)
    assert shown.times() == {(1, TASK): START}
    assert (shown.known_to(1), shown.known_to(2)) == ({TASK}, set())


def test_who_judged_a_pair_of_the_task_has_seen_others_play_it(archive):
    played(archive, 1, "ada-1", minute=3)
    played(archive, 1, "ada-2", minute=9)
    pair = {"left_episode_id": "ada-1", "right_episode_id": "ada-2", "left_agent": "a", "right_agent": "b", "seed": 0}
    at = START + timedelta(minutes=20)
    with archive.database.write() as session:
        for judge in ("participant-2", "a program"):
            times = {"served_at": at, "seen_at": at, "answered_at": at}
            session.add(Match(id=judge, task=TASK, task_hash="h", judge=judge, **pair, **times))
    played(archive, 2, "bob-1", minute=30)
    shown = Exposures(archive.database)
    assert (shown.times(), shown.known_to(2)) == ({(2, TASK): at}, {TASK})
    assert [one.episode for one in first_attempts(archive.database, KNOWN.get, shown.times()).results] == ["ada-1"]
    shown.add(2, TASK, NOW)
    assert shown.times() == {(2, TASK): at}, "the first time"
