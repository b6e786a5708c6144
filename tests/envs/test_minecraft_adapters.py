"""The doors to the real Minecraft, on stand-ins for its two packages, and the contract of all block worlds.

No Minecraft runs here. The stand-ins do what the sources named in `interplay/envs/minerl.py` and `minestudio.py` do as far as
the doors can tell: the old gym interface, a seed forgotten after each reset, RuntimeError after the end, `done` without a
reason, a counter that `reset` leaves alone, lost connections that look like a last step, and a picture turned upside down.
"""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from block_world_contract import check_block_world, idle

from interplay.envs import EnvError, SingleAgentEnv, make
from interplay.envs.minecraft.minerl import ENVIRONMENTS
from interplay.envs.minerl_actions import CAMERA, KEYS, read
from interplay.errors import NotFoundError
from interplay.tasks import Task, backend_names, find

CAVE, SHOVEL = "minerl:MineRLBasaltFindCave-v0", "minerl:MineRLObtainDiamondShovel-v0"
STUDIO = "minestudio:MinecraftSim"


def task_of(env_id: str, *, max_steps: int = 40, **options: Any) -> Task:
    """A short task in some world; what else it says does not matter to the world."""
    document = find("atari/breakout").to_json()
    return Task.from_json(document | {"env": {"id": env_id, "options": options}, "max_steps": max_steps, "frame_rate_hz": 20})


# Stand-ins


class Server:
    """The game and MineRL's environment around it: seeds, steps, `done`, and RuntimeError after it.

    Attributes:
        seeds: What each reset was seeded with; None where nobody called `seed` since the reset before.
        actions: What was played, over all episodes.
        plan: Step of an episode -> what happens there: an exception is raised, "die" says done, "lose" loses the connection.
    """

    def __init__(
        self, *, inventory: bool = False, keys: tuple[str, ...] = KEYS, shape: tuple[int, ...] = (360, 640, 3)
    ) -> None:
        spaces = gymnasium.spaces
        self.action_space = spaces.Dict(
            {name: spaces.Discrete(2) for name in keys} | {CAMERA: spaces.Box(-180, 180, (2,), np.float32)}
        )
        self.observation_space = spaces.Dict({"pov": spaces.Box(0, 255, shape, np.uint8)})
        self.inventory = dict.fromkeys(["oak_log", "stick", "diamond_shovel"], 0) if inventory else None
        self.seeds: list[int | None] = []
        self.actions: list[dict[str, Any]] = []
        self.plan: dict[int, Any] = {}
        self.num_closed = 0
        self._seed: int | None = None
        self._done = True
        self._step_in_episode = 0

    def seed(self, seed: int | None = None) -> None:
        assert isinstance(seed, int) or seed is None, "Seed must be an int!"
        self._seed = seed

    def _look(self) -> dict[str, Any]:
        flat = np.random.default_rng([len(self.actions), len(self.seeds)]).integers(256, size=360 * 640 * 3, dtype=np.uint8)
        pov = np.frombuffer(flat.tobytes(), np.uint8).reshape(360, 640, 3)[::-1]  # read-only and upside down, as MineRL has it
        if self.inventory is None:
            return {"pov": pov}
        return {"pov": pov, "inventory": {item: np.array(count) for item, count in self.inventory.items()}}

    def reset(self) -> dict[str, Any]:
        self.seeds.append(self._seed)
        self._seed, self._done, self._step_in_episode = None, False, 0
        return self._look()

    def step(self, action: dict[str, Any]) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        if self._done:
            raise RuntimeError("Attempted to step an environment server with done=True")
        self._step_in_episode += 1
        event = self.plan.get(self._step_in_episode)
        if isinstance(event, Exception):
            raise event
        self.actions.append(action)
        self._done = event in ("die", "lose")
        if event == "lose":
            return {"pov": np.zeros((360, 640, 3), np.uint8)}, 0, True, {"error": "Connection timed out!"}
        return self._look(), 0.0, self._done, {}

    def close(self) -> None:
        self.num_closed += 1


class Wrapper:
    """Old gym's wrapper: attributes that it lacks are those of what it wraps."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


class Timeout(Wrapper):
    """BASALT's time limit, which starts over with each episode."""

    def __init__(self, env: Any, limit: int) -> None:
        super().__init__(env)
        self.timeout, self.num_steps = limit, 0

    def reset(self) -> Any:
        self.num_steps = 0
        return self.env.reset()

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)
        self.num_steps += 1
        return observation, reward, done or self.num_steps >= self.timeout, info


class EscEnds(Wrapper):
    """BASALT's end by ESC."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.is_over = False

    def reset(self) -> Any:
        self.is_over = False
        return self.env.reset()

    def step(self, action: Any) -> Any:
        if self.is_over:
            raise RuntimeError("Expected `reset` after episode terminated, not `step`.")
        observation, reward, done, info = self.env.step(action)
        self.is_over = done = done or bool(action["ESC"])
        return observation, reward, done, info


class ShovelRewards(Wrapper):
    """The diamond shovel's wrapper, with its bug: `reset` leaves the counter of steps alone."""

    def __init__(self, env: Any, limit: int) -> None:
        super().__init__(env)
        self.timeout, self.num_steps, self.is_over = limit, 0, False

    def reset(self) -> Any:
        self.is_over = False
        return self.env.reset()

    def step(self, action: Any) -> Any:
        if self.is_over:
            raise RuntimeError("Expected `reset` after episode terminated, not `step`.")
        observation, reward, done, info = self.env.step(action)
        done = done or observation["inventory"]["diamond_shovel"] > 0
        self.num_steps += 1
        self.is_over = done = bool(done or self.num_steps >= self.timeout)
        return observation, reward + 2048.0 * (observation["inventory"]["diamond_shovel"] > 0), done, info


@pytest.fixture
def minerl(monkeypatch):
    """MineRL and the old gym, as installed; `servers` are the games that were opened."""
    servers: list[Server] = []
    server_options: dict[str, Any] = {}

    def gym_make(name: str) -> Any:
        if name not in ENVIRONMENTS:
            raise LookupError(f"No registered env with id: {name}")
        server = Server(inventory="Shovel" in name, **server_options)
        servers.append(server)
        limit = ENVIRONMENTS[name]
        return Wrapper(ShovelRewards(server, limit) if "Shovel" in name else EscEnds(Timeout(server, limit)))

    gym = ModuleType("gym")
    gym.make = gym_make  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gym", gym)
    monkeypatch.setitem(sys.modules, "minerl", ModuleType("minerl"))
    return SimpleNamespace(servers=servers, server_options=server_options)


class StudioServer(Server):
    """MineStudio's MineRL: tells of health and screens, opens one by `inventory`, runs commands, knows no ESC."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[str] = []
        self.is_gui_open = False
        self.health = 20.0

    def _look(self) -> dict[str, Any]:
        return super()._look() | {"is_gui_open": self.is_gui_open, "player_pos": {"x": 0.5, "y": 64.0, "z": 0.5}}

    def reset(self) -> Any:
        self.is_gui_open, self.health = False, 20.0
        return super().reset()

    def step(self, action: dict[str, Any]) -> Any:
        assert "ESC" not in action
        self.is_gui_open ^= bool(action.get("inventory", 0))
        if self.plan.get(self._step_in_episode + 1) == "starve":
            self.health = 0.0
        observation, reward, done, info = super().step(action)
        return observation, reward, done, info | {"health": self.health, "food_level": 20}

    def execute_cmd(self, command: str) -> Any:
        self.commands.append(command)
        return self.step({"chat": command})


@pytest.fixture
def minestudio(monkeypatch):
    """MineStudio as installed; `sims` are the simulators that were built, `fails_with` what building one raises."""
    state = SimpleNamespace(sims=[], fails_with=None)

    class CommandsCallback:
        def __init__(self, commands: list[str]) -> None:
            self.commands = commands

        def after_reset(self, sim: Any, obs: dict[str, Any], info: dict[str, Any]) -> Any:
            for command in self.commands:
                seen, _, _, info = sim.env.execute_cmd(command)
                obs.update(seen)
            return sim.wrap(obs, info)

    class MinecraftSim:
        def __init__(
            self,
            action_type: str = "agent",
            obs_size: tuple[int, int] = (224, 224),
            render_size: tuple[int, int] = (640, 360),
            seed: int = 0,
            inventory: dict[int, Any] = {},  # noqa: B006 - as the original
            preferred_spawn_biome: str | None = None,
            num_empty_frames: int = 20,
            callbacks: list[Any] = [],  # noqa: B006
        ) -> None:
            if state.fails_with is not None:
                raise state.fails_with
            assert action_type == "env"
            self.obs_size, self.render_size, self.seed = obs_size, render_size, seed
            self.inventory, self.biome, self.callbacks = inventory, preferred_spawn_biome, callbacks
            self.num_empty_frames = num_empty_frames
            self.env = StudioServer()
            self.env.seed(seed)
            self.info: dict[str, Any] = {}
            state.sims.append(self)

        def wrap(self, obs: dict[str, Any], info: dict[str, Any]) -> Any:
            width, height = self.obs_size
            rows = np.arange(height) * obs["pov"].shape[0] // height
            columns = np.arange(width) * obs["pov"].shape[1] // width
            self.info |= info | obs  # what was told once stays
            return {"image": obs["pov"][rows][:, columns]}, self.info.copy()

        def reset(self) -> Any:
            self.env.reset()
            for _ in range(self.num_empty_frames):
                obs, _, _, info = self.env.step({})
            self.env._step_in_episode = 0
            obs, info = self.wrap(obs, info)
            for callback in self.callbacks:
                obs, info = callback.after_reset(self, obs, info)
            return obs, info

        def step(self, action: dict[str, Any]) -> Any:
            obs, reward, done, info = self.env.step(action.copy())
            obs, info = self.wrap(obs, info)
            return obs, reward, done, done, info

        def close(self) -> None:
            self.env.close()

    package, simulator = ModuleType("minestudio"), ModuleType("minestudio.simulator")
    callbacks = ModuleType("minestudio.simulator.callbacks")
    simulator.MinecraftSim = MinecraftSim  # type: ignore[attr-defined]
    callbacks.CommandsCallback = CommandsCallback  # type: ignore[attr-defined]
    for module in (package, simulator, callbacks):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return state


# The contract


def test_the_embedded_block_world_keeps_the_contract():
    check_block_world(make(task_of("voxel:flat", kind="flat", size=[64, 36])))


@pytest.mark.parametrize("env_id", [f"minerl:{name}" for name in ENVIRONMENTS])
def test_minerl_keeps_the_contract(minerl, env_id):
    check_block_world(make(task_of(env_id)), esc_ends="Basalt" in env_id)


def test_minestudio_keeps_the_contract(minestudio):
    check_block_world(make(task_of(STUDIO)))


# Actions


def test_what_an_action_leaves_out_is_not_pressed():
    pressed = read({"hotbar.7": 1, "hotbar.3": 1.0, "ESC": False, CAMERA: [-1000, 2.5]})
    assert {name for name, bit in pressed.keys.items() if bit} == {"hotbar.3", "hotbar.7"}
    assert (pressed.hotbar, pressed.pitch, pressed.yaw) == (3, -180.0, 2.5)
    whole = pressed.to_minerl()
    assert set(whole) == {*KEYS, CAMERA}
    assert all(type(whole[name]) is int for name in KEYS)
    assert whole[CAMERA].dtype == np.float32
    assert read({}).hotbar == 0


def test_the_keys_of_the_block_worlds_tasks_press_minerls():
    keys = find("basalt/find_cave").keys
    assert set(keys.entries) | {keys.pointer} == {*KEYS, CAMERA}
    pressed = read(keys.resolve(keys.mask({"forward", "hotbar.4"}), (1.0, -2.0)))
    assert ({name for name, bit in pressed.keys.items() if bit}, pressed[1:]) == ({"forward", "hotbar.4"}, (1.0, -2.0))


# MineRL


def test_pov_and_actions_of_minerl_map_one_to_one(minerl):
    env = SingleAgentEnv(make(task_of(CAVE)))
    (server,) = minerl.servers
    observation, _ = env.reset(seed=7)
    np.testing.assert_array_equal(observation["pov"], server._look()["pov"])
    observation, *_ = env.step({"forward": 1, "hotbar.2": 1, CAMERA: [1.5, -200.0]})
    np.testing.assert_array_equal(observation["pov"], server._look()["pov"])
    played = server.actions[-1]
    assert {name for name in KEYS if played[name]} == {"forward", "hotbar.2"}
    np.testing.assert_array_equal(played[CAMERA], np.array([1.5, -180.0], np.float32))
    observation["pov"][0, 0] = 0  # it is the agent's own, although MineRL's is read-only


def test_minerl_is_seeded_before_every_reset(minerl):
    env = SingleAgentEnv(make(task_of(CAVE)))
    env.reset(seed=14169)
    env.reset(seed=14169)
    env.reset()
    env.reset()
    first, second, drawn, other = minerl.servers[0].seeds
    assert (first, second) == (14169, 14169)
    assert None not in (drawn, other)
    assert drawn != other


def test_death_terminates_and_minerls_own_time_limit_truncates(minerl, monkeypatch):
    env = SingleAgentEnv(make(task_of(CAVE, max_steps=10_000)))
    server = minerl.servers[0]
    server.plan = {3: "die"}
    env.reset(seed=1)
    assert [env.step(idle())[2:4] for _ in range(3)] == [(False, False), (False, False), (True, False)]
    monkeypatch.setitem(ENVIRONMENTS, "MineRLBasaltFindCave-v0", 5)
    env = SingleAgentEnv(make(task_of(CAVE, max_steps=10_000)))
    for last, end in ((idle(), (False, True)), (idle(ESC=1), (True, True))):
        env.reset(seed=1)
        assert [env.step(idle())[2:4] for _ in range(4)] == [(False, False)] * 4
        assert env.step(last)[2:4] == end


def test_the_diamond_shovels_later_episodes_are_as_long_as_the_first(minerl, monkeypatch):
    monkeypatch.setitem(ENVIRONMENTS, "MineRLObtainDiamondShovel-v0", 5)
    env = SingleAgentEnv(make(task_of(SHOVEL, max_steps=10_000)))
    for _ in range(3):
        env.reset(seed=1)
        assert [env.step(idle(ESC=1))[2:4] for _ in range(4)] == [(False, False)] * 4
        assert env.step(idle())[2:4] == (False, True)


def test_the_stand_in_has_the_bug_that_is_worked_around(minerl):
    wrapped = ShovelRewards(Server(inventory=True), 5)
    wrapped.reset()
    assert [wrapped.step(idle())[2] for _ in range(5)] == [False] * 4 + [True]
    wrapped.reset()
    assert wrapped.step(idle())[2] is True


def test_making_the_shovel_terminates_with_its_reward_and_the_inventory_is_told(minerl):
    env = SingleAgentEnv(make(task_of(SHOVEL)))
    assert env.reset(seed=1)[1]["inventory"] == {}
    minerl.servers[0].inventory |= {"stick": 2, "diamond_shovel": 1}
    observation, reward, terminated, truncated, info = env.step(idle())
    assert set(observation) == {"pov"}
    assert (reward, terminated, truncated) == (2048.0, True, False)
    assert info["inventory"] == {"stick": 2, "diamond_shovel": 1}
    assert env.info_to_record(info) == {}


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (ConnectionResetError("peer is gone"), r"Minecraft failed in step 2: ConnectionResetError: peer is gone\n.*next reset"),
        ("lose", "Minecraft failed in step 2: Connection timed out!"),  # MineRL says done and hands out noise
    ],
)
def test_a_step_that_fails_ends_the_episode_and_the_next_reset_opens_another_game(minerl, event, message):
    env = SingleAgentEnv(make(task_of(CAVE)))
    minerl.servers[0].plan = {2: event}
    env.reset(seed=1)
    seen, *_ = env.step(idle())
    with pytest.raises(EnvError, match=message):
        env.step(idle())
    np.testing.assert_array_equal(env.view().pixels, seen["pov"])  # noise is never shown
    with pytest.raises(EnvError, match="the episode has ended; call reset"):
        env.step(idle())
    assert minerl.servers[0].num_closed == 1
    env.reset(seed=2)
    assert len(minerl.servers) == 2
    assert env.step(idle())[2:4] == (False, False)
    env.close()
    env.close()
    assert minerl.servers[1].num_closed == 1


def test_a_game_that_does_not_start_is_an_error_that_says_so(minerl, monkeypatch):
    env = SingleAgentEnv(make(task_of(CAVE)))
    monkeypatch.setattr(minerl.servers[0], "reset", lambda: (_ for _ in ()).throw(FileNotFoundError("java")))
    with pytest.raises(EnvError, match="Minecraft failed when it was to start an episode: FileNotFoundError: java"):
        env.reset(seed=1)
    with pytest.raises(EnvError, match="no picture yet; call reset first"):
        env.view()


def test_a_mistyped_minerl_id_offers_the_nearest(minerl):
    with pytest.raises(NotFoundError, match=r"did you mean 'MineRLBasaltFindCave-v0'(.|\n)*No registered env"):
        make(task_of("minerl:MineRLBasaltFindCav-v0"))


@pytest.mark.parametrize(
    ("server_options", "message"),
    [
        ({"keys": tuple(name for name in KEYS if name != "ESC")}, "is not an environment of MineRL 1.0: its actions lack ESC"),
        ({"shape": (64, 64, 3)}, r"is not an environment of MineRL 1.0: its picture has shape \(64, 64, 3\)"),
    ],
)
def test_another_version_of_minerl_is_refused(minerl, server_options, message):
    minerl.server_options |= server_options
    with pytest.raises(EnvError, match=message):
        make(task_of(CAVE))


def test_minerl_takes_no_options(minerl):
    with pytest.raises(EnvError, match="takes no options, got 'kind'"):
        make(task_of(CAVE, kind="flat"))


# MineStudio


def test_minestudio_is_built_as_its_source_says_and_seeded_before_every_reset(minestudio):
    env = make(
        task_of(STUDIO, biome="plains", items=["stone_axe", ["oak_fence", 64]], commands=["/time set 6000", "weather clear"])
    )
    (sim,) = minestudio.sims
    assert (sim.obs_size, sim.render_size, sim.biome) == ((640, 360), (640, 360), "plains")
    assert sim.inventory == {0: {"type": "stone_axe", "quantity": 1}, 1: {"type": "oak_fence", "quantity": 64}}
    observations, info = env.reset(seed=5)
    env.reset(seed=5)
    assert sim.env.seeds == [5, 5]
    assert sim.env.commands == ["/time set 6000", "/weather clear"] * 2
    assert observations["player"]["pov"].shape == (360, 640, 3)
    assert not {"pov", "image"} & set(info)
    assert env.info_to_record(info) == {"health": 20.0, "food_level": 20, "is_gui_open": False}
    observations, *_ = env.step({"player": {"attack": 1, "drop": 1}})
    np.testing.assert_array_equal(observations["player"]["pov"], sim.env._look()["pov"])
    played = sim.env.actions[-1]
    assert {name for name, value in played.items() if name != CAMERA and value} == {"attack", "drop"}


def test_esc_closes_a_screen_of_minestudio_before_it_ends_the_episode(minestudio):
    env = SingleAgentEnv(make(task_of(STUDIO)))
    env.reset(seed=1)
    assert env.step(idle(inventory=1))[4]["is_gui_open"] is True
    _, _, terminated, _, info = env.step(idle(ESC=1))
    assert (terminated, info["is_gui_open"]) == (False, False)
    assert env.step(idle(ESC=1))[2:4] == (True, False)
    env = SingleAgentEnv(make(task_of(STUDIO, esc_ends=False)))
    env.reset(seed=1)
    assert env.step(idle(ESC=1))[2:4] == (False, False)


@pytest.mark.parametrize("event", ["die", "starve"])
def test_no_health_or_done_terminates_and_is_not_a_time_limit(minestudio, event):
    env = SingleAgentEnv(make(task_of(STUDIO)))
    minestudio.sims[0].env.plan = {}
    env.reset(seed=1)
    minestudio.sims[0].env.plan = {2: event}
    assert env.step(idle())[2:4] == (False, False)
    assert env.step(idle())[2:4] == (True, False)


def test_a_lost_connection_is_not_carried_into_the_next_episode(minestudio):
    env = SingleAgentEnv(make(task_of(STUDIO)))
    env.reset(seed=1)
    minestudio.sims[0].env.plan = {1: "lose"}
    with pytest.raises(EnvError, match="Minecraft failed in step 1: Connection timed out!"):
        env.step(idle())
    env.reset(seed=1)
    assert env.step(idle())[2:4] == (False, False)
    assert len(minestudio.sims) == 2


@pytest.mark.parametrize("error", [SystemExit(0), EOFError("EOF when reading a line")])
def test_a_simulator_without_its_engine_says_how_to_fetch_it(minestudio, error):
    minestudio.fails_with = error
    with pytest.raises(EnvError, match=r"python -m minestudio\.simulator\.entry -y"):
        make(task_of(STUDIO))


@pytest.mark.parametrize(
    ("env_id", "options", "error", "message"),
    [
        ("minestudio:Minecraftsim", {}, NotFoundError, "did you mean 'MinecraftSim'"),
        (STUDIO, {"biom": "plains"}, NotFoundError, "did you mean 'biome'"),
        (STUDIO, {"items": [["stone", 0]]}, EnvError, r"names or \[name, count of 1 to 64\], got \['stone', 0\]"),
        (STUDIO, {"items": [3]}, EnvError, r"names or \[name, count of 1 to 64\], got 3"),
    ],
)
def test_a_bad_option_of_minestudio_is_an_error_that_names_it(minestudio, env_id, options, error, message):
    with pytest.raises(error, match=message):
        make(task_of(env_id, **options))
    assert minestudio.sims == []


# Without them


@pytest.mark.parametrize(
    ("env_id", "module", "lines"),
    [
        (CAVE, "minerl", ["pip install git+https://github.com/minerllabs/minerl", "downloads and builds Minecraft"]),
        (STUDIO, "minestudio", ["pip install minestudio", "downloads Minecraft"]),
    ],
)
def test_a_missing_package_says_how_to_install_it_and_what_needs_nothing(monkeypatch, env_id, module, lines):
    monkeypatch.setitem(sys.modules, module, None)  # import answers as if it were not installed
    with pytest.raises(EnvError) as caught:
        make(task_of(env_id))
    for line in [*lines, f"{env_id!r} cannot be opened", "embedded block world needs none of this", 'env.id = "voxel:..."']:
        assert line in str(caught.value)


def test_task_files_may_name_both_backends():
    assert {"minerl", "minestudio"} <= set(backend_names.BUILT_IN)
    with pytest.raises(EnvError, match=r"no backend 'mine'.*'minerl:<MineRL id>' or 'minestudio:MinecraftSim'"):
        make(task_of("mine:rl"))


def test_vpt_plays_minerl_as_it_plays_the_block_world(minerl):
    torch = pytest.importorskip("torch")
    from interplay.agents import SeatedAgent
    from interplay.agents.vpt.agent import VPTAgent
    from interplay.agents.vpt.network import VPT, Architecture
    from interplay.record import RecordedEpisode

    torch.manual_seed(0)
    agent = VPTAgent("tiny", VPT(Architecture(hidsize=16, attention_heads=2, impala_width=1, img_shape=(32, 32, 3))).eval())
    document = find("basalt/find_cave").to_json()
    task = Task.from_json(document | {"env": {"id": CAVE, "options": {}}, "max_steps": 6})
    episode, seated = RecordedEpisode(make(task)), SeatedAgent(agent, task, rng=np.random.default_rng(0))
    _, info = episode.start(1)
    seated.sit(episode.env, "player", info)
    while episode.outcome is None:
        step = episode.step({"player": seated.act()})
        if episode.outcome is None:
            seated.see(step.info)
    played = minerl.servers[0].actions
    assert len(played) == 6
    assert any(action[name] for action in played for name in KEYS)
    assert {action["ESC"] for action in played} == {0}
    episode.env.close()
