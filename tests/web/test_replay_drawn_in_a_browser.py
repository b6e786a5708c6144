"""A recorded game of the block world drawn by a real Chromium with WebGL2: jumps, a free camera, the map, refusals, losses."""

import io
from collections.abc import Callable

import numpy as np
import pytest
from long_episode import record_long_episode
from PIL import Image
from seldom_drawn import draw_seldom
from test_pages_in_a_browser import look, opened, page, until  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record
from blockworld.scene.decoder import SceneDecoder
from interplay.envs import make
from interplay.envs.voxel import CAMERA, KEYS
from interplay.play.connections import wire
from interplay.play.connections.tokens import operator_token
from interplay.record import Episode
from interplay.tasks import find

pytestmark = pytest.mark.parametrize("chromium", ["webgl"], indirect=True)

NUM_STEPS = 1200
LOAD_S = 300
"""A machine that has never run the block world compiles it first; and the processor draws what a graphics card would."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The server's data folder."""
    archive = interplay.record.open(tmp_path_factory.mktemp("watched"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def episode(archive) -> Episode:
    """A minute in a land that everybody may know."""
    return record_long_episode(archive, num_steps=NUM_STEPS, task_id="basalt/make_waterfall")


@pytest.fixture(scope="module")
def server(archive, tmp_path_factory):
    """The address of a real `interplay serve`."""
    with serving(archive.root, tmp_path_factory.mktemp("serve-watched"), {}) as address:
        yield address


def open_replay(page, episode: Episode, drawn: str = "here") -> None:  # noqa: F811
    """Its page, when the first step is shown."""
    page.set_viewport_size({"width": 520, "height": 800})  # few pixels
    draw_seldom(page)
    page.add_init_script(f'localStorage.setItem("interplay.drawn", "{drawn}")')
    page.goto(f"/episodes/{episode.id}")
    page.locator("[data-replay][data-shown]").wait_for(timeout=LOAD_S * 1000)


@pytest.fixture(scope="module")
def watched(chromium, server, picture, episode):
    """A page on which the episode is watched by test after test: to open one takes seconds."""
    with opened(chromium, server, "desktop", picture) as opened_page:
        open_replay(opened_page, episode)
        yield opened_page


def jump(page, step: int) -> float:  # noqa: F811
    """Go to a step; the seconds until it is shown."""
    return page.evaluate(
        """(step) => new Promise((resolve) => {
          const root = document.querySelector("[data-replay]"), scrub = root.querySelector("[data-scrub]");
          const start = performance.now(), isShown = () => root.dataset.shown === String(step);
          scrub.value = String(step);
          scrub.dispatchEvent(new Event("input", { bubbles: true }));
          const look = () => isShown() ? resolve((performance.now() - start) / 1000) : setTimeout(look, 50);
          look();
        })""",
        step,
    )


def seen(page) -> np.ndarray:  # noqa: F811
    """The picture as it is on the screen, int16, shape (H, W, 3)."""
    last = None
    for _ in range(60):  # until what stands is drawn
        page.wait_for_timeout(250)
        png = page.locator("[data-replay] .drawn").screenshot()
        picture = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(np.int16)
        if last is not None and np.array_equal(picture, last):
            return picture
        last = picture
    pytest.fail("the picture does not stand still")


def seen_once(page, is_it: Callable[[np.ndarray], bool]) -> np.ndarray:  # noqa: F811
    """The picture as soon as it is so; on a busy machine the next one may come later than `seen` looks twice."""
    for _ in range(20):
        if is_it(picture := seen(page)):
            return picture
    pytest.fail("the picture stays as it is")


def test_steps_look_as_the_server_draws_them_in_any_order(watched, episode):
    assert watched.locator("[data-replay-drawn-note]").inner_text() == "Drawn in this browser."
    seconds = []
    for step in (37 * 20, 37 * 3, 37 * 31, 37 * 4):
        seconds.append(jump(watched, step))
        ours = seen(watched)
        size = (ours.shape[1], ours.shape[0])
        theirs = np.asarray(Image.fromarray(episode.frames[step].rgb()).resize(size, Image.Resampling.BOX)).astype(np.int16)
        print("step", step, "differs by", np.abs(ours - theirs).mean())
        watched.shoot(f"watched-{step}")
        assert np.abs(ours - theirs).mean() < 12
    print("seconds of a jump:", seconds)


def split(body: bytes) -> list[tuple[int, int, bytes]]:
    """Kind, step and payload of the frames of a list."""
    found = []
    while body:
        end = 4 + int.from_bytes(body[:4], "little")
        head = wire.unpack_header(body[4:end])
        found.append((head.kind, head.step, body[4 + wire.HEADER_BYTES : end]))
        body = body[end:]
    return found


def test_what_is_sent_is_the_world_wherever_one_jumps(page, episode):  # noqa: F811
    page.goto("/episodes")
    decoder = SceneDecoder()
    for kind, _, payload in split(page.request.get(f"/api/episodes/{episode.id}/land").body()):
        decoder.apply(kind, payload)
    assert decoder.known.all()
    actions = episode.joint_actions()
    for start, count, every in ((700, 3, 1), (100, 4, 50), (NUM_STEPS - 2, 30, 1)):
        asked = f"start={start}&count={count}&every={every}"
        sent = split(page.request.get(f"/api/episodes/{episode.id}/scenes?{asked}").body())
        assert [step for _, step, _ in sent] == list(range(start, min(start + count * every, NUM_STEPS + 1), every))
        env, done = make(episode.task), 0
        env.reset(seed=episode.seed)
        for kind, step, payload in sent:
            for action in actions[done:step]:
                env.step_unseen(action)
            done = step
            decoder.apply(kind, payload)
            assert np.array_equal(decoder.blocks, env.world.grid.blocks)
            assert np.array_equal(decoder.light, env.world.grid.light)
            assert decoder.document["me"]["x"] == pytest.approx(env.world.player.x, abs=1e-5)
        env.close()
    assert page.request.get(f"/api/episodes/{episode.id}/scenes?start={NUM_STEPS + 1}").body() == b""
    assert page.request.get(f"/api/episodes/{episode.id}/scenes?seat=nobody").status == 404


def test_a_free_camera_and_a_map_and_back_to_what_was_seen(watched):
    jump(watched, 400)
    before = seen(watched)
    watched.keyboard.press("c")
    watched.locator("[data-replay][data-eyes=free]").wait_for()
    watched.keyboard.down("s")
    watched.wait_for_timeout(1200)
    command = (
        "{ key: 'Meta', code: 'MetaLeft', metaKey: true, bubbles: true }"  # macOS tells of no key that goes up while it is down
    )
    watched.evaluate(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {command}))")
    seen(watched)  # it stands still
    watched.keyboard.up("s")
    watched.keyboard.press("o")
    behind = seen_once(watched, lambda picture: np.abs(picture - before).mean() > 5)
    watched.shoot("watched-free")
    overhead = watched.locator("canvas.overhead")
    red, green, blue = np.asarray(Image.open(io.BytesIO(overhead.screenshot())).convert("RGB")).reshape(-1, 3).mean(0)
    assert green > red > blue  # a land of grass
    overhead.click(position={"x": 20, "y": 30})
    seen_once(watched, lambda picture: np.abs(picture - behind).mean() > 5)
    watched.shoot("watched-from-above")
    watched.keyboard.press("o")
    watched.keyboard.press("c")
    watched.locator("[data-replay][data-eyes=player]").wait_for()
    seen_once(watched, lambda picture: np.abs(picture - before).mean() < 1)
    box = watched.locator("[data-replay] .view").bounding_box()
    watched.mouse.move(box["x"] + 200, box["y"] + 100)
    watched.mouse.down()
    watched.mouse.move(box["x"] + 300, box["y"] + 120, steps=4)
    watched.mouse.up()
    assert watched.locator("[data-free]").get_attribute("aria-pressed") == "true"
    seen_once(watched, lambda picture: np.abs(picture - before).mean() > 5)
    watched.keyboard.press("c")
    watched.locator("[data-replay][data-eyes=player]").wait_for()


def test_it_plays_at_any_speed_and_stops_at_the_end(watched):
    jump(watched, 200)
    watched.locator("[data-speed]").select_option("20")
    watched.locator("[data-play]").click()
    watched.locator(f"[data-replay][data-shown='{NUM_STEPS}']").wait_for(timeout=60_000)
    assert watched.locator("[data-play]").get_attribute("aria-label") == "Play"


def test_keys_of_a_replay_do_not_scroll_before_its_land_is_here(page, episode):  # noqa: F811
    page.set_viewport_size({"width": 1240, "height": 400})
    page.route("**/land", lambda route: None)  # it does not come
    page.goto(f"/episodes/{episode.id}")
    page.locator("[data-message] p", has_text="Loading the land").wait_for()
    for key in ("End", "Space", "PageDown"):
        page.keyboard.press(key)
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY > 0") is (key == "PageDown")
    page.unroute_all(behavior="ignoreErrors")


def lose_context(page) -> None:  # noqa: F811
    page.evaluate(
        """() => document.querySelector("[data-replay] .drawn canvas").getContext("webgl2")
          .getExtension("WEBGL_lose_context").loseContext()"""
    )


def test_a_lost_context_is_made_again_once_and_then_the_server_draws(page, episode):  # noqa: F811
    open_replay(page, episode)
    jump(page, 300)
    before = seen(page)
    page.evaluate("window.lost = document.querySelector('[data-replay] .drawn canvas')")
    lose_context(page)
    until(page, "document.querySelector('[data-replay] .drawn canvas') !== window.lost", within_s=60)
    until(page, "document.querySelector('[data-replay] .drawn canvas').width > 300", within_s=60)
    assert np.abs(seen(page) - before).mean() < 1
    lose_context(page)
    page.locator("[data-replay][data-drawn=server][data-shown='300']").wait_for()
    reason = "Drawn by the server: the browser took its drawing surface away."
    assert page.locator("[data-replay-drawn-note]").inner_text() == reason
    assert page.locator("[data-free]").is_hidden()


def test_a_worker_that_falls_silent_is_noticed_and_the_replay_begins_again(page, episode):  # noqa: F811
    page.add_init_script(
        """window.workers = [];
        window.Worker = class extends Worker { constructor(...what) { super(...what); workers.push(this); } };"""
    )
    open_replay(page, episode)
    jump(page, 300)
    seen(page)
    page.evaluate("window.before = workers.length; workers[1].terminate()")  # one that casts rays; nothing says that it is gone
    page.locator("[data-scrub]").fill("600")
    until(page, "workers.length > before")
    page.locator("[data-replay][data-drawn=here][data-shown='600']").wait_for()
    until(page, "document.querySelector('[data-replay] .drawn canvas').width > 300")
    assert seen(page).std() > 10  # there is something to see


def test_what_cannot_be_read_is_asked_for_again_and_then_comes_as_pictures(page, episode):  # noqa: F811
    broken = "start=900&count=1&"

    def answer(route):
        response = route.fetch()
        body = response.body()
        route.fulfill(response=response, body=body[:24] + bytes(len(body) - 24))

    open_replay(page, episode)
    page.route(lambda address: broken in address, answer)
    message = page.locator("[data-message]", has_text="this browser could not read what the server sent. Try again")
    page.locator("[data-scrub]").fill("900")
    message.wait_for()
    page.locator("[data-scrub]").fill("600")
    page.locator("[data-replay][data-drawn=here][data-shown='600']").wait_for()
    assert message.is_hidden()
    broken = "/scenes?"
    for step in range(100, 500, 10):  # whoever jumps on sooner than the answer comes drops it
        page.locator("[data-scrub]").fill(str(step))
        page.wait_for_timeout(500)
        if page.locator("[data-replay][data-drawn=server]").count():
            break
    page.locator(f"[data-replay][data-drawn=server][data-shown='{step}']").wait_for()
    assert (
        page.locator("[data-replay-drawn-note]").inner_text()
        == "Drawn by the server: this browser could not read what the server sent."
    )
    page.unroute_all(behavior="ignoreErrors")  # one that was dropped may still be on its way


def test_land_that_players_had_to_find_is_shown_to_the_operator_alone(page, archive):  # noqa: F811
    found = record_long_episode(archive, num_steps=60)
    open_replay(page, found)
    assert page.locator("[data-replay-drawing]").is_hidden()
    page.locator("[data-replay][data-drawn=server]").wait_for()
    assert page.locator("[data-hidden-land]").inner_text().startswith("No free camera and no map here")
    for what in ("scenes?count=1", "land"):
        answer = page.request.get(f"/api/episodes/{found.id}/{what}")
        assert answer.status == 409
        assert "get its pictures at" in answer.json()["message"]
    page.set_extra_http_headers({"Authorization": f"Bearer {operator_token(archive.root)}"})
    open_replay(page, found)
    page.locator("[data-replay][data-drawn=here]").wait_for()
    assert page.locator("[data-replay-drawn-note]").inner_text() == "Drawn in this browser."
    assert page.locator("[data-hidden-land]").is_hidden()


def test_each_seat_of_a_game_has_its_own_eyes(page, archive):  # noqa: F811
    task = find("together/build_shelter")
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="two", actor_kind="agent")
    recorder.start(*env.reset(seed=3))
    for step in range(40):
        still = dict.fromkeys(KEYS, 0) | {CAMERA: np.zeros(2, np.float32)}
        turning = still | {CAMERA: np.array([0.0, 4.0], np.float32)}
        action = dict(zip(task.seats, (still, turning), strict=True))
        recorder.step(action, env.step(action), clock_us=step * 50_000)
    env.close()
    episode = archive.seal(recorder.finish("time_limit"))
    open_replay(page, episode)
    jump(page, 40)
    first = seen(page)
    page.shoot("watched-two-seats")
    assert page.locator("[data-seat] option").all_inner_texts() == list(task.seats)
    page.locator("[data-seat]").select_option(label=task.seats[1])
    page.locator("[data-replay][data-shown='40']").wait_for()
    assert np.abs(seen(page) - first).mean() > 5
