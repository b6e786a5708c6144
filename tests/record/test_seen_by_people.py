"""People see larger bars in the block world, and smaller pictures on a busy machine: recordings say so and show it again."""

from dataclasses import replace

import numpy as np
import pytest

from blockworld import screens
from interplay.envs import EnvError, make
from interplay.envs.voxel import CAMERA, KEYS
from interplay.record import verify
from interplay.record.films.film import film
from interplay.record.format.schema import Header, frame_hash
from interplay.record.recorder import Recorder
from interplay.record.replay import resume
from interplay.tasks import find

pytestmark = pytest.mark.long_proof

SANDBOX = find("basalt/sandbox")
FLAT = replace(SANDBOX, env=replace(SANDBOX.env, options={**SANDBOX.env.options, "kind": "flat"}))
HEIGHTS = [None] * 4 + [270] * 3 + [180] * 3 + [None] * 3
"""Of the pictures of the steps."""


def idle(**keys):
    """The action of no key, with some changed."""
    return {name: 0 for name in KEYS} | {CAMERA: np.zeros(2, np.float32)} | keys


@pytest.fixture(scope="module")
def env():
    return make(FLAT)


@pytest.fixture
def recorded(env, archive):
    """An open recording of somebody who opens the inventory while the pictures change their size, and what they saw."""
    env.draw_for(env.people_see)
    recorder: Recorder = archive.recorder(FLAT, env, seed=3, actor="somebody", actor_kind="human")
    recorder.start(*env.reset(seed=3))
    seen = [env.view().pixels.copy()]
    for step, height in enumerate(HEIGHTS):
        env.draw_for(env.people_see, height)
        action = idle(forward=1, inventory=int(step == 2), **{CAMERA: np.array([3, 40], np.float32)})
        action = env.action_of_person(action, "player")
        recorder.step({"player": action}, env.step({"player": action}), owners={"player": "somebody"}, clock_us=step * 50_000)
        seen.append(env.view().pixels.copy())
    yield recorder, seen
    env.draw_for(None)


def test_a_recording_shows_again_what_the_person_saw_at_every_size(archive, recorded):
    recorder, seen = recorded
    episode = archive.seal(recorder.finish("quit"))
    assert episode.header.view == {"gui_scale": 2}
    assert episode.steps().column("view_height").to_pylist() == [None, *HEIGHTS]
    assert [picture.shape for picture in seen[4:9]] == [(360, 640, 3)] + [(270, 480, 3)] * 3 + [(180, 320, 3)]
    for frame, picture in zip(episode.frames, seen, strict=True):
        np.testing.assert_array_equal(frame.pixels, picture)
    assert verify(episode).equal


def test_an_agent_learns_from_what_it_would_have_seen_itself(archive, recorded):
    recorder, seen = recorded
    episode = archive.seal(recorder.finish("quit"))
    world = make(FLAT)
    world.reset(seed=3)
    own = [world.view().pixels.copy()]
    for action in episode.joint_actions():
        world.step(action)
        own.append(world.view().pixels.copy())
    assert own[-1].shape == (360, 640, 3)
    for (_, observed), picture in zip(episode.observations("pixels"), own, strict=True):
        np.testing.assert_array_equal(observed, picture)
    assert not np.array_equal(own[0], seen[0])
    assert frame_hash(own[0]) != episode.steps().column("frame_hash")[0].as_py()


def test_a_video_has_one_size_though_the_pictures_changed_theirs(archive, recorded):
    import av

    from interplay.record.films.film import write_mp4

    recorder, seen = recorded
    episode = archive.seal(recorder.finish("quit"))
    path = archive.root / "seen.mp4"
    write_mp4(episode, path)
    with av.open(str(path)) as container:
        pictures = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert [picture.shape for picture in pictures] == [(360, 640, 3)] * len(seen)
    assert np.abs(pictures[9][::2, ::2].astype(int) - seen[9]).mean() < 12


def test_videos_for_judges_do_not_tell_people_from_agents_by_the_size_of_the_bars(archive, recorded):
    import av

    recorder, _ = recorded
    episode = archive.seal(recorder.finish("quit"))
    with av.open(str(film(archive, episode.id))) as container:
        first = next(container.decode(video=0)).to_ndarray(format="rgb24")
    own = episode.observed[0].pixels
    assert np.abs(first.astype(int) - own).mean() < np.abs(first.astype(int) - episode.frames[0].pixels).mean() / 2


def test_an_episode_goes_on_after_its_process_died_at_a_smaller_size(archive, env):
    env.draw_for(env.people_see)
    recorder = archive.recorder(FLAT, env, seed=3, actor="somebody", actor_kind="human")
    recorder.start(*env.reset(seed=3))
    env.draw_for(env.people_see, 180)
    for step in range(3):
        recorder.step(
            {"player": idle(forward=1)},
            env.step({"player": idle(forward=1)}),
            owners={"player": "somebody"},
            clock_us=step * 50_000,
        )
    recorder.flush()
    recorder.abandon()
    env.draw_for(None)
    resumed = resume(archive, recorder.episode_id)
    assert resumed.env.view().pixels.shape == (360, 640, 3)
    assert resumed.env.drawn_for == {"gui_scale": 2}
    resumed.recorder.step(
        {"player": idle()}, resumed.env.step({"player": idle()}), owners={"player": "somebody"}, clock_us=200_000
    )
    episode = archive.seal(resumed.recorder.finish("quit"))
    assert (episode.header.height, episode.header.width) == (360, 640)
    assert episode.steps().column("view_height").to_pylist() == [None, 180, 180, 180, None]
    assert verify(episode).equal


def test_recordings_of_before_and_of_agents_have_neither_view_nor_column(archive, env):
    env.draw_for(None)
    recorder = archive.recorder(FLAT, env, seed=3, actor="walker", actor_kind="agent")
    recorder.start(*env.reset(seed=3))
    recorder.step({"player": idle()}, env.step({"player": idle()}), clock_us=0)
    episode = archive.seal(recorder.finish("quit"))
    assert episode.header.view is None
    assert "view_height" not in episode.schema.names
    assert episode.observed is episode.frames
    document = episode.header.to_json()
    del document["view"]
    assert Header.from_json(document).view is None


def test_the_cursor_goes_as_far_as_the_mouse_whatever_size_people_see(env):
    env.reset(seed=3)
    world = env.world
    moved = {}
    for view, height in ((None, None), (env.people_see, None), (env.people_see, 270), (env.people_see, 180)):
        env.draw_for(view, height)
        screen = screens.open(world, "inventory")
        x, y = screen.x, screen.y
        env.step({"player": env.action_of_person(idle(**{CAMERA: np.array([3, 6], np.float32)}), "player")})
        moved[view is not None, height] = (screen.x - x, screen.y - y)
    assert moved[False, None] == pytest.approx((40, 20))
    assert [moved[True, height] for height in (None, 270, 180)] == [pytest.approx((20, 10))] * 3


def test_the_cursor_stays_in_the_picture_that_people_see(env):
    env.reset(seed=3)
    env.draw_for(env.people_see)
    screen = screens.open(env.world, "inventory")
    for _ in range(3):
        env.step({"player": env.action_of_person(idle(**{CAMERA: np.array([-90, 180], np.float32)}), "player")})
    left, top = screen.panel.width / 2 - 160, screen.panel.height / 2 - 90
    assert (screen.x - left, screen.y - top) == pytest.approx((319, 0))
    env.draw_for(None)


def test_a_size_that_cannot_be_drawn_is_refused(env):
    with pytest.raises(EnvError, match=r"people's pictures \(360, 270, 180\) rows high, got 200"):
        env.draw_for(env.people_see, 200)
    with pytest.raises(EnvError, match="gui_scale"):
        env.draw_for({"zoom": 3})
    with pytest.raises(EnvError, match="one kind of picture"):
        make("atari/breakout").draw_for({"gui_scale": 2})
