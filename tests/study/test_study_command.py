"""`interplay study`: checking, opening, closing, listing people, and paying them once through stand-ins of both platforms."""

import csv
import io
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module

import pytest
from fake_prolific import STUDY as PROLIFIC_STUDY
from fake_prolific import TOKEN, FakeProlific
from hypothesis import given
from hypothesis import strategies as st

import interplay.record
from interplay.cli import _run
from interplay.cli.serve import _only_server
from interplay.store.participants import add_participant, participant_by_worker
from interplay.store.study import money, studies
from interplay.study.channels.prolific_api import ProlificApi
from interplay.study.definition import parse_study
from interplay.study.money.estimates import Finished, bonuses_due
from interplay.study.money.ledger import Event, Payment, Sent, Visit, plan, refusal, send
from interplay.study.money.payroll import Payroll

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STUDY = """
[study]
id = "caves"
title = "Compare two players"
summary = "Two videos."
minutes = 15
answers = 1
contact = "Ada"
instructions = "Watch."
[pay]
reward = 3.75
hourly_target = 15
[channels.mturk]
[channels.prolific]
codes = { done = "DONE1" }
[judging]
tasks = ["atari/breakout"]
"""


def finish(archive, channel, worker, assignment, minutes, *, hit="3HIT", outcome="done"):
    """Somebody took part and finished."""
    with archive.database.write() as session:
        row = studies.study_row(session, "caves")
        known = participant_by_worker(session, channel, worker)
        person = (known or add_participant(session, f"key of {worker}", START, channel=channel, worker=worker)).id
        name = f"{len(studies.enrolments_of_study(session, 'caves')):024x}"
        studies.add_enrolment(
            session, enrolment_id=name, study="caves", study_hash=row.content_hash, participant_id=person, channel=channel,
            worker=worker, assignment=assignment, arrival={"hit": hit}, now=START, consented=True,
        )  # fmt: skip
        studies.end_enrolment(session, name, outcome, START + timedelta(minutes=minutes))
    return name


# Checking, opening, closing


def test_a_good_study_is_summed_up_and_a_bad_one_is_refused_with_the_remedy(run, tmp_path):
    status, out, _ = run("check caves.toml")
    assert status == 0
    assert "caves.toml: 'Compare two players', all good." in out
    assert "3.75 USD, 15.00 an hour at that pace (target 15.00)" in out
    (tmp_path / "bad.toml").write_text(STUDY.replace("minutes", "minuts"))
    status, _, err = run("check bad.toml")
    assert status == 1
    assert "bad.toml: study.minutes: is missing" in err
    bad = STUDY.replace("minutes", "minuts").replace('instructions = "Watch."', "").replace("reward", "rewad")
    (tmp_path / "bad.toml").write_text(bad)
    status, _, err = run("check bad.toml")
    assert status == 1
    missing, unknown = ("study.instructions", "study.minutes", "pay.reward"), ("pay.rewad", "study.minuts")
    for fault in (*(f"{key}: is missing" for key in missing), *(f"{key}: is not a known key" for key in unknown)):
        assert err.count(f"bad.toml: {fault}") == 1, err


@pytest.mark.parametrize("line", ["", 'contact = "the people who run this server"\n'])
@pytest.mark.parametrize("verb", ["check", "open"])
def test_a_study_without_a_contact_is_refused_with_the_key_to_write(run, tmp_path, verb, line):
    (tmp_path / "caves.toml").write_text(STUDY.replace('contact = "Ada"\n', line))
    status, _, err = run(f"{verb} caves.toml")
    assert status == 1
    assert "caves.toml: study.contact is missing; people who take part must know whom to ask" in err
    assert 'Remedy: add contact = "Ada Lovelace, ada@lab.example" to [study], and ethics = "..."' in err
    assert "study check caves.toml --contact" in err
    status, out, _ = run(f"{verb} caves.toml --contact Eve --ethics IRB-7 --json")
    study = json.loads(out)["study"] if verb == "check" else json.loads(run("show caves --json")[1])["study"]
    assert (status, study["study"]["contact"], study["study"]["ethics"]) == (0, "Eve", "IRB-7")


@pytest.mark.parametrize("verb", ["check", "open"])
def test_texts_that_nobody_sees_or_reads_are_refused_with_their_place(run, tmp_path, verb):
    for change, said in (
        (('"Ada"', '"\u200b\u3164"'), "study.contact has only invisible characters\nRemedy: write words"),
        (('"Ada"', f'"{"Ada " * 25_000}"'), "study.contact has 100,000 characters, and at most 1,000 fit"),
        (('"Two videos."', f'"{"x" * 1001}"'), "study.summary has 1,001 characters"),
        (('"Watch."', '"\u2060"'), "study.instructions has only invisible characters"),
    ):
        (tmp_path / "caves.toml").write_text(STUDY.replace(*change))
        status, _, err = run(f"{verb} caves.toml")
        assert (status, f"caves.toml: {said}" in err) == (1, True), err
    (tmp_path / "caves.toml").write_text(STUDY.replace('"Watch."', f'"{" " * 2000}Watch."'))
    assert "only invisible characters" not in run(f"{verb} caves.toml")[2], "words come after the spaces"
    (tmp_path / "caves.toml").write_text(STUDY)
    assert "study.contact has only invisible characters" in run(f"{verb} caves.toml --contact \u200b")[2]


def test_a_study_that_ships_takes_the_contact_from_the_command(run):
    assert "basalt: study.contact is missing" in run("check basalt")[2]
    status, out, _ = run("check basalt --contact Ada,ada@lab.example")
    assert status == 0
    assert "contact    Ada,ada@lab.example" in out
    assert "Open it:  interplay study open basalt --contact Ada,ada@lab.example" in out


def test_rules_and_tasks_of_a_study_are_checked_before_it_opens(run, tmp_path):
    (tmp_path / "task.toml").write_text(STUDY.replace("atari/breakout", "atari/brekout"))
    status, _, err = run("open task.toml")
    assert status == 1
    assert "unknown task 'atari/brekout'; did you mean 'atari/breakout'?" in err
    assert "It stands in task.toml: judging.tasks" in err
    (tmp_path / "rule.toml").write_text(STUDY.replace("[judging]", "[judging]\nmin_vewing_s = 3"))
    status, _, err = run("check rule.toml")
    assert status == 1
    assert "rule.toml: [judging]: min_vewing_s: is not a known key\nRemedy: did you mean 'min_viewing_s'." in err


def test_what_a_study_names_must_be_in_the_data_folder_before_it_opens(run, tmp_path):
    (tmp_path / "caves.toml").write_text(STUDY + '[[examples]]\nfile = "media/good.mp4"\ncaption = "x"\n')
    segments = STUDY.replace('tasks = ["atari/breakout"]', 'segments = { task = "atari/breakout", seconds = 1.5, number = 4 }')
    (tmp_path / "segments.toml").write_text(segments)
    for file, text in (
        ("caves.toml", "examples[0]: there is no video interplay-data/media/good.mp4"),
        ("segments.toml", "there is no game of atari/breakout to draw segments from"),
    ):
        refused = [run(f"{verb} {file}") for verb in ("open", "check")]
        assert [status for status, _, _ in refused] == [1, 1]
        assert all(text in err for _, _, err in refused), "check refuses what open does"
    assert run("check caves.toml --data nothing")[0] == 1
    assert run("check segments.toml --data nothing")[0] == 0, "nothing is recorded yet"
    assert not (tmp_path / "nothing").exists()


def test_an_example_video_of_the_store_is_found(run, tmp_path, bucket):
    (tmp_path / "caves.toml").write_text(STUDY + '[[examples]]\nfile = "media/good.mp4"\ncaption = "x"\n')
    archive = interplay.record.open(tmp_path / "stored", blobs=bucket)
    place = archive.video_place("good")
    place.write_bytes(b"film")
    archive.put(place)
    place.unlink()
    archive.close()
    assert run("check caves.toml --data stored")[0] == 0
    assert place.read_bytes() == b"film"


def test_opening_prints_the_links_to_paste(run):
    status, out, _ = run("open caves.toml --address https://lab.example --json")
    links = json.loads(out)["links"]
    assert json.loads(out)["preview"] == "https://lab.example/judge?study=caves&preview=1"
    assert status == 0
    assert links["mturk"] == "https://lab.example/studies/caves"
    assert links["prolific"].startswith("https://lab.example/studies/caves?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID=")


def test_opening_says_who_can_use_mechanical_turk(run):
    _, out, _ = run("open caves.toml --address https://lab.example")
    assert "mturk     https://lab.example/studies/caves\n" in out
    assert "          Since 30 July 2026 Mechanical Turk takes no new customers; accounts that exist continue." in out
    assert "Note on mturk" not in out, "once is enough"
    assert "prolific  https://lab.example/studies/caves?PROLIFIC_PID=" in out


def test_opening_prints_the_address_of_the_server_that_runs_and_of_no_other(run, tmp_path):
    assert run("open caves.toml")[0] == 0
    with _only_server(tmp_path / "interplay-data", port=8123):
        _, out, _ = run("open caves.toml")
        assert "http://127.0.0.1:8123/judge?study=caves&preview=1" in out
        assert "YOUR-SERVER" not in out
        assert "for people elsewhere give --address" in out
        assert "https://lab.example/studies/caves" in run("open caves.toml --address https://lab.example")[1]
    _, out, _ = run("open caves.toml")  # its file is still there, its lock is not
    assert "https://YOUR-SERVER/judge?study=caves&preview=1" in out
    assert "no server runs on this data folder. Start one:  interplay serve" in out


def test_opening_a_changed_file_makes_a_new_version_and_the_old_one_stays(run, tmp_path, opened):
    assert "caves is open already" in run("open caves.toml")[1]
    (tmp_path / "caves.toml").write_text(STUDY.replace("Watch.", "Watch both."))
    assert "caves is open with a new version" in run("open caves.toml")[1]
    shown = json.loads(run("show caves --json")[1])
    assert len(shown["versions"]) == 2
    assert shown["study"]["study"]["instructions"] == "Watch both."


def test_closing_opening_and_listing(run, opened):
    finish(opened, "mturk", "A1ADA", "3A", 15)
    assert json.loads(run("close caves --json")[1])["inside"] == 0
    listed = {one["id"]: one for one in json.loads(run("list --json")[1])}
    assert (listed["caves"]["state"], listed["caves"]["people"]) == ("closed", {"done": 1})
    assert listed["atari"]["state"] == "ships, not opened"
    assert "caves is open again" in run("open caves.toml")[1]


def test_a_study_that_ships_is_shown_as_a_file_to_copy(run, tmp_path):
    text = run("show atari --toml")[1]
    (tmp_path / "mine.toml").write_text(text.replace('id = "atari"', 'id = "mine"').replace("# contact", "contact"))
    assert run("check mine.toml")[0] == 0
    assert "did you mean 'atari'" in run("show attari --toml")[2]


def test_hints_look_in_the_same_folder_and_speak_of_pay_only_where_there_is_some(run, tmp_path):
    (tmp_path / "free.toml").write_text(
        re.sub(r"\[pay\].*?\[judging\]", "[channels.open]\n[judging]", STUDY, flags=re.DOTALL).replace('"caves"', '"free"')
    )
    for name in ("caves", "free"):
        assert f"interplay study participants {name} --data other" in run(f"open {name}.toml --data other")[1]
    assert "interplay study pay caves --data other" in run("close caves --data other")[1]
    assert "study pay" not in run("close free --data other")[1]
    assert "interplay study list --data other" in run("close cave --data other")[2]


def test_the_hint_after_a_check_names_the_task_files_that_were_named(run, tmp_path, capsys):
    text = (
        '[suite]\nid = "tea"\ntitle = "Tea"\n[[task]]\nname = "pour"\ntitle = "Pour"\ngoal = "Pour."\nenv.id = "video:none"\n'
        'held_out_seeds = [1]\nquestions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who won?" }]\n'
    )
    (tmp_path / "my tea.toml").write_text(text)
    (tmp_path / "tea.toml").write_text(STUDY.replace("atari/breakout", "tea/pour"))
    assert _run(["study", "check", "tea.toml", "--suite", "my tea.toml"]) == 0
    assert "Open it:  interplay study open tea.toml --suite 'my tea.toml'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ('where = ["score ~ 3"]', "cannot read the condition 'score ~ 3': it is not of the form NAME OPERATOR VALUE"),
        ('seat = "frist"', "unknown seat 'frist'; did you mean 'first'"),
        ("", "has 2 seats, and the study does not say which one is compared"),
        ('seat = "first"\nwhere = ["anything = 3"]', ""),
    ],
)
def test_the_games_and_the_seat_of_segments_are_checked_before_there_is_a_server(tmp_path, capsys, more, text):
    begin = STUDY[: STUDY.index("[judging")]
    (tmp_path / "s.toml").write_text(f'{begin}[judging.segments]\ntask = "overcooked/cramped_room"\n{more}\n')
    assert (_run(["study", "check", str(tmp_path / "s.toml")]) == 0) == (text == "")
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["close", "participants", "pay"])
def test_a_mistyped_study_is_answered_with_the_nearest(run, opened, verb):
    status, _, err = run(f"{verb} cavs")
    assert status == 2
    assert "unknown study 'cavs'; did you mean 'caves'?" in err


# People


def test_people_are_listed_for_eyes_programs_and_spreadsheets(run, opened):
    finish(opened, "mturk", "A1ADA", "3A", 12.5)
    finish(opened, "prolific", "60bf", "7a", 3, outcome="withdrawn")
    rows = json.loads(run("participants caves --json")[1])
    assert [(row["worker"], row["outcome"], row["minutes"]) for row in rows] == [
        ("A1ADA", "done", 12.5),
        ("60bf", "withdrawn", 3.0),
    ]
    sheet = list(csv.DictReader(io.StringIO(run("participants caves --csv")[1])))
    assert [row["assignment"] for row in sheet] == ["3A", "7a"]
    assert "A1ADA" in run("participants caves")[1]


def test_an_empty_study_says_so_and_its_sheet_has_its_header(run, opened):
    assert "Nobody has agreed to take part in caves yet." in run("participants caves")[1]
    assert run("participants caves --csv")[1].startswith("enrolment,participant,channel,worker")


# Paying


@pytest.fixture
def prolific(monkeypatch):
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    with FakeProlific() as platform:
        yield platform


def pay(run, platform, channel, options="--send"):
    status, out, err = run(f"pay caves --channel {channel} --endpoint {platform.endpoint} {options} --json")
    assert out, err
    return status, json.loads(out)


def events(archive):
    with archive.database.read() as session:
        return [(event.kind, event.state, event.amount_cents) for event in money.pay_events(session, "caves")]


def test_without_send_nothing_leaves_this_machine(run, opened, mturk):
    finish(opened, "mturk", "A1ADA", "3A", 20)
    status, document = pay(run, mturk, "mturk", "")
    assert status == 0
    # 20 minutes at 15 an hour are 5.00; 3.75 of it is the reward.
    assert [(one["kind"], one["amount_cents"], one["state"]) for one in document["payments"]] == [
        ("reward", 375, "new"),
        ("bonus", 125, "new"),
    ]
    (estimate,) = document["estimates"]
    assert dict(estimate["rows"])["earned per hour, mean"] == "11.25 (target 15.00)"
    assert mturk.requests == []
    assert events(opened) == []
    assert "Nothing was sent. To pay:  interplay study pay caves --channel mturk --send" in run("pay caves --channel mturk")[1]


def test_the_command_that_pays_repeats_what_was_chosen_and_where(run, opened, mturk):
    finish(opened, "mturk", "A1ADA", "3A", 20)
    place = f"--data {opened.root.resolve()} --database {opened.database.address}"
    chosen = "--channel mturk --no-bonuses --longest 30 --reason Thanks! --production"
    _, said, _ = run(f"pay caves {chosen} {place}")
    command = "interplay study pay caves --channel mturk --send --no-bonuses --longest 30 --reason 'Thanks!' --production"
    assert f"To pay:  {command} --data {opened.root.resolve()} --database ADDRESS" in said


def test_mturk_is_paid_once_however_often_it_is_asked(run, opened, mturk):
    finish(opened, "mturk", "A1ADA", "3A", 20)
    finish(opened, "mturk", "A2BOB", "3B", 10)
    finish(opened, "mturk", "A3CYD", "3C", 5, outcome="withdrawn")
    for assignment, worker in (("3A", "A1ADA"), ("3B", "A2BOB")):
        mturk.hand_in(assignment, worker)
    assert pay(run, mturk, "mturk")[0] == 0
    assert [held["AssignmentStatus"] for held in mturk.assignments.values()] == ["Approved", "Approved"]
    assert [(bonus["WorkerId"], bonus["BonusAmount"]) for bonus in mturk.bonuses] == [("A1ADA", "1.25")]
    status, document = pay(run, mturk, "mturk")
    assert (status, document["payments"]) == (0, [])
    assert len(mturk.bonuses) == 1
    assert events(opened).count(("reward", "sent", 375)) == 2


def test_work_done_after_a_bonus_is_topped_up_for_itself(run, opened, mturk):
    finish(opened, "mturk", "A1ADA", "3A", 20)
    mturk.hand_in("3A", "A1ADA")
    pay(run, mturk, "mturk")
    finish(opened, "mturk", "A1ADA", "3B", 25)
    mturk.hand_in("3B", "A1ADA")
    pay(run, mturk, "mturk")
    # 45 minutes at 15 an hour are 11.25; two rewards of 3.75 and bonuses of 1.25 and 2.50 make it up.
    assert [bonus["BonusAmount"] for bonus in mturk.bonuses] == ["1.25", "2.50"]


def test_somebody_who_typed_another_persons_ids_is_not_paid(run, opened, mturk):
    finish(opened, "mturk", "A6EVE", "3A", 15)
    mturk.hand_in("3A", "A1ADA")
    status, document = pay(run, mturk, "mturk")
    assert status == 1
    assert document["payments"][0]["state"] == "failed"
    assert "3A belongs to A1ADA, but A6EVE came here with it" in document["payments"][0]["detail"]
    assert mturk.assignments["3A"]["AssignmentStatus"] == "Submitted"


def test_prolific_is_paid_once(run, opened, prolific):
    finish(opened, "prolific", "60bf", "7a", 20, hit=PROLIFIC_STUDY)
    prolific.hand_in("7a", "60bf")
    assert pay(run, prolific, "prolific")[0] == 0
    assert pay(run, prolific, "prolific")[1]["payments"] == []
    assert prolific.submissions["7a"]["status"] == "APPROVED"
    assert list(prolific.paid.values()) == [125]


def test_a_bonus_of_prolific_whose_end_nobody_knows_is_never_sent_again_by_itself(run, opened, prolific):
    finish(opened, "prolific", "60bf", "7a", 20, hit=PROLIFIC_STUDY)
    prolific.hand_in("7a", "60bf")
    # Asked who it is, approved, asked again, set up, and then paid without an answer.
    prolific.faults = [None, None, None, None, "lost"]
    status, document = pay(run, prolific, "prolific")
    assert status == 1
    bonus = document["payments"][1]
    assert bonus["state"] == "unknown"
    assert "may have been paid" in bonus["detail"]
    status, document = pay(run, prolific, "prolific")
    assert status == 1
    assert "look on the platform" in document["payments"][0]["detail"]
    assert list(prolific.paid.values()) == [125], "paid once"
    status, document = pay(run, prolific, "prolific", f"--settle {bonus['request']}=sent")
    assert (status, document["payments"]) == (0, [])


def test_only_payments_whose_end_is_unknown_are_settled_by_hand(run, opened):
    finish(opened, "mturk", "A1ADA", "3A", 15)
    for malformed in ("reward:x", "reward:x=paid", "=sent", "sent"):
        status, _, err = run(f"pay caves --channel mturk --settle {malformed}")
        assert (status, f"--settle {malformed}: write REQUEST=sent or REQUEST=failed" in err) == (2, True)
    status, _, err = run("pay caves --channel mturk --settle reward:x=sent")
    assert status == 1
    assert "--settle reward:x=sent: write REQUEST=sent or REQUEST=failed, for a payment whose end is unknown: none" in err


def test_paying_needs_a_channel_an_account_and_a_reward(run, opened, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "PROLIFIC_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert "caves recruits through mturk and prolific\nRemedy: name one with --channel." in run("pay caves")[2]
    assert "unknown channel 'mturkk'; did you mean 'mturk'?" in run("pay caves --channel mturkk")[2]
    assert "no AWS access key in the environment" in run("pay caves --channel mturk --send")[2]
    assert "PROLIFIC_TOKEN holds no token" in run("pay caves --channel prolific --send")[2]
    run("open atari --contact Ada")
    assert "atari pays nobody" in run("pay atari")[2]


def test_a_visit_left_open_over_night_counts_three_times_the_estimate_at_most(run, opened):
    finish(opened, "mturk", "A1ADA", "3A", 600)
    document = json.loads(run("pay caves --channel mturk --json")[1])
    # 45 minutes at 15 an hour are 11.25, less the reward.
    assert document["payments"][1]["amount_cents"] == 750
    document = json.loads(run("pay caves --channel mturk --longest 600 --json")[1])
    assert document["payments"][1]["amount_cents"] == 15000 - 375


def test_everybody_is_paid_by_the_version_they_agreed_to(run, opened, mturk, tmp_path):
    finish(opened, "mturk", "A1ADA", "3A", 20)
    changed = STUDY.replace("minutes = 15", "minutes = 6").replace("reward = 3.75", "reward = 1.00")
    (tmp_path / "caves.toml").write_text(changed.replace("hourly_target = 15", "hourly_target = 10"))
    assert "with a new version" in run("open caves.toml")[1]
    finish(opened, "mturk", "A2BOB", "3B", 60)
    for assignment, worker in (("3A", "A1ADA"), ("3B", "A2BOB")):
        mturk.hand_in(assignment, worker)
    status, document = pay(run, mturk, "mturk")
    assert status == 0
    # Ada: 20 minutes at 15 an hour are 5.00. Bob: 18 minutes, three times the estimate, at 10 an hour are 3.00.
    assert [(one["kind"], one["worker"], one["amount_cents"]) for one in document["payments"]] == [
        ("reward", "A1ADA", 375),
        ("reward", "A2BOB", 100),
        ("bonus", "A2BOB", 200),
        ("bonus", "A1ADA", 125),
    ]
    assert [(one["reward_cents"], one["hourly_target_cents"]) for one in document["estimates"]] == [(375, 1500), (100, 1000)]
    assert "measured times at a reward of 3.75 USD" in run("pay caves --channel mturk")[1]


def test_who_was_promised_pay_gets_it_though_the_study_pays_nobody_now(run, opened, tmp_path):
    finish(opened, "mturk", "A1ADA", "3A", 15)
    (tmp_path / "caves.toml").write_text(
        STUDY[: STUDY.index("[pay]")] + "[channels.open]\n" + STUDY[STUDY.index("[judging]") :]
    )
    assert run("open caves.toml")[0] == 0
    finish(opened, "open", "participant-2", "", 15)
    document = json.loads(run("pay caves --json")[1])
    assert [(one["worker"], one["amount_cents"]) for one in document["payments"]] == [("A1ADA", 375)]


@pytest.mark.parametrize(("moment", "end"), [("planned", "sent"), ("sending", "unknown")])
def test_of_two_runs_at_once_one_pays_a_bonus_of_prolific(run, opened, prolific, monkeypatch, moment, end):
    finish(opened, "prolific", "60bf", "7a", 20, hit=PROLIFIC_STUDY)
    prolific.hand_in("7a", "60bf")
    # The other run comes when the first one has made its plan, or while its bonus is on the way.
    place, name = (import_module("interplay.cli.study.pay"), "_payer") if moment == "planned" else (ProlificApi, "pay_bonuses")
    original, others = getattr(place, name), []

    def interrupted(*args, **options):
        if not others:
            others.append(None)
            others[0] = pay(run, prolific, "prolific")[1]["payments"]
        return original(*args, **options)

    monkeypatch.setattr(place, name, interrupted)
    mine = pay(run, prolific, "prolific")[1]["payments"]
    states = {one["kind"]: one["state"] for one in (mine if moment == "planned" else others[0])}
    assert states["bonus"] == end
    assert list(prolific.paid.values()) == [125]
    assert events(opened).count(("bonus", "planned", 125)) == events(opened).count(("bonus", "sent", 125)) == 1


@pytest.fixture(params=["sqlite", "postgresql"])
def anywhere(request, tmp_path):
    """The study, open, in a database of either kind."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    archive = interplay.record.open(tmp_path / "data", database=url)
    yield open_in(archive)
    archive.close()


def open_in(archive):
    study = parse_study(STUDY)
    with archive.database.write() as session:
        studies.open_study(session, study="caves", content_hash=study.content_hash, definition=study.to_json(), now=START)
    return archive


def test_one_payment_is_claimed_by_one_of_many_at_once(anywhere, monkeypatch):
    finish(anywhere, "prolific", "60bf", "7a", 20)
    payroll = Payroll(anywhere.database)
    bill = payroll.plan("caves", channel="prolific")
    bonus, visits = bill.payments[1], list(bill.visits)
    # Time to read the ledger as it was before, if nothing makes the others wait.
    monkeypatch.setattr(payroll, "_visits", lambda *theirs: time.sleep(0.05) or visits)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: payroll.claim(bill, bonus, repeats_safely=False), range(8)))
    assert found.count(None) == 1
    assert {one.state for one in found if one is not None} == {"unknown"}
    assert events(anywhere) == [("bonus", "planned", 125)]


# The ledger alone

ADA = Visit("e1", "ada", "a1", "h", 1200.0, 375, 1500)
LATER = Visit("e2", "ada", "a2", "h", 1500.0, 375, 1500)
BONUS = Payment("bonus", ADA, 125, "bonus:e1:0+125")


def test_a_payment_the_ledger_knows_nothing_of_the_end_of_is_planned_again_as_it_was():
    known = [Event("e1", "bonus", "planned", 99, "bonus:e1:0+99")]
    assert plan([ADA], known)[1] == Payment("bonus", ADA, 99, "bonus:e1:0+99", "unknown")


def test_who_earned_enough_gets_no_bonus():
    quick = replace(ADA, time_s=60.0)
    assert [payment.kind for payment in plan([quick], [])] == ["reward"]
    assert [payment.kind for payment in plan([ADA], [], with_bonuses=False)] == ["reward"]
    assert [payment.kind for payment in plan([replace(ADA, hourly_cents=None)], [])] == ["reward"]


def test_visits_on_different_terms_count_together_and_other_money_does_not():
    quick = replace(LATER, time_s=360.0, reward_cents=200, hourly_cents=1000)
    # 20 minutes at 15 and 6 minutes at 10 are 6.00; 5.75 were paid.
    assert [payment.amount_cents for payment in plan([ADA, quick], [])] == [375, 200, 25]
    pounds = replace(quick, currency="GBP")
    assert [(payment.amount_cents, payment.visit.currency) for payment in plan([ADA, pounds], [])] == [
        (375, "USD"), (200, "GBP"), (125, "USD"),
    ]  # fmt: skip
    no_target = replace(quick, hourly_cents=None)
    assert [payment.amount_cents for payment in plan([ADA, no_target], [])] == [375, 200, 125]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(1, 20_000)), min_size=1, max_size=12))
def test_on_equal_terms_bonuses_are_those_of_the_estimate(times):
    visits = [Visit(f"e{place}", worker, f"a{place}", "h", time_s, 375, 1500) for place, (worker, time_s) in enumerate(times)]
    finished = [Finished(visit.worker, visit.enrolment, visit.time_s) for visit in visits]
    due = bonuses_due(finished, reward=Decimal("3.75"), hourly=Decimal(15))
    planned = [payment for payment in plan(visits, []) if payment.kind == "bonus"]
    assert [(one.visit.worker, one.visit.enrolment, one.amount_cents) for one in planned] == [
        (one.worker, one.assignment, one.amount * 100) for one in due
    ]


def test_a_payment_is_looked_at_again_before_it_goes_out():
    for visits, events, repeats_safely, state in [
        ([ADA], [], False, None),
        ([ADA], ["planned"], False, "unknown"),
        ([ADA], ["planned"], True, None),
        ([ADA], ["planned", "failed"], False, None),
        ([ADA], ["planned", "sent"], True, "sent"),
        ([ADA, LATER], [], True, "failed"),
    ]:
        ledger = [Event("e1", "bonus", one, 125, BONUS.request) for one in events]
        refused = refusal(BONUS, visits, ledger, repeats_safely=repeats_safely)
        assert (None if refused is None else refused.state) == state


def test_a_bonus_is_not_sent_beside_another_one_of_the_same_person():
    # Planned before a second visit ended; another run has paid both visits since, or is about to.
    for states in (["planned"], ["planned", "sent"]):
        others = [Event("e2", "bonus", state, 375, "bonus:e2:0+375") for state in states]
        refused = refusal(BONUS, [ADA, LATER], others, repeats_safely=True)
        assert refused is not None
        assert (refused.state, refused.detail) == (
            "failed",
            "what this person is owed has changed; nothing was sent: run it again",
        )


def test_a_reward_that_was_never_answered_is_asked_for_again():
    reward = Payment("reward", ADA, 375, "reward:e1", "unknown")
    assert refusal(reward, [ADA], [Event("e1", "reward", "planned", 375, "reward:e1")], repeats_safely=False) is None


def test_the_plan_is_written_down_before_anything_is_sent():
    steps = []

    class Watcher:
        repeats_safely = True

        def reward(self, visit):
            steps.append("asked")

        def bonus(self, payment, reason):
            raise AssertionError

    payment = Payment("reward", ADA, 375, "reward:e1")

    def claim(one):
        steps.append("claimed")

    def write(one, state, detail):
        steps.append(state)

    assert send(payment, Watcher(), reason="", claim=claim, write=write) == Sent(payment, "sent")
    assert steps == ["claimed", "asked", "sent"]
    refused = Sent(payment, "unknown", "elsewhere")
    assert send(payment, Watcher(), reason="", claim=lambda one: refused, write=write) == refused
    assert steps == ["claimed", "asked", "sent"]
