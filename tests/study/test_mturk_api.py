"""Mechanical Turk is asked as it wants to be asked, and paying twice pays once."""

import json
import sys
from datetime import timedelta
from decimal import Decimal

import httpx
import numpy as np
import pytest
from fake_mturk import KEY_ID, SECRET, FakeMTurk

from interplay.study import PaymentError, PaymentUnknownError, find_quiz
from interplay.study.mturk.api import PRODUCTION, SANDBOX, MTurkApi
from interplay.study.mturk.settings import HitSettings, qualification_request


@pytest.fixture
def mturk():
    with FakeMTurk() as platform:
        yield platform


@pytest.fixture
def api(mturk) -> MTurkApi:
    return MTurkApi(KEY_ID, SECRET, endpoint=mturk.endpoint, sleep=lambda seconds: None)


def test_a_wrong_secret_is_refused(mturk):
    api = MTurkApi(KEY_ID, "another", endpoint=mturk.endpoint)
    with pytest.raises(PaymentError, match="GetAccountBalance was refused: The signature does not match"):
        api.balance()


def test_the_stand_in_notices_what_was_changed_on_the_way(mturk, api):
    api.balance()
    request = mturk.requests[-1]
    reply = httpx.post(f"{mturk.endpoint}/", content=b"[]", headers=request.headers)  # as long as the {} that was signed
    assert reply.status_code == 403


def test_the_sandbox_is_asked_unless_production_is_named():
    assert MTurkApi(KEY_ID, SECRET).endpoint == SANDBOX == "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
    assert (
        MTurkApi(KEY_ID, SECRET, is_sandbox=False).endpoint == PRODUCTION == "https://mturk-requester.us-east-1.amazonaws.com"
    )


def test_keys_come_from_the_environment_and_are_not_shown(mturk, monkeypatch):
    for name, value in {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": "a/token=="}.items():
        monkeypatch.setenv(name, value)
    api = MTurkApi.from_environment(endpoint=mturk.endpoint)
    assert api.balance() == 1000
    assert mturk.requests[-1].headers["x-amz-security-token"] == "a/token=="
    assert SECRET not in repr(vars(api))
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(PaymentError, match="no AWS access key in the environment\nSet AWS_ACCESS_KEY_ID"):
        MTurkApi.from_environment()


def test_without_boto3_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(
        PaymentError, match=r"Mechanical Turk needs boto3, which is not installed\nInstall it with:  .*\[mturk\]"
    ):
        MTurkApi(KEY_ID, SECRET)


def test_an_address_that_is_none_is_named():
    with pytest.raises(PaymentError, match="Mechanical Turk at nowhere cannot be used: Invalid endpoint: nowhere"):
        MTurkApi(KEY_ID, SECRET, endpoint="nowhere")


def test_approving_twice_approves_once(mturk, api):
    mturk.hand_in("3A", "A1")
    assert api.assignment("3A").status == "Submitted"
    assert [api.approve("3A", "Thank you."), api.approve("3A")] == [True, False]
    assert api.assignment("3A").status == "Approved"
    assert json.loads(mturk.requests[1].body) == {"AssignmentId": "3A", "RequesterFeedback": "Thank you."}


def test_a_rejection_has_a_reason_and_is_not_undone_by_an_approval(mturk, api):
    mturk.hand_in("3A", "A1")
    with pytest.raises(PaymentError, match="a rejection needs a reason"):
        api.reject("3A", "  ")
    assert [api.reject("3A", "Two attention checks failed."), api.reject("3A", "Again.")] == [True, False]
    with pytest.raises(PaymentError, match=r"ApproveAssignment was refused: .*it is Rejected.*InvalidAssignmentState"):
        api.approve("3A")


def test_an_assignment_of_somebody_else_is_unknown(mturk, api):
    for ask in (api.assignment, api.approve):
        with pytest.raises(PaymentError, match=r"Assignment 3NONE does not exist.*AssignmentDoesNotExist"):
            ask("3NONE")
    mturk.hand_in("3A", "A1")
    held = api.assignment("3A")
    assert (held.worker, held.hit) == ("A1", "3HIT")


def test_paying_a_bonus_twice_pays_once(mturk, api):
    mturk.hand_in("3A", "A1")
    pay = {"worker": "A1", "assignment": "3A", "amount_usd": Decimal("1.50"), "reason": "It took longer.", "request": "pay-7"}
    assert [api.send_bonus(**pay), api.send_bonus(**pay)] == [True, False]
    assert [bonus["BonusAmount"] for bonus in mturk.bonuses] == ["1.50"]
    assert mturk.funds == 1000 - Decimal("1.80")
    assert mturk.bonuses[0]["Reason"].startswith("It took longer. (ref ")
    sent = json.loads(next(one for one in mturk.requests if one.headers["x-amz-target"].endswith("SendBonus")).body)
    assert len(sent["UniqueRequestToken"]) <= 64


def test_paying_again_when_amazon_has_forgotten_the_token_pays_once(mturk, api):
    mturk.hand_in("3A", "A1")
    mturk.page_size = 1
    for name in ("other-1", "other-2", "pay-7"):
        assert api.send_bonus("A1", "3A", Decimal("1.50"), "It took longer.", request=name)
    mturk.now_s += timedelta(days=30).total_seconds()
    assert not api.send_bonus("A1", "3A", Decimal("1.50"), "It took longer.", request="pay-7")
    assert len(mturk.bonuses) == 3


def test_two_payments_of_one_assignment_are_two_if_they_are_named_so(mturk, api):
    mturk.hand_in("3A", "A1")
    assert api.send_bonus("A1", "3A", Decimal("1.50"), "Time.", request="pay-7")
    assert api.send_bonus("A1", "3A", Decimal("1.50"), "Time.", request="pay-8")
    assert len(mturk.bonuses) == 2
    with pytest.raises(PaymentError, match=r"made before with 1\.50 USD instead of 2\.00"):
        api.send_bonus("A1", "3A", Decimal("2.00"), "Time.", request="pay-7")


@pytest.mark.parametrize("faults", [["lost"], ["cut"], [503], [503, "cut"], [429, "lost"]])
def test_a_bonus_whose_answer_is_lost_is_paid_once(mturk, api, faults):
    mturk.hand_in("3A", "A1")
    mturk.faults = [None, *faults]  # the first request looks for bonuses paid before
    assert api.send_bonus("A1", "3A", Decimal("1.50"), "Time.", request="pay-7")
    assert len(mturk.bonuses) == 1


def test_a_bonus_that_nobody_answers_for_is_unknown_and_can_be_sent_again(mturk, api):
    mturk.hand_in("3A", "A1")
    mturk.faults = [None, "lost", "cut", "cut", "cut", "cut", "cut"]
    with pytest.raises(PaymentUnknownError, match="Send it again with the same request name later"):
        api.send_bonus("A1", "3A", Decimal("1.50"), "Time.", request="pay-7")
    mturk.faults = []
    assert not api.send_bonus("A1", "3A", Decimal("1.50"), "Time.", request="pay-7")
    assert len(mturk.bonuses) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"amount_usd": Decimal(0)}, "a bonus must be whole cents and above 0, got 0"),
        ({"amount_usd": Decimal("-1")}, "above 0"),
        ({"amount_usd": Decimal("1.505")}, "whole cents"),
        ({"reason": " "}, "a bonus needs a reason for the worker to read"),
        ({"request": ""}, "a request name"),
        ({"worker": "A2"}, "SendBonus was refused: The worker did not do this assignment"),
        ({"worker": "B2"}, "WorkerId does not match"),
        ({"amount_usd": Decimal(5000)}, "insufficient funds"),
    ],
)
def test_a_bonus_that_cannot_be_paid_is_refused(mturk, api, change, message):
    mturk.hand_in("3A", "A1")
    pay = {"worker": "A1", "assignment": "3A", "amount_usd": Decimal("1.50"), "reason": "Time.", "request": "pay-7"}
    with pytest.raises(PaymentError) as caught:
        api.send_bonus(**{**pay, **change})
    assert message in str(caught.value)
    assert mturk.bonuses == []


def test_a_hit_with_its_quiz_is_created_as_the_appendix_has_it(mturk, api):
    quiz = find_quiz("minecraft")
    made = api.create_qualification(qualification_request(quiz, np.random.default_rng(0), picture_base="https://lab.example/q"))
    assert set(mturk.qualifications[made]) >= {"Test", "AnswerKey", "TestDurationInSeconds"}
    hit = HitSettings(
        "Compare videos", "Watch two videos of a game and compare them. About 15 minutes.", quiz_qualification=made
    )
    created = api.create_hit(hit.request("https://lab.example/studies/caves", is_sandbox=False, unique_token="caves-1"))
    assert created.preview_url(is_sandbox=True) == "https://workersandbox.mturk.com/mturk/preview?groupId=3TYPE0"
    assert mturk.hits[0]["Reward"] == "3.75"


HIT = HitSettings("Compare videos", "Watch two videos and compare them.").request(
    "https://lab.example/studies/caves", is_sandbox=True, unique_token="caves-1"
)


def test_a_hit_and_a_qualification_asked_for_twice_are_the_ones_there_are(mturk, api):
    mturk.page_size = 1
    for name in ("other-1", "caves-1", "other-2"):
        api.create_hit({**HIT, "UniqueRequestToken": name, "RequesterAnnotation": name})
    assert api.create_hit(HIT).hit == "3HIT1"
    test = qualification_request(find_quiz("atari"), np.random.default_rng(0))
    api.create_qualification({"Name": "another", "Description": "d", "QualificationTypeStatus": "Active"})
    assert [api.create_qualification(test) for _ in range(2)] == ["3QUAL1", "3QUAL1"]
    assert (len(mturk.hits), len(mturk.qualifications)) == (3, 2)
    assert (api.find_hit("nobody's"), api.find_qualification("nobody's")) == (None, None)


@pytest.mark.parametrize("faults", [["lost"], ["cut"], [503, "lost"]])
def test_a_hit_whose_answer_is_lost_is_made_once(mturk, api, faults):
    mturk.faults = list(faults)
    assert api.create_hit(HIT).hit == "3HIT0"
    mturk.faults = list(faults)
    assert api.create_qualification({"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}) == "3QUAL0"
    assert (len(mturk.hits), len(mturk.qualifications)) == (1, 1)


def test_what_exists_and_is_not_listed_yet_is_unknown(mturk, api):
    test = {"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}
    api.create_hit(HIT)
    api.create_qualification(test)
    mturk.hidden = 1
    with pytest.raises(PaymentUnknownError, match=r"HitAlreadyExists\]\nAmazon does not list it yet; run this again"):
        api.create_hit(HIT)
    with pytest.raises(PaymentUnknownError, match=r"QualificationTypeAlreadyExists\]\nAmazon does not list it yet"):
        api.create_qualification(test)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Reward": 3.75}, "CreateHIT cannot be sent: Parameter validation failed:\nInvalid type for parameter Reward"),
        ({"Question": "<a>"}, "XMLParseError"),
        ({"Question": "<ExternalQuestion/>"}, "XMLParseError"),
        ({"LifetimeInSeconds": 5}, "LifetimeInSeconds is not a whole number from 30"),
        ({"Reward": "500.00"}, "insufficient funds"),
    ],
)
def test_the_stand_in_refuses_hits_that_amazon_would_refuse(mturk, api, change, message):
    with pytest.raises(PaymentError, match=message):
        api.create_hit({**HIT, **change})
    assert mturk.hits == []


def test_a_worker_can_be_given_the_score_of_our_own_quiz(mturk, api):
    made = api.create_qualification({"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"})
    api.grant(made, "A1", 82)
    assert mturk.granted == {(made, "A1"): 82}
    assert json.loads(mturk.requests[-1].body)["SendNotification"] is False


def test_a_service_that_is_not_there_says_who_can_use_it():
    api = MTurkApi(KEY_ID, SECRET, endpoint="http://127.0.0.1:9", sleep=lambda seconds: None)
    with pytest.raises(PaymentError, match="cannot reach") as caught:
        api.balance()
    assert "tried 3 times" in str(caught.value)
    assert "Since 30 July 2026 Mechanical Turk takes no new customers" in str(caught.value)


def test_a_busy_service_is_asked_again_with_growing_pauses(mturk):
    pauses = []
    api = MTurkApi(KEY_ID, SECRET, endpoint=mturk.endpoint, sleep=pauses.append)
    mturk.faults = [503, 500]
    assert api.balance() == 1000
    assert pauses == [1, 2]
    mturk.faults = [503, 503, 503]
    with pytest.raises(PaymentError, match=r"Mechanical Turk is busy \(HTTP 503\); tried 3 times"):
        api.balance()
