"""Two windows in one game: how they meet, each their own keys, one pauses, the worker dies, and what both read at the end."""

import os
import signal

import httpx
import pytest
from test_pages_in_a_browser import until
from web_server import serving

import interplay.record
from interplay.play.connections.tokens import operator_token

pytest.importorskip("pettingzoo")

PONG = """
[suite]
id = "two"
title = "For two"
[[task]]
name = "pong"
title = "Pong together"
goal = "Keep the ball in play."
instructions = "Move your paddle."
frame_rate_hz = 15
time_limit_s = 60
held_out_seeds = [1, 2]
seats = ["left_paddle", "right_paddle"]
env.id = "pettingzoo:butterfly/cooperative_pong-v6"
env.options = { kwargs = { ball_speed = 1 } }
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who played better?" }]
[task.keys]
buttons = ["UP", "DOWN"]
bindings = { ArrowUp = "UP", ArrowDown = "DOWN" }
actions = { "" = 0, "UP" = 1, "DOWN" = 2 }
"""


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def server(data, tmp_path):
    with serving(data, tmp_path, {"two": PONG}) as address:
        yield address


BLUR_IN_COUNTDOWN = """new MutationObserver((_, observer) => {
  if (document.querySelector("#player").dataset.state !== "countdown") return;
  observer.disconnect();
  dispatchEvent(new Event("blur"));
}).observe(document.querySelector("#player"), { attributes: true })"""
"""The window is left as soon as the countdown begins."""


REMEMBER_COVERS = """() => {
  const cover = document.querySelector("[data-cover]");
  window.covers = [];
  const remember = () => covers.push(cover.textContent);
  new MutationObserver(remember).observe(cover, { subtree: true, childList: true, characterData: true });
}"""


def is_restored(page) -> None:
    """The page says that the game is being restored, or has said so since it remembers: a test may come too late to see it."""
    until(page, "covers.some(text => text.includes('The game is being restored from its recording.'))")


def start(page, script: str = "", *, task: str = "two/pong") -> None:
    """Come and press Start, with a script in the page before."""
    page.goto(f"/play/{task}")
    page.evaluate(script)
    page.locator("[data-start]:not([disabled])").press("Enter")


def playing(page) -> None:
    page.locator("#player[data-state=playing]").wait_for()


def sees_steps(page, num_steps: int) -> None:
    """The window paints so many more steps."""
    step = int(page.locator("#player").get_attribute("data-step") or 0) + num_steps
    until(page, f"Number(document.querySelector('#player').dataset.step) >= {step}", within_s=60)


def worker_of_the_game(server, data) -> int:
    headers = {"Authorization": f"Bearer {operator_token(data)}"}
    workers = httpx.get(f"{server}/api/play/statistics", headers=headers).json()["workers"]
    (pid,) = [worker["pid"] for worker in workers if worker["seats"]]
    return pid


@pytest.mark.journey("games of several people")
@pytest.mark.journey("games of people with people or agents")
def test_two_windows_play_one_game_through_a_pause_and_a_killed_worker(windows, server, data, picture):
    first, second = windows
    start(first)
    cover = "[data-cover]"
    first.locator(cover, has_text="Waiting for another player to join.").wait_for()
    assert first.get_by_role("button", name="Stop waiting").is_visible()
    picture(first, "two-players-waiting", full_page=False)
    start(second, BLUR_IN_COUNTDOWN)
    first.locator(cover, has_text="Waiting for your partner to be ready.").wait_for()
    second.locator(cover, has_text="The game has not begun yet. Click here or press any key when you are ready.").wait_for()
    second.keyboard.press("Enter")
    for page in windows:
        playing(page)
    assert first.locator("[data-seats]").text_content() == "You play left paddle."
    assert second.locator("[data-seats]").text_content() == "You play right paddle."
    first.keyboard.down("ArrowUp")
    second.keyboard.down("ArrowDown")
    for page in windows:
        sees_steps(page, 10)
    score = second.locator("[data-score]").text_content()
    assert len(score) <= len("00.00"), f"{score} is no score to read"
    first.keyboard.up("ArrowUp")
    first.locator("[data-pause]").click()
    first.locator(cover, has_text="The others keep playing without you.").wait_for()
    second.locator("[data-seats]", has_text="Your partner has paused or left.").wait_for()
    second.locator("[data-hint]", has_text="Your partner has paused or left. The game continues.").wait_for()
    sees_steps(second, 10)
    picture(first, "two-players-paused", full_page=False)
    picture(second, "two-players-alone", full_page=False)
    first.locator("[data-pause]").click()
    playing(first)
    for page in windows:
        page.evaluate(REMEMBER_COVERS)
    os.kill(worker_of_the_game(server, data), signal.SIGKILL)
    for page in windows:
        is_restored(page)
    for page in windows:
        playing(page)
    for page in windows:
        sees_steps(page, 10)
    second.locator("[data-finish]").click()
    second.get_by_role("button", name="Finish").last.click()
    second.locator("[data-end-title]", has_text="You finished early.").wait_for()
    second.locator("[data-end-note]", has_text="The game continues, and an agent plays in your place.").wait_for()
    picture(second, "two-players-left", full_page=False)
    first.locator("[data-seats]", has_text="An agent (scripted) plays right paddle.").wait_for()
    sees_steps(first, 10)
    picture(first, "two-players-with-an-agent", full_page=False)
    first.locator("[data-finish]").click()
    first.get_by_role("button", name="Finish").last.click()
    first.locator("[data-end-title]", has_text="You finished early.").wait_for()
    links = [page.locator("[data-end-link]").get_attribute("href") for page in windows]
    assert links[0] == links[1]
    archive = interplay.record.open(data)
    (episode,) = archive.episodes()
    assert links[0] == f"/episodes/{episode.id}"
    assert episode.outcome == "quit"
    assert interplay.record.verify(episode).equal
    steps = episode.steps()
    assert 1 in steps.column("action.left_paddle").to_pylist()
    assert 2 in steps.column("action.right_paddle").to_pylist()
    owners = steps.column("owner.right_paddle").to_pylist()[:-1]
    assert list(dict.fromkeys(owners))[1:] == ["scripted"]
    archive.close()


def test_a_player_takes_the_wheel_from_an_agent_and_returns_it(windows, server, data, picture):
    page, _ = windows
    page.goto("/play/two/pong?wheel=random&partner=scripted")
    assert page.locator("[data-together]").inner_text().startswith("An agent (scripted) plays with you.")
    start(page, task="two/pong?wheel=random&partner=scripted")
    playing(page)
    wheel = page.locator("[data-wheel]")
    assert wheel.text_content() == "The agent random plays. Press T to play yourself"
    assert page.locator("[data-seats]").text_content() == "You play left paddle. An agent (scripted) plays right paddle."
    sees_steps(page, 10)
    picture(page, "an-agent-at-the-wheel", full_page=False)
    page.keyboard.press("t")
    page.locator("[data-wheel]", has_text="You play. Press T to let random play").wait_for()
    page.keyboard.down("ArrowUp")
    sees_steps(page, 10)
    page.keyboard.up("ArrowUp")
    wheel.click()
    page.locator("[data-wheel]", has_text="The agent random plays.").wait_for()
    sees_steps(page, 5)
    page.locator("[data-finish]").click()
    page.get_by_role("button", name="Finish").last.click()
    page.locator("[data-end-title]", has_text="You finished early.").wait_for()
    archive = interplay.record.open(data)
    (episode,) = archive.episodes()
    assert interplay.record.verify(episode).equal
    owners = episode.steps().column("owner.left_paddle").to_pylist()[:-1]
    changes = [step for step in range(1, len(owners)) if owners[step] != owners[step - 1]]
    assert [owners[0], *(owners[step] for step in changes)] == ["random", episode.actor, "random"]
    actions = episode.steps().column("action.left_paddle").to_pylist()
    assert actions[changes[0] : changes[1]].count(1) >= 8
    archive.close()


def test_a_player_who_is_done_watches_until_the_other_is(windows, data, picture):
    for page in windows:
        start(page, task="together/build_shelter")
    for page in windows:
        playing(page)
        sees_steps(page, 10)
    first, second = windows
    first.keyboard.press("Enter")
    first.get_by_role("button", name="Yes, done").click()
    done = "You are done. You can watch until the others are done."
    first.locator("[data-hint]", has_text=done).wait_for()
    picture(first, "two-players-one-done", full_page=False)
    for page in windows:
        sees_steps(page, 10)
    assert second.locator("[data-hint]", has_text=done).count() == 0
    second.keyboard.press("Enter")
    second.get_by_role("button", name="Yes, done").click()
    for page in windows:
        page.locator("[data-end-title]").wait_for()
    archive = interplay.record.open(data)
    (episode,) = archive.episodes()
    assert episode.outcome == "terminated"
    archive.close()
