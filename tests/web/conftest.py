"""A real server on a free port with recorded episodes in it, and a real Chromium."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from web_server import serving

import interplay.record
import interplay.web
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.record.films.film import film
from interplay.store.entrants import admit
from interplay.tasks import builtin_suites, parse_suite

RENDERER = Path(__file__).parents[2] / "packages" / "blockworld" / "blockworld" / "web"
SHORT_SUITE = """
[suite]
id = "short"
title = "Short games"
description = "A few seconds each."

[[task]]
name = "breakout"
title = "Three seconds of Breakout"
goal = "Serve the ball."
instructions = "Press space."
time_limit_s = 3
held_out_seeds = [1, 2]
env.id = "ale:breakout"
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who played better?" }]
[task.keys]
buttons = ["FIRE", "RIGHT", "LEFT"]
opposites = [["LEFT", "RIGHT"]]
bindings = { Space = "FIRE", ArrowRight = "RIGHT", ArrowLeft = "LEFT" }
actions = { "" = 0, FIRE = 1, RIGHT = 3, LEFT = 4, "RIGHT+FIRE" = 11, "LEFT+FIRE" = 12 }
labels = { FIRE = "serve the ball" }
"""


LOOK_SUITE = """
[suite]
id = "look"
title = "Looking"

[[task]]
name = "around"
title = "Look around"
goal = "Turn."
instructions = "Turn the view with the mouse."
frame_rate_hz = 20
time_limit_s = 60
held_out_seeds = [1, 2]
env.id = "gym:trial_worlds:TrialLook-v0"
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who turned better?" }]
[task.keys]
compose = true
buttons = ["forward", "back", "left", "right", "jump", "attack", "use", "hotbar.1", "hotbar.2", "hotbar.3", "ESC"]
pointer = "camera"
pointer_degrees = 0.25
turns = { look_left = [0, -5], look_right = [0, 5] }
opposites = [["left", "right"], ["forward", "back"]]
labels = { attack = "hit" }
[task.keys.bindings]
KeyW = "forward"
KeyS = "back"
KeyA = "left"
KeyD = "right"
ControlLeft = "jump"
MouseLeft = "attack"
MouseRight = "use"
Digit1 = "hotbar.1"
Digit2 = "hotbar.2"
Digit3 = "hotbar.3"
ArrowLeft = "look_left"
ArrowRight = "look_right"
"""


@pytest.fixture(scope="session")
def short_suite() -> str:
    """The file of a suite with a task that is over in three seconds, `short/breakout`."""
    return SHORT_SUITE


@pytest.fixture(scope="session")
def suites():
    """The built-in tasks and one that is over in three seconds."""
    return [*builtin_suites(), parse_suite(SHORT_SUITE)]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """An archive in which two agents each have played four seeds of Breakout and one of Space Invaders, with videos."""
    archive = interplay.record.open(tmp_path_factory.mktemp("web"))
    rng = np.random.default_rng(0)
    for task, seeds, agents in (
        ("atari/breakout", (9001, 9002, 9003, 9004), ("random", "noop")),
        ("atari/space_invaders", (9001,), ("random", "scripted")),
    ):
        for name in agents:
            for seed in seeds:
                played = next(t for suite in builtin_suites() for t in suite.tasks if t.id == task)
                episode = rollout(archive, played, find_agent(name, archive), seed, rng=rng, max_steps=150)
                film(archive, episode.id)
            with archive.database.write() as session:
                admit(session, name=name, task=task, kind="agent", now=datetime.now(UTC))
    yield archive
    archive.close()


@pytest.fixture(scope="session")
def server(recorded, tmp_path_factory):
    """The address of a real `interplay serve` on that archive; the three-second task and one of looking on offer as well."""
    with serving(recorded.root, tmp_path_factory.mktemp("serve"), {"short": SHORT_SUITE, "look": LOOK_SUITE}) as address:
        yield address


@pytest.fixture
def windows(chromium, server):
    """Two people at two browsers, on the module's own `server`; their pages meet no script error."""
    errors: list[str] = []
    contexts = [chromium.new_context(base_url=server, viewport={"width": 1240, "height": 860}) for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for page in pages:
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
    yield pages
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def webgl_page(chromium):
    """An empty page at `http://interplay.test/` that draws with WebGL2 and can import `/static/js/...`; its module asks for
    `parametrize("chromium", ["webgl"], indirect=True)`."""
    errors: list[str] = []
    context = chromium.new_context()
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("http://interplay.test/", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    page.route(
        "http://interplay.test/static/blockworld/**",
        lambda route: route.fulfill(path=RENDERER / route.request.url.partition("/blockworld/")[2]),
    )
    page.goto("http://interplay.test/")
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def serve():
    """`serving`, for tests that need a server of their own."""
    return serving
