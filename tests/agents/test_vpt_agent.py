"""VPT's network plays: in the block world, several games at once, and with the actions that its heads say."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tiny_vpt import tiny_network  # noqa: E402

import interplay.record  # noqa: E402
from interplay.agents import AgentError, check_agent, rollout  # noqa: E402
from interplay.agents.vpt.agent import VPTAgent  # noqa: E402
from interplay.agents.vpt.codec import BUTTONS, Joint, decode, to_minerl  # noqa: E402
from interplay.agents.vpt.network import resized  # noqa: E402
from interplay.envs.minerl_actions import action_space  # noqa: E402
from interplay.tasks import EnvSpec, find  # noqa: E402

TASK = find("basalt/find_cave")
FLAT = replace(TASK, env=EnvSpec("voxel:basalt", {"kind": "flat", "time": 6000}))
"""On land that takes a moment to make."""


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def test_a_network_of_any_weights_keeps_the_protocol_in_the_block_world():
    check_agent(VPTAgent("tiny", tiny_network()), FLAT, num_decisions=6)


@pytest.mark.journey("VPT as an agent")
def test_a_rollout_in_the_block_world_is_recorded(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    agent = VPTAgent("tiny", tiny_network())
    episode = rollout(archive, FLAT, agent, 1, rng=np.random.default_rng(0), max_steps=8)
    assert (episode.actor, episode.num_steps) == ("tiny", 8)
    assert not any(action["ESC"] or action["swapHands"] for action in episode.actions())
    archive.close()


def test_actions_follow_from_the_network_its_memory_and_the_generator():
    network = tiny_network()
    agent = VPTAgent("tiny", network)
    frames = np.random.default_rng(0).integers(0, 256, (5, 36, 64, 3), np.uint8)
    game = agent.begin(TASK, rng=np.random.default_rng(7))
    rng, state = np.random.default_rng(7), network.initial_state(1)
    for frame in frames:
        picture = torch.from_numpy(resized(frame, (32, 32, 3)))[None, None]
        with torch.inference_mode():
            output, state = network(picture, state)
        heads = [head[0, 0].numpy() for head in (output.buttons, output.camera)]
        joint = Joint(*(np.array([np.argmax(head + rng.gumbel(size=head.size))]) for head in heads))
        (decision,) = agent.decide([{"picture": frame}], [game])
        assert str(decision.action) == str(to_minerl(decode(joint))[0])
        assert action_space().contains(decision.action)
        assert decision.hold_steps == 1
    assert game.state[0].is_there.sum() == 5


def test_games_side_by_side_play_as_each_alone():
    frames = np.random.default_rng(0).integers(0, 256, (6, 36, 64, 3), np.uint8)
    agent = VPTAgent("tiny", tiny_network())

    def play(games, starts):
        states = [agent.begin(TASK, rng=np.random.default_rng(seed)) for seed in games]
        actions = {seed: [] for seed in games}
        for step in range(8):
            playing = [number for number, start in enumerate(starts) if start <= step]
            if not playing:
                continue
            asked = [{"picture": frames[(step + games[number]) % 6]} for number in playing]
            for number, decision in zip(playing, agent.decide(asked, [states[number] for number in playing]), strict=True):
                actions[games[number]].append(str(decision.action))
        return actions

    together = play([3, 5], [0, 4])  # the second begins later, with a shorter memory
    assert together == play([3], [0]) | play([5], [4])


def test_draws_follow_the_probabilities_that_the_heads_say():
    network = tiny_network()
    for head, preferred in (("buttons", [288, 0]), ("camera", [60])):
        layer = network.pi_head[head].linear_layer
        layer.weight.zero_()
        layer.bias.fill_(-100.0)
        # With temperature 2 a logit of 2 ln 3 is three times as probable as one of 0.
        layer.bias[preferred] = torch.tensor([2 * float(np.log(3)), 0.0][: len(preferred)])
    agent = VPTAgent("tiny", network)
    game = agent.begin(TASK, rng=np.random.default_rng(0))
    black = {"picture": np.zeros((36, 64, 3), np.uint8)}
    pressed = [agent.decide([black], [game])[0].action for _ in range(120)]
    assert all(sum(action[name] for name in BUTTONS) == action["forward"] for action in pressed)
    # Five standard deviations of 120 draws.
    assert abs(sum(action["forward"] for action in pressed) - 90) < 5 * np.sqrt(120 * 0.75 * 0.25)


def test_a_task_with_other_actions_is_refused():
    with pytest.raises(AgentError, match="'tiny' presses MineRL's keys and cannot play atari/breakout"):
        VPTAgent("tiny", tiny_network()).begin(find("atari/breakout"), rng=np.random.default_rng(0))
