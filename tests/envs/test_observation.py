"""The DQN view equals Gymnasium's own wrappers, stack for stack, live and over recorded frames."""

import gymnasium
import numpy as np
import pytest

from interplay.envs import EnvError, Frame, Observer, make, pipeline
from interplay.envs.observation import MAX_TEXT, grey, observe
from interplay.errors import NotFoundError
from interplay.tasks import Task, builtin_suites

SCENE = [
    ("atari/breakout", {"lives": (np.int64, 5)}),
    ("basalt/find_cave", {"health": (np.float32, 20), "food": (np.float32, 20)}),
]
GAMES = [task for suite in builtin_suites() for task in suite.tasks if task.env.backend == "ale"]


def without_noops(task: Task) -> Task:
    """The task started as Gymnasium starts it."""
    document = task.to_json()
    document["env"]["options"] = {"noop_max": 0, "sticky": 0.0}
    return Task.from_json(document)


def reference(task: Task) -> gymnasium.Env:
    """Gymnasium's environment and wrappers for the same game."""
    import ale_py

    gymnasium.register_envs(ale_py)
    name = "".join(part.capitalize() for part in task.env.name.split("_"))
    env = gymnasium.make(f"ALE/{name}-v5", frameskip=1, repeat_action_probability=0.0, full_action_space=True)
    env = gymnasium.wrappers.AtariPreprocessing(env, noop_max=0)
    return gymnasium.wrappers.FrameStackObservation(env, 4)


@pytest.mark.parametrize("task", GAMES, ids=lambda task: task.name)
def test_every_stack_of_a_whole_episode_equals_gymnasium(task):
    env, theirs, view = make(without_noops(task)), reference(task), pipeline("dqn")
    rng = np.random.default_rng(3)
    env.reset(seed=0)
    expected, _ = theirs.reset(seed=0)
    frames = [Frame(env.view().pixels.copy(), env.view().palette)]
    live = [view.reset(env.view())]
    np.testing.assert_array_equal(live[0], expected)
    ended, num_decisions, cut = False, 0, 12_000
    while not ended and len(frames) < cut:
        action = int(rng.integers(18))
        expected, _, terminated, _, _ = theirs.step(action)
        for _ in range(view.frame_skip):
            _, _, ended, _, _ = env.step({"player": action})
            frames.append(Frame(env.view().pixels.copy(), env.view().palette))
            observation = view.push(env.view(), ended=ended)
            if ended:
                break
        assert observation is not None
        num_decisions += 1
        np.testing.assert_array_equal(observation, expected, err_msg=f"decision {num_decisions}")
        live.append(observation)
        assert ended == terminated
    assert ended or len(frames) >= cut
    assert num_decisions > 100
    recorded = [observation for _, observation in observe(pipeline("dqn"), frames, ended=ended)]
    assert len(recorded) == len(live)
    assert all(np.array_equal(one, other) for one, other in zip(recorded, live, strict=True))


def test_the_first_stack_repeats_the_first_picture():
    env = make("atari/breakout")
    env.reset(seed=1)
    stack = pipeline("dqn").reset(env.view())
    assert stack.shape == (4, 84, 84)
    assert all(np.array_equal(stack[0], picture) for picture in stack[1:])


def test_an_episode_that_ends_early_still_gives_a_last_observation():
    frames = [Frame(np.full((210, 160, 3), value, np.uint8)) for value in (10, 20, 30)]
    steps = [step for step, _ in observe(pipeline("dqn"), frames, ended=True)]
    assert steps == [0, 2]


def test_an_episode_of_one_frame_has_one_observation():
    assert [step for step, _ in observe(pipeline("dqn"), [Frame(np.zeros((210, 160, 3), np.uint8))])] == [0]
    assert list(observe(pipeline("dqn"), [])) == []


def test_the_native_view_is_the_colour_picture():
    env = make("atari/qbert")
    env.reset(seed=2)
    native = pipeline("native")
    np.testing.assert_array_equal(native.reset(env.view()), env.render())
    assert native.space().shape == (210, 160, 3)


def test_grey_of_rgb_and_of_a_palette_agree():
    env = make("atari/qbert")
    env.reset(seed=2)
    own = grey(env.view())
    np.testing.assert_array_equal(own, grey(Frame(env.render())))
    np.testing.assert_array_equal(own, grey(Frame(env.view().pixels, env.view().palette.copy())))
    with pytest.raises(EnvError, match=r"shape \(256, 3\)"):
        grey(Frame(env.view().pixels, np.zeros((4, 3), np.uint8)))


def test_an_unknown_pipeline_offers_the_nearest():
    with pytest.raises(NotFoundError, match="did you mean 'dqn'"):
        pipeline("dqm")


@pytest.mark.parametrize(("task_id", "shown"), SCENE)
def test_a_scene_has_the_parts_it_declares(task_id, shown):
    env = make(task_id)
    _, info = env.reset(seed=3)
    observer = Observer("scene", env, "player")
    observation = observer.reset(info)
    height, width = env.view().pixels.shape[:2]
    assert {name: space.shape for name, space in observer.space()["info"].items()} == dict.fromkeys(shown, ())
    assert observer.space()["picture"].shape == (height, width, 3)
    assert observer.space().contains(observation)
    assert {name: (value.dtype, value) for name, value in observation["info"].items()} == shown
    assert observation["text"] == env.task.instructions
    env.close()


@pytest.mark.parametrize("name", ["dqn", "native", "pixels"])
def test_other_pipelines_show_their_picture_and_nothing_else(name):
    env = make("atari/breakout")
    _, info = env.reset(seed=3)
    observer = Observer(name, env, "player")
    observation = observer.reset(info)
    assert list(observation) == list(observer.space().spaces) == ["picture"]
    np.testing.assert_array_equal(observation["picture"], pipeline(name).reset(env.view()))
    env.step({"player": 0})
    assert (observer.push({}, ended=False) is None) == (name == "dqn")
    env.close()


def test_what_the_world_says_stands_behind_the_instructions():
    env = make("atari/breakout")
    _, info = env.reset(seed=3)
    observer = Observer("scene", env, "player")
    assert observer.reset(info | {"text": "You hear a ball."})["text"].endswith("from behind.\n\nYou hear a ball.")
    long = observer.push(info | {"text": "a" * 20_000}, ended=False)
    assert len(long["text"]) == MAX_TEXT
    assert observer.space().contains(long)
    env.close()
