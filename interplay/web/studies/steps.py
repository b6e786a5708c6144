"""Pages of a study after consent: quiz, work, questions about partners, end. Every page needs the person's token."""

from __future__ import annotations

import contextlib
import logging
from datetime import UTC, datetime
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay.errors import unknown_name
from interplay.judge import JudgingError, RulesError
from interplay.store import Enrolment
from interplay.store.participants import judge_name
from interplay.study import Arrival, QuizAnswerError
from interplay.study.definition import Study
from interplay.study.enrolment import next_step
from interplay.study.errors import FormError
from interplay.study.money.raffle import AddressError
from interplay.study.questions import Form
from interplay.study.quizzes.file import QuizPart
from interplay.web.http.forms import FormFields, FormPairs, see_other, sentence
from interplay.web.services import services
from interplay.web.studies.debrief import debrief_of
from interplay.web.studies.enrolments import PARAMETER, end_address, facts_of, next_address, token_of
from interplay.web.studies.pages import Enrolled, Opened, end_page, page
from interplay.web.studies.play import has_game, progress_of
from interplay.web.videos import video_response

log = logging.getLogger("interplay.web")
router = APIRouter(include_in_schema=False)

HAND_IN_EMPTY = "hand-in-empty"
"""Field of the quiz that confirms that the person left all boxes empty on purpose. No question has this id."""
FINISHING = "finish"
"""Parameter in the address of questions about a partner, for a person who wants to finish: the answers then end the visit."""


@router.get("/studies/{study}/next")
def next_page(request: Request, enrolment: Enrolled) -> Response:
    step = next_step(facts_of(request, enrolment))
    token = urlencode({PARAMETER: token_of(request, enrolment)})
    if step == "quiz":
        return see_other(f"/studies/{enrolment.study}/quiz?{token}")
    if step == "questions":
        return see_other(f"/studies/{enrolment.study}/questions?{token}")
    if step == "work" and _study_of(request, enrolment).play is not None:
        return see_other(f"/studies/{enrolment.study}/play?{token}")
    if step == "work" and _study_of(request, enrolment).review is not None:
        return see_other(f"/studies/{enrolment.study}/review?{token}")
    if step == "work":
        return see_other(f"/judge?{urlencode({'study': enrolment.study})}&{token}")
    return see_other(end_address(request, enrolment))


@router.get("/studies/{study}/quiz")
def quiz(request: Request, enrolment: Enrolled) -> Response:
    if next_step(facts_of(request, enrolment)) != "quiz":
        return see_other(next_address(request, enrolment))
    return _quiz_page(request, enrolment)


@router.post("/studies/{study}/quiz")
def take_quiz(request: Request, enrolment: Enrolled, form: FormPairs) -> Response:
    """Score and store one attempt, then lead to the next page. If no box is ticked, ask first whether that is meant."""
    ticked = [(name, value) for name, value in form if name != HAND_IN_EMPTY]
    if not form and next_step(facts_of(request, enrolment)) == "quiz":
        problem = "You have not ticked any box, so this was not counted. "
        problem += "Tick what is right, or submit again to hand in an empty quiz."
        return _quiz_page(request, enrolment, status=422, problem=problem, ask_empty=HAND_IN_EMPTY)
    try:
        is_taken = services(request).studies.take_quiz(enrolment, ticked)
    except QuizAnswerError as error:
        return _quiz_page(request, enrolment, status=422, problem=str(error).partition("\n")[0])
    if not is_taken:
        return see_other(next_address(request, enrolment))
    if next_step(facts_of(request, enrolment)) == "end":  # the last attempt: who closes the page now is not waited for
        services(request).studies.finish_if_due(enrolment, facts_of(request, enrolment))
        return see_other(end_address(request, enrolment))
    # Shown at an address of its own: loading it again takes no second attempt.
    return see_other(f"/studies/{enrolment.study}/result?{urlencode({PARAMETER: token_of(request, enrolment)})}")


@router.get("/studies/{study}/result")
def quiz_result(request: Request, enrolment: Enrolled) -> Response:
    attempts, part = services(request).studies.attempts(enrolment), _quiz_of(request, enrolment)
    if not attempts or part is None or next_step(facts_of(request, enrolment)) == "end":
        return see_other(next_address(request, enrolment))
    return page(
        request, "study_result.html",
        study=_study_of(request, enrolment), attempt=attempts[-1], quiz=part.quiz, left=part.attempts - len(attempts),
        next=next_address(request, enrolment), **_tokens(request, enrolment),
    )  # fmt: skip


def _quiz_page(
    request: Request, enrolment: Enrolment, *, status: int = 200, problem: str = "", ask_empty: str = ""
) -> Response:
    study, num_attempts = _study_of(request, enrolment), len(services(request).studies.attempts(enrolment))
    part = _quiz_of(request, enrolment)
    assert part is not None
    return page(
        request, "study_quiz.html", status,
        study=study, quiz=part.quiz.form(np.random.default_rng()), pass_share=part.quiz.pass_share, attempts=part.attempts,
        left=part.attempts - num_attempts, problem=problem, ask_empty=ask_empty, **_tokens(request, enrolment),
    )  # fmt: skip


@router.get("/studies/{study}/pictures/{name}")
def picture(request: Request, enrolment: Enrolled, name: str) -> Response:
    part = _quiz_of(request, enrolment)
    pictures = {} if part is None else part.pictures
    if name not in pictures:
        raise unknown_name("picture", name[:100], pictures)
    kind = "image/png" if name.lower().endswith(".png") else "image/jpeg"
    return Response(pictures[name], media_type=kind, headers={"Cache-Control": "private, max-age=3600"})


@router.get("/studies/{study}/examples/{number}.mp4")
@router.head("/studies/{study}/examples/{number}.mp4")
def example(request: Request, opened: Opened, number: int) -> Response:
    study, archive = opened.study, services(request).archive
    shown = study.examples[number] if 0 <= number < len(study.examples) else None
    path = None
    if shown is not None and shown.episode:
        path = archive.video_path(shown.episode)
    elif shown is not None and shown.file:
        path = archive.blobs.path(shown.file)
    if path is not None:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            return video_response(request, path, {"Cache-Control": "private, max-age=3600"})
    raise HTTPException(404, "this example video is not on the server")


# Leaving


@router.get("/studies/{study}/end")
def end(request: Request, enrolment: Enrolled) -> Response:
    return _end(request, enrolment)


def _end(request: Request, enrolment: Enrolment, *, problem: str = "", address: str = "", status: int = 200) -> Response:
    facts = facts_of(request, enrolment)
    enrolment = services(request).studies.finish_if_due(enrolment, facts)
    study = _study_of(request, enrolment)
    if enrolment.outcome is None and next_step(facts) == "questions":
        query = urlencode({PARAMETER: token_of(request, enrolment), FINISHING: "1"})
        return see_other(f"/studies/{enrolment.study}/questions?{query}")
    if enrolment.outcome is None:
        still = None if facts.num_wanted is None else facts.num_wanted - facts.num_answers
        is_empty = next_step(facts) == "work" and not _has_work(request, enrolment)
        return page(
            request, "study_wait.html",
            study=study, still=still, num_answers=facts.num_answers, is_empty=is_empty, facts=facts,
            visit=None if study.play is None else progress_of(request, enrolment),
            opens=None if study.play is None else study.play.next_opening(datetime.now(UTC)),
            next=next_address(request, enrolment), **_tokens(request, enrolment),
        )  # fmt: skip
    channel = study.channels[enrolment.channel]
    arrived = Arrival(
        enrolment.channel,
        worker=enrolment.worker,
        assignment=enrolment.assignment,
        hit=enrolment.arrival.get("hit", ""),
        submit_to=enrolment.arrival.get("submit_to", ""),
    )
    results = {"enrolment": enrolment.id, "answers": str(facts.num_answers)}
    departure = channel.departure(arrived, enrolment.outcome, results)  # type: ignore[arg-type]
    visit = None if study.play is None else progress_of(request, enrolment)
    debrief = debrief_of(request, study, enrolment)
    part, attempts = _quiz_of(request, enrolment), services(request).studies.attempts(enrolment)
    failed = part is not None and enrolment.outcome == "screened_out" and bool(attempts) and not attempts[-1].passed
    may_enter = services(request).raffle_entries.may_enter(enrolment)
    return end_page(
        request, study, departure, enrolment.outcome, visit=visit, channel=enrolment.channel, debrief=debrief,
        status=status, may_enter=may_enter, revealed=services(request).visits.revealed(enrolment),
        has_entered=enrolment.has_entered_raffle, problem=problem, address=address,
        attempt=attempts[-1] if failed else None, quiz=None if part is None else part.quiz,
        **_tokens(request, enrolment),
    )  # fmt: skip


@router.post("/studies/{study}/raffle")
def enter_raffle(request: Request, enrolment: Enrolled, form: FormPairs) -> Response:
    address = dict(form).get("address", "")
    try:
        services(request).raffle_entries.enter(enrolment, address)
    except AddressError as error:
        return _end(request, enrolment, problem=sentence(str(error)), address=address[:300], status=422)
    return see_other(end_address(request, enrolment))


@router.post("/studies/{study}/finish")
def finish_early(request: Request, enrolment: Enrolled, form: FormPairs) -> Response:
    """End a person's part: as `done` if it is complete, as `nothing_left` if nothing is left to show.

    In a study of play, a part is complete when its requirements are met; in other studies, when some answers were given and no
    number of answers is required. While a game is still being saved, the part does not end unless the form says `without_it`.
    """
    facts = facts_of(request, enrolment)
    if next_step(facts) == "work":
        if facts.is_playing and ("without_it", "1") not in form:
            return see_other(end_address(request, enrolment))
        is_play = _study_of(request, enrolment).play is not None  # answers given in an earlier version finish no visit of play
        if facts.is_complete if is_play else (facts.num_wanted is None and facts.num_answers):
            services(request).studies.finish(enrolment, "done")
        elif not _has_work(request, enrolment):
            services(request).studies.finish(enrolment, "nothing_left")
    return see_other(end_address(request, enrolment))


def _has_work(request: Request, enrolment: Enrolment) -> bool:
    """Whether this person can get work now: two videos, an instance, or a game. Videos and instances are reserved."""
    if _study_of(request, enrolment).play is not None:
        return has_game(request, enrolment)
    if _study_of(request, enrolment).review is not None:
        return services(request).reviews.serve(enrolment) is not None
    try:
        services(request).judging.serve(judge_name(enrolment.participant_id), study=enrolment.study)
    except JudgingError:
        return False
    except RulesError as error:  # current participants may leave while the rules are mended
        log.error("%s", error)
        return False
    return True


@router.get("/studies/{study}/leave")
def ask_to_leave(request: Request, enrolment: Enrolled) -> Response:
    if next_step(facts_of(request, enrolment)) == "end":
        return see_other(end_address(request, enrolment))
    study = _study_of(request, enrolment)
    visit = None if study.play is None else progress_of(request, enrolment)
    context = {"next": next_address(request, enrolment), **_tokens(request, enrolment)}
    return page(request, "study_leave.html", study=study, visit=visit, **context)


@router.post("/studies/{study}/leave")
def leave(request: Request, enrolment: Enrolled) -> Response:
    """Let a person withdraw: they get no more work, and others get the open match.
    People who have waited long enough for a partner are paid for the wait."""
    if next_step(facts_of(request, enrolment)) != "end":
        services(request).studies.leave(enrolment)
    return see_other(end_address(request, enrolment))


def _quiz_of(request: Request, enrolment: Enrolment) -> QuizPart | None:
    return services(request).studies.quiz_of(enrolment)


def _study_of(request: Request, enrolment: Enrolment) -> Study:
    return services(request).studies.version(enrolment.study_hash)


def _tokens(request: Request, enrolment: Enrolment) -> dict[str, str]:
    token = token_of(request, enrolment)
    return {"token": token, "query": urlencode({PARAMETER: token})}


@router.get("/studies/{study}/questions")
def questions(request: Request, enrolment: Enrolled) -> Response:
    form = services(request).visits.form(enrolment) if next_step(facts_of(request, enrolment)) == "questions" else None
    return see_other(next_address(request, enrolment)) if form is None else _form_page(request, enrolment, form, {})


@router.post("/studies/{study}/questions")
def answer(request: Request, enrolment: Enrolled, given: FormFields) -> Response:
    """Store the answers if the whole form is valid; `skip` leaves it empty. With `FINISHING` in the address, then finish."""
    try:
        services(request).visits.answer(enrolment, given.get("form", ""), None if "skip" in given else given)
    except FormError as error:
        if (form := services(request).visits.form(enrolment)) is not None:
            return _form_page(request, enrolment, form, given, str(error))
    if FINISHING in request.query_params:
        return finish_early(request, enrolment, [])
    return see_other(next_address(request, enrolment))


def _form_page(request: Request, enrolment: Enrolment, form: Form, given: dict[str, str], problem: str = "") -> Response:
    study = _study_of(request, enrolment)
    return page(
        request, "study_questions.html", 422 if problem else 200,
        study=study, form=form, given=given, problem=problem, token=token_of(request, enrolment),
        is_finishing=FINISHING in request.query_params, is_blind=study.play is not None and study.play.is_blind,
    )  # fmt: skip
