"""Any space goes through recording, proof, every data set and back: equal, or refused in words."""

import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from any_spaces import any_space, equal
from gymnasium import spaces
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import interplay.record
from interplay.errors import InterplayError
from interplay.learn.reading import load
from interplay.record import Recording, RecordingError, verify
from interplay.record.datasets import hugging_face as from_hugging_face
from interplay.record.datasets import hugging_face as to_hugging_face
from interplay.record.datasets import lerobot_export as to_lerobot
from interplay.record.datasets import lerobot_import as from_lerobot
from interplay.record.datasets import minari_export as to_minari
from interplay.record.datasets import minari_import as from_minari
from interplay.record.exchange.card import Release
from interplay.record.exchange.pseudonyms import Pseudonyms

RELEASED = {"pseudonyms": Pseudonyms(b"0" * 64), "release": Release(), "pictures": "none"}
FORMATS = {
    "minari": (
        lambda episodes, out: to_minari.export(episodes, out, observations="environment", pseudonyms=RELEASED["pseudonyms"]),
        from_minari.import_data_sets,
    ),
    "lerobot": (lambda episodes, out: to_lerobot.export(episodes, out, **RELEASED), from_lerobot.FORMAT.import_data_sets),
    "hugging-face": (
        lambda episodes, out: to_hugging_face.export(episodes, out, **RELEASED),
        from_hugging_face.FORMAT.import_data_sets,
    ),
}


class Drawing(gymnasium.Env):
    """Observes draws from a space."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, observations, actions, seed):
        self.observation_space, self.action_space = observations, actions
        observations.seed(seed)
        actions.seed(seed + 1)
        self.seen, self.taken = [], []

    def reset(self, *, seed=None, options=None):
        return self._drawn(), {}

    def step(self, action):
        self.taken.append(action)
        return self._drawn(), 0.5, False, len(self.taken) == 3, {}

    def _drawn(self):
        self.seen.append(self.observation_space.sample())
        return self.seen[-1]


def recorded(archive, env, seed):
    """The episode of a game with random actions."""
    with Recording(env, archive, actor="me", task="mine/any") as recording:
        recording.action_space.seed(seed)
        recording.reset(seed=1)
        for _ in range(3):
            recording.step(recording.action_space.sample())
    return archive.episodes()[0]


def said(space):
    """A space without the dtype of Discrete and the missing bounds of whole numbers, which Minari does not keep."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        return type(space), {key: said(part) for key, part in parts}
    return (int(space.n), int(space.start)) if isinstance(space, spaces.Discrete) else space


def require_equal(episode, env):
    """What is kept is what was seen and done, and lies in the spaces that the file describes."""
    header = episode.header
    assert said(header.observation_space) == said(env.observation_space)
    assert said(header.action_spaces["player"]) == said(env.action_space)
    kept = list(episode.raw_observations()), list(episode.actions())
    described = header.observation_space, header.action_spaces["player"]
    for space, values, given_values in zip(described, kept, (env.seen, env.taken), strict=True):
        assert len(values) == len(given_values)
        assert all(map(equal, values, given_values))
        assert all(space.contains(value) for value in values)


PHASES = (Phase.explicit, Phase.generate)  # a smaller example is not worth minutes
ODD = spaces.Dict({"robot/arm": spaces.Box(0, 1, (2,)), "a": spaces.Dict({"b": spaces.Discrete(3, start=-1)})})


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(any_space, any_space, st.integers(0, 2**31))
@example(ODD, spaces.Discrete(3, start=5), 1)
@example(spaces.Box(0, 1, (0,)), spaces.MultiDiscrete([2, 3], start=[4, -4]), 1)
@example(spaces.Text(5, min_length=0, charset="to the"), spaces.Box(np.float32([-1, 0]), np.float32([1, 9])), 1)
@example(spaces.Dict({1: spaces.MultiBinary([2, 2])}), spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1, ())]), 1)
@example(spaces.Tuple([]), spaces.Box(0, 2**64 - 1, (1,), np.uint64), 3)
def test_any_space_comes_back_equal_or_is_refused_in_words(observations, actions, seed):
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(f"{folder}/data")) as archive:
        env = Drawing(observations, actions, seed)
        episode = recorded(archive, env, seed)
        require_equal(episode, env)
        assert verify(episode).equal
        if isinstance(actions, spaces.Discrete):
            with suppress(InterplayError):
                found = load([episode], observation="state")
                assert (found.actions + actions.start).tolist() == [int(action) for action in env.taken]
        for name, (to_format, from_format) in FORMATS.items():
            out = str(Path(folder) / name)
            with suppress(InterplayError), closing(interplay.record.open(f"{folder}/{name}-data")) as other:
                to_format([episode], out)
                result = from_format(other, out)
                assert result.kept or result.refused
                for again in other.episodes():
                    require_equal(again, env)


@pytest.mark.parametrize(
    "space", [spaces.Sequence(spaces.Discrete(2)), spaces.Graph(spaces.Discrete(2), None), spaces.OneOf([spaces.Discrete(2)])]
)
def test_spaces_without_a_fixed_form_are_refused_inside_of_others_too(archive, space):
    with pytest.raises(RecordingError, match=r"cannot be recorded; spaces may be Discrete, Box"):
        Recording(Drawing(spaces.Dict({"a": spaces.Tuple([space])}), spaces.Discrete(2), 1), archive, actor="me")
