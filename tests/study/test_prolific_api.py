"""Prolific is asked as it wants to be asked; what it would pay twice is asked for once."""

import json
from decimal import Decimal

import pytest
from fake_prolific import STUDY, TOKEN, FakeProlific

from interplay.study import PaymentError, PaymentUnknownError
from interplay.study.channels.prolific_api import ENDPOINT, ProlificApi

ADA, BOB = "60bf9310e8dec401be6e9615", "60bf9310e8dec401be6e9616"
S1, S2 = "625d4a831bcda2d59ac5a251", "625d4a831bcda2d59ac5a252"
REASON = (
    "The videos were answered within four seconds each, and both attention checks, which named the right answer, were failed."
)


@pytest.fixture
def prolific():
    with FakeProlific() as platform:
        platform.hand_in(S1, ADA)
        platform.hand_in(S2, BOB)
        yield platform


@pytest.fixture
def api(prolific) -> ProlificApi:
    return ProlificApi(TOKEN, endpoint=prolific.endpoint)


def test_the_token_comes_from_a_variable_the_user_names(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", f" {TOKEN}\n")
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    api = ProlificApi.from_environment("MY_TOKEN")
    assert (api.endpoint, api._token) == (ENDPOINT, TOKEN)
    assert TOKEN not in repr(api)
    with pytest.raises(PaymentError, match="the environment variable PROLIFIC_TOKEN holds no token\nMake a token in Prolific"):
        ProlificApi.from_environment()


def test_a_wrong_token_is_refused_with_a_remedy(prolific):
    with pytest.raises(PaymentError, match=r"HTTP 401\]\nThe token is wrong or was deleted"):
        ProlificApi("wrong", endpoint=prolific.endpoint).approve(S1)
    assert prolific.submissions[S1]["status"] == "AWAITING REVIEW"


def test_a_submission_says_whose_it_is(api):
    found = api.submission(S1)
    assert (found.submission, found.participant, found.study, found.status) == (S1, ADA, STUDY, "AWAITING REVIEW")
    with pytest.raises(PaymentError, match=r"Not found.*HTTP 404"):
        api.submission("625d4a831bcda2d59ac5a259")


def test_approving_twice_approves_once(prolific, api):
    assert [api.approve(S1).status, api.approve(S1).status] == ["APPROVED", "APPROVED"]
    with pytest.raises(PaymentError, match="Submission is APPROVED and cannot be changed"):
        api.reject(S1, REASON, "FAILED_CHECK")


def test_a_rejection_has_a_category_and_a_hundred_characters(prolific, api):
    with pytest.raises(PaymentError, match="a reason of at least 100 characters for a rejection; got 99"):
        api.reject(S1, "x" * 99 + "   ", "FAILED_CHECK")
    with pytest.raises(PaymentError, match="'TOO_BAD' is not a rejection category of Prolific; choose one of TOO_QUICKLY"):
        api.reject(S1, REASON, "TOO_BAD")
    assert prolific.requests == []
    assert api.reject(S1, REASON, "FAILED_CHECK").status == "REJECTED"
    sent = json.loads(prolific.requests[-1].body)
    assert sent == {"action": "REJECT", "message": REASON, "rejection_category": "FAILED_CHECK"}


def test_bonuses_are_set_up_and_then_paid(prolific, api):
    batch = api.set_up_bonuses(STUDY, {S1: Decimal("4.25"), BOB: Decimal("0.5")})
    assert json.loads(prolific.requests[-1].body) == {"study_id": STUDY, "csv_bonuses": f"{S1},4.25\n{BOB},0.50\n"}
    assert (batch.amount_cents, batch.fees_cents, batch.total_cents) == (475, 158, 633)
    assert prolific.paid == {}
    api.pay_bonuses(batch.batch)
    assert prolific.paid == {ADA: 425, BOB: 50}


@pytest.mark.parametrize("fault", ["lost", "cut", 500, 502])
def test_paying_is_never_repeated_by_itself(prolific, api, fault):
    batch = api.set_up_bonuses(STUDY, {S1: Decimal(1)})
    asked = len(prolific.requests)
    prolific.faults = [fault]
    with pytest.raises(
        PaymentUnknownError, match=r"the bonuses may have been paid\nLook at the study's submissions on Prolific"
    ):
        api.pay_bonuses(batch.batch)
    assert len(prolific.requests) == asked + 1
    assert prolific.paid in ({}, {ADA: 100})


def test_what_can_be_repeated_says_so(prolific, api):
    prolific.faults = ["cut"]
    with pytest.raises(PaymentError, match="repeating this request does no harm") as caught:
        api.approve(S1)
    assert not isinstance(caught.value, PaymentUnknownError)


def test_a_service_that_is_not_there_was_sent_nothing():
    with pytest.raises(PaymentError, match="Nothing was sent; try again later") as caught:
        ProlificApi(TOKEN, endpoint="http://127.0.0.1:9").pay_bonuses("1")
    assert not isinstance(caught.value, PaymentUnknownError)


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        ({}, "a batch holds 1 to 200 bonuses, got 0"),
        ({f"s{n}": Decimal(1) for n in range(201)}, "got 201; send several batches"),
        ({S1: Decimal(0)}, "must be whole cents and above 0, got 0"),
        ({S1: Decimal("0.005")}, "whole cents"),
        ({"a,1\nb": Decimal(1)}, "is not an id from Prolific"),
        ({"625d4a831bcda2d59ac5a259": Decimal(1)}, "did not take part in the study: 625d4a831bcda2d59ac5a259"),
    ],
)
def test_bonuses_that_cannot_be_paid_are_refused(prolific, api, amounts, message):
    with pytest.raises(PaymentError) as caught:
        api.set_up_bonuses(STUDY, amounts)
    assert message in str(caught.value)
    assert prolific.batches == {}


@pytest.mark.parametrize("name", ["", "../../users/me", "a/b", "x" * 65, "ü"])
def test_an_id_cannot_change_the_address(prolific, api, name):
    for ask in (api.submission, api.approve, api.pay_bonuses):
        with pytest.raises(PaymentError, match="is not an id from Prolific"):
            ask(name)
    assert prolific.requests == []


def test_the_stand_in_pays_a_batch_twice_if_it_is_asked_twice(prolific, api):
    # As Prolific's documentation warns; this is why nothing here asks twice.
    batch = api.set_up_bonuses(STUDY, {S1: Decimal(1)})
    api.pay_bonuses(batch.batch)
    api.pay_bonuses(batch.batch)
    assert prolific.paid == {ADA: 200}
