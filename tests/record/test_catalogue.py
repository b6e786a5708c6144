"""Finding episodes: filters equal a brute-force search, mistakes are named, a lost catalogue is rebuilt."""

import operator
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import interplay.record
from interplay.cli import _run
from interplay.errors import NotFoundError
from interplay.record import Archive, Episode, RecordingError
from interplay.record.catalogue import parse_condition, to_row
from interplay.store import Database, EpisodeRow, EpisodeStatistic, Participant, TaskRow
from interplay.store.episodes import save_episode
from interplay.tasks import find

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def test_conditions_are_read_with_their_type():
    for text, expected in [
        ("score >= 200", ("score", ">=", 200.0)),
        ("num_steps<1e3", ("num_steps", "<", 1000.0)),
        ("lives == 0", ("lives", "=", 0.0)),
        ("level = '7'", ("level", "=", "7")),
        ('level != "a b"', ("level", "!=", "a b")),
        ("outcome = quit", ("outcome", "=", "quit")),
        ("actor = 7", ("actor", "=", "7")),
        ("duration_s > -0.5", ("duration_s", ">", -0.5)),
    ]:
        condition = parse_condition(text, ["lives", "level"])
        assert (condition.name, condition.operator, condition.value) == expected
        assert type(condition.value) is type(expected[2])


def test_conditions_that_cannot_be_read_say_why():
    for text, problem in [
        ("score", "NAME OPERATOR VALUE"),
        ("score >=", "'=' is not a value"),
        (">= 3", "NAME OPERATOR VALUE"),
        ("", "NAME OPERATOR VALUE"),
        ("score => 3", "not a value"),
        ("score > many", "score is a number and 'many' is not"),
        ("score = '3'", "score is a number"),
        ("lives = nan", "no value can be compared with nan"),
        ("outcome = 'quit", "quotes do not match"),
        ("score > 3; drop table episodes", "score is a number"),
    ]:
        with pytest.raises(RecordingError, match=f"cannot read the condition(.|\n)*{problem}(.|\n)*--where 'score >= 200'"):
            parse_condition(text, ["lives"])


def test_a_mistyped_name_offers_the_nearest(archive):
    with pytest.raises(NotFoundError, match="unknown episode value 'scor'; did you mean 'score'"):
        archive.episodes(where=["scor > 3"])


def test_where_no_episode_was_checked_says_why_and_what_else_to_ask(archive):
    with pytest.raises(NotFoundError, match=r"no episode here has 'automatic_success'.* imported.*\n.*'outcome = terminated'"):
        archive.episodes(where=["automatic_success = 1"])


@cache
def some_task():
    from interplay.tasks import find

    return find("atari/breakout")


def imaginary(archive: Archive, number: int, values: dict) -> Episode:
    """A catalogue entry without a file."""
    name = f"episode-{number:03}"
    return Episode(
        id=name,
        task_id=values["task"],
        task_hash="0" * 16,
        env="ale:breakout",
        seed=values["seed"],
        actor=values["actor"],
        actor_kind=values["kind"],
        participant_id=None,
        num_steps=values["num_steps"],
        total_reward=values["score"],
        terminated=True,
        truncated=False,
        outcome=values["outcome"],
        duration_s=values["num_steps"] / 60,
        frame_policy="replay",
        created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
        statistics=values["statistics"],
        place=archive.root / "episodes" / f"{name}.parquet",
        sha256="",
        size_bytes=1,
    )


numbers = st.sampled_from([-3.0, 0.0, 1.0, 2.0, 10.0, 200.0, 1e6])
texts = st.sampled_from(["red", "green", "7", "10"])
entries = st.fixed_dictionaries(
    {
        "task": st.sampled_from(["atari/breakout", "atari/qbert"]),
        "seed": st.integers(0, 3),
        "actor": st.sampled_from(["random", "noop", "participant-1"]),
        "kind": st.sampled_from(["human", "agent", "model"]),
        "num_steps": st.integers(0, 12),
        "score": numbers,
        "outcome": st.sampled_from(["quit", "terminated"]),
        "statistics": st.dictionaries(st.sampled_from(["lives", "colour", "seat.height"]), st.one_of(numbers, texts)),
    }
)
stated = ["score", "num_steps", "seed", "lives", "colour", "seat.height"]
numeric = st.tuples(st.sampled_from(stated), st.sampled_from([*OPERATORS]), numbers)
textual = st.tuples(st.sampled_from(["outcome", "actor", "lives", "colour"]), st.sampled_from([*OPERATORS]), texts)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(entries, max_size=12),
    st.lists(st.one_of(numeric, textual), max_size=3),
    st.none() | st.sampled_from(["atari/breakout", "atari/qbert"]),
    st.none() | st.sampled_from(["human", "agent", "random", "participant-1"]),
    st.none() | st.lists(st.integers(0, 3)),
    st.booleans(),
    st.none() | st.integers(1, 3),
)
def test_filters_equal_brute_force(archive, values, conditions, task, actor, seeds, newest_first, limit):
    episodes = [imaginary(archive, number, value) for number, value in enumerate(values)]
    with archive.database.write() as session:
        for row in session.query(EpisodeRow).all():
            session.delete(row)
        session.flush()
        definition = TaskRow(content_hash="0" * 16, task="x", definition={}, created_at=datetime.now(UTC))
        for episode in episodes:
            save_episode(session, to_row(episode, archive.root), definition)
    known = {name for episode in episodes for name in episode.statistics}
    conditions = [item for item in conditions if item[0] not in ("lives", "colour", "seat.height") or item[0] in known]

    def holds(episode, name, comparison, wanted):
        plain = {"score": episode.total_reward, "num_steps": episode.num_steps, "seed": episode.seed}
        plain |= {"outcome": episode.outcome, "actor": episode.actor}
        value = plain[name] if name in plain else episode.statistics.get(name)
        return value is not None and isinstance(value, str) == isinstance(wanted, str) and OPERATORS[comparison](value, wanted)

    expected = [
        episode.id
        for episode in episodes
        if (task is None or episode.task_id == task)
        and (actor is None or actor == (episode.actor_kind if actor in ("human", "agent") else episode.actor))
        and (seeds is None or episode.seed in seeds)
        and all(holds(episode, *condition) for condition in conditions)
    ]
    expected = expected[::-1] if newest_first else expected
    where = [f"{name} {sign} {wanted!r}" for name, sign, wanted in conditions]
    found = archive.episodes(task=task, actor=actor, seeds=seeds, where=where, newest_first=newest_first, limit=limit)
    assert [episode.id for episode in found] == expected[:limit]


def test_agents_and_people_of_one_name_are_kept_apart(record, archive, cartpole):
    record(cartpole, num_steps=2, actor="ada", actor_kind="human")
    agent = record(cartpole, num_steps=2, actor="ada", actor_kind="agent").episode
    assert [episode.id for episode in archive.episodes(agent="ada")] == [agent.id]
    assert len(archive.episodes(actor="ada")) == 2
    assert len(archive.episodes(actor="human", task="lab/cartpole")) == 1
    assert archive.episodes(outcome="quit", task_hash=cartpole.content_hash)
    assert archive.episodes(task_hash="else") == []


def test_an_unknown_episode_offers_the_nearest(record, archive, cartpole):
    episode = record(cartpole, num_steps=2).episode
    with pytest.raises(NotFoundError, match=f"did you mean '{episode.id}'"):
        archive.get(episode.id[:-1])


def test_an_unknown_episode_is_compared_with_a_few_of_its_day_only(archive, monkeypatch):
    compared: list[str] = []

    def unknown_name(kind, name, known, *, hint=""):
        compared.extend(known)
        return NotFoundError(name)

    monkeypatch.setattr("interplay.record.archive.unknown_name", unknown_name)
    with archive.database.write() as session:
        for number in range(600):
            day = "20260131" if number % 2 else "20260201"
            session.add(
                EpisodeRow(
                    id=f"{day}T120000-{number:08x}", task="t", task_hash="0", env="e", seed=0, actor="a", actor_kind="agent",
                    num_steps=1, duration_s=1.0, total_reward=0.0, terminated=True, truncated=False, outcome="terminated",
                    frames="indexed", path="p", size_bytes=1, sha256="", created_at=datetime.now(UTC),
                )
            )  # fmt: skip
    with pytest.raises(NotFoundError):
        archive.get("20260131T120000-nobody")
    assert len(compared) == 200
    assert all(known.startswith("20260131") for known in compared)


def test_a_lost_database_loses_no_episode(record, archive, invaders, cartpole, tmp_path):
    episodes = [record(task, num_steps=20).episode for task in (invaders, cartpole)]
    before = [episode.to_json() | {"sha256": episode.sha256} for episode in archive.episodes()]
    archive.close()
    for file in archive.root.glob("interplay.db*"):
        file.unlink()
    fresh = interplay.record.open(archive.root)
    assert fresh.episodes() == []
    result = fresh.repair()
    assert {episode.id for episode in result.catalogued} == {episode.id for episode in episodes}
    assert [episode.to_json() | {"sha256": episode.sha256} for episode in fresh.episodes()] == before
    again = fresh.repair()
    assert (again.catalogued, again.failed, again.missing) == ([], {}, [])


def test_an_episode_of_a_forgotten_participant_is_kept(archive, cartpole, tmp_path):
    from interplay.envs import make

    with archive.database.write() as session:
        session.add(person := Participant(key="k", created_at=datetime.now(UTC)))
        session.flush()
        participant_id = person.id
    env = make(cartpole)
    recorder = archive.recorder(
        cartpole, env, seed=1, actor=f"participant-{participant_id}", actor_kind="human", participant_id=participant_id
    )
    recorder.start(*env.reset(seed=1))
    recorder.step({"player": 0}, env.step({"player": 0}), clock_us=0)
    episode = archive.seal(recorder.finish("left"))
    assert archive.get(episode.id).participant_id == participant_id
    other = Archive(archive.root, Database.open(f"sqlite:///{tmp_path}/other.db"))
    other.repair()
    assert other.get(episode.id).participant_id is None
    assert other.get(episode.id).actor == f"participant-{participant_id}"


def test_a_file_that_went_away_is_reported(record, archive, cartpole):
    episode = record(cartpole, num_steps=2).episode
    episode.path.unlink()
    assert archive.repair().missing == [episode.id]
    with pytest.raises(RecordingError, match=r"no such file; the episode was moved or deleted(.|\n)*interplay episodes repair"):
        archive.get(episode.id).rewards()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda data: b"", "is an empty file"),
        (lambda data: data[: len(data) // 2], "has no readable footer; it was cut off or is not a Parquet file"),
        (lambda data: b"garbage" * 1000, "has no readable footer"),
    ],
)
def test_cut_off_empty_and_garbage_files_say_what_they_are(record, archive, cartpole, damage, found):
    episode = record(cartpole, num_steps=9).episode
    episode.path.write_bytes(damage(episode.path.read_bytes()))
    with pytest.raises(RecordingError, match=f"{found}(.|\n)*backup(.|\n)*interplay episodes verify --all"):
        Episode.open(episode.path)
    with pytest.raises(RecordingError, match=found):
        archive.get(episode.id).frames[0]


def test_another_parquet_file_is_no_episode(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(RecordingError, match="is a Parquet file but holds no Interplay episode"):
        Episode.open(tmp_path / "other.parquet")


def test_an_actor_of_an_unknown_kind_is_refused(archive, cartpole):
    from interplay.envs import make

    with pytest.raises(RecordingError, match="actor_kind must be one of human, agent, model, got 'robot'"):
        archive.recorder(cartpole, make(cartpole), seed=1, actor="x", actor_kind="robot")


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="Choose another one with --data"):
        interplay.record.open(tmp_path / "file" / "data")


@pytest.mark.long_proof
def test_two_thousand_episodes_are_listed_in_three_seconds(archive):
    task = find("atari/breakout")
    with archive.database.write() as session:
        row = TaskRow(content_hash=task.content_hash, task=task.id, definition=task.to_json(), created_at=datetime.now(UTC))
        session.add(row)
        for number in range(2000):
            session.add(
                EpisodeRow(
                    id=f"20260101T000000-{number:08x}", task=task.id, task_hash=task.content_hash, env=task.env.id, seed=number,
                    actor="random", actor_kind="agent", num_steps=100, duration_s=1.5, total_reward=float(number % 7),
                    terminated=True, truncated=False, outcome="terminated", frames="indexed",
                    created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number), path=f"episodes/{number}.parquet",
                    size_bytes=1000, sha256="0" * 64, participant_id=None,
                    statistics=[EpisodeStatistic(name=name, number=1.0) for name in ("score", "lives", "num_steps")],
                )
            )  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "interplay.cli", "episodes", "list", "--data", str(archive.root)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(listed) == 2001
    assert listed[1].startswith("20260101T000000-000007cf  atari/breakout  random  1999  ")
    # Of the processor: what a quiet machine's clock shows.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3


def test_the_command_line_lists_and_repairs(record, archive, cartpole, invaders, capsys):
    import json

    short, long = record(cartpole, num_steps=2).episode, record(invaders, num_steps=30).episode
    data = ["--data", str(archive.root)]
    assert _run(["episodes", "list", *data, "--where", "num_steps >= 10", "--json"]) == 0
    assert [item["id"] for item in json.loads(capsys.readouterr().out)] == [long.id]
    assert _run(["episodes", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert short.id in listed
    assert long.id in listed
    assert _run(["episodes", "list", *data, "--where", "num_steps > few"]) == 2
    assert "num_steps is a number" in capsys.readouterr().err
    assert _run(["episodes", "show", long.id, *data, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["columns"]["action.player"] == "int64"
    assert shown["env_versions"]["ale-py"]
    assert _run(["episodes", "repair", *data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sealed"] == []
    assert _run(["episodes", "replay", long.id, *data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replayed_reward"] == long.total_reward
    assert _run(["episodes", "verify", *data]) == 2
