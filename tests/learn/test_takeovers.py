"""What people took over from agents: the steps are known by their owners, and can weigh more."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_runs import config_of, fit
from toy_transitions import make_transitions

import interplay.record
from interplay.agents.policy import load_policy
from interplay.envs import make
from interplay.learn import TransitionError, load
from interplay.learn.algorithms.bc import group_weights, groups
from interplay.learn.reading import until_takeover
from interplay.record import Owner, RecordedEpisode
from interplay.tasks import find

INVADERS = find("atari/space_invaders")
WHO = ["bot"] * 10 + ["ann"] * 9 + ["bot"] * 12 + ["ann"] * 9


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A game at a shared wheel, as the server records it: the agent begins, and a person takes over twice."""
    archive = interplay.record.open(tmp_path_factory.mktemp("shared") / "data")
    env = make(INVADERS)
    recorder = archive.recorder(INVADERS, env, seed=1, owners={"player": Owner("bot", "agent")})
    played = RecordedEpisode(env, recorder, max_steps=len(WHO))
    played.start(1)
    for who in WHO:
        name = "participant-7" if who == "ann" else who
        played.step({"player": 3 if who == "ann" else 1}, owners={"player": name})
    env.close()
    yield archive.seal(recorder.finish("time_limit"))
    archive.close()


def test_owners_of_decisions_equal_the_recordings(shared):
    data = load([shared], offsets=(0, 1, 2, 3))
    recorded = shared.steps().column("owner.player").to_pylist()[: shared.num_steps]
    assert [{"participant-7": "ann"}.get(name, name) for name in recorded] == WHO
    names = [owner.name for owner in data.names]
    for index in range(len(data)):
        acting = set(recorded[data.steps[index] : data.steps[index] + data.held[index]])
        owner = data.owners[index]
        assert acting == {names[owner]} if owner >= 0 else len(acting) == 2


def test_a_decision_says_how_long_it_is_until_a_person_takes_over(shared):
    data = load([shared])
    assert dict(zip(data.steps.tolist(), data.until_takeover.tolist(), strict=True)) == {
        0: 10, 4: 6, 8: 2, 12: 0, 16: -1, 20: 11, 24: 7, 28: 3, 32: 0, 36: 0
    }  # fmt: skip
    assert set(data.of("human").until_takeover) == {0}, "the choice of whose decisions leaves it as it is"


def test_a_demonstration_is_no_takeover():
    assert until_takeover(np.ones(8, bool), np.array([0, 4])).tolist() == [-1, -1]
    assert until_takeover(np.zeros(8, bool), np.array([0, 4])).tolist() == [-1, -1]
    person = np.array([1, 1, 1, 0, 0, 1, 1, 1], bool)  # a person began, let an agent act, and took over again
    assert until_takeover(person, np.arange(8)).tolist() == [-1, -1, -1, 2, 1, 0, 0, 0]


# Weights


def test_weights_are_of_the_groups_and_have_mean_one():
    until = np.array([0, 0, 5, 60, 61, -1, -1, -1, -1, -1])
    assert groups(until, 60).tolist() == groups(torch.from_numpy(until), 60).tolist() == [0, 0, 1, 1, 2, 2, 2, 2, 2, 2]
    config = config_of("bc")
    assert group_weights(until, config) is None
    weights = group_weights(until, replace(config, takeover_weight=3.0, before_weight=0.0))
    assert (weights / weights[2]).tolist() == [3, 0, 1]
    assert weights @ [2, 2, 6] == pytest.approx(10)
    weights = group_weights(until, replace(config, equal_shares=True, before_weight=0.5))
    assert weights[0] * 2 == pytest.approx(weights[1:] @ [2, 6]) == pytest.approx(5)
    assert weights[1] == weights[2] / 2


def test_a_clone_follows_who_took_over_as_far_as_they_weigh(tmp_path):
    seen = np.ones((42, 1), np.float32)  # one state: of 40 decisions two are a person's, who does the other thing
    actions = [0] * 38 + [1, 1]
    until = np.array([-1] * 30 + [8, 7, 6, 5, 4, 3, 2, 1] + [0, 0])
    data = make_transitions(seen, actions, 1, until_takeover=until)

    def share(**weights):
        config = config_of("bc", updates=60, batch_size=40, learning_rate=0.05, validation=0.0, **weights)
        policy = load_policy(fit(data, config, tmp_path / str(len(list(tmp_path.iterdir())))).folder)
        return torch.from_numpy(policy.outputs(np.ones((1, 1), np.float32))[0]).softmax(0)[1].item()

    assert share() == pytest.approx(0.05, abs=0.01)
    assert share(equal_shares=True) == pytest.approx(0.5, abs=0.01)
    assert share(takeover_weight=2.0, rest_weight=0.0, before_weight=0.5) == pytest.approx(0.5, abs=0.01)


def test_weights_that_leave_nothing_are_refused():
    config = config_of("bc")
    with pytest.raises(TransitionError, match=r"nobody took over from an agent.*\n.*wheel=AGENT.*--actor any"):
        group_weights(np.full(4, -1), replace(config, equal_shares=True))
    with pytest.raises(
        TransitionError, match=r"all decisions have weight 0: 0 after takeovers, 1 shortly before, and 3 others"
    ):
        group_weights(np.array([-1, -1, -1, 5]), replace(config, rest_weight=0.0, before_weight=0.0))
