"""Processes die, disks fill, files are cut off: what was recorded stays, and the error says what to do."""

import fcntl
import os
import shutil
import signal
import stat
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import warm_process
from warm_process import WarmProcess

import interplay.record
from interplay.envs import make
from interplay.files import part_of
from interplay.record import Episode, RecordingError, journal
from interplay.record.recorder import BATCH_US
from interplay.record.sealed import episode as sealed
from interplay.record.verification.verify import verify

WRITER = Path(__file__).with_name("record_writer.py")


def start_writer(data: Path, *arguments: str) -> WarmProcess:
    return WarmProcess([str(WRITER), str(data), *arguments])


def said_by(writer: WarmProcess) -> list[str]:
    """What it says until it ends."""
    assert writer.stdout is not None
    with writer.stdout:
        lines = writer.stdout.read().splitlines()
    writer.wait(180)
    return lines


def kill_late(writer: WarmProcess, *, owed: int) -> list[tuple[int, float]]:
    """SIGKILL the writer when so many of its steps are more than a second old; returns what it had handed over, and when."""
    assert writer.stdout is not None
    steps: list[tuple[int, float]] = []
    for line in writer.stdout:
        if line.endswith("\n"):
            steps.append((int(line.split()[0]), float(line.split()[1])))
        if len(steps) > owed and steps[-1][1] - steps[owed][1] > 1.0:
            writer.kill()
    assert writer.wait() == -signal.SIGKILL
    return steps


@pytest.mark.processes
def test_every_step_more_than_a_second_old_survives_sigkill(archive):
    steps = kill_late(start_writer(archive.root), owed=40)
    last_time = steps[-1][1]
    owed = max(step for step, when in steps if last_time - when > 1.0)
    (episode,) = archive.repair().sealed
    assert episode.num_steps >= owed > 30
    assert (episode.outcome, episode.truncated, episode.terminated) == ("interrupted", True, False)
    assert len(episode.frames) == episode.num_steps + 1
    verdict = verify(episode)
    assert verdict.equal, verdict
    assert archive.get(episode.id).outcome == "interrupted"
    assert list(archive.journal_folder.iterdir()) == []
    assert archive.repair().sealed == []


@pytest.mark.processes
def test_a_running_recording_is_left_alone(archive):
    writer = start_writer(archive.root)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        (path,) = archive.journal_folder.glob("*.arrows")
        while not journal.holds_steps([path]):
            time.sleep(0.01)
        assert archive.repair().sealed == []
        with pytest.raises(RecordingError, match="in use by a running process"):
            archive.seal(path)
        with pytest.raises(RecordingError, match="in use by a running process"):
            interplay.record.resume(archive, journal.episode_of(path))
    finally:
        writer.kill()
        writer.wait()
    assert len(archive.repair().sealed) == 1


def begun(archive, task, num_steps, seed=4):
    """An episode in the middle: environment, recorder, actions so far, views so far."""
    env = make(task)
    recorder = archive.recorder(task, env, seed=seed, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=seed))
    views = [env.view().pixels.copy()]
    for step in range(num_steps):
        recorder.step({"player": step // 9 % 2}, env.step({"player": step // 9 % 2}), clock_us=step * 16_667)
        views.append(env.view().pixels.copy())
    return env, recorder, views


@pytest.mark.processes
def test_who_saw_an_episode_end_says_why_in_the_place_of_a_killed_writer(archive, invaders):
    env, recorder, _ = begun(archive, invaders, 40)
    recorder.flush()
    recorder.abandon()
    env.close()
    torn = archive.journal_folder / f"{recorder.episode_id}.1.arrows"
    torn.write_bytes(b"torn")  # killed again, before anything was written
    paths = journal.segments(archive.journal_folder, recorder.episode_id)
    assert journal.write_end(paths, "quit") == "quit"
    paths = journal.segments(archive.journal_folder, recorder.episode_id)
    assert len(paths) == 3
    assert journal.write_end(paths, "left") == "quit", "it has been said"
    episode = archive.seal(paths[0])
    assert (episode.outcome, episode.num_steps, episode.truncated) == ("quit", 40, True)
    assert verify(episode).equal
    assert list(archive.journal_folder.iterdir()) == []


def test_nobody_else_says_why_an_episode_ended_whose_world_had_ended_it(archive, invaders):
    env, recorder, _ = begun(archive, invaders, 5)
    observations, rewards, _, _, info = env.step({"player": 0})
    recorder.step({"player": 0}, (observations, rewards, False, True, info), clock_us=5 * 16_667)
    recorder.flush()
    recorder.abandon()
    env.close()
    paths = journal.segments(archive.journal_folder, recorder.episode_id)
    assert journal.write_end(paths, "quit") == "time_limit"
    assert archive.seal(paths[0]).outcome == "time_limit"


@pytest.mark.parametrize("num_steps", [0, 40, 650])
def test_an_episode_goes_on_after_its_process_died(archive, invaders, num_steps):
    """650 steps: from the snapshot at 600; 40: from the seed; 0: from the first observation."""
    env, recorder, views = begun(archive, invaders, num_steps)
    recorder.flush()
    recorder.step({"player": 3}, env.step({"player": 3}), clock_us=num_steps * 16_667)  # never flushed: lost with the process
    recorder.abandon()
    env, recorder, state = interplay.record.resume(archive, recorder.episode_id)
    assert (state.num_steps, state.terminated, state.truncated) == (num_steps, False, False)
    assert state.clock_us == max(0, num_steps - 1) * 16_667
    assert state.info == {"lives": 3}
    np.testing.assert_array_equal(env.view().pixels, views[-1])
    reward = 0.0
    for step in range(num_steps, num_steps + 90):
        result = env.step({"player": 11})
        reward += result[1]["player"]
        recorder.step({"player": 11}, result, clock_us=step * 16_667)
        views.append(env.view().pixels.copy())
    episode = archive.seal(recorder.finish("quit"))
    assert episode.num_steps == num_steps + 90
    assert episode.total_reward == state.total_reward + reward
    for frame, view in zip(episode.frames, views, strict=True):
        np.testing.assert_array_equal(frame.pixels, view)
    assert verify(episode).equal
    assert list(archive.journal_folder.iterdir()) == []


def test_what_ended_before_its_first_step_is_no_episode(archive, invaders):
    _, ended, _ = begun(archive, invaders, 0)
    assert archive.keep(ended.finish("quit")) is None
    _, torn, _ = begun(archive, invaders, 0)
    torn.flush()
    torn.abandon()
    env, again, _ = interplay.record.resume(archive, torn.episode_id)  # a second segment
    again.abandon()
    env.close()
    _, played, _ = begun(archive, invaders, 1)
    played.flush()
    played.abandon()
    result = archive.repair()
    assert (result.empty, [one.num_steps for one in result.sealed]) == ([torn.episode_id], [1])
    assert list(archive.journal_folder.iterdir()) == []
    assert archive.keep(begun(archive, invaders, 2)[1].finish("quit")).num_steps == 2


def test_an_episode_survives_two_deaths_and_a_torn_tail(archive, invaders):
    _, recorder, _ = begun(archive, invaders, 60)
    recorder.flush()
    recorder.abandon()
    first = recorder.path
    with first.open("r+b") as file:  # the last batch was half written when the machine went down
        file.truncate(first.stat().st_size - 20)
    for _ in range(2):
        env, recorder, state = interplay.record.resume(archive, recorder.episode_id)
        for step in range(state.num_steps, state.num_steps + 40):
            recorder.step({"player": 1}, env.step({"player": 1}), clock_us=step * 16_667)
        recorder.flush()
        recorder.abandon()
    (episode,) = archive.repair().sealed
    assert episode.num_steps == state.num_steps + 40 > 80
    assert verify(episode).equal


def test_a_later_segment_wins_over_an_earlier_one(archive, invaders):
    """A journal resumed from an older point: the second segment starts before the first one ends."""
    env, recorder, _ = begun(archive, invaders, 50)
    recorder.flush()
    recorder.abandon()
    backup = archive.root / "backup"
    shutil.copy(recorder.path, backup)
    with recorder.path.open("r+b") as file:
        file.truncate(recorder.path.stat().st_size - 20)
    env, second, state = interplay.record.resume(archive, recorder.episode_id)
    assert state.num_steps < 50
    for step in range(state.num_steps, state.num_steps + 60):
        second.step({"player": 4}, env.step({"player": 4}), clock_us=step * 16_667)
    path = second.finish("quit")
    shutil.copy(backup, recorder.path)
    episode = archive.seal(path)
    assert episode.num_steps == state.num_steps + 60
    assert episode.actions()[state.num_steps :].tolist() == [4] * 60
    assert verify(episode).equal


def test_a_world_that_is_not_deterministic_is_not_resumed(archive, make_cartpole):
    task = make_cartpole(deterministic=False)
    _, recorder, _ = begun(archive, task, 5)
    recorder.flush()
    recorder.abandon()
    with pytest.raises(RecordingError, match=r"not deterministic, so it cannot be rebuilt(.|\n)*episodes repair"):
        interplay.record.resume(archive, recorder.episode_id)
    assert archive.repair().sealed[0].num_steps == 5


def test_a_new_data_folder_is_not_open_to_others_and_one_that_is_there_keeps_its_mode(tmp_path):
    interplay.record.open(tmp_path / "made" / "new").close()
    assert stat.S_IMODE((tmp_path / "made" / "new").stat().st_mode) == 0o700
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o750)
    interplay.record.open(shared).close()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o750
    assert stat.S_IMODE((shared / "interplay.db").stat().st_mode) == 0o600


def test_a_full_disk_keeps_what_was_written(archive):
    writer = start_writer(archive.root, "200000")
    lines = said_by(writer)
    message = "\n".join(line for line in lines if not line[:1].isdigit())
    assert writer.wait() == 3
    assert "cannot write" in message
    assert "the disk is full (EFBIG)" in message
    assert "observations written before are kept" in message
    assert f"interplay episodes repair --data {archive.root}" in message
    handed_over = int([line for line in lines if line[:1].isdigit()][-1].split()[0])
    (episode,) = archive.repair().sealed
    assert handed_over - 121 <= episode.num_steps <= handed_over
    assert episode.num_steps > 100


def test_sealing_on_a_full_disk_keeps_the_journal(archive, tmp_path):
    """In a process of its own, whose files may not grow past 60 kB."""
    writer = start_writer(archive.root, "300000")
    said_by(writer)
    (path,) = archive.journal_folder.glob("*.arrows")
    archive.database.close()
    code = (
        "import resource, sys, pathlib, interplay.record\n"
        "archive = interplay.record.open(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
        "try:\n    archive.seal(pathlib.Path(sys.argv[2]))\n"
        "except interplay.record.RecordingError as error:\n    print(error); sys.exit(3)\n"
    )
    run = warm_process.run(["-c", code, str(archive.root), str(path)])
    assert run.returncode == 3, run.stderr
    assert "cannot seal episode" in run.stdout
    assert "Its journal is whole and stays" in run.stdout
    assert path.exists()
    assert list((archive.root / "episodes").rglob("*.p*")) == []
    assert archive.repair().sealed[0].num_steps > 100


def test_what_a_killed_sealer_left_goes_when_the_episode_is_sealed(archive, invaders):
    _, recorder, _ = begun(archive, invaders, 5)
    target = archive.episode_path(invaders.id, recorder.episode_id)
    target.parent.mkdir(parents=True)
    for name in (part_of(target).name, f".{target.name}.part"):
        target.with_name(name).write_bytes(b"half")
    path = recorder.finish("quit")
    assert archive.seal(path).path == target
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"\x00" * 500, os.urandom(4000)])
def test_a_journal_that_is_none_is_set_aside(archive, content):
    path = archive.journal_folder / "20260101T000000-00000000.0.arrows"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=r"expected an Arrow stream written by Interplay(.|\n)*interplay episodes repair"):
        archive.seal(path)
    result = archive.repair()
    assert result.sealed == []
    assert list(result.set_aside) == ["20260101T000000-00000000"]
    assert path.with_name(path.name + ".unreadable").read_bytes() == content


def test_any_prefix_of_a_journal_is_an_episode(archive, invaders):
    _, recorder, views = begun(archive, invaders, 100)
    path = recorder.finish("quit")
    whole = path.read_bytes()
    lengths = []
    for cut in np.linspace(len(whole), 6000, 12).astype(int).tolist():
        path.write_bytes(whole[:cut])
        if not journal.holds_observations([path]):
            with pytest.raises(RecordingError, match=r"holds no observation|expected an Arrow stream"):
                archive.seal(path)
            continue
        episode = archive.seal(path)
        lengths.append(episode.num_steps)
        for frame, view in zip(Episode.open(episode.path).frames, views, strict=False):
            np.testing.assert_array_equal(frame.pixels, view)
        assert verify(episode).equal
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == 100
    assert len(set(lengths)) > 2


def test_a_journal_and_a_file_of_before_outcome_checks_are_read(archive, invaders, monkeypatch):
    _, recorder, _ = begun(archive, invaders, 5)
    recorder.flush()
    writer = recorder._writer
    empty = pa.RecordBatch.from_pylist([], schema=writer.schema)
    writer._append(writer._messages.batch(empty, {"outcome": "quit"}) + journal.END_OF_STREAM)  # as the end marker was
    writer.close()
    episode = archive.seal(recorder.path)
    assert (episode.outcome, episode.num_steps, episode.outcome_check) == ("quit", 5, {})
    whole = sealed._metadata
    monkeypatch.setattr(sealed, "_metadata", lambda *place: {k: v for k, v in whole(*place).items() if k != "automatic"})
    assert Episode.open(episode.path).outcome_check == {}


def test_a_finished_recorder_takes_no_more_steps(archive, invaders):
    env, recorder, _ = begun(archive, invaders, 2)
    recorder.finish("quit")
    recorder.step({"player": 0}, env.step({"player": 0}), clock_us=0)
    with pytest.raises(RecordingError, match="finished or failed before"):
        recorder.step({"player": 0}, env.step({"player": 0}), clock_us=BATCH_US)


def test_a_recorder_that_was_not_started_says_so(archive, invaders):
    env = make(invaders)
    env.reset(seed=1)
    recorder = archive.recorder(invaders, env, seed=1, actor="tester", actor_kind="agent")
    with pytest.raises(RecordingError, match=r"call recorder\.start after env\.reset"):
        recorder.step({"player": 0}, env.step({"player": 0}), clock_us=0)
    with pytest.raises(RecordingError, match="there is nothing to finish"):
        recorder.finish("quit")


def test_batches_follow_the_clock(archive, invaders):
    env, recorder, _ = begun(archive, invaders, 0)
    for step in range(29):
        recorder.step({"player": 0}, env.step({"player": 0}), clock_us=step * 16_667)
    assert sum(batch.num_rows for batch, _ in journal.read_batches(recorder.path, ["step"])) == 1
    recorder.step({"player": 0}, env.step({"player": 0}), clock_us=BATCH_US)
    assert sum(batch.num_rows for batch, _ in journal.read_batches(recorder.path, ["step"])) == 31
    recorder.abandon()


def test_recording_is_quick(archive, invaders):
    """Loose, for machines that are busy; the real figure comes from python -m bench.record."""
    env, recorder, _ = begun(archive, invaders, 100)
    result = env.step({"player": 0})
    start = time.thread_time()
    for step in range(600):
        recorder.step({"player": 0}, result, clock_us=step * 16_667)
    assert (time.thread_time() - start) / 600 < 300e-6
    recorder.abandon()


def test_one_damaged_journal_does_not_stop_the_others(archive, invaders):
    names = []
    for seed in (1, 2):
        env = make(invaders)
        recorder = archive.recorder(invaders, env, seed=seed, actor="tester", actor_kind="agent")
        recorder.start(*env.reset(seed=seed))
        for number in range(200):
            recorder.step({"player": number % 6}, env.step({"player": number % 6}), clock_us=number * 16_667)
        recorder.flush()
        recorder.abandon()
        names.append(recorder.episode_id)
    (path,) = journal.segments(archive.journal_folder, names[0])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    result = archive.repair()
    sealed = {episode.id for episode in result.sealed}
    assert names[1] in sealed
    assert names[0] in sealed | set(result.failed)
    assert path.exists() == (names[0] in result.failed), "a journal that cannot be sealed stays"


def test_what_a_writer_left_before_its_journal_had_a_name_is_removed_and_a_living_writer_is_not_disturbed(archive):
    left, young, locked = (archive.journal_folder / f".{name}.0.arrows.7.new" for name in ("left", "young", "locked"))
    for path in (left, young, locked):
        path.write_bytes(b"half a header")
    for path in (left, locked):
        os.utime(path, (0, 0))
    with locked.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        archive.repair()
        assert set(archive.journal_folder.iterdir()) == {young, locked}


def test_what_cannot_be_repaired_never_sends_people_round_in_a_circle(archive, invaders):
    _, recorder, _ = begun(archive, invaders, 30)
    recorder.flush()
    recorder.abandon()
    target = archive.episode_path(invaders.id, recorder.episode_id)
    target.mkdir(parents=True)
    cut = target.with_name("20260101T000000-00000000.parquet")
    cut.write_bytes(b"PAR1 no episode")
    failed = archive.repair().failed
    remedy = "Restore the file from a backup and repair again. Without a backup, move the file out of the data folder."
    assert failed[cut.stem].startswith(f"{cut} (15 bytes) has no readable footer")
    assert failed[cut.stem].endswith(f"\n{remedy}")
    target.rmdir()
    cut.unlink()
    result = archive.repair()
    assert ([episode.num_steps for episode in result.sealed], result.failed) == ([30], {})
