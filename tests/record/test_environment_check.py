"""`tasks check` records for real: every environment id of the installed packages, or why it cannot be."""

import json
import subprocess
import sys
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest

from interplay.cli import main
from interplay.cli.tasks import registered_ids
from interplay.record import Archive
from interplay.record.gymnasium_task import task_of
from interplay.record.replay import play_again
from interplay.record.verification.environment_check import check_environment

MISSING = ("Box2D", "MuJoCo", "mujoco", "jax", "pip install")
"""What says that a package is not installed, or that the id needs one that is no more."""


class World(gymnasium.Env):
    """Breaks in the way its name says."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"]}
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))

    def __init__(self, fault: str, render_mode: str | None = None) -> None:
        self.fault, self.render_mode = fault, render_mode
        if fault == "graph":
            self.observation_space = gymnasium.spaces.Graph(gymnasium.spaces.Discrete(2), None)
        if fault == "step":
            self.action_space = gymnasium.spaces.Discrete(1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._step = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: int) -> Any:
        self._step += 1
        if self.fault == "step" and self._step == 4:
            raise RuntimeError("the physics exploded")
        chance = np.random.default_rng().random() if self.fault == "chance" else 0.0
        if self.fault == "shape" and self._step == 5:
            return np.zeros(3, np.float32), 0.0, False, False, {}
        reward = np.nan if self.fault == "nan" else chance
        return np.zeros(2, np.float32), reward, False, False, {"table": {}} if self.fault == "nan" else {}

    def render(self) -> Any:
        if self.fault == "size" and self._step > 3:
            return np.zeros((8, 8), np.uint8)
        return np.zeros((16, 16, 3), np.uint8)


@pytest.fixture
def world(monkeypatch):
    """A task with a fault, under an id that Gymnasium knows as long as the test runs."""

    def register(fault: str):
        spec = gymnasium.envs.registration.EnvSpec(
            f"Broken{fault}-v0", entry_point=World, kwargs={"fault": fault}, disable_env_checker=True
        )
        monkeypatch.setitem(gymnasium.registry, spec.id, spec)
        return task_of(spec.id)

    return register


@pytest.mark.parametrize(
    ("fault", "verdict", "reason"),
    [
        ("graph", "not recorded", "cannot be recorded: values of Graph"),
        ("step", "not recorded", "step 3 fails with the action 0: RuntimeError: the physics exploded"),
        ("shape", "not recorded", "must have shape"),
        ("size", "not recorded", "draws no picture"),
        ("chance", "not replayed", "the replay gives reward"),
    ],
)
def test_a_check_says_why_a_world_cannot_be_recorded_or_replayed(archive: Archive, world, fault, verdict, reason):
    found = check_environment(archive, world(fault), num_steps=20)
    assert (found.verdict, reason in found.reason) == (verdict, True), found.reason


def test_a_world_left_to_chance_is_recorded_once_its_task_says_so(archive: Archive, world):
    task = world("chance")
    assert "deterministic = false" in check_environment(archive, task, num_steps=5).reason
    assert check_environment(archive, task_of(task.env.name, deterministic=False), num_steps=5).verdict == "good"


def test_a_check_tells_what_is_not_kept(archive: Archive, world):
    found = check_environment(archive, world("nan"), num_steps=5)
    assert (found.verdict, found.num_nonfinite, found.left_out) == ("good", 5, ("table",))


def test_a_task_file_whose_world_cannot_be_recorded_is_refused(world, cartpole_text, tmp_path, capsys):
    file = tmp_path / "my.toml"
    file.write_text(cartpole_text(world("shape").env.id))
    with pytest.raises(SystemExit, match="1"):
        main(["tasks", "check", str(file)])
    said = " ".join(capsys.readouterr().err.split())
    assert "task cartpole: cannot be recorded: " in said
    assert "must have shape (2,), got (3,)" in said


def test_a_task_file_is_recorded_for_real(cartpole_text, tmp_path, capsys):
    file = tmp_path / "my.toml"
    file.write_text(cartpole_text("gym:CartPole-v1"))
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "check", str(file), "--steps", "10", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["rehearsals"]
    assert (found["env"], found["verdict"], found["num_steps"]) == ("gym:CartPole-v1", "good", 10)


def test_ids_are_checked_one_by_one_or_not_at_all(capsys):
    with pytest.raises(SystemExit, match="1"):
        main(["tasks", "check", "--env", "CartPole-v1", "--env", "CartPol-v1", "--steps", "5"])
    said = capsys.readouterr().out
    assert "CartPole-v1: 5 steps recorded, verified and replayed" in said
    assert "CartPol-v1: cannot be made here: unknown Gymnasium environment 'CartPol-v1'; did you mean" in said
    with pytest.raises(SystemExit, match="2"):
        main(["tasks", "check"])
    with pytest.raises(SystemExit, match="2"):
        main(["tasks", "check", "--every-env", "--env", "CartPole-v1"])


def _in_the_suite(env_id: str) -> bool:
    """All but Atari and the block world; of these a few, because they are many, and slow. All of them, 200 steps of each:
    `interplay tasks check --every-env --steps 200`."""
    spec = gymnasium.spec(env_id)
    if "atari" in str(spec.entry_point).lower():
        return env_id in ("ALE/Breakout-v5", "Pong-v0", "QbertNoFrameskip-v4")
    return spec.namespace != "interplay"


def _ids_of_the_packages() -> list[str]:
    """What a fresh process finds: other tests register worlds of their own in this one."""
    assert registered_ids()
    ask = "import json; from interplay.cli.tasks import registered_ids; print(json.dumps(registered_ids()))"
    return json.loads(subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True).stdout)


@pytest.mark.every_environment
def test_every_id_of_the_installed_packages_is_recorded_and_replayed_or_says_why_not(archive: Archive):
    ids = _ids_of_the_packages()
    chosen = [env_id for env_id in ids if _in_the_suite(env_id)]
    assert len(ids) > 400
    assert len(chosen) > 60
    found = {env_id: check_environment(archive, task_of(env_id), num_steps=100) for env_id in chosen}
    for env_id, one in found.items():
        assert one.verdict == "good" or (one.verdict == "not made" and any(name in one.reason for name in MISSING)), one
        assert one.verdict != "good" or one.num_steps == 100 or one.num_episodes == 30, env_id
    good = {env_id for env_id, one in found.items() if one.verdict == "good"}
    assert {"Taxi-v4", "Pendulum-v1", "Blackjack-v1", "CartPole-v1", "ALE/Breakout-v5", "QbertNoFrameskip-v4"} <= good


def test_pictures_that_depend_on_earlier_pictures_are_rebuilt_by_any_jump(record, make_cartpole):
    played = record(make_cartpole(env_id="gym:Taxi-v4"), num_steps=30)
    for step in (25, 7, 30, 0):
        np.testing.assert_array_equal(played.episode.frames[step].pixels, played.views[step])


def test_playing_again_earns_the_recorded_return_to_the_last_bit(archive: Archive):
    check_environment(archive, task_of("Pendulum-v1"), num_steps=150)
    (episode,) = archive.episodes()
    assert play_again(episode) == episode.total_reward
