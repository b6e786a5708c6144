"""Trained policies on disk: what is written comes back; what is damaged or does not fit says so."""

import json

import numpy as np
import pytest
from gymnasium import spaces

torch = pytest.importorskip("torch")


from interplay.agents import SeatedAgent, actions, check_agent, decide, find, names, networks  # noqa: E402
from interplay.agents.actions import ActionError, num_outputs  # noqa: E402
from interplay.agents.policy import PolicyError, action_space_of, load_policy, save_policy  # noqa: E402
from interplay.envs import make  # noqa: E402
from interplay.errors import NotFoundError  # noqa: E402
from interplay.record import RecordedEpisode  # noqa: E402
from interplay.record.format.spaces import from_json, to_json  # noqa: E402
from interplay.tasks import find as find_task  # noqa: E402

TASK = find_task("atari/breakout")
NARROW = {"name": "conv", "shape": [4, 84, 84], "features": 256}
ARCHITECTURE = {"name": "feedforward", "encoder": {"name": "conv", "shape": [4, 84, 84]}, "outputs": 18}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def folder(archive):
    """A policy with fresh weights."""
    torch.manual_seed(0)
    folder = archive.root / "models" / "fresh"
    details = {"architecture": ARCHITECTURE, "temperature": 1.0}
    network = networks.build(ARCHITECTURE)
    save_policy(folder, network, task=TASK, algorithm="bc", observation="dqn", space=spaces.Discrete(18), details=details)
    return folder


def test_the_network_of_mnih_has_as_many_parameters_as_the_paper_says():
    # 4*8*8*32+32, 32*4*4*64+64, 64*3*3*64+64, 3136*512+512, 512*18+18
    assert (
        sum(weights.numel() for weights in networks.build(ARCHITECTURE).parameters()) == 8224 + 32832 + 36928 + 1606144 + 9234
    )


def test_a_policy_comes_back_as_it_was_written(folder, archive):
    torch.manual_seed(0)
    network = networks.build(ARCHITECTURE)
    stacks = np.random.default_rng(0).integers(0, 256, (3, 4, 84, 84)).astype(np.uint8)
    for name in ("fresh", str(folder)):
        policy = find(name, archive)
        assert policy.name == "fresh"
        np.testing.assert_allclose(policy.outputs(stacks), network(torch.from_numpy(stacks)).detach().numpy(), atol=1e-6)
    check_agent(policy, TASK)
    listed = names(archive)[-1]
    assert (listed.name, listed.kind, listed.task) == ("fresh", "policy", TASK.id)


def test_temperature_zero_takes_the_likeliest_and_one_draws_from_the_probabilities(folder):
    policy = load_policy(folder)
    logits = np.log(np.array([[0.1, 0.2, 0.7]]))
    policy.outputs = lambda observations, games: logits.repeat(len(observations), axis=0)
    rng = policy.begin(TASK, rng=np.random.default_rng(0))
    black = {"picture": np.zeros((4, 84, 84), np.uint8)}
    drawn = np.bincount([policy.decide([black], [rng])[0].action for _ in range(10_000)]) / 10_000
    np.testing.assert_allclose(drawn, [0.1, 0.2, 0.7], atol=0.02)
    policy.temperature = 0.0
    assert {policy.decide([black], [rng])[0].action for _ in range(20)} == {2}


def test_a_policy_plays_several_games_at_once_as_it_plays_each_alone(folder):
    policy = load_policy(folder)

    def play(seeds):
        games = [(RecordedEpisode(make(TASK)), SeatedAgent(policy, TASK, rng=np.random.default_rng(seed))) for seed in seeds]
        for seed, (episode, seated) in zip(seeds, games, strict=True):
            seated.sit(episode.env, "player", episode.start(seed)[1])
        actions = []
        for _ in range(40):
            decide([seated for _, seated in games])
            actions.append([seated.act() for _, seated in games])
            for (episode, seated), action in zip(games, actions[-1], strict=True):
                seated.see(episode.step({"player": action}).info)
        for episode, _ in games:
            episode.env.close()
        return np.array(actions)

    together = play([1, 2, 3])
    assert len(np.unique(together)) > 5
    for column, seed in enumerate([1, 2, 3]):
        np.testing.assert_array_equal(together[:, column], play([seed])[:, 0])


def test_a_policy_refuses_another_world(folder):
    with pytest.raises(PolicyError, match=r"trained on atari/breakout .* cannot play atari/qbert"):
        load_policy(folder).begin(find_task("atari/qbert"), rng=np.random.default_rng(0))


def rewrite(folder, **changes):
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def set_network(folder, **changes):
    rewrite(folder, architecture={**ARCHITECTURE, **changes})


def drop(folder, key):
    path = folder / "model.json"
    path.write_text(json.dumps({name: value for name, value in json.loads(path.read_text()).items() if name != key}))


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda folder: (folder / "model.json").unlink(), "model.json is missing"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors cannot be read: No such file"),
        (lambda folder: (folder / "model.json").write_text('{"format": '), "model.json is damaged"),
        (lambda folder: (folder / "model.json").write_text("[1]"), "does not describe a policy"),
        (lambda folder: rewrite(folder, version=3), "has version 3, this Interplay reads version 2"),
        (lambda folder: rewrite(folder, temperature="hot"), "'temperature': it is 'hot', expected a number from 0 to 100"),
        (lambda folder: rewrite(folder, temperature=float("nan")), "'temperature': it is nan, expected a number from 0 to 100"),
        (lambda folder: rewrite(folder, temperature=float("inf")), "'temperature': it is inf, expected a number"),
        (lambda folder: rewrite(folder, temperature=-1), "'temperature': it is -1, expected a number"),
        (lambda folder: rewrite(folder, temperature=True), "'temperature': it is True, expected a number"),
        (lambda folder: rewrite(folder, env={"options": {}}), "'env': its 'id' is None, expected a text"),
        (lambda folder: rewrite(folder, observation="dqm"), "'observation': unknown pipeline 'dqm'.*did you mean 'dqn'"),
        (
            lambda folder: rewrite(folder, actions={"kind": "Discrete"}),
            r"'actions': it is .*, expected a space \(KeyError: 'n'",
        ),
        (lambda folder: rewrite(folder, actions={"kind": "Discrete", "n": 10**9, "start": 0}), "would give 1000000000 numbers"),
        (lambda folder: rewrite(folder, coding="vpt"), r"'actions' is Discrete\(18\), expected MultiDiscrete"),
        (lambda folder: rewrite(folder, embedding={"network": "../x", "weights_sha256": ""}), "'embedding': it is .*a name"),
        (lambda folder: drop(folder, "task"), "'task': it is missing"),
        (lambda folder: set_network(folder, outputs=float("nan")), "'outputs' is nan, expected a whole number from 1 to 65536"),
        (lambda folder: set_network(folder, outputs="18"), "'outputs' is '18', expected a whole number"),
        (
            lambda folder: set_network(folder, outputs=10**12),
            "'outputs' is 1000000000000, expected a whole number from 1 to 65536",
        ),
        (lambda folder: set_network(folder, units=3), "unknown setting of network architecture 'feedforward': 'units'"),
        (lambda folder: set_network(folder, encoder=7), "encoder is 7, expected a table with a name"),
        (lambda folder: set_network(folder, encoder={"name": "conv"}), "encoder 'conv': 'shape' is missing"),
        (
            lambda folder: set_network(folder, encoder={"name": "conv", "shape": [4]}),
            r"'shape' is \[4\], expected the shape of a pict",
        ),
        (lambda folder: set_network(folder, encoder={"name": "mlp", "shape": [65536] * 4}), "'architecture'"),
        (lambda folder: flip_a_byte(folder / "model.safetensors"), "is not the file that model.json describes"),
        (
            lambda folder: rewrite(folder, architecture={**ARCHITECTURE, "outputs": 6}),
            r"'architecture': its network gives 6 numbers, expected 18 for 'actions' in Discrete\(18\)",
        ),
        (
            lambda folder: rewrite(
                folder, architecture={**ARCHITECTURE, "encoder": {**ARCHITECTURE["encoder"], "features": 256}}
            ),
            r"weights do not fit the architecture .*size mismatch for encoder.hidden.weight",
        ),
        (lambda folder: rewrite(folder, architecture={"name": "feedforwad"}), "did you mean 'feedforward'"),
    ],
)
def test_damaged_policies_say_what_is_wrong(folder, archive, damage, text):
    damage(folder)
    with pytest.raises(PolicyError, match=text):
        find("fresh", archive)
    assert "fresh" in {known.name for known in names(archive)}  # still listed, so that one sees it


def test_policies_are_among_the_names_that_are_offered(folder, archive):
    with pytest.raises(NotFoundError, match="did you mean 'fresh'"):
        find("frseh", archive)


def saved(archive, name, task, architecture, space, observation, temperature=1.0):
    torch.manual_seed(0)
    details = {"architecture": architecture, "temperature": temperature}
    network = networks.build(architecture)
    folder = archive.root / "models" / name
    save_policy(folder, network, task=task, algorithm="bc", observation=observation, space=space, details=details)
    return find(name, archive)


@pytest.mark.parametrize("temperature", [0.0, 0.3])
def test_a_policy_of_continuous_actions_plays_within_their_bounds(archive, temperature):
    task = find_task("gymnasium/pendulum")
    space = action_space_of(task)
    architecture = {
        "name": "feedforward",
        "encoder": {"name": "mlp", "shape": [3], "hidden": [8]},
        "outputs": num_outputs(space),
    }
    policy = saved(archive, "swings", task, architecture, space, "state", temperature)
    assert policy.space == space
    check_agent(policy, task)
    mean, log_deviation = policy.outputs(np.ones((1, 3), np.float32))[0]
    game = policy.begin(task, rng=np.random.default_rng(0))
    drawn = [policy.decide([{"state": np.ones(3, np.float32)}], [game])[0].action[0] for _ in range(400)]
    # Mean and deviation of 400 draws: within five standard errors, which fails once in a million times.
    deviation = temperature * np.exp(log_deviation)
    assert abs(np.mean(drawn) - mean) <= 5 * deviation / 20 + 1e-6
    assert abs(np.std(drawn) - deviation) <= 5 * deviation / np.sqrt(800) + 1e-6


def test_a_recurrent_policy_remembers_each_game_apart(archive):
    task = find_task("gymnasium/frozen_lake")
    encoder = {"name": "mlp", "shape": [16], "hidden": [8]}
    architecture = {"name": "recurrent", "encoder": encoder, "outputs": 4, "memory": 6}
    policy = saved(archive, "remembers", task, architecture, action_space_of(task), "state")
    check_agent(policy, task)  # another game beside it changes nothing
    one, other = (policy.begin(task, rng=np.random.default_rng(0)) for _ in range(2))
    places = np.eye(16, dtype=np.float32)
    first = policy.outputs(places[:1], [one])
    second = policy.outputs(places[:1], [one])
    assert not np.allclose(first, second), "the same place again, but later"
    np.testing.assert_array_equal(policy.outputs(places[:1], [other]), first)


def test_a_policy_of_composed_actions_presses_the_keys_of_the_block_world(archive):
    task = find_task("basalt/find_cave")
    space = action_space_of(task)
    shape = (32, 32, 3)
    encoder = {"name": "conv", "shape": list(shape), "filters": [[4, 8, 8]], "features": 8}
    architecture = {"name": "feedforward", "encoder": encoder, "outputs": num_outputs(space)}
    policy = saved(archive, "digs", task, architecture, space, "native")
    game = policy.begin(task, rng=np.random.default_rng(0))
    action = policy.decide([{"picture": np.zeros(shape, np.uint8)}], [game])[0].action
    assert space.contains(action)
    assert set(action) == set(space.spaces)


ANY = spaces.Dict(
    {
        "choice": spaces.Discrete(3, start=2),
        "several": spaces.MultiDiscrete([2, 5], start=[1, 0]),
        "bits": spaces.MultiBinary(3),
        "box": spaces.Box(np.array([-1, 0], np.float32), np.array([np.inf, 1], np.float32)),
        "pair": spaces.Tuple([spaces.Discrete(2), spaces.Discrete(4)]),
    }
)


def test_composed_actions_are_drawn_part_by_part():
    assert num_outputs(ANY) == 3 + 7 + 6 + 4 + 6
    again = from_json(json.loads(json.dumps(to_json(ANY))))
    assert list(again.spaces) == list(ANY.spaces)
    assert again["box"] == ANY["box"]
    rng = np.random.default_rng(0)
    for _ in range(50):
        action = actions.draw(again, rng.normal(size=26).astype(np.float32), 1.0, rng)
        assert ANY["choice"].contains(action["choice"])
        assert ANY["box"].contains(action["box"])
        assert ANY["pair"].contains(action["pair"])
    likely = np.full(26, -50.0)
    likely[[1, 3, 9]] = 50  # in the order of the parts' names: bits 3 x 2, box 4, choice 3, pair 2 + 4, several 2 + 5
    action = actions.draw(ANY, likely, 0.0, rng)
    assert action["bits"].tolist() == [1, 1, 0]
    np.testing.assert_array_equal(action["box"], [-1, 0])


def test_actions_without_a_form_are_refused():
    with pytest.raises(ActionError, match=r"policies do not support actions in Text"):
        num_outputs(spaces.Text(5))
