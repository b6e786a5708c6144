"""Statistics are kept with an episode, found by them, computed again from the recording, and survive a crash."""

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import sqlalchemy as sa
from test_old_recordings import DATA, EXPECTED

import interplay.record
from interplay.cli import main
from interplay.envs import make
from interplay.record import Episode, Owner, RecordedEpisode, Recorder
from interplay.record.measuring import measure, measure_all
from interplay.statistics import Collector, Measure, Statistic, StatisticSpec
from interplay.store import Participant
from interplay.tasks import EnvSpec, Task, find

JOYSTICK = (0, 1, 3, 4, 11, 12)


class Bombs(Collector):
    """Of a test: counts what nobody else does, and fails when it is told to."""

    statistic = Statistic("bombs", "Bombs", "int")
    fails = False

    def see(self, step):
        if self.fails:
            raise RuntimeError("told to fail")
        for seat in step.actions:
            self.counts[seat]["count"] += step.readings["ram"][0x55] == 0x55

    needs = ("ram",)


class Keeper(Bombs):
    """Remembers what no journal holds."""

    def see(self, step):
        super().see(step)
        self.memory["all"] = {step.step}


BOMBS, KEEPER = (StatisticSpec(f"{__name__}:{one}") for one in ("Bombs", "Keeper"))


def joystick(task: Task, step: int) -> dict[str, int]:
    """What the players do in a step."""
    return {seat: JOYSTICK[(step // (7 + 4 * place)) % len(JOYSTICK)] for place, seat in enumerate(task.seats)}


def owners_of(task: Task, step: int) -> Mapping[str, str] | None:
    """The last seat is taken over for a while."""
    return {task.seats[-1]: "robot"} if 100 <= step < 160 else None


def steps(episode: RecordedEpisode, first: int, last: int) -> None:
    task = episode.env.task
    for step in range(first, last):
        episode.step(joystick(task, step), owners=owners_of(task, step))


def record(archive, task: Task, *, num_steps: int = 200) -> Episode:
    """A game whose last seat changes hands twice."""
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(3)
    steps(episode, 0, num_steps)
    env.close()
    return archive.seal(recorder.finish("quit"))


def keyed(measures) -> dict[tuple[str, str, str], Measure]:
    return {(one.seat, one.actor, one.name): one for one in measures}


def forget(archive, *names: str) -> None:
    with archive.database.write() as session:
        chosen = f"WHERE name IN ({', '.join(map(repr, names))})" if names else ""
        session.execute(sa.text(f"DELETE FROM seat_statistics {chosen}"))


@pytest.mark.parametrize(
    ("name", "frame_rate_hz"),
    [
        ("atari/space_invaders", 60),
        ("atari/riverraid", 30),
        ("atari/breakout", 15),
        ("atari-two/space_invaders_cooperative", 60),
    ],
)
def test_what_was_computed_live_equals_the_recording(archive, name, frame_rate_hz):
    task = replace(find(name), frame_rate_hz=frame_rate_hz)
    episode = record(archive, task)
    assert keyed(episode.live_measures) == keyed(archive.measures([episode])[episode.id])
    (found,) = measure_all(archive, [episode], check=True)
    assert (found.differences, found.left_out, found.failed) == ((), {}, None)
    assert found.num_kept == 2 * len(episode.live_measures) > 0
    by_holder = {(one.seat, one.actor): one for one in episode.live_measures if one.name == "active_time"}
    last = task.seats[-1]
    assert {actor for seat, actor in by_holder if seat == last} == {"tester", "robot"}
    steps = {one.actor: one.counts["steps"] for one in by_holder.values() if one.seat == last}
    assert steps["robot"] == 60
    assert by_holder[last, "robot"].value == 60 / frame_rate_hz


def test_episodes_are_found_by_their_statistics(archive):
    one, two = record(archive, find("atari/breakout")), record(archive, find("atari-two/space_invaders_competitive"))
    values = {(seat.seat, seat.name): seat.value for seat in archive.measures([two])[two.id] if seat.actor == "tester"}
    ids = lambda *where: {episode.id for episode in archive.episodes(where=where)}  # noqa: E731
    assert ids("active_time >= 0") == {one.id, two.id}
    assert ids("aliens_hit >= 0") == {two.id}
    assert ids(f"seat.first.action_changes = {values['first', 'action_changes']}", "seat.second.score >= 0") == {two.id}
    assert ids("seat.first.action_changes > 1e6") == ids("aliens_hit > 100") == set()


def test_values_have_the_type_of_their_kind(archive):
    episode = record(archive, find("atari/space_invaders"), num_steps=60)
    found = {one.name: one for one in archive.measures([episode])[episode.id]}
    assert type(found["aliens_hit"].value) is int
    assert (type(found["active_time"].value), found["active_time"].kind) == (float, "duration")
    assert found["accuracy"].value is None  # no shot yet: it says nothing, and is kept as that


def test_a_game_that_goes_on_from_its_journal_ends_with_the_right_values(archive, monkeypatch):
    monkeypatch.setattr("interplay.envs.atari2p.TwoPlayerAtariEnv.snapshot_steps", 50)
    task = find("atari-two/space_invaders_competitive")
    whole = record(archive, task)
    archive.statistics = (BOMBS,)
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(3)
    steps(episode, 0, 130)  # in the middle of a takeover, 30 steps after a snapshot
    recorder.flush()
    recorder.abandon()
    played = []
    monkeypatch.setattr(RecordedEpisode, "step", _noting(played, RecordedEpisode.step))
    resumed = interplay.record.resume(archive, recorder.episode_id)
    assert len(played) == 30
    episode = RecordedEpisode(resumed.env, resumed.recorder, num_steps=130)
    steps(episode, 130, 200)
    sealed = archive.seal(resumed.recorder.finish("quit"))
    ours = [one for one in sealed.live_measures if one.name != "bombs"]
    assert keyed(ours) == keyed(whole.live_measures)
    (found,) = measure_all(archive, [sealed], check=True)
    assert (found.differences, found.failed) == ((), None)
    assert {one.name for one in sealed.live_measures} - {one.name for one in ours} == {"bombs"}


def _noting(played, step):
    def noted(self, *given, **options):
        played.append(self.num_steps)
        return step(self, *given, **options)

    return noted


def test_what_no_journal_holds_is_computed_from_the_start(archive, monkeypatch):
    monkeypatch.setattr("interplay.envs.atari.AtariEnv.snapshot_steps", 50)
    archive.statistics = (KEEPER,)
    task = find("atari/space_invaders")
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(3)
    steps(episode, 0, 120)
    recorder.flush()
    recorder.abandon()
    resumed = interplay.record.resume(archive, recorder.episode_id)
    sealed = archive.seal(resumed.recorder.finish("quit"))
    (found,) = measure_all(archive, [sealed], check=True)
    assert (found.differences, found.failed) == ((), None)
    assert {one.name for one in sealed.live_measures} >= {"bombs", "score"}


def test_a_run_that_was_stopped_goes_on_and_adds_only_what_is_missing(archive):
    episodes = [record(archive, find("atari/breakout"), num_steps=40) for _ in range(3)]
    before = archive.measures(episodes)
    forget(archive)
    first = next(measure_all(archive, episodes))
    assert not first.was_complete
    assert archive.measures(episodes).keys() == {first.episode}
    again = {one.episode: one.was_complete for one in measure_all(archive, episodes)}
    assert again == {episode.id: episode.id == first.episode for episode in episodes}
    assert archive.measures(episodes) == before


def test_values_are_added_to_recordings_of_an_older_release(archive):
    name, facts = next((name, facts) for name, facts in EXPECTED.items() if facts["env"].startswith("ale:"))
    target = archive.episode_path(facts["task_id"], name)
    target.parent.mkdir(parents=True)
    shutil.copy(DATA / f"{name}.parquet", target)
    archive.repair()
    episode = archive.get(name)
    assert (episode.live_measures, archive.measures([episode])) == ((), {})
    (found,) = measure_all(archive, [episode])
    assert {one.name: one.value for one in found.measures}["score"] == facts["total_reward"]
    assert [one.id for one in archive.episodes(where=["active_time >= 0"])] == [name]
    assert next(measure_all(archive, [archive.get(name)])).was_complete


def test_a_failing_collector_costs_no_step_and_no_other_value(archive, monkeypatch, caplog):
    archive.statistics = (BOMBS,)
    monkeypatch.setattr(Bombs, "fails", True)
    episode = record(archive, find("atari/breakout"), num_steps=30)
    assert episode.num_steps == 30
    assert {one.name for one in episode.live_measures} >= {"score", "active_time"}
    assert "bombs" not in {one.name for one in episode.live_measures}
    assert "statistic bombs is left out of a game of ale:breakout from step 1 on: RuntimeError: told to fail" in caplog.text
    monkeypatch.setattr(Bombs, "fails", False)  # its author has mended it
    (found,) = measure_all(archive, [episode])
    assert [one.name for one in found.measures] == ["bombs"]


def test_a_world_that_cannot_be_replayed_is_read(archive, make_cartpole):
    task = make_cartpole(deterministic=False)
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(3)
    while episode.outcome is None:
        episode.step({"player": np.int64(episode.num_steps % 2)})
    sealed = archive.seal(recorder.finish(episode.outcome))
    archive.statistics = (BOMBS,)
    (found,) = measure_all(archive, [sealed], check=True)
    assert found.differences == ()
    assert found.left_out == {"bombs": "gym:CartPole-v1 does not offer ram, which this statistic needs"}
    assert {one.name: one.value for one in found.measures}["score"] == sealed.total_reward


def test_metres_walked_in_the_block_world_are_those_of_the_recording(archive):
    task = replace(find("basalt/find_cave"), env=EnvSpec("voxel:trial", {"size": [64, 36], "kind": "flat"}))
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    _, info = episode.start(3)
    start = info["x"], info["z"]
    forward, turn = task.keys.mask({"forward"}), (0.0, 0.1)  # 0.1 is another number in single precision, which is recorded
    for step in range(60):
        walks = step < 40
        info = episode.step({"player": task.keys.action(forward if walks else 0, turn if step > 50 else (0.0, 0.0))}).info
    env.close()
    sealed = archive.seal(recorder.finish("quit"))
    found = {one.name: one.value for one in sealed.live_measures}
    straight = math.dist(start, (info["x"], info["z"]))
    assert found["path_length"] == pytest.approx(straight, rel=1e-6)
    assert 5 < straight < 9  # 4.3 m/s for two seconds
    assert found["action_changes"] == 3
    (found,) = measure_all(archive, [sealed], check=True)
    assert (found.differences, found.failed, found.num_kept) == ((), None, 6)


def test_a_sitting_is_the_games_of_one_participant_without_a_long_break(archive):
    task = find("atari-two/space_invaders_competitive")
    with archive.database.write() as session:
        people = [Participant(key=key, created_at=datetime.now(UTC)) for key in ("ada", "bob")]
        session.add_all(people)
        session.flush()
        ada, bob = (Owner(f"participant-{one.id}", "human", one.id) for one in people)
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def played(minute: float, first: Owner, second: Owner) -> Recorder:
        env = make(task)
        owners = {"first": first, "second": second}
        at = now + timedelta(minutes=minute)
        recorder = archive.recorder(task, env, seed=3, owners=owners, created_at=at)
        episode = RecordedEpisode(env, recorder)
        episode.start(3)
        steps(episode, 0, 120)  # the robot has the second seat from step 100 on
        archive.seal(recorder.finish("quit"))
        env.close()
        return recorder

    played(0, ada, bob)  # more than half an hour before the others
    one, two, other = played(40, ada, bob), played(60, bob, ada), played(61, bob, bob)
    three = played(62, ada, bob)
    assert (one.collection.sittings, two.collection.sittings["first"].num_games) == ({}, 1)
    assert other.collection.sittings["first"].num_games == 2
    sitting = three.collection.sittings["first"]
    assert sitting.num_games == 2
    by_hand = {
        key: sum(
            found.counts[key]
            for recorder in (one, two)
            for found in archive.measures([recorder.episode_id])[recorder.episode_id]
            if (found.actor, found.name) == (ada.name, "left_side")
        )
        for key in ("there", "steps")
    }
    assert sitting.counts["left_side"] == by_hand
    mine = keyed(archive.measures([three.episode_id])[three.episode_id])["first", ada.name, "left_side"]
    both = three.collection.sitting_values(sitting, "first")
    assert both["left_side"] == (by_hand["there"] + mine.counts["there"]) / (by_hand["steps"] + mine.counts["steps"])
    now_all = archive.sitting(task, ada.participant_id, at=now + timedelta(minutes=64))
    assert archive.sitting_values(task, now_all) == both
    assert archive.sitting(task, ada.participant_id, at=now + timedelta(minutes=120)).num_games == 0


def test_a_changed_value_is_found(archive, capsys):
    episode = record(archive, find("atari/breakout"), num_steps=40)
    with archive.database.write() as session:
        session.execute(sa.text("UPDATE seat_statistics SET number = number + 1 WHERE name = 'action_changes'"))
    place = ["--data", str(archive.root)]
    with pytest.raises(SystemExit) as stop:
        main(["episodes", "measure", "--all", "--check", "--json", *place])
    assert stop.value.code == 1
    document = json.loads(capsys.readouterr().out)
    assert document["num_different"] == 1
    (difference,) = document["episodes"][0]["differences"]
    assert difference.startswith("action_changes of tester in player: kept ")
    forget(archive, "action_changes")
    with pytest.raises(SystemExit) as stop:
        main(["episodes", "measure", episode.id, *place])
    assert stop.value.code == 0
    assert "1 episode measured, 1 value kept" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["episodes", "measure", "--all", "--check", "--json", *place])
    assert (stop.value.code, json.loads(capsys.readouterr().out)["num_different"]) == (0, 0)


def test_a_damaged_file_is_named_and_the_others_are_measured(archive, capsys):
    damaged, whole = (record(archive, find("atari/breakout"), num_steps=40) for _ in range(2))
    forget(archive)
    damaged.close()
    damaged.path.write_bytes(damaged.path.read_bytes()[:-100])
    with pytest.raises(SystemExit) as stop:
        main(["episodes", "measure", "--all", "--data", str(archive.root)])
    said = capsys.readouterr().out
    assert stop.value.code == 1
    assert f"FAILED {damaged.id}: {damaged.path}" in said
    assert "1 episode measured" in said
    assert archive.measures([damaged, whole]).keys() == {whole.id}


def test_the_command_refuses_what_it_cannot_do(archive, capsys):
    for arguments, text in (
        ([], "give episode ids, or --all"),
        (["--all", "--statistic", "scor"], "unknown statistic 'scor'; did you mean 'score'"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["episodes", "measure", *arguments, "--data", str(archive.root)])
        assert stop.value.code == 2
        assert text in capsys.readouterr().err


def test_a_replay_that_earns_something_else_is_not_measured(archive, monkeypatch):
    episode = record(archive, find("atari/breakout"), num_steps=40)
    forget(archive)
    step = RecordedEpisode.step

    def richer(self, *given, **options):
        result = step(self, *given, **options)
        return result._replace(rewards={seat: reward + 1 for seat, reward in result.rewards.items()})

    monkeypatch.setattr(RecordedEpisode, "step", richer)
    (found,) = measure_all(archive, [episode])
    assert "earns other rewards than it recorded" in found.failed
    assert archive.measures([episode]) == {}
    with pytest.raises(interplay.record.RecordingError, match="interplay episodes verify"):
        measure(episode, [StatisticSpec("score")])
