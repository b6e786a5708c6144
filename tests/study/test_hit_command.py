"""`interplay study hit`: the HIT is the study's, shown before it is sent, and made once, by a stand-in of Mechanical Turk."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from fake_mturk import KEY_ID, SECRET
from warm_process import WarmProcess

import interplay.record
from interplay.store.study import studies
from interplay.store.study.money import hit_events
from interplay.study.definition import parse_study
from interplay.study.mturk import api as mturk_api
from interplay.study.mturk.api import MTurkApi
from interplay.study.mturk.hits import Hits
from interplay.study.mturk.plan import Event, Order, Service, plan

STUDY = """
[study]
id = "caves"
title = "Compare two players"
summary = "Two videos."
minutes = 12.5
answers = 1
contact = "Ada"
instructions = "Watch."
[quiz]
quiz = "atari"
[pay]
reward = 3.75
hourly_target = 15
[channels.open]
[channels.mturk]
[judging]
tasks = ["atari/breakout"]
"""
HIT = STUDY.replace("[channels.mturk]", '[channels.mturk.hit]\nkeywords = "caves"\nassignments = 12\nlongest_min = 40')
LINK = "https://workersandbox.mturk.com/mturk/preview?groupId="


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    monkeypatch.setattr(mturk_api, "_PAUSE_S", 0)


@pytest.fixture
def hit(run, opened, mturk):
    """Runs `study hit` against the stand-in: exit status and document."""

    def hit(options: str = "--send"):
        status, out, err = run(f"hit caves --address https://lab.example --endpoint {mturk.endpoint} {options} --json")
        assert out, err
        return status, json.loads(out)

    return hit


def ledger(archive):
    with archive.database.read() as session:
        return [(event.kind, event.state) for event in hit_events(session, "caves")]


# What is shown


def test_without_send_the_request_is_shown_and_nothing_leaves_this_machine(hit, opened, mturk):
    status, document = hit("")
    (order,) = document["orders"]
    fields = order["fields"]
    assert (status, order["operation"], order["state"]) == (0, "CreateHIT", "new")
    assert (fields["Title"], fields["Description"]) == ("Compare two players", "Two videos. About 12.5 minutes.")
    assert (fields["Reward"], fields["MaxAssignments"], fields["AssignmentDurationInSeconds"]) == ("3.75", 9, 3600)
    assert "<ExternalURL>https://lab.example/studies/caves</ExternalURL>" in fields["Question"]
    assert document["hits"] == []
    assert (mturk.requests, ledger(opened)) == ([], [])


def test_cost_and_wage_are_shown_before_anything_is_sent(run, hit, tmp_path):
    # 9 x 3.75 = 33.75, and a fifth of it; 3.75 for 12.5 minutes are 18.00 an hour.
    assert hit("")[1]["cost"] == {
        "hits": 1, "assignments": 9, "reward_cents": 375, "rewards_cents": 3375, "fees_cents": 675, "total_cents": 4050,
        "hourly_cents": 1800, "hourly_target_cents": 1500,
    }  # fmt: skip
    out = run("hit caves --address https://lab.example/ --hits 2 --production")[1]
    assert "cost       18 x 3.75 = 67.50 and fees of 13.50: 81.00 USD\n" in out
    assert "wage       18.00 USD an hour at 12.5 min (target 15.00)" in out
    assert "under the target" not in out
    (tmp_path / "caves.toml").write_text(HIT.replace("hourly_target = 15", "hourly_target = 20"))
    run("open caves.toml")
    out = run("hit caves --address https://lab.example")[1]
    # From ten assignments on the fee is two fifths.
    assert "cost       12 x 3.75 = 45.00 and fees of 18.00: 63.00 USD  (the sandbox takes no money)" in out
    assert "that is under the target" in out


def test_the_command_that_sends_repeats_what_was_chosen_and_where(run, opened):
    place = f"--data {opened.root.resolve()} --database {opened.database.address}"
    chosen = "--hits 2 --qualification --picture-base https://lab.example/q --production --endpoint http://127.0.0.1:9"
    out = run(f"hit caves --address https://lab.example {chosen} {place}")[1]
    command = f"interplay study hit caves --address https://lab.example --send {chosen} --data {opened.root.resolve()}"
    assert f"Nothing was sent. To make it:  {command} --database ADDRESS" in out
    assert "Since 30 July 2026 Mechanical Turk takes no new customers" in out


def test_the_studys_file_says_the_rest(run, hit, tmp_path):
    (tmp_path / "caves.toml").write_text(HIT)
    assert "with a new version" in run("open caves.toml")[1]
    fields = hit("")[1]["orders"][0]["fields"]
    assert (fields["Keywords"], fields["MaxAssignments"], fields["AssignmentDurationInSeconds"]) == ("caves", 12, 2400)


def test_production_asks_for_experience_and_the_sandbox_cannot(hit):
    assert [hit(place)[1]["orders"][0]["fields"]["QualificationRequirements"] for place in ("", "--sandbox")] == [[], []]
    required = hit("--production")[1]["orders"][0]["fields"]["QualificationRequirements"]
    assert [one["IntegerValues"] for one in required] == [[99], [10_000]]


# What is made


def test_a_hit_is_made_once_however_often_it_is_asked_for(run, hit, opened, mturk):
    status, document = hit()
    (made,) = document["hits"]
    assert (status, made["hit"], made["link"]) == (0, "3HIT0", f"{LINK}3TYPE0")
    assert made["version"] == document["content_hash"]
    sent = len(mturk.requests)
    mturk.now_s += timedelta(days=30).total_seconds()
    status, document = hit()
    assert (status, document["orders"][0]["state"], document["cost"]["hits"]) == (0, "made", 0)
    assert (len(mturk.hits), len(mturk.requests)) == (1, sent)
    assert ledger(opened) == [("hit", "planned"), ("hit", "made")]


def test_hits_are_counted_in_all_and_are_of_one_type(hit, mturk):
    hit()
    assert [one["hit"] for one in hit("--hits 3 --send")[1]["hits"]] == ["3HIT0", "3HIT1", "3HIT2"]
    assert len(hit("--hits 2 --send")[1]["hits"]) == len(mturk.hits) == 3
    assert {one["HITTypeId"] for one in mturk.hits} == {"3TYPE0"}


def test_what_it_costs_is_said_before_it_is_sent_and_hits_of_other_settings_are_named(run, hit, mturk):
    line = f"hit caves --address https://lab.example --endpoint {mturk.endpoint} --send"
    assert f"Making 1 HIT (sandbox at {mturk.endpoint}), 40.50 USD with fees ..." in run(line)[2].replace("\n", " ")
    assert "Making" not in run(line)[2]
    assert "of them with other settings" not in run(line)[1]
    mturk.funds = 0
    status, out, _ = run(line.replace("lab.example", "new.example"))
    assert status == 1
    assert f"HIT        3HIT0, sandbox at {mturk.endpoint}, " in out
    assert "1 of them with other settings or of another version; these stay as they are." in out


def test_the_hits_of_a_study_are_shown_with_it_and_a_new_version_says_that_they_stay(run, hit, tmp_path):
    hit("--production --send")
    out = run("show caves")[1]
    assert "HIT        3HIT0, production at http://127.0.0.1:" in out
    assert "https://worker.mturk.com/mturk/preview?groupId=3TYPE0" in out
    assert json.loads(run("show caves --json")[1])["hits"][0]["hit_type"] == "3TYPE0"
    assert "HIT" not in run("open caves.toml")[1]
    (tmp_path / "caves.toml").write_text(STUDY.replace("reward = 3.75", "reward = 4.00"))
    assert "Note: 1 HIT of other versions may still be on Mechanical Turk" in run("open caves.toml")[1]
    assert [one["fields"]["Reward"] for one in hit("")[1]["orders"]] == ["4.00"]


def test_a_quiz_becomes_a_qualification_that_the_hit_asks_for(hit, run, opened, mturk):
    planned = hit("--qualification")[1]["orders"]
    assert planned[1]["fields"]["QualificationRequirements"][0]["QualificationTypeId"] == "(id of the qualification type)"
    status, document = hit("--qualification --send")
    qualification, made = document["orders"]
    assert (status, qualification["made"], made["made"]["hit"]) == (0, {"qualification": "3QUAL0"}, "3HIT0")
    assert mturk.hits[0]["QualificationRequirements"] == [
        {
            "QualificationTypeId": "3QUAL0",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [65],
            "ActionsGuarded": "Accept",
        }
    ]
    assert mturk.qualifications["3QUAL0"] == planned[0]["fields"]
    assert hit("--qualification --send")[1]["orders"][1]["state"] == "made"
    hit("--qualification --hits 2 --send")
    assert (len(mturk.qualifications), len(mturk.hits)) == (1, 2)
    assert ledger(opened).count(("qualification", "made")) == 1
    assert "The study's own page asks the quiz again" in run("hit caves --address https://lab.example --qualification")[1]


def test_a_studys_own_pass_share_is_asked_for(run, hit, mturk, tmp_path):
    (tmp_path / "caves.toml").write_text(STUDY.replace('quiz = "atari"', 'quiz = "atari"\npass_share = 0.9'))
    run("open caves.toml")
    hit("--qualification --send")
    assert mturk.hits[0]["QualificationRequirements"][0]["IntegerValues"] == [90]


def test_a_qualification_that_is_there_is_found_and_one_that_was_deleted_is_made_again(hit, mturk):
    test = hit("--qualification")[1]["orders"][0]["fields"]
    mturk.qualifications |= {"3OLD": {"Name": "another"}, "3MINE": test}
    mturk.page_size = 1
    assert hit("--qualification --send")[1]["orders"][0]["made"] == {"qualification": "3MINE"}
    del mturk.qualifications["3MINE"]
    assert hit("--qualification --hits 2 --send")[0] == 0
    assert mturk.hits[1]["QualificationRequirements"][0]["QualificationTypeId"] == "3QUAL1"


# What goes wrong


def test_mistakes_are_told_before_anything_is_sent(run, opened, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)

    def said(line: str, status: int = 1) -> str:
        found, out, err = run(line)
        assert (found, out) == (status, "")
        return err

    def written(*change: str) -> None:
        (tmp_path / "caves.toml").write_text(STUDY.replace(*change))

    def changed(*change: str) -> None:
        written(*change)
        assert run("open caves.toml")[0] == 0

    lab = "--address https://lab.example"
    assert "Missing option '--address'" in said("hit caves", 2)
    assert "--picture-base is where Amazon finds" in said(f"hit caves {lab} --picture-base https://x.example", 2)
    assert "unknown study 'cavs'; did you mean 'caves'?" in said(f"hit cavs {lab}", 2)
    assert "there is no folder elsewhere" in said(f"hit caves {lab} --data elsewhere")
    for address in ("http://lab.example", "lab.example", "https://"):
        assert "Mechanical Turk shows pages by https only" in said(f"hit caves --address {address}", 2)
    assert "has more than a server's name and path" in said("hit caves --address https://lab.example?a=1", 2)
    assert said(f"hit caves {lab} --send").startswith("error: no AWS access key in the environment\nSet AWS_ACCESS_KEY_ID")
    assert ledger(opened) == []
    for verb in ("check", "open"):
        written("reward = 3.75", 'reward = 3.75\ncurrency = "GBP"')
        assert "caves pays in GBP, and Mechanical Turk pays in USD\nRemedy: write currency" in said(f"{verb} caves.toml")
        written("Compare two players", "x" * 129)
        err = said(f"{verb} caves.toml")
        assert "caves does not fit a HIT: hit.title must have 1 to 128 characters, got 129" in err
        assert "Remedy: change them in its file" in err
    changed('quiz = "atari"', 'quiz = "atari"\npass_share = 0.755')
    assert "quiz.pass_share is 0.755, and Mechanical Turk keeps whole percents" in said(f"hit caves {lab} --qualification")
    changed('[quiz]\nquiz = "atari"\n', "")
    assert "caves has no quiz for a qualification" in said(f"hit caves {lab} --qualification")
    changed('quiz = "atari"', 'quiz = "minecraft"')
    assert "needs an https address from which Amazon's page can load it" in said(f"hit caves {lab} --qualification")
    changed("[channels.mturk]\n", "")
    err = said(f"hit caves {lab}")
    assert "caves recruits through open, not through mturk\nRemedy: add [channels.mturk] to its file" in err
    run("close caves")
    assert "caves is closed, so workers would find nothing to do\nRemedy: open it again." in said(f"hit caves {lab}")


def test_what_amazon_refuses_is_told_and_may_be_sent_again(hit, run, opened, mturk):
    mturk.funds = 1
    status, document = hit()
    assert (status, document["orders"][0]["state"], document["hits"]) == (1, "failed", [])
    assert "CreateHIT was refused: This Requester has insufficient funds" in document["orders"][0]["detail"]
    out = run(f"hit caves --address https://lab.example --endpoint {mturk.endpoint} --send")[1]
    assert "Not all was made. To try again:  interplay study hit caves --address https://lab.example --send" in out
    mturk.funds = 100
    assert hit()[0] == 0
    assert ledger(opened) == [("hit", "planned"), ("hit", "failed")] * 2 + [("hit", "planned"), ("hit", "made")]


def test_a_wrong_key_makes_nothing(hit, monkeypatch, mturk):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    status, document = hit("--qualification --send")
    assert (status, [one["state"] for one in document["orders"]]) == (1, ["failed", "new"])
    assert "The signature does not match" in document["orders"][0]["detail"]
    assert mturk.hits == []


def test_a_service_that_is_not_there_is_told(run, opened, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    status, out, _ = run("hit caves --address https://lab.example --endpoint http://127.0.0.1:9 --send")
    assert status == 1
    assert "cannot reach http://127.0.0.1:9" in out


@pytest.mark.parametrize("fault", ["lost", "cut"])
def test_a_hit_whose_answers_are_all_lost_is_found_later(hit, opened, mturk, fault):
    mturk.faults = [fault, "cut", "cut"]
    status, document = hit()
    assert (status, document["orders"][0]["state"]) == (1, "unknown")
    assert ledger(opened) == [("hit", "planned")]
    mturk.now_s += timedelta(days=2).total_seconds()
    assert hit()[1]["hits"][0]["hit"] == "3HIT0"
    assert len(mturk.hits) == 1


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("operation", ["create_hit", "create_qualification"])
def test_a_run_killed_between_its_claim_and_the_answer_leaves_no_double(
    hit, run, mturk, opened, monkeypatch, operation, moment
):
    original = getattr(MTurkApi, operation)

    def killed(api, request):
        if moment == "after":
            original(api, request)
        raise KeyboardInterrupt

    monkeypatch.setattr(MTurkApi, operation, killed)
    line = f"hit caves --address https://lab.example --endpoint {mturk.endpoint} --qualification --send"
    assert run(line)[0] == 130
    assert ledger(opened)[-1][1] == "planned"
    monkeypatch.setattr(MTurkApi, operation, original)
    mturk.now_s += timedelta(days=2).total_seconds()  # Amazon knows the token no more
    assert run(line)[0] == 0
    assert (len(mturk.hits), len(mturk.qualifications)) == (1, 1)
    assert ledger(opened).count(("hit", "made")) == ledger(opened).count(("qualification", "made")) == 1


def test_what_is_not_listed_yet_is_unknown_and_found_later(hit, run, mturk, monkeypatch):
    mturk.faults, mturk.hidden = ["lost"], 1
    status, document = hit()
    assert (status, document["orders"][0]["state"]) == (1, "unknown")
    assert "Amazon does not list it yet; run this again in a minute." in document["orders"][0]["detail"]
    mturk.hidden = 0
    assert hit()[0] == 0
    assert len(mturk.hits) == 1


def test_of_two_processes_at_once_one_makes_the_hit(opened, mturk, tmp_path):
    line = "study hit caves --address https://lab.example --qualification --hits 2 --send --json --endpoint"
    said = [tmp_path / f"said-{number}" for number in range(2)]
    arguments = ["-m", "interplay.cli", *line.split(), mturk.endpoint]
    runs = [WarmProcess(arguments, cwd=tmp_path, stdout=one, stderr=one) for one in said]
    assert [one.wait(120) for one in runs] == [0, 0], [one.read_text() for one in said]
    assert (len(mturk.hits), len(mturk.qualifications)) == (2, 1)
    assert ledger(opened).count(("hit", "made")) == 2
    assert ledger(opened).count(("qualification", "made")) == 1


@pytest.mark.parametrize("moment", ["sent", "sending"])
def test_a_run_that_comes_while_another_one_sends_finds_its_hit(hit, opened, mturk, monkeypatch, moment):
    original, others = MTurkApi.create_hit, []

    def interrupted(api, request):
        made = original(api, request) if moment == "sent" else None
        if not others:
            others.append(None)
            others[0] = hit()[1]
        return made or original(api, request)

    monkeypatch.setattr(MTurkApi, "create_hit", interrupted)
    mine = hit()[1]
    assert [mine["orders"][0]["made"], others[0]["orders"][0]["made"]] == [{"hit": "3HIT0", "hit_type": "3TYPE0"}] * 2
    assert (len(mturk.hits), ledger(opened).count(("hit", "made"))) == (1, 1)


@pytest.fixture(params=["sqlite", "postgresql"])
def anywhere(request, tmp_path):
    """The study, open, in a database of either kind."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    archive = interplay.record.open(tmp_path / "data", database=url)
    study = parse_study(STUDY)
    with archive.database.write() as session:
        studies.open_study(
            session, study="caves", content_hash=study.content_hash, definition=study.to_json(), now=datetime.now(UTC)
        )
    yield archive
    archive.close()


def test_of_many_claims_at_once_one_is_the_first(anywhere):
    study, service, hits = parse_study(STUDY), Service(True, "http://127.0.0.1:9"), Hits(anywhere.database)
    (order,) = plan(study, "https://lab.example", service, num_hits=1, test=None, events=[])
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: hits.claim(study, order, service).state, range(8)))
    assert sorted(states) == ["new", *["unknown"] * 7]
    made = {"hit": "3H", "hit_type": "3T"}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: hits.write(study, order, service, "made", made), range(8)))
    assert ledger(anywhere).count(("hit", "made")) == 1
    assert hits.claim(study, order, service).made == made


# The plan alone


def test_the_ledger_says_how_a_thing_stands():
    order = Order("hit", "r", {})
    states = [["planned"], ["planned", "failed"], ["planned", "failed", "planned"], ["planned", "made", "failed"]]
    found = [
        order.known([Event("r", state, {"hit": "3H"} if state == "made" else {}, f"it is {state}") for state in one])
        for one in states
    ]
    assert [one.state for one in found] == ["unknown", "failed", "unknown", "made"]
    assert [one.detail for one in found] == ["", "it is failed", "", ""]
    assert (found[3].made, order.known([Event("other", "made", {})]).state) == ({"hit": "3H"}, "new")


def test_a_request_has_a_name_of_its_own_for_each_study_version_service_and_setting():
    study, service = parse_study(STUDY), Service(True, "https://a.example")

    def names(study=study, address="https://lab.example", service=service, num_hits=1):
        return [one.request for one in plan(study, address, service, num_hits=num_hits, test=None, events=[])]

    assert names() == names() == names(address="https://lab.example/") == names(num_hits=2)[:1]
    others = [
        names(num_hits=2)[1:], names(parse_study(STUDY.replace("Watch.", "Watch!"))), names(address="https://b.example"),
        names(service=Service(True, "https://b.example")), names(service=Service(False, "https://a.example")),
    ]  # fmt: skip
    assert len({*names(), *(name for one in others for name in one)}) == 6
    assert all(len(name) <= 64 for name in names())


def test_long_visits_have_four_times_the_estimate_to_be_handed_in():
    study = parse_study(STUDY.replace("minutes = 12.5", "minutes = 40"))
    (order,) = plan(study, "https://lab.example", Service(True, "x"), num_hits=1, test=None, events=[])
    assert order.fields["AssignmentDurationInSeconds"] == 160 * 60
