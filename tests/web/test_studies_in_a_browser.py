"""A study in a real Chromium, on a real server: inside the frame of a stand-in for Mechanical Turk on another site, from
Prolific and back, and from an open link; with pictures of every page."""

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode

import pytest
from study_world import MTURK, PROLIFIC, STUDY, TASK, add_answers, close_study, enrolments, open_study
from test_pages_in_a_browser import until
from web_server import serving

import interplay.record
from interplay.judge import Rules
from interplay.judge.segments.studies import SegmentStudies
from interplay.store import judging as store
from interplay.tasks import find

LOOKS = {
    "desktop": {"viewport": {"width": 1240, "height": 860}},
    "phone": {"viewport": {"width": 390, "height": 800}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True},
}


class Platform(ThreadingHTTPServer):
    """A stand-in for Mechanical Turk: a page with a frame, and `externalSubmit`, which remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _PlatformPages)
        self.submitted: list[dict[str, str]] = []
        self.frame = ""

    @property
    def origin(self) -> str:
        """By another name than that of the server under test, so that browsers take it for another site."""
        return f"http://localhost:{self.server_port}"


class _PlatformPages(BaseHTTPRequestHandler):
    server: Platform

    def do_GET(self) -> None:
        frame = f'<iframe name="task" width="1100" height="780" src="{self.server.frame}"></iframe>'
        self._answer(f"<title>Platform</title><h1>Your task</h1>{frame}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.submitted.append({"path": self.path, **dict(parse_qsl(body))})
        self._answer("<h1>Handed in</h1>")

    def _answer(self, page: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    server = Platform()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def archive(recorded, tmp_path_factory):
    """A copy of the recorded episodes, so that nothing judged here is on the leaderboards of other tests."""
    folder = tmp_path_factory.mktemp("studies") / "data"
    shutil.copytree(recorded.root, folder)
    archive = interplay.record.open(folder)
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def host(archive, tmp_path_factory):
    """The address of a real `interplay serve`."""
    with serving(archive.root, tmp_path_factory.mktemp("serve"), {}) as address:
        yield address


@pytest.fixture(scope="module")
def study(archive, platform):
    """The study of these tests, whose forms may go to the stand-in."""
    return open_study(archive, STUDY.replace("[channels.mturk]", f'[channels.mturk]\nextra_hosts = ["{platform.origin}"]'))


@contextmanager
def browsing(chromium, look: str = "desktop", **options):
    """A page that fails its test on any script error or refused resource."""
    context = chromium.new_context(**{"reduced_motion": "reduce", "color_scheme": "light", **LOOKS[look], **options})
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert [error for error in errors if "status of 4" not in error] == []


def tick_right(frame, study) -> None:
    for question in study.quiz.quiz.questions:
        for option in question.options:
            if option.is_right:
                frame.locator(f'input[name="{question.id}"][value="{option.id}"]').check()


def compare(frame, *, reason: str) -> None:
    """Answer the match that is shown."""
    frame.locator("#judge[data-state=match]").wait_for()
    for group in frame.locator("[data-questions] .opts").all():
        group.locator("label").first.click()
    frame.locator("[data-reason]").fill(reason)
    frame.locator("[data-submit]").click()


def person_of(archive, worker: str) -> int:
    return next(enrolment.participant_id for enrolment in enrolments(archive) if enrolment.worker == worker)


def mturk_link(host: str, platform: Platform, **changes: str) -> str:
    return f"{host}/studies/caves?{urlencode(MTURK | {'turkSubmitTo': platform.origin} | changes)}"


@pytest.mark.journey("studies with consent and pay")
def test_a_worker_previews_agrees_passes_reloads_and_hands_in_inside_the_platforms_frame(
    chromium, host, archive, study, platform
):
    with browsing(chromium) as page:
        platform.frame = mturk_link(host, platform, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE").replace("&", "&amp;")
        page.goto(platform.origin)
        preview = page.frame_locator("iframe")
        preview.get_by_text("This is a preview").wait_for()
        assert preview.get_by_role("button", name="Agree and begin").is_disabled()
        assert enrolments(archive) == []

        platform.frame = mturk_link(host, platform).replace("&", "&amp;")
        page.goto(platform.origin)
        task = page.frame_locator("iframe")
        task.get_by_role("button", name="Agree and begin").click()
        task.get_by_text("Please tick the box if you agree.").wait_for()
        task.get_by_role("checkbox").check()
        task.get_by_role("button", name="Agree and begin").click()
        task.get_by_role("heading", name="Do you know these games?").wait_for()
        assert page.context.cookies() == [], "nothing hangs on cookies: in this frame there are none"

        page.reload()  # the platform loads its own link again: the study goes on where it was
        task.get_by_role("heading", name="Do you know these games?").wait_for()
        tick_right(task, study)
        task.get_by_role("button", name="Send my answers").click()
        task.get_by_role("heading", name="You passed").wait_for()
        task.get_by_role("link", name="Continue to the videos").click()

        compare(task, reason="The left one caught more.")
        task.locator("[data-progress]").get_by_text("2 of 2").wait_for()
        page.reload()
        compare(task, reason="The left one moved towards the ball.")
        task.get_by_role("button", name="Hand in").click()
        task.get_by_role("heading", name="Handed in").wait_for()
    (enrolment,) = enrolments(archive)
    assert platform.submitted == [
        {
            "path": "/mturk/externalSubmit",
            "assignmentId": "3ASSIGN",
            "outcome": "done",
            "enrolment": enrolment.id,
            "answers": "2",
        }
    ]


def test_the_work_is_handed_in_by_itself_after_a_few_seconds(chromium, host, archive, study, platform):
    with browsing(chromium) as page:
        page.goto(mturk_link(host, platform, workerId="A2AUTO", assignmentId="3AUTO"))
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Agree and begin").click()
        tick_right(page, study)
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_role("heading", name="You passed").wait_for()
        add_answers(archive, person_of(archive, "A2AUTO"), 2)
        page.goto(page.url.replace("/result", "/end"))
        page.get_by_text("automatically in").wait_for()
        page.get_by_role("heading", name="Handed in").wait_for()
    assert [sent["assignmentId"] for sent in platform.submitted].count("3AUTO") == 1


def test_a_page_of_another_site_cannot_frame_a_study_without_that_platform(chromium, host, archive, platform):
    open_study(archive, STUDY.replace('"caves"', '"plain"'))
    platform.frame = f"{host}/studies/plain"
    context = chromium.new_context()
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(platform.origin)
    page.wait_for_load_state("networkidle")
    assert page.frame_locator("iframe").get_by_role("heading", name="Compare two players").count() == 0
    assert any("frame-ancestors" in text for text in refused)
    context.close()


def prolific_page(page, reached: list[str]) -> None:
    """A stand-in for Prolific's completion page, which remembers the codes it saw."""

    def answer(route) -> None:
        reached.append(route.request.url)
        route.fulfill(status=200, content_type="text/html", body="<h1>Submission complete</h1>")

    page.route(re.compile("^https://app[.]prolific[.]com/"), answer)


def test_a_participant_of_prolific_goes_back_with_the_code_and_leaks_no_address(chromium, host, archive, study):
    reached: list[str] = []
    with browsing(chromium) as page:
        prolific_page(page, reached)
        referrers: list[str] = []
        page.on("request", lambda one: referrers.append(one.headers.get("referer", "")) if "app.prolific" in one.url else None)
        page.goto(f"{host}/studies/caves?{urlencode(PROLIFIC)}")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Agree and begin").click()
        tick_right(page, study)
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_role("heading", name="You passed").wait_for()
        add_answers(archive, person_of(archive, PROLIFIC["PROLIFIC_PID"]), 2)
        page.goto(page.url.replace("/result", "/end"))
        assert page.locator("[data-code]").inner_text() == "DONE1"
        page.get_by_role("button", name="Stay on this page").click()
        page.get_by_text("Press the button when you are ready.").wait_for()
        page.get_by_role("link", name="Back to Prolific").click()
        page.get_by_role("heading", name="Submission complete").wait_for()
        assert referrers == [""]
    assert reached == ["https://app.prolific.com/submissions/complete?cc=DONE1"]


def test_who_declines_goes_back_with_the_code_for_that_and_may_change_their_mind(chromium, host, archive, study):
    reached: list[str] = []
    known = len(enrolments(archive))
    with browsing(chromium) as page:
        prolific_page(page, reached)
        page.goto(f"{host}/studies/caves?{urlencode(PROLIFIC | {'PROLIFIC_PID': '60bf', 'SESSION_ID': '7f'})}")
        page.get_by_role("button", name="I do not want to take part").click()
        page.get_by_text("NO3").wait_for()
        page.get_by_role("link", name="I have changed my mind").click()
        page.get_by_role("button", name="I do not want to take part").click()
        page.get_by_role("link", name="Back to Prolific").click()
        page.get_by_role("heading", name="Submission complete").wait_for()
    assert reached == ["https://app.prolific.com/submissions/complete?cc=NO3"]
    assert len(enrolments(archive)) == known


def test_a_study_is_taken_with_the_keyboard_alone(chromium, host, archive, study):
    with browsing(chromium) as page:
        page.goto(f"{host}/studies")
        page.get_by_role("link", name="Look at Compare two players").first.focus()
        page.keyboard.press("Enter")
        page.get_by_role("checkbox").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Do you know these games?").wait_for()
        for question in study.quiz.quiz.questions:
            for option in question.options:
                page.locator(f'input[value="{option.id}"][name="{question.id}"]').focus()
                if option.is_right:
                    page.keyboard.press("Space")
        page.get_by_role("button", name="Send my answers").focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="You passed").wait_for()


def test_somebody_who_does_not_pass_tries_again_and_then_goes_home(chromium, host, archive, study):
    with browsing(chromium) as page:
        page.goto(f"{host}/studies/caves?{urlencode(PROLIFIC | {'PROLIFIC_PID': '60fa', 'SESSION_ID': '7fa'})}")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Agree and begin").click()
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_text("You have not ticked any box").wait_for()  # asked first, then taken
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_role("heading", name="You did not pass this time").wait_for()
        page.get_by_role("link", name="Try again").click()
        page.get_by_text("This is your last attempt.").wait_for()
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_text("You have not ticked any box").wait_for()  # asked first, then taken
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_text("That was the last attempt.").wait_for()
        assert page.locator("[data-code]").inner_text() == "OUT2"


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_fits_and_is_pictured_in_light_and_dark(chromium, host, archive, study, platform, picture, look):
    worker, taken = f"60{'aa' if look == 'phone' else 'bb'}", f"3TAKEN{look.upper()}"
    with browsing(chromium) as page:
        page.goto(mturk_link(host, platform, workerId=f"A8{look.upper()}", assignmentId=taken))
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Agree and begin").click()
        page.get_by_role("heading", name="Do you know these games?").wait_for()
    with browsing(chromium, look) as page:

        def shoot(name: str) -> None:
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} sticks out on a {look}"
            for colours in ("dark", "light"):
                page.emulate_media(color_scheme=colours)
                picture(page, f"study-{name}-{look}-{colours}")

        page.goto(f"{host}/studies")
        shoot("list")
        page.goto(mturk_link(host, platform, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE"))
        shoot("preview")
        page.goto(mturk_link(host, platform, workerId="A9OTHER", assignmentId=taken))
        page.get_by_text("This link belongs to somebody else").wait_for()
        shoot("stop")
        page.goto(f"{host}/studies/caves?{urlencode(PROLIFIC | {'PROLIFIC_PID': worker, 'SESSION_ID': worker})}")
        shoot("arrival")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Agree and begin").click()
        page.get_by_role("heading", name="Do you know these games?").wait_for()
        shoot("quiz")
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_text("You have not ticked any box").wait_for()  # asked first, then taken
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_role("heading", name="You did not pass this time").wait_for()
        shoot("result")
        page.get_by_role("link", name="Try again").click()
        tick_right(page, study)
        page.get_by_role("button", name="Send my answers").click()
        page.get_by_role("heading", name="You passed").wait_for()
        shoot("passed")
        page.goto(page.url.replace("/result", "/end"))
        page.get_by_role("heading", name="2 comparisons left").wait_for()
        shoot("wait")
        page.get_by_role("link", name="Leave the study").click()
        page.get_by_role("heading", name="Leave the study?").wait_for()
        shoot("leave")
        add_answers(archive, person_of(archive, worker), 2)
        page.goto(page.url.replace("/leave", "/end"))
        page.get_by_role("button", name="Stay on this page").click()
        shoot("end")


SEGMENTS = f"""
[study]
id = "moments"
title = "Compare moments"
summary = "A few seconds of two games."
minutes = 5
answers = 2
instructions = "Watch both.\\n\\nThen answer."
[channels.open]
[judging]
min_viewing_s = 0
[judging.segments]
task = "{TASK}"
number = 12
"""


@pytest.mark.parametrize("look", LOOKS)
def test_segments_are_played_and_compared_with_keys_or_fingers(chromium, host, archive, picture, look):
    study = open_study(archive, SEGMENTS)
    segments = SegmentStudies(archive)
    segments.keep(study.id, study.content_hash, segments.draw(Rules.from_mapping(study.judging).segments, find(TASK)))

    def say(page, key: str, words: str) -> None:
        """Choose an answer with the keyboard, or on a phone with a finger."""
        if look == "desktop":
            page.keyboard.press(key)
        else:
            page.locator("[data-questions] .opts label", has_text=words).tap()

    def play(page) -> None:
        """Clips play by themselves, but not for people who asked for less motion."""
        if look == "phone":
            page.get_by_role("button", name="Play both").click()
        page.get_by_role("button", name="Pause both").wait_for()

    with browsing(chromium, look, reduced_motion="no-preference" if look == "desktop" else "reduce") as page:
        page.goto(f"{host}/studies/moments")
        page.get_by_role("button", name="Begin").click()
        page.locator("#judge[data-state=match]").wait_for()  # once the first clips are made
        page.get_by_text("same task, a few seconds of two games").wait_for()
        until(page, "[...document.querySelectorAll('video')].every(v => v.readyState >= 3)")
        lengths = page.evaluate("[...document.querySelectorAll('video')].map(v => v.duration)")
        assert all(89 / 60.1 <= length <= 89 / 59.9 for length in lengths), "88 steps are 89 pictures"
        play(page)
        until(page, "document.querySelector('#judge').dataset.watched === 'enough'")
        until(page, "Number(document.querySelector('[data-scrub]').value) > 1.2")
        until(page, "Number(document.querySelector('[data-scrub]').value) < 0.6")  # and again from the beginning
        page.locator("[data-headline]").click()
        say(page, "4", "Can't tell")
        assert page.locator("input[name=overall][value=na]").is_checked()
        for colours in ("dark", "light"):
            page.emulate_media(color_scheme=colours)
            picture(page, f"segments-{look}-{colours}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("[data-submit]").click()
        page.get_by_text("2 of 2").wait_for()
        play(page)
        until(page, "document.querySelector('#judge').dataset.watched === 'enough'")
        say(page, "1", "Left")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/studies/moments/end**")
    with archive.database.read() as session:
        assert store.num_segment_answers(session, "moments") == (2 if look == "desktop" else 4)
        given = [one.outcome for one in store.segment_answers(session, "moments")]
    assert set(given) == {"left"}, "who cannot tell teaches nothing"


def test_a_closed_study_says_so(chromium, host, archive):
    open_study(archive, STUDY.replace('"caves"', '"over"'))
    close_study(archive, "over")
    with browsing(chromium) as page:
        page.goto(f"{host}/studies/over")
        page.get_by_role("heading", name="This study is closed").wait_for()
