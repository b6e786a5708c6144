"""A HIT's settings are those of BEDD's appendix D.1.1, and the request says so in Amazon's words."""

from decimal import Decimal
from xml.etree import ElementTree

import numpy as np
import pytest

from interplay.study import StudyError, find_quiz
from interplay.study.mturk.settings import QUESTION_NAMESPACE, HitSettings, external_question, qualification_request

ADDRESS = "https://lab.example/studies/caves?a=1&b=2"


def settings(**changes) -> HitSettings:
    return HitSettings(**{"title": "Compare videos", "description": "Watch two videos and compare them.", **changes})


def test_the_defaults_are_those_of_the_appendix():
    hit = settings()
    # D.1 and D.1.1: 3.75 USD, 15 minutes estimated, "a total of 15 USD per hour"; 99 %, 10,000 HITs, 65 %.
    assert (hit.reward_usd, hit.estimated_min, hit.hourly_usd) == (Decimal("3.75"), 15, Decimal("15.00"))
    assert (hit.min_percent_approved, hit.min_num_approved, hit.quiz_percent) == (99, 10_000, 65)


def test_the_request_names_amazons_qualifications_and_the_quiz():
    request = settings(quiz_qualification="3QUAL").request(ADDRESS, is_sandbox=False, unique_token="caves-1")
    assert request["QualificationRequirements"] == [
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [99],
            "ActionsGuarded": "PreviewAndAccept",
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [10_000],
            "ActionsGuarded": "PreviewAndAccept",
        },
        {
            "QualificationTypeId": "3QUAL",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [65],
            "ActionsGuarded": "Accept",
        },
    ]
    assert (request["Reward"], request["MaxAssignments"]) == ("3.75", 9)
    assert (request["AssignmentDurationInSeconds"], request["LifetimeInSeconds"]) == (3600, 604_800)
    assert request["AutoApprovalDelayInSeconds"] == 259_200
    assert request["UniqueRequestToken"] == request["RequesterAnnotation"] == "caves-1"


def test_the_sandbox_asks_for_the_quiz_only():
    request = settings(quiz_qualification="3QUAL").request(ADDRESS, is_sandbox=True, unique_token="t")
    assert [one["QualificationTypeId"] for one in request["QualificationRequirements"]] == ["3QUAL"]
    assert settings().request(ADDRESS, is_sandbox=True, unique_token="t")["QualificationRequirements"] == []


def test_the_question_is_our_page_in_a_frame():
    question = ElementTree.fromstring(external_question(ADDRESS, frame_height_px=0))
    assert question.tag == f"{{{QUESTION_NAMESPACE}}}ExternalQuestion"
    assert [(child.tag.rpartition("}")[2], child.text) for child in question] == [
        ("ExternalURL", ADDRESS),
        ("FrameHeight", "0"),
    ]


@pytest.mark.parametrize("address", ["http://lab.example", "lab.example", "", "https://"])
def test_a_page_without_https_cannot_be_shown(address):
    with pytest.raises(StudyError, match="Mechanical Turk shows pages by https only"):
        external_question(address)


def test_settings_that_cannot_work_are_refused_by_name():
    for change, message in [
        ({"title": " "}, "hit.title must have 1 to 128 characters"),
        ({"title": "x" * 129}, "hit.title must have 1 to 128 characters, got 129"),
        ({"description": ""}, "hit.description must have 1 to 2000"),
        ({"reward_usd": Decimal("3.755")}, "hit.reward_usd must be whole cents"),
        ({"reward_usd": Decimal("-1")}, "not negative, got -1"),
        ({"min_percent_approved": 101}, "hit.min_percent_approved must lie between 0 and 100, got 101"),
        ({"num_assignments": 0}, "hit.num_assignments must lie between 1 and 1000000000, got 0"),
        ({"auto_approval_days": 31}, "hit.auto_approval_days must lie between 0 and 30"),
        ({"longest_min": 10}, "hit.longest_min is 10, and one assignment is expected to take 15 minutes"),
    ]:
        with pytest.raises(StudyError) as caught:
            settings(**change)
        assert message in str(caught.value)


@pytest.mark.parametrize("token", ["", "x" * 65])
def test_a_request_token_has_amazons_length(token):
    with pytest.raises(StudyError, match="a request token has 1 to 64 characters"):
        settings().request(ADDRESS, is_sandbox=True, unique_token=token)


def test_a_quiz_becomes_a_qualification_that_amazon_scores():
    quiz = find_quiz("atari")
    request = qualification_request(quiz, np.random.default_rng(0), minutes=10)
    assert request["TestDurationInSeconds"] == 600
    assert "RetryDelayInSeconds" not in request  # one attempt for each worker
    assert quiz.content_hash in request["Name"]
    assert request["Test"].startswith("<?xml")
    assert "<AnswerKey" in request["AnswerKey"]
