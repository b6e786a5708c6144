"""What may be released: the rule of consent, whoever asks and however; saved queries; files for others under pseudonyms."""

import json
import sqlite3
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from interplay import testing
from interplay.cli import _run
from interplay.envs import make
from interplay.record import Episode, Owner, RecordedEpisode, verify
from interplay.record.exchange.pseudonyms import Pseudonyms, open_pseudonyms
from interplay.record.exchange.publishing import Publishing, copy_of
from interplay.record.exchange.queries import Queries, QueryError
from interplay.store import EpisodeRow, EpisodeSeat, Participant, PlaySession, ReleaseChoice, StudyRow, StudyVersion
from interplay.store.releases import content_hash
from interplay.store.study.studies import add_enrolment, end_enrolment
from interplay.tasks import find

START = testing.START
TASK = find("atari/breakout")


def hours(count: float) -> datetime:
    return START + timedelta(hours=count)


@pytest.fixture
def people(archive):
    """Six participants; 1 to 4 enrolled in a study from hour 1 to hour 2: yes, no, not asked, yes and never ended."""
    with archive.database.write() as session:
        session.add(StudyVersion(content_hash="v1", study="games", definition={}, created_at=START))
        session.flush()
        session.add(StudyRow(id="games", content_hash="v1", opened_at=START))
        session.add_all(Participant(key=f"key-{number}", created_at=START) for number in range(1, 7))
        session.flush()
        for number, may_release in ((1, True), (2, False), (3, None), (4, True)):
            add_enrolment(
                session,
                enrolment_id=f"visit-{number}",
                study="games",
                study_hash="v1",
                participant_id=number,
                channel="open",
                worker=f"participant-{number}",
                assignment="",
                arrival={},
                now=hours(1),
                consented=True,
                may_release=may_release,
            )
            if number != 4:
                end_enrolment(session, f"visit-{number}", "done", hours(2))
    return archive


def held(*owners: int | str) -> list[EpisodeSeat]:
    """Who held seats: numbers are participants, names that begin with a capital people, others agents."""
    return [
        EpisodeSeat(
            seat=f"seat{position}",
            actor=f"participant-{owner}" if isinstance(owner, int) else owner,
            actor_kind="human" if isinstance(owner, int) or owner[0].isupper() else "agent",
            participant_id=owner if isinstance(owner, int) else None,
            num_steps=10,
            total_reward=0.0,
            position=position,
        )
        for position, owner in enumerate(owners)
    ]


def add(archive, name: str, at: datetime, *owners: int | str, given: bool = True, **changes) -> None:
    """One episode in the catalogue; `given`: if it began while the visits 1 to 4 went on, they gave their people's seats."""
    with archive.database.write() as session:
        testing.add_task(session, TASK)
        first = held(*owners)[0]
        facts = {"id": name, "created_at": at, "actor_kind": first.actor_kind, "participant_id": first.participant_id}
        values = testing.episode_values(TASK, first.actor, 1, **facts, **changes)
        session.add(EpisodeRow(**values, seats=held(*owners)))
        session.flush()
        for owner in owners if given and hours(1) <= at <= hours(2) else ():
            if owner in (1, 2, 3, 4):
                session.add(seat_given(name, owner, f"visit-{owner}"))


def seat_given(episode: str, participant: int, visit: str | None) -> PlaySession:
    """A seat that a participant got, in a visit or without one."""
    return PlaySession(
        id=f"{episode}-{participant}", task=TASK.id, task_hash=TASK.content_hash, seed=1, created_at=START, actor="x",
        actor_kind="human", participant_id=participant, episode_id=episode, enrolment_id=visit,
    )  # fmt: skip


def released(archive, **asked) -> set[str]:
    return {episode.id for episode in archive.released(**asked).episodes}


def test_each_rule_of_release(people):
    """In the study: what was agreed. Outside: the operator's rule. What a person asked for goes first."""
    during, outside = hours(1.5), hours(3)
    for name, at, owners in [
        ("agents", during, ("random", "bc")),
        ("own-loop", during, ("Ada", "bc")),
        ("yes", during, (1,)),
        ("no", during, (2,)),
        ("not-asked", during, (3,)),
        ("both", during, (1, 4)),
        ("one-of-two", during, (1, 2)),
        ("with-agent", during, (1, "random")),
        ("open-1", outside, (1,)),
        ("open-5", outside, (5,)),
        ("still-in-study", outside, (4,)),
    ]:
        add(people, name, at, *owners)
    add(people, "beside-yes", during, 1, given=False)
    add(people, "beside-no", during, 2, given=False)
    add(people, "lost", during, "participant-9")
    with people.database.write() as session:
        session.execute(sa.update(EpisodeSeat).where(EpisodeSeat.episode_id == "lost").values(actor_kind="human"))
    agreed = {"agents", "own-loop", "yes", "both", "with-agent"}
    assert released(people) == agreed, "also who never ended a visit plays outside it"
    queries = Queries(people)
    assert queries.counts() == (1, 4, 9)
    queries.choose("open-play", may_release=True, note="the start page says so")
    assert released(people) == agreed | {"open-1", "open-5", "still-in-study", "beside-yes"}
    queries.choose("participant-1", may_release=False)
    assert released(people) == {"agents", "own-loop", "still-in-study", "open-5"}
    queries.choose("participant-2", may_release=True)
    assert released(people) == {"agents", "own-loop", "still-in-study", "open-5", "no", "beside-no"}
    queries.choose("open-play", may_release=False)
    queries.choose("participant-1", may_release=True)
    assert released(people) == agreed | {"no", "one-of-two", "open-1", "beside-yes", "beside-no"}
    with pytest.raises(QueryError, match="there is no participant-77 in this data folder"):
        queries.choose("participant-77", may_release=True)
    with pytest.raises(QueryError, match="'ada' is not a participant"):
        queries.choose("ada", may_release=True)
    assert [one.who for one in queries.choices()][:2] == ["open-play", "participant-1"]


def test_a_study_answers_for_the_seats_that_it_gave(people):
    """A game that a study of before gave, and one that was played beside a study of now: its yes is not about that one."""
    add(people, "given", hours(5), 2)
    add(people, "beside", hours(1.5), 1, given=False)
    with people.database.write() as session:
        session.add_all([seat_given("given", 2, "visit-1"), seat_given("beside", 1, None)])
    assert released(people) == {"given"}


def test_no_condition_gets_round_the_rule(people):
    """Whatever is asked for: ids, conditions, saved queries."""
    add(people, "yes", hours(1.5), 1)
    add(people, "no", hours(1.5), 2)
    queries = Queries(people)
    saved, is_new, num_withheld = queries.save("all")
    assert (saved.num_episodes, is_new, num_withheld) == (1, True, 1)
    for asked in [
        {"where": ["participant_id = 2"]},
        {"where": ["seat.actor = participant-2"]},
        {"ids": ["no"]},
        {"task": TASK.id, "where": ["num_steps >= 0"]},
        {"saved": ("all", 1)},
    ]:
        found = people.released(**asked)
        assert "no" not in {episode.id for episode in found.episodes}
        assert found.num_withheld == (0 if "saved" in asked else 1)


def test_a_thousand_episodes_are_withheld_as_by_hand(people):
    """The view against the rule in Python, for drawn seats, times and choices."""
    rng = np.random.default_rng(0)
    owners = [1, 2, 3, 4, 5, 6, "random", "Ada"]
    values, seats, given, wanted = [], [], [], set()
    choices = {5: True, 2: False}
    visits = {1: (True, 2.0), 2: (False, 2.0), 3: (None, 2.0), 4: (True, np.inf)}
    with people.database.write() as session:
        testing.add_task(session, TASK)
        session.add_all(
            ReleaseChoice(participant_id=number, may_release=said, note="", created_at=START)
            for number, said in choices.items()
        )
        session.add(ReleaseChoice(participant_id=None, may_release=True, note="", created_at=START))
        for number in range(1000):
            at = float(rng.uniform(0, 4))
            who = [owners[index] for index in rng.choice(len(owners), size=rng.integers(1, 4), replace=False)]
            name = f"episode-{number}"
            facts = {
                "num_steps": int(rng.integers(1, 40)),
                "total_reward": float(rng.integers(0, 5)),
                "outcome": str(rng.choice(["terminated", "quit"])),
            }
            values.append(testing.episode_values(TASK, str(who[0]), number, id=name, created_at=hours(at), **facts))
            seats += [
                {
                    "episode_id": name, "seat": one.seat, "actor": one.actor, "actor_kind": one.actor_kind, "num_steps": 1,
                    "total_reward": 0.0, "position": one.position, "participant_id": one.participant_id,
                }
                for one in held(*who)
            ]  # fmt: skip

            from_visits = {owner for owner in who if isinstance(owner, int) and owner in visits and rng.uniform() < 0.3}
            given += [(name, owner) for owner in from_visits]

            def agrees(owner, at=at, from_visits=from_visits):
                if not isinstance(owner, int):
                    return True
                if owner in choices:
                    return choices[owner]
                if owner in from_visits or (owner in visits and 1 <= at <= visits[owner][1]):
                    return bool(visits[owner][0])
                return True

            if all(map(agrees, who)):
                wanted.add(name)
        session.execute(sa.insert(EpisodeRow), values)
        session.execute(sa.insert(EpisodeSeat), seats)
        session.add_all(seat_given(name, owner, f"visit-{owner}") for name, owner in given)
    found = people.released()
    assert {episode.id for episode in found.episodes} == wanted
    assert (found.num_released, found.num_withheld) == (len(wanted), 1000 - len(wanted))
    assert 200 < len(wanted) < 800
    seats_of = {value["id"]: [] for value in values}
    for one in seats:
        seats_of[one["episode_id"]].append(one)
    actors = {name: {one["actor"] for one in held_seats} for name, held_seats in seats_of.items()}
    for conditions, holds in [
        (["score >= 3"], lambda one: one["total_reward"] >= 3),
        (["num_steps < 7"], lambda one: one["num_steps"] < 7),
        (["outcome = quit", "score != 0"], lambda one: one["outcome"] == "quit" and one["total_reward"] != 0),
        (["seed > 600", "num_steps <= 20"], lambda one: one["seed"] > 600 and one["num_steps"] <= 20),
        (["seat.actor = random"], lambda one: "random" in actors[one["id"]]),
        (["seat.seat1.actor = Ada"], lambda one: {"seat1"} <= {x["seat"] for x in seats_of[one["id"]] if x["actor"] == "Ada"}),
        (
            ["seat.participant_id = 5", "score = 4"],
            lambda one: "participant-5" in actors[one["id"]] and one["total_reward"] == 4,
        ),
    ]:
        fit = {value["id"] for value in values if holds(value)}
        found_of = people.released(where=conditions)
        assert {episode.id for episode in found_of.episodes} == fit & wanted
        assert found_of.num_withheld == len(fit - wanted)
    pages = [people.released(limit=300, offset=start).episodes for start in range(0, 1000, 300)]
    assert [one.id for page in pages for one in page] == [one.id for one in found.episodes]


def test_the_views_are_as_their_page_says(people):
    """Every column of the page, and nothing else; SQL without Interplay gives the same answer."""
    add(people, "yes", hours(1.5), 1)
    add(people, "no", hours(1.5), 2)
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text()
    with sqlite3.connect(people.root / "interplay.db") as database:
        views = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")]
        for view in views:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({view})")]
            assert f"| `{view}` | {', '.join(f'`{name}`' for name in columns)} |" in page
        rows = database.execute("SELECT episode, may_release FROM episode_facts ORDER BY episode").fetchall()
    assert rows == [("no", 0), ("yes", 1)]


# Saved queries


def test_a_saved_query_never_changes(people):
    """The same episodes are the same version; others are a new one. What is gone or refused later is said."""
    add(people, "a", hours(1.5), 1, sha256="a" * 64)
    add(people, "b", hours(1.5), "random", sha256="b" * 64)
    queries = Queries(people)
    first, is_new, _ = queries.save("good-games", where=["num_steps = 100"])
    assert (first.label, is_new, first.num_episodes) == ("good-games@1", True, 2)
    assert first.sha256 == content_hash([("b", "b" * 64), ("a", "a" * 64)])
    assert queries.save("good-games", where=["num_steps = 100"])[:2] == (first, False)
    add(people, "c", hours(3), "bc", sha256="c" * 64)
    second, is_new, _ = queries.save("good-games", where=["num_steps = 100"])
    assert (second.version, is_new, second.num_episodes) == (2, True, 3)
    assert queries.find("good-games") == second
    assert queries.find("good-games@1") == first
    assert queries.changed(first) == {}
    with people.database.write() as session:
        session.get(EpisodeRow, "b").sha256 = "d" * 64
    queries.choose("participant-1", may_release=False)
    assert queries.changed(first) == {
        "a": "somebody in it does not agree to a release any more",
        "b": "it has another file now",
    }
    assert released(people, saved=("good-games", 1)) == {"b"}
    with people.database.write() as session:
        session.delete(session.get(EpisodeRow, "a"))
    assert queries.changed(first)["a"] == "it is not here"
    for name, problem in [("Good Games", "is not a name of a query"), ("x@y", "is not a name")]:
        with pytest.raises(QueryError, match=problem):
            queries.save(name)
    add(people, "no", hours(1.5), 2)
    with pytest.raises(QueryError, match="no episode can be saved; 1 match, but may not be released"):
        queries.save("hidden", where=["participant_id = 2"])


def test_the_commands_of_release_and_queries(people, capsys, tmp_path):
    add(people, "yes", hours(1.5), 1)
    add(people, "no", hours(1.5), 2)

    def run(*words):
        status = _run(["episodes", *words, "--data", str(people.root)])
        out = capsys.readouterr()
        return status, out.out, " ".join(out.err.replace("│", " ").split())

    assert "1 episode is withheld: somebody who played did not agree." in run("release")[1]
    status, said, _ = run("release", "participant-1", "--withhold", "--note", "e-mail")
    assert status == 0
    assert "e-mail" in said
    status, said, _ = run("release", "participant-1", "--allow", "--json")
    document = json.loads(said)
    assert document["episodes"] == {"without_people": 0, "agreed": 1, "withheld": 1}
    assert [one["may_release"] for one in document["choices"]] == [False, True]
    assert "give either --allow or --withhold" in run("release", "open-play", "--allow", "--withhold")[2]
    assert "name somebody and a decision" in run("release", "open-play")[2]
    assert "No query is saved yet." in run("query", "list")[1]
    status, said, _ = run("query", "save", "mine")
    assert status == 0
    assert "Saved mine@1: 1 episode" in said
    assert "1 more fit, but are left out: somebody in them did not agree to a release." in said
    assert "There already: mine@1" in run("query", "save", "mine")[1]
    assert "mine@1" in run("query", "list")[1]
    assert "Every episode is here as it was." in run("query", "show", "mine@1")[1]
    run("release", "participant-1", "--withhold")
    status, said, _ = run("query", "show", "mine")
    assert status == 1
    assert "CHANGED yes: somebody in it does not agree to a release any more" in said
    status, _, error = run("export", "--query", "mine@1", "--format", "lerobot", "--out", str(tmp_path / "out"))
    assert status == 2
    assert "there is nothing to write 1 episode was left out: somebody in them did not agree to a release." in error


# Files for others


@pytest.fixture
def person_and_agent(people):
    """A recorded game of participant 1 in the study, whose seat an agent takes over."""
    task = find("atari/space_invaders")
    env = make(task)
    owners = {"player": Owner("participant-1", "human", 1)}
    recorder = people.recorder(task, env, seed=3, owners=owners, created_at=hours(1.5), session_id="session-1")
    played = RecordedEpisode(env, recorder)
    played.start(3)
    for step in range(20):
        played.step({"player": step % 3}, owners={"player": "participant-1" if step < 12 else "scripted"})
    episode = people.seal(recorder.finish("left"))
    with people.database.write() as session:
        session.add(seat_given(episode.id, 1, "visit-1"))
    env.close()
    return people, episode


def test_a_copy_for_others_names_nobody_and_is_the_same_game(person_and_agent):
    archive, episode = person_and_agent
    pseudonyms = open_pseudonyms(archive.root)
    copy = copy_of(archive, episode, pseudonyms)
    assert copy == copy_of(archive, episode, pseudonyms)
    text = copy.path.read_bytes()
    assert b"participant-1" not in text
    assert b"session-1" not in text
    other = Episode.open(copy.path)
    person = pseudonyms.player("participant-1")
    assert [(held.actor, held.actor_kind, held.num_steps) for held in other.seats] == [
        (person, "human", 12),
        ("scripted", "agent", 8),
    ]
    assert other.steps().column("owner.player").to_pylist()[:20] == [person] * 12 + ["scripted"] * 8
    assert (other.header.session_id, other.participant_id, other.actor) == (None, None, person)
    for name in set(other.steps().column_names) - {"owner.player"}:
        assert other.steps().column(name).equals(episode.steps().column(name))
    verdict = verify(other)
    assert (verdict.equal, verdict.intact, verdict.replayed) == (True, True, True)
    assert copy_of(archive, episode, Pseudonyms(b"1" * 64)).path != copy.path


def test_an_episode_without_people_is_given_as_it_is(record, archive, invaders):
    episode = record(invaders, num_steps=5).episode
    copy = copy_of(archive, episode, open_pseudonyms(archive.root))
    assert (copy.path, copy.sha256) == (episode.path, episode.sha256)


def test_a_zip_holds_every_file_that_may_leave(person_and_agent, tmp_path, record, invaders):
    archive, episode = person_and_agent
    free = record(invaders, num_steps=5).episode
    file = tmp_path / "all.zip"
    file.write_bytes(b"".join(Publishing(archive).zipped(None, [])))
    with zipfile.ZipFile(file) as found:
        assert found.testzip() is None
        told = json.loads(found.read("episodes.json"))
        assert {one["episode"] for one in told["episodes"]} == {episode.id, free.id}
        assert pq.ParquetFile(found.open(told["episodes"][0]["file"])).metadata.num_rows == 21
    Queries(archive).choose("participant-1", may_release=False)
    file.write_bytes(b"".join(Publishing(archive).zipped(None, [])))
    with zipfile.ZipFile(file) as found:
        told = json.loads(found.read("episodes.json"))
    assert ([one["episode"] for one in told["episodes"]], told["num_withheld"]) == ([free.id], 1)


def test_an_export_leaves_out_who_did_not_agree_and_says_so(person_and_agent, tmp_path, capsys):
    archive, episode = person_and_agent
    Queries(archive).choose("participant-1", may_release=False)
    for words in (["--all"], [episode.id], ["--where", "participant_id = 1"]):
        command = ["episodes", "export", *words, "--out", str(tmp_path / "out"), "--data", str(archive.root)]
        assert _run(command) == 0
        assert "1 episode was left out: somebody in them did not agree to a release." in capsys.readouterr().out
    assert list((tmp_path / "out").iterdir()) == []
