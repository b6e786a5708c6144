"""Leaderboard, agent, moderation and API pages in a real Chromium, on a real server: read, pointed at, decided, looked at."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from agents_world import TASK, mp4
from board_world import NAMES, fill
from test_calibration_page import a_judge
from test_pages_in_a_browser import LOOKS, fits, is_ours
from web_server import serving

import interplay.record
from interplay.judge.entrants import uploads
from interplay.model_judges import save
from interplay.model_judges.calibration import Split
from interplay.play.connections.tokens import operator_token
from interplay.store import entrants as store
from interplay.tasks import find

TASKS = ("basalt/find_cave", "basalt/make_waterfall")
WAITING = find(TASK).held_out_seeds[:2]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A data folder with 17 agents judged in two tasks, by people and by a model judge, and one agent that waits."""
    archive = interplay.record.open(tmp_path_factory.mktemp("judged"))
    fill(archive, tasks=TASKS, num_answers=700)
    fill(archive, tasks=TASKS, num_answers=80, num_judges=1, judge_kind="model", seed=1)
    unseen = Split(380, 0.4, 0.51, 0.64, 0.63, -0.02)
    doubtful = replace(a_judge().calibration, brier_gain_low=-0.01, num_left_out=612, left_out=unseen)
    save(replace(a_judge(), task=TASKS[0], calibration=doubtful), archive.root)
    file = tmp_path_factory.mktemp("videos") / "a.mp4"
    for number, seed in enumerate(WAITING):
        file.write_bytes(mp4(60 * number, num_frames=40))
        uploads.add_video(archive, find(TASK), "team-red-v2", seed, file)
    with archive.database.write() as session:
        store.propose(
            session, name="team-red-v2", task=TASK, kind="PPO", description="Trained for a day.\n<b>Not bold.</b>",
            proposed_by="team-red", now=datetime.now(UTC),
        )  # fmt: skip
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def server(judged, tmp_path_factory):
    """The address of a real `interplay serve` on it."""
    with serving(judged.root, tmp_path_factory.mktemp("serve"), {}) as address:
        yield address


@pytest.fixture
def look(request):
    """A desktop or a phone; a desktop where a test does not say."""
    return getattr(request, "param", "desktop")


every_look = pytest.mark.parametrize("look", LOOKS, indirect=True)


@pytest.fixture
def page(chromium, server, look, picture):
    """A page that fails its test on any script error or foreign address, and that can `shoot` itself."""
    context = chromium.new_context(base_url=server, **LOOKS[look])
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []

    def note(message) -> None:
        """A refused sign-in is noted by the browser as an error; it is what the test asks for."""
        if message.type == "error" and "status of 401" not in message.text:
            errors.append(message.text)

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", note)
    page.on("request", lambda request: errors.append(request.url) if not is_ours(request.url, server) else None)

    def shoot(name: str) -> None:
        """Pictures of the page as it is, in dark and in light."""
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            picture(page, f"{name}-{look}-{colours}")

    page.shoot = shoot
    yield page
    context.close()
    assert errors == []


@every_look
def test_the_leaderboard_is_read_by_task_by_method_and_by_kind_of_judge(page):
    page.goto("/leaderboard")
    assert page.locator(".board tbody tr").count() == len(NAMES)
    page.locator(".history svg.chart").wait_for()
    assert page.locator(".history g.line").count() == page.locator(".history .legend li").count() == len(NAMES)
    assert fits(page)
    page.shoot("board-trueskill")
    page.get_by_role("link", name="Find a cave").click()
    page.wait_for_url("**/leaderboard?task=basalt/find_cave")
    page.get_by_role("link", name="Bradley-Terry").click()
    page.wait_for_url("**/leaderboard?task=basalt/find_cave&method=bradley-terry")  # a method keeps the task
    assert "Bradley-Terry" in page.locator(".board caption").text_content()
    assert fits(page)
    page.shoot("board-bradley-terry")
    page.get_by_role("link", name="model judges", exact=True).click()
    page.wait_for_url("**judges=models")
    page.get_by_text("Not people.").wait_for()
    page.shoot("board-models")
    page.get_by_role("link", name="people", exact=True).click()
    page.wait_for_url("**method=bradley-terry")
    assert page.get_by_text("Not people.").count() == 0


@every_look
def test_model_judges_are_measured_against_people(page):
    page.goto("/judges/models")
    assert page.locator(".calibration").count() == len(TASKS) + 1
    assert page.get_by_text("so its accuracy is unknown").count() == 0
    page.locator(".verdict.doubtful").get_by_text("it is no better than the outcomes' shares, as far as 380").wait_for()
    assert fits(page)
    page.locator("svg.chart").nth(1).wait_for()
    assert page.evaluate("[...document.querySelectorAll('.calibration')].every(one => one.scrollWidth <= one.clientWidth)")
    strokes = page.locator('svg.chart g[aria-label="line"] path').evaluate_all(
        "all => all.map((one) => getComputedStyle(one).stroke)"
    )
    assert len(set(strokes)) > 1, "two lines have two colours"
    page.shoot("model-judges")


def test_pointing_at_a_name_below_the_plot_brings_its_line_forward(page):
    page.goto("/leaderboard")
    page.locator(".history svg.chart").wait_for()
    page.locator(".history .legend li").nth(3).hover()
    band = page.locator(".history .pointed g.band.on")
    assert "of-3" in band.get_attribute("class").split()
    assert float(band.locator("path").evaluate("one => getComputedStyle(one).fillOpacity")) > 0
    faded = page.locator(".history g.line.of-2")
    assert float(faded.evaluate("one => getComputedStyle(one).opacity")) < 1
    page.locator("h1").hover()
    assert page.locator(".history .pointed").count() == 0


def test_the_numbers_of_a_plot_can_be_read_without_scripts(chromium, server):
    context = chromium.new_context(base_url=server, java_script_enabled=False)
    page = context.new_page()
    page.goto("/agents/UniTeam")
    page.locator(".history summary").click()
    assert page.locator(".history .numbers th").all_inner_texts() == ["agent", "answers", "rating", "± 95 %"]
    assert page.locator(".history .numbers tbody tr").count() > 10
    context.close()


@every_look
def test_an_agent_is_looked_up_from_the_board(page):
    page.goto("/leaderboard")
    page.get_by_role("link", name="UniTeam").first.click()
    page.get_by_role("heading", name="UniTeam", exact=True).wait_for()
    assert page.get_by_role("heading", name="Results by opponent").is_visible()
    assert page.locator(".reasons li").count() == 8
    assert "<b>Clear.</b>" in page.locator(".reasons").inner_text()  # text, not markup
    assert fits(page)
    page.shoot("agent")
    page.goto("/agents")
    assert page.locator("tbody tr").count() == len(NAMES)
    assert fits(page)
    page.shoot("agents")


@every_look
def test_the_operator_signs_in_watches_and_decides(page, judged):
    with judged.database.write() as session:
        for agent in store.entrants(session, name="team-red-v2"):
            agent.approved_at = agent.declined_at = agent.withdrawn_at = None
    page.goto("/moderation")
    page.get_by_label("Operator's token").fill("guess")
    page.get_by_role("button", name="Sign in").click()
    assert "not the operator's token" in page.get_by_role("alert").inner_text()
    page.shoot("operator")
    page.get_by_label("Operator's token").fill(operator_token(judged.root))
    page.keyboard.press("Enter")
    queue = page.locator("article", has_text="team-red-v2")
    queue.wait_for()
    assert "<b>Not bold.</b>" in queue.inner_text()
    video = queue.locator("video").first
    video.evaluate("async one => { await one.play(); }")
    assert video.evaluate("one => one.videoWidth") == 64
    assert fits(page)
    page.shoot("moderation")
    queue.get_by_label("Reason to decline team-red-v2").fill("Too short.")
    queue.get_by_role("button", name="Decline").click()
    row = page.locator("tr", has_text="team-red-v2")
    assert "Too short." in row.inner_text()
    row.get_by_role("button", name="Approve").click()
    row.get_by_role("button", name="Withdraw").click()
    row.get_by_role("button", name="Restore").click()
    row.get_by_role("button", name="Withdraw").wait_for()
    page.goto("/agents/team-red-v2")
    clips = page.locator(".clips video")
    assert clips.count() == len(WAITING)
    assert page.get_by_role("link", name=f"seed {WAITING[0]}").get_attribute("href").startswith("/episodes/upload-")
    page.shoot("agent-new")


def test_the_api_is_described_on_a_page_of_our_own(page):
    page.goto("/api/docs")
    one = page.locator("details", has_text="/api/agents/{name}/tasks/{suite}/{task}/videos/{seed}")
    one.locator("summary").click()
    assert one.get_by_text("The video is larger than the server allows.").is_visible()
    assert one.get_by_text("video/mp4").is_visible()
    assert fits(page)
    page.shoot("api")
