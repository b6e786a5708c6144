"""A study of play in a real Chromium, on a real server: from the link of a platform to the code, with games in between."""

import os
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from study_world import PROLIFIC, enrolments, open_study
from web_server import serving

import interplay.record
from interplay.play.connections.tokens import operator_token
from interplay.study.money.payroll import Payroll
from interplay.study.play.visits import Visits
from interplay.study.studies import Studies

STUDY = """
[study]
id = "serve"
kind = "play"
title = "Serve the ball"
summary = "Play Breakout for a few seconds, twice."
minutes = 1
contact = "Ada Lab, ada@lab.example"
instructions = "Press space to serve.\\n\\nPlay until the bars are full."
[consent]
text = "You may stop at any time."
stores = ["This server keeps your games."]
[quiz]
quiz = "inside_out"
attempts = 3
[pay]
reward = 0.75
[[requirements]]
statistic = "games"
required = 2
[[requirements]]
statistic = "time"
required = 4
[[requirements]]
statistic = "active_time"
required = 1
[bonus]
kind = "linear"
max = 1.50
statistic = "time"
full_at = 60
[[variants]]
task = "short/breakout"
title = "Breakout, twice"
instructions = "Serve at once, and keep the ball in play."
[channels.open]
[channels.prolific]
codes = { done = "DONE1", screened_out = "OUT2", no_consent = "NO3" }
"""
CHOOSE = (
    STUDY.replace('id = "serve"', 'id = "choose"')
    .replace('quiz = "inside_out"\nattempts = 3', "")
    .replace("[quiz]", "")
    .replace("[pay]", '[play]\nchoice = "chosen"\n[pay]')
    + """
[[variants]]
task = "short/breakout"
name = "lazy"
title = "Breakout, without moving"
instructions = "Serve, and do not move."
[[variants.requirements]]
statistic = "games"
required = 1
"""
)
TOGETHER = (
    CHOOSE[: CHOOSE.index("[[variants]]")].replace('id = "choose"', 'id = "together"').replace('choice = "chosen"', "")
    + """
[[variants]]
task = "together/cooperative_pong"
[[variants]]
task = "overcooked/cramped_room"
[channels.open]
"""
)
WITH_PARTNERS = (
    TOGETHER[: TOGETHER.index("[[variants]]")]
    .replace('id = "together"', 'id = "partners"')
    .replace("[play]", '[play]\nchoice = "chosen"\n[waiting]\nafter_s = 2\npay = 0.40\n[questions]\nuse = "teamwork"')
    + """
[[variants]]
task = "overcooked/cramped_room"
name = "agent"
title = "Soup with an agent"
partner = "noop"
[[variants]]
task = "together/cooperative_pong"
name = "person"
title = "Pong with a person"
[channels.prolific]
codes = { done = "DONE1", no_partner = "ALONE2" }
"""
)
LOOKS = {
    "desktop": {"viewport": {"width": 1240, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 800}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True},
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = interplay.record.open(tmp_path_factory.mktemp("play-study") / "data")
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def host(archive, tmp_path_factory, short_suite):
    with serving(archive.root, tmp_path_factory.mktemp("serve"), {"short": short_suite}) as address:
        yield address


@pytest.fixture
def browse(chromium):
    """Opens windows that fail their test on any script error: `browse("phone")`."""
    errors: list[str] = []
    contexts = []

    def window(look: str = "desktop"):
        contexts.append(chromium.new_context(reduced_motion="reduce", **LOOKS[look]))
        page = contexts[-1].new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        return page

    yield window
    for context in contexts:
        context.close()
    assert [error for error in errors if "status of 4" not in error] == []


def picture(page, name: str) -> None:
    """Keep pictures of the whole page, light and dark, where a folder for them is named."""
    if folder := os.environ.get("INTERPLAY_SCREENSHOTS"):
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=Path(folder) / f"study_of_play_{name}_{scheme}.png", full_page=True)


def agree(page) -> None:
    page.get_by_label("I am 18 or older").check()
    page.get_by_role("button", name="Agree and begin").click()


def play_one(page) -> None:
    """Play a game to its end, and wait until it counts."""
    before = int(page.locator("[data-games]").inner_text())
    page.locator("[data-start]").click()
    page.locator("#player[data-state=playing]").wait_for()
    page.keyboard.press("Space", delay=200)
    page.locator("[data-games]", has_text=str(before)).wait_for()
    # The bars follow the game before it is over: something of its time is there, and the game does not count yet.
    page.locator("[data-goal-text]", has_text=re.compile(r"^0:0[1245] of 0:04")).first.wait_for()
    page.locator("#player[data-state=ended]").wait_for()
    page.locator("[data-games]", has_text=str(before + 1)).wait_for()


JOURNEY = [pytest.mark.journey("studies of play"), pytest.mark.journey("the researcher's pages")]


@pytest.mark.long_proof
@pytest.mark.parametrize("look", [pytest.param("desktop", marks=JOURNEY), "phone"])
def test_a_person_passes_the_check_plays_comes_back_and_leaves_with_the_code(browse, host, archive, look):
    study = open_study(archive, STUDY)
    who = PROLIFIC | {"PROLIFIC_PID": f"60bf9310e8dec401be6e96{[*LOOKS].index(look):02d}", "SESSION_ID": f"s-{look}"}
    link = f"{host}/studies/serve?{urlencode(who)}"
    page = browse(look)
    page.goto(link)
    assert (
        "Games: at least 2\nTime played: at least 0:04\nActive time: at least 0:01" in page.locator(".study-facts").inner_text()
    )
    assert "0.75 USD when it is complete, and a bonus of up to 1.50 USD, which rises with time up to 1:00" in page.content()
    picture(page, f"{look}_welcome")
    agree(page)
    page.get_by_role("heading", name="Which aliens come first?").wait_for()
    picture(page, f"{look}_check")
    for question in study.quiz.quiz.questions:
        for option in question.options:
            if option.is_right:
                page.locator(f'input[name="{question.id}"][value="{option.id}"]').check()
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_role("link", name="Continue to the game").click()
    page.get_by_role("heading", name="Breakout, twice").wait_for()
    page.get_by_text("Serve at once, and keep the ball in play.").wait_for()
    assert page.get_by_role("button", name="Finish the study").is_disabled()
    picture(page, f"{look}_before")
    play_one(page)
    page.locator("[data-goal-text]", has_text="1 of 2").wait_for()
    page.locator("[data-goal-text]", has_text="0:03 of 0:04").wait_for()
    picture(page, f"{look}_between")

    page.goto(link)  # from the platform once more, as after a closed window: back at the game, with what was reached
    page.locator("[data-goal-text]", has_text="1 of 2").wait_for()
    page.locator("[data-start]").click()
    page.locator("#player[data-state=playing]").wait_for()
    page.reload()  # in the middle of a game, whose seat is kept
    researcher = browse(look)
    researcher.goto(f"{host}/desk")
    researcher.get_by_label("Operator's token").fill(operator_token(archive.root))
    researcher.keyboard.press("Enter")
    researcher.get_by_text("Three seconds of Breakout serve").wait_for()
    page.locator("[data-start]", has_text="Resume").click()
    page.locator("#player[data-state=ended]").wait_for()
    page.locator("[data-goal-text]", has_text="2 of 2").wait_for()
    page.get_by_text("You have reached everything that is asked. You may stop now, or play on for the bonus.").wait_for()
    assert page.locator("[data-bonus]").inner_text() == "0.15", "1.50 x 6 / 60"
    picture(page, f"{look}_complete")
    page.get_by_role("button", name="Finish the study").click()
    page.get_by_text("DONE1").wait_for()
    assert "0.90 USD" in page.locator(".earned").inner_text()
    picture(page, f"{look}_end")
    page.goto(link)
    page.get_by_text("DONE1").wait_for()

    enrolment = next(one for one in enrolments(archive, "serve") if one.assignment == f"s-{look}")
    explained = Payroll(archive.database).explain("serve", enrolment.id).to_json()
    assert (explained["agrees"], explained["reward_cents"], explained["bonus_cents"]) == (True, 75, 15)
    assert [game["statistics"]["time"] for game in explained["games"]] == [3.0, 3.0]
    for address, said in (
        ("studies/serve", f"person {enrolment.participant_id}"),
        ("quality?study=serve", "Input latency"),
        (f"money/serve/{enrolment.id}", "The rules give the amount in the ledger."),
    ):
        researcher.goto(f"{host}/desk/{address}")
        researcher.get_by_text(said).first.wait_for()


def test_a_person_chooses_from_the_cards_and_plays_only_that(browse, host, archive):
    open_study(archive, CHOOSE)
    page = browse()
    page.goto(f"{host}/studies/choose")
    agree(page)
    page.get_by_role("heading", name="What would you like to play?").wait_for()
    picture(page, "desktop_choose")
    page.get_by_role("button", name="Play Breakout, without moving").click()
    page.get_by_role("heading", name="Breakout, without moving").wait_for()
    page.goto(f"{host}/studies/choose")
    page.get_by_role("heading", name="Breakout, without moving").wait_for()
    page.locator("[data-games]").wait_for()
    assert page.locator("[data-bonus]").count() == 0, "an open link pays nobody"


@pytest.mark.journey("questions about the partner")
def test_an_agent_is_the_partner_questions_follow_and_who_waits_in_vain_leaves_with_that_code(browse, host, archive):
    open_study(archive, WITH_PARTNERS)
    page = browse("phone")
    page.goto(f"{host}/studies/partners?{urlencode(PROLIFIC | {'PROLIFIC_PID': '60bf9310e8dec401be6e9701'})}")
    picture(page, "phone_partners")
    agree(page)
    page.get_by_role("button", name="Play Soup with an agent").click()
    page.get_by_text("An agent plays this with you.").wait_for()
    page.locator("[data-start]").click()
    page.locator("#player[data-state=playing]").wait_for()
    page.locator("[data-seats]", has_text="An agent plays").wait_for()
    page.locator("[data-goal-text]", has_text=re.compile(r"^0:0[1-9]")).first.wait_for()  # else there is no play to ask about
    page.locator("[data-finish]").click()
    page.get_by_role("button", name="Finish", exact=True).last.click()
    page.get_by_role("button", name="To the questions").click()
    page.get_by_role("heading", name="How was it to play with your partner?").wait_for()
    for statement in page.locator("fieldset.scale").all():
        statement.locator("input").first.focus()
        page.keyboard.press("ArrowRight")
    picture(page, "phone_questions")
    page.get_by_role("button", name="Send my answers").click()
    page.get_by_role("heading", name="Soup with an agent").wait_for()
    assert [one.value for one in Visits(archive.database, Studies(archive.database)).answers("partners")] == ["2"] * 6

    alone = browse()
    who = PROLIFIC | {"PROLIFIC_PID": "60bf9310e8dec401be6e9702", "SESSION_ID": "alone"}
    alone.goto(f"{host}/studies/partners?{urlencode(who)}")
    agree(alone)
    alone.get_by_role("button", name="Play Pong with a person").click()
    alone.locator("[data-start]").click()
    leave = alone.get_by_role("button", name="Leave, and get 0.40 USD for waiting")
    leave.wait_for()
    picture(alone, "desktop_lobby")
    leave.click()
    alone.get_by_role("heading", name="Nobody came to play with you").wait_for()
    picture(alone, "desktop_nobody")
    alone.get_by_role("button", name="Leave the study").click()
    alone.get_by_text("ALONE2").wait_for()
    picture(alone, "desktop_alone")
    (payment,) = Payroll(archive.database).plan("partners").payments
    assert (payment.kind, payment.amount_cents, payment.visit.assignment) == ("bonus", 40, "alone")


def test_who_comes_second_is_given_the_open_seat_of_the_first(browse, host, archive):
    open_study(archive, TOGETHER)
    first, second, third = browse(), browse(), browse()
    for page in (first, second, third):
        page.goto(f"{host}/studies/together")
        agree(page)
        page.locator("[data-start]").wait_for()
        if page is first:  # one of the two at random; she waits there
            page.locator("[data-start]:not([disabled])").press("Enter")
            page.locator("[data-lobby]").wait_for()
        elif page is second:
            page.locator("[data-start]:not([disabled])").press("Enter")
            page.locator("#player:is([data-state=countdown], [data-state=playing])").wait_for()
    given = {one.participant_id: (one.variant, one.variant_reason) for one in enrolments(archive, "together")}
    (one, why_one), (two, why_two), (three, why_three) = (given[key] for key in sorted(given))
    assert (why_one, why_two, why_three) == ("target", "open_seat", "target")
    assert one == two != three, "no seat waits any more, so the third person goes where nobody is"


PAIR = (
    TOGETHER[: TOGETHER.index("[[requirements]]")].replace('id = "together"', 'id = "pair"')
    + """
[[requirements]]
statistic = "time"
required = 2
[[variants]]
task = "overcooked/cramped_room"
[channels.open]
"""
)


def test_who_left_a_game_of_two_comes_back_and_the_bars_follow_without_a_reload(browse, host, archive):
    open_study(archive, PAIR)
    first, second = browse(), browse()
    for page in (first, second):
        page.goto(f"{host}/studies/pair")
        agree(page)
        page.locator("[data-start]").click()
    for page in (second, first):
        page.locator("#player[data-state=playing]").wait_for()
        page.get_by_text("Your game must end first: choose Finish below it").wait_for()
        assert page.get_by_role("button", name="Finish the study").is_disabled()
    address = first.url
    first.goto("about:blank")
    first.goto(address)
    first.get_by_text("Your last game is not over (an agent may play on for you), or it is being saved.").wait_for()
    picture(first, "back_while_it_goes_on")
    second.locator("[data-finish]").click()
    second.locator("dialog[open] [data-ask-visit]", has_text="You have reached everything that is asked.").wait_for()
    picture(second, "finish_now")
    second.get_by_role("button", name="Finish", exact=True).last.click()
    for page in (second, first):
        page.get_by_text("You have reached everything that is asked. You may stop now.").wait_for()
        assert page.locator("[data-games]").inner_text() == "1"
    assert first.get_by_role("button", name="Finish the study").is_enabled()


def test_one_game_at_a_time_and_only_what_the_study_gives(browse, host, archive):
    open_study(archive, CHOOSE)
    page = browse()
    page.goto(f"{host}/studies/choose")
    agree(page)
    page.get_by_role("button", name="Play Breakout, without moving").click()
    page.locator("[data-start]").click()
    page.locator("#player[data-state=playing]").wait_for()
    token = page.locator("#player").get_attribute("data-enrolment")

    def ask(task: str):
        return page.request.post(f"{host}/api/sessions", data={"task": task}, headers={"Interplay-Enrolment": token})

    second = ask("short/breakout")
    assert (second.status, second.json()["error"]) == (409, "game_open")
    other = ask("atari/pong_of_nobody")
    assert (other.status, other.json()["error"]) == (409, "another_task")
    judged = page.request.post(f"{host}/api/judge/matches", data={}, headers={"Interplay-Enrolment": token})
    assert (judged.status, judged.json()["error"]) == (409, "no_comparisons")
    page.locator("#player[data-state=ended]").wait_for()
    page.get_by_role("link", name="Leave the study").click()
    page.get_by_text("your part ends as done").wait_for()
    page.get_by_role("button", name="Leave the study").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    after = ask("short/breakout")
    assert (after.status, after.json()["error"]) == (409, "ended")
    assert page.goto(f"{host}/judge?study=choose&preview=1").url.endswith("/studies/choose")
