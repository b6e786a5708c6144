"""Infos and rewards that no schema foresees: recording goes on, by the rules of docs/episode-format.md."""

import enum
import json
import logging
import math
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest

import interplay.record
from interplay.cli import main
from interplay.envs.info import recordable
from interplay.record import Archive
from interplay.record.format.schema import METADATA_KEY

STEPS = 6


class Switch(enum.StrEnum):
    ON = "on"


class Odd(gymnasium.Env):
    """Gives the info and the rewards that a test asks for."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"]}
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    infos: Callable[[int], Any] = staticmethod(lambda step: {})
    rewards: tuple[float, ...] = (1.0,)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._step = 0
        return np.zeros(2, np.float32), self.infos(0)

    def step(self, action: int) -> Any:
        self._step += 1
        reward = self.rewards[(self._step - 1) % len(self.rewards)]
        return np.zeros(2, np.float32), reward, False, False, self.infos(self._step)

    def render(self) -> np.ndarray:
        return np.full((16, 16, 3), self._step, np.uint8)


@pytest.fixture
def odd(record, make_odd, monkeypatch):
    """Records an episode of a world with these infos and rewards: `odd(infos=..., rewards=...)`."""

    def play(infos=None, rewards=None):
        if infos is not None:
            monkeypatch.setattr(Odd, "infos", staticmethod(infos))
        if rewards is not None:
            monkeypatch.setattr(Odd, "rewards", rewards)
        return record(make_odd(), num_steps=STEPS)

    return play


@pytest.fixture
def make_odd(make_cartpole, monkeypatch):
    """The task of the odd world, which Gymnasium knows as long as the test runs."""
    monkeypatch.setitem(
        gymnasium.registry, "Odd-v0", gymnasium.envs.registration.EnvSpec("Odd-v0", entry_point=Odd, disable_env_checker=True)
    )
    return lambda: make_cartpole(env_id="gym:Odd-v0")


def infos_of(episode) -> list[dict[str, Any]]:
    return [json.loads(text) for text in episode.steps().column("info").to_pylist()]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.array([0, 1, 1], np.int8), [0, 1, 1]),  # Taxi's action_mask
        (np.array([[1.5, np.nan]]), [[1.5, None]]),
        (np.array(7), 7),
        ((1, "two", [3.5, True]), [1, "two", [3.5, True]]),
        ([], []),
        (np.float32(0.5), 0.5),
        (np.longdouble(2), 2.0),
        (np.bool_(True), True),
        (Switch.ON, "on"),
        (math.nan, None),
        (-math.inf, None),
        ("half \ud800 and \x00", "half \ufffd and \ufffd"),
        ("\U0001f600 whole", "\U0001f600 whole"),
        (2**63 - 1, 2**63 - 1),
    ],
)
def test_a_value_of_an_info_is_kept_as_json(odd, value, kept):
    episode = odd(lambda step: {"value": value, "step": step}).episode
    assert infos_of(episode) == [{"value": kept, "step": step} for step in range(STEPS + 1)]
    assert interplay.record.verify(episode).equal


@pytest.mark.parametrize(
    "value",
    [
        {"nested": 1},
        {1, 2},
        b"bytes",
        object(),
        2**63,
        10**5000,
        np.zeros(65),
        [[0] * 33, [0] * 33],
        [[[[[[]]]]]],
        [1, object()],
        "x" * 4097,
        np.datetime64("2026-01-01"),
        np.array([object()]),
        1j,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_an_info_cannot_keep_is_left_out_and_stops_no_recording(odd, value, caplog):
    with caplog.at_level(logging.WARNING, "interplay.record"):
        episode = odd(lambda step: {"value": value, "step": step}).episode
    assert infos_of(episode) == [{"step": step} for step in range(STEPS + 1)]
    assert interplay.record.verify(episode).equal
    assert [entry.getMessage() for entry in caplog.records] == ["gym:Odd-v0: these infos are not recorded: value"]


def test_a_value_that_is_none_is_left_out_without_a_word(odd, caplog):
    assert infos_of(odd(lambda step: {"value": None}).episode) == [{}] * (STEPS + 1)
    assert not caplog.records


def test_odd_keys_of_an_info_lose_no_batch(odd):
    episode = odd(lambda step: {1: "one", np.int64(2): "two", (3, 4): 5, "a\ud800": 6, "score": "mine"}).episode
    assert infos_of(episode)[-1] == {"1": "one", "2": "two", "a\ufffd": 6, "score": "mine"}
    assert episode.statistics["a\ufffd"] == 6
    assert episode.statistics["score"] == STEPS


def test_an_info_whose_array_is_changed_in_place_is_recorded_as_it_was(odd):
    array, values = np.zeros(2, np.int64), [0]

    def infos(step):
        array[0] = values[0] = step
        return {"array": array, "list": values}

    episode = odd(infos).episode
    assert infos_of(episode) == [{"array": [step, 0], "list": [step]} for step in range(STEPS + 1)]


def test_values_that_compare_equal_but_read_otherwise_are_verified(odd):
    values = [1, True, 1.0, 0.0, -0.0, False, 0]
    episode = odd(lambda step: {"value": values[step]}).episode
    assert interplay.record.verify(episode).equal


def test_recordable_shares_nothing_with_the_info():
    info = {"list": [[1]], "array": np.zeros(2)}
    kept = recordable(info)
    info["list"][0][0] = 2
    info["array"][0] = 2
    assert kept == {"list": [[1]], "array": [0.0, 0.0]}
    assert recordable(None) == {}


REWARDS = (1.0, math.nan, math.inf, -math.inf, 2.0, 1.7e308)


def test_nan_and_infinite_rewards_are_kept_and_count_as_missing_in_totals(odd, archive: Archive):
    episode = odd(rewards=REWARDS).episode
    np.testing.assert_array_equal(episode.rewards(), REWARDS)
    (listed,) = archive.episodes()
    assert listed.total_reward == episode.total_reward == 1.7e308
    assert listed.statistics["nonfinite_rewards"] == 3
    assert listed.statistics["score"] == listed.total_reward
    assert interplay.record.verify(listed).equal
    assert interplay.record.replay.play_again(listed) == listed.total_reward
    text = pq.read_metadata(episode.path).metadata[METADATA_KEY].decode()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_rewards_whose_sum_is_too_large_have_the_largest_number_as_total(odd):
    assert odd(rewards=(1.7e308,)).episode.total_reward == np.finfo(np.float64).max


def test_an_episode_without_odd_rewards_has_no_count_of_them(odd):
    assert "nonfinite_rewards" not in odd().episode.statistics


def _as_sealed_before(path, **summary: Any) -> None:
    """Rewrite the facts in a file's footer."""
    table, metadata = pq.read_table(path), pq.read_metadata(path).metadata
    document = json.loads(metadata[METADATA_KEY])
    document["summary"] |= summary
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(document), b"interplay.digests": b"[]"})


def test_repair_goes_on_after_any_error_and_says_what_to_do(odd, archive: Archive, tmp_path, capsys):
    good = [odd().episode, odd(rewards=REWARDS).episode, odd().episode, odd().episode, odd().episode]
    nan, no_task, no_facts, odd_text = good[1], good[2], good[3], good[4]
    _as_sealed_before(no_task.path, task_id=None)
    _as_sealed_before(no_facts.path, created_at="yesterday")
    _as_sealed_before(odd_text.path, statistics={"a\ud800": "\ud800", "big": 10**400})
    (nan.path.parent / "0-garbage.parquet").write_bytes(b"garbage" * 100)
    archive.close()
    for file in archive.root.glob("interplay.db*"):
        file.unlink()
    with pytest.raises(SystemExit, match="1"):
        main(["episodes", "repair", "--data", str(archive.root), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert set(document["catalogued"]) == {good[0].id, nan.id, odd_text.id}
    assert set(document["failed"]) == {no_task.id, no_facts.id, "0-garbage"}
    assert all("\n" in reason for reason in document["failed"].values()), "a reason, and what to do"
    fresh = interplay.record.open(archive.root)
    assert fresh.get(nan.id).total_reward == 1.7e308
    assert fresh.get(odd_text.id).statistics["a\ufffd"] == "\ufffd"
    fresh.close()
    with pytest.raises(SystemExit, match="1"):
        main(["episodes", "repair", "--data", str(archive.root)])
    said = capsys.readouterr().out
    assert said.count("FAILED") == 3
    assert "Restore the file from a backup" in said


def test_taxi_is_recorded_with_its_action_mask(record, make_cartpole):
    episode = record(make_cartpole(env_id="gym:Taxi-v4"), num_steps=20).episode
    assert all(len(info["action_mask"]) == 6 for info in infos_of(episode))
    assert interplay.record.verify(episode).equal


def test_text_observations_with_odd_characters_lose_no_batch():
    from interplay.record.format import spaces

    space = gymnasium.spaces.Text(9)
    values = spaces.to_arrow(space, ["a\ud800", "b\x00", None])
    assert values.to_pylist() == ["a\ufffd", "b\ufffd", None]
