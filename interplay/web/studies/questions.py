"""Questions after a game with a partner: about that partner, or about two partners just met. Every page needs their token."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.store import Enrolment
from interplay.study.asking.forms import Form
from interplay.study.enrolment import next_step
from interplay.study.errors import FormError
from interplay.web.http.forms import FormFields, see_other
from interplay.web.services import services
from interplay.web.studies.enrolments import facts_of, next_address, token_of
from interplay.web.studies.pages import Enrolled, page
from interplay.web.studies.steps import FINISHING, finish_early

router = APIRouter(include_in_schema=False)


@router.get("/studies/{study}/questions")
def questions(request: Request, enrolment: Enrolled) -> Response:
    """The form that is due; who has nothing to answer goes on."""
    form = services(request).visits.form(enrolment) if next_step(facts_of(request, enrolment)) == "questions" else None
    return see_other(next_address(request, enrolment)) if form is None else _form_page(request, enrolment, form, {})


@router.post("/studies/{study}/questions")
def answer(request: Request, enrolment: Enrolled, given: FormFields) -> Response:
    """Keep what was answered, all of the form or nothing; `skip` leaves it empty. Who was about to finish then does."""
    try:
        services(request).visits.answer(enrolment, given.get("form", ""), None if "skip" in given else given)
    except FormError as error:
        if (form := services(request).visits.form(enrolment)) is not None:
            return _form_page(request, enrolment, form, given, str(error))
    if FINISHING in request.query_params:
        return finish_early(request, enrolment, [])
    return see_other(next_address(request, enrolment))


def _form_page(request: Request, enrolment: Enrolment, form: Form, given: dict[str, str], problem: str = "") -> Response:
    study = services(request).studies.version(enrolment.study_hash)
    return page(
        request, "study_questions.html", 422 if problem else 200,
        study=study, form=form, given=given, problem=problem, token=token_of(request, enrolment),
        is_finishing=FINISHING in request.query_params, is_blind=study.play is not None and study.play.is_blind,
    )  # fmt: skip
