"""Whoever arrives is read from the address alone, and leaves to the platform's own hosts only."""

import pytest
from starlette.datastructures import QueryParams

from interplay.errors import NotFoundError
from interplay.study import OUTCOMES, Arrival, ArrivalError, StudyError, make_channel
from interplay.study.channels import MTurkChannel, OpenChannel, ProlificChannel

MTURK = {
    "assignmentId": "3ASSIGNMENT",
    "hitId": "3HIT",
    "workerId": "A1WORKER",
    "turkSubmitTo": "https://www.mturk.com",
}
PROLIFIC = {
    "PROLIFIC_PID": "60bf9310e8dec401be6e9615",
    "STUDY_ID": "60aca280709ee40ec37d4885",
    "SESSION_ID": "625d4a831bcda2d59ac5a251",
}
CODES = {"done": "C1DONE", "failed_check": "C2CHECK", "no_consent": "C3NO"}
CHANNELS = {"open": OpenChannel(), "mturk": MTurkChannel(), "prolific": ProlificChannel(CODES)}
LINKS = {"open": {}, "mturk": MTURK, "prolific": PROLIFIC}


def refusal(channel, query) -> str:
    with pytest.raises(ArrivalError) as caught:
        channel.arrival(query)
    return str(caught.value)


@pytest.mark.parametrize("kind", CHANNELS)
def test_every_channel_keeps_the_contract(kind):
    channel = CHANNELS[kind]
    arrival = channel.arrival({**LINKS[kind], "study": "caves"})  # parameters of our own are nobody's business
    assert (channel.name, arrival.channel, arrival.is_preview) == (kind, kind, False)
    assert arrival == channel.arrival(list(LINKS[kind].items()))
    assert bool(arrival.worker) == bool(arrival.assignment) == (kind != "open")
    for outcome in OUTCOMES:
        departure = channel.departure(arrival, outcome)
        assert departure.text
        assert (departure.kind == "page") == (departure.url == "") == (departure.origin == "")
        assert bool(departure.fields) == (departure.kind == "post")
    with pytest.raises(StudyError, match="'finished' is not an outcome of a visit; choose one of done, screened_out"):
        channel.departure(arrival, "finished")
    with pytest.raises(ArrivalError, match="nothing can be handed in from a preview"):
        channel.departure(Arrival(kind, is_preview=True), "done")
    with pytest.raises(ArrivalError, match="somebody who came through 'elsewhere' cannot leave through"):
        channel.departure(Arrival("elsewhere", "A1", "3A"), "done")


def test_a_worker_of_mechanical_turk_is_read_from_four_parameters():
    arrival = MTurkChannel().arrival(MTURK)
    assert arrival == Arrival("mturk", "A1WORKER", "3ASSIGNMENT", "3HIT", False, "https://www.mturk.com")


@pytest.mark.parametrize("extra", [{}, {"workerId": "A1WORKER"}, {"turkSubmitTo": "https://evil.example"}, {"hitId": "3HIT"}])
def test_a_preview_is_nobody(extra):
    arrival = MTurkChannel().arrival({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", **extra})
    assert arrival == Arrival("mturk", hit=extra.get("hitId", ""), is_preview=True)


@pytest.mark.parametrize("missing", ["assignmentId", "hitId", "workerId", "turkSubmitTo"])
def test_a_link_of_mechanical_turk_needs_every_parameter(missing):
    query = {name: value for name, value in MTURK.items() if name != missing}
    assert f"the link has no {missing}" in refusal(MTurkChannel(), query)
    assert f"the link has no {missing}" in refusal(MTurkChannel(), {**query, missing: " "})


def test_a_page_opened_by_hand_is_told_where_to_begin():
    assert refusal(MTurkChannel(), {"study": "caves"}) == (
        "this page was not opened by Mechanical Turk\nFind the HIT there, and accept it."
    )


def test_ids_of_mechanical_turk_have_its_characters_and_length():
    for name, value in [
        ("workerId", "B1WORKER"),
        ("workerId", "A1WORKER'; DROP TABLE"),
        ("workerId", "A" * 65),
        ("assignmentId", "3assignment"),
        ("assignmentId", "3A\u0660"),
        ("hitId", "<script>"),
        ("hitId", "3HIT\n3HIT"),
    ]:
        text = refusal(MTurkChannel(), {**MTURK, name: value})
        assert f"the link's {name} is not an id" in text
        assert len(text) < 300
        assert text.isascii()


def test_a_forged_link_cannot_name_where_work_is_handed_in():
    for host in [
        "https://evil.example",
        "http://www.mturk.com",
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com@evil.example",
        "https://evil.example/https://www.mturk.com",
        "https://www.mturk.com:8443",
        "https://www.mturk.com/elsewhere",
        "https://www.mturk.com?x",
        "//www.mturk.com",
        "javascript:alert(1)",
        "https://WWW.MTURK.COM",
        "https://worker.mturk.com",
    ]:
        text = refusal(MTurkChannel(), {**MTURK, "turkSubmitTo": host})
        assert "which is not one of https://www.mturk.com, https://workersandbox.mturk.com" in text
        with pytest.raises(ArrivalError, match="which is not one of"):  # nor can a row that was changed since
            MTurkChannel().departure(Arrival("mturk", "A1", "3A", "3H", submit_to=host), "done")


@pytest.mark.parametrize("host", ["https://www.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com/"])
def test_work_is_handed_in_at_amazon(host):
    channel = MTurkChannel()
    departure = channel.departure(channel.arrival({**MTURK, "turkSubmitTo": host}), "done", {"enrolment": "0a1b"})
    assert departure.kind == "post"
    assert departure.url == f"{host.rstrip('/')}/mturk/externalSubmit"
    assert departure.origin == host.rstrip("/")
    assert departure.fields == {"assignmentId": "3ASSIGNMENT", "outcome": "done", "enrolment": "0a1b"}


def test_a_study_may_name_a_host_of_its_own():
    channel = MTurkChannel(["http://127.0.0.1:9000"])
    arrival = channel.arrival({**MTURK, "turkSubmitTo": "http://127.0.0.1:9000/"})
    assert channel.departure(arrival, "done").url == "http://127.0.0.1:9000/mturk/externalSubmit"
    assert channel.arrival(MTURK).submit_to == "https://www.mturk.com"


def test_a_host_of_ones_own_is_an_https_origin():
    for host in [
        "http://lab.example",
        "lab.example",
        "https://",
        "https://lab.example/path",
        "https://a@lab.example",
        "https://x:99999",
    ]:
        with pytest.raises(StudyError, match="is not an origin; write https://host"):
            MTurkChannel([host])


@pytest.mark.parametrize("outcome", ["screened_out", "no_consent", "withdrawn"])
def test_who_leaves_nothing_behind_returns_the_hit(outcome):
    departure = MTurkChannel().departure(MTurkChannel().arrival(MTURK), outcome)
    assert departure.kind == "page"
    assert "Please return the HIT" in departure.text


def test_results_have_names_of_their_own():
    for name in ["assignmentId", "outcome", "a b", "", "1st"]:
        with pytest.raises(StudyError, match="a result cannot be named"):
            MTurkChannel().departure(MTurkChannel().arrival(MTURK), "done", {name: "x"})


def test_a_parameter_that_comes_twice_is_refused_however_it_is_handed_over():
    twice = [*MTURK.items(), ("workerId", "A2OTHER")]
    for query in (twice, QueryParams(twice)):
        assert "the link has two different values for 'workerId'" in refusal(MTurkChannel(), query)
    assert MTurkChannel().arrival([*MTURK.items(), ("workerId", "A1WORKER")]).worker == "A1WORKER"


def test_a_link_of_another_platform_is_refused():
    for kind, query, stranger in [
        ("mturk", PROLIFIC, "Prolific's PROLIFIC_PID and STUDY_ID and SESSION_ID"),
        ("mturk", {**MTURK, "SESSION_ID": "1"}, "Prolific's SESSION_ID"),
        ("prolific", {**PROLIFIC, "workerId": "A1"}, "Mechanical Turk's workerId"),
        ("open", MTURK, "Mechanical Turk's assignmentId"),
        ("open", PROLIFIC, "Prolific's PROLIFIC_PID"),
    ]:
        text = refusal(CHANNELS[kind], query)
        assert text.startswith(f"this link has {stranger}")
        assert "Tell the people who run the study" in text


def test_a_participant_of_prolific_is_read_from_three_parameters():
    arrival = CHANNELS["prolific"].arrival(PROLIFIC)
    assert (arrival.worker, arrival.assignment) == (PROLIFIC["PROLIFIC_PID"], PROLIFIC["SESSION_ID"])
    assert (arrival.hit, arrival.submit_to) == (PROLIFIC["STUDY_ID"], "")


def test_parameters_of_a_platform_are_read_however_they_are_written():
    for spell in [str.lower, str.upper, lambda name: name.title().replace("_", ""), lambda name: name.replace("_", "-")]:
        for kind, query in [("prolific", PROLIFIC), ("mturk", MTURK)]:
            link = {spell(name): value for name, value in query.items()}
            assert CHANNELS[kind].arrival(link) == CHANNELS[kind].arrival(query)
            assert refusal(CHANNELS["open"], link).startswith("this link has ")
            first = next(iter(link))
            assert "two different values" in refusal(CHANNELS[kind], [*query.items(), (first, "Other")])


def test_a_link_that_half_fits_a_platform_is_refused_and_makes_no_volunteer():
    for name in ("prolific_pid", "session_id", "prolificParticipant", "PROLIFIC"):
        assert f"this link has Prolific's {name if 'olificP' in name or name.isupper() else name.upper()}" in refusal(
            CHANNELS["open"], {name: "60bf"}
        )


@pytest.mark.parametrize("name", PROLIFIC)
def test_a_link_of_prolific_needs_every_parameter(name):
    channel = CHANNELS["prolific"]
    assert f"the link has no {name}" in refusal(channel, {key: value for key, value in PROLIFIC.items() if key != name})
    assert f"the link's {name} is not an id" in refusal(channel, {**PROLIFIC, name: "a b"})
    assert f"the link's {name} is not an id" in refusal(channel, {**PROLIFIC, name: "x" * 10_000})
    placeholder = refusal(channel, {**PROLIFIC, name: "{{%" + name + "%}}"})
    assert "is still the placeholder" in placeholder
    assert "URL parameters" in placeholder


def test_a_study_may_name_prolifics_parameters_differently():
    names = {"worker": "pid", "hit": "workerId", "assignment": "session"}
    channel = ProlificChannel(CODES, names)
    arrival = channel.arrival({"pid": "p1", "workerId": "s1", "session": "u1"})
    assert (arrival.worker, arrival.assignment, arrival.hit) == ("p1", "u1", "s1")
    assert channel.study_url("https://lab.example/s?study=1") == (
        "https://lab.example/s?study=1&pid={{%PROLIFIC_PID%}}&workerId={{%STUDY_ID%}}&session={{%SESSION_ID%}}"
    )


def test_participants_go_back_to_prolific_with_the_code_of_their_outcome():
    channel = CHANNELS["prolific"]
    arrival = channel.arrival(PROLIFIC)
    for outcome, code in CODES.items():
        departure = channel.departure(arrival, outcome)
        assert (departure.kind, departure.url) == ("redirect", f"https://app.prolific.com/submissions/complete?cc={code}")
        assert departure.origin == "https://app.prolific.com"


def test_an_outcome_without_a_code_gets_no_wrong_one():
    departure = CHANNELS["prolific"].departure(CHANNELS["prolific"].arrival(PROLIFIC), "no_partner")
    assert departure.kind == "page"
    assert "Please return your submission on Prolific" in departure.text
    assert "You go back" not in departure.text


def test_settings_that_cannot_work_are_refused_by_name():
    for kind, settings, message in [
        ("prolific", {}, "channel.codes: is missing\nRemedy: write codes = {"),
        ("prolific", {"codes": {}}, "codes.done is missing: paste the completion code"),
        ("prolific", {"codes": {"done": "A", "withdrawn": "A"}}, "two outcomes have the same completion code"),
        ("prolific", {"codes": {"done": "A", "finished": "B"}}, "codes.finished is not an outcome; known: done"),
        ("prolific", {"codes": {"done": "a b"}}, "codes.done must be a completion code"),
        ("prolific", {"codes": {"done": 12}}, "codes.done must be a completion code"),
        ("prolific", {"codes": CODES, "names": {"worker": "a b"}}, "names.worker must be the name of a URL parameter"),
        ("prolific", {"codes": CODES, "names": {"person": "p"}}, "names.person is not a known setting"),
        ("prolific", {"codes": CODES, "names": {"worker": "p", "hit": "p"}}, "three different parameters"),
        ("prolific", {"codes": CODES, "names": ["p"]}, "channel.names: must be a table, got ['p']"),
        ("prolific", {"code": CODES}, "channel.code: is not a known key\nRemedy: did you mean 'codes'."),
        ("mturk", {"extra_hosts": "https://lab.example"}, "channel.extra_hosts: must be a list, got 'https://lab.example'"),
        ("mturk", {"extra_hosts": ["ftp://x"]}, "channel: extra_hosts: 'ftp://x' is not an origin"),
        ("open", {"codes": CODES}, "channel.codes: is not a known key\nRemedy: leave it out."),
    ]:
        with pytest.raises(StudyError, match="channel") as caught:
            make_channel(kind, settings)
        assert message in str(caught.value)


def test_a_mistyped_channel_gets_the_nearest():
    with pytest.raises(NotFoundError, match="unknown channel 'prolifc'; did you mean 'prolific'"):
        make_channel("prolifc")


def test_frames_are_allowed_to_amazons_pages_only():
    assert all(origin.startswith("https://") and origin.endswith(".mturk.com") for origin in MTurkChannel().frame_ancestors)
    assert OpenChannel().frame_ancestors == CHANNELS["prolific"].frame_ancestors == ()


def test_mechanical_turk_says_that_it_takes_no_new_customers():
    assert "Since 30 July 2026 Mechanical Turk takes no new customers; accounts that exist continue." in MTurkChannel().notice


def test_an_address_for_prolific_is_https():
    with pytest.raises(StudyError, match="participants need an https address; got 'http://x'"):
        ProlificChannel(CODES).study_url("http://x")
