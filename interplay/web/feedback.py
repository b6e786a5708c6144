"""Feedback about pages: a form on pages of games and studies, and the list for operators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from interplay import __version__
from interplay.study.feedback import KINDS, FeedbackError, TooMuchFeedbackError, feedback_csv
from interplay.web.agents.access import require_operator
from interplay.web.classes.pupils import pupil_of
from interplay.web.desk.access import desk
from interplay.web.http.forms import FormFields, is_own_address, see_other, sentence
from interplay.web.http.identity import current_operator, known_participant, network_of
from interplay.web.http.rates import Rate
from interplay.web.rendering import render, templates
from interplay.web.services import services
from interplay.web.studies.enrolments import part_of

router = APIRouter(include_in_schema=False)
templates.env.globals["feedback_kinds"] = KINDS  # type: ignore[assignment]

SENT = Rate(60, 3600)
"""Limit of feedback from one address. All pupils of a class may share one address."""
SHOWN = 200


@router.get("/feedback")
def form_page(request: Request, page: str = "/", episode: str = "") -> Response:
    return _form(request, page=page, episode=episode)


def _form(request: Request, *, status: int = 200, problem: str = "", is_sent: bool = False, **given: str) -> Response:
    """Show the form. It stands `alone`, without the menu, because it also opens from pages that hide the rest of the site."""
    context: dict[str, Any] = {"problem": problem, "is_sent": is_sent, "given": given}
    return render(request, "feedback.html", "", status=status, headers={"Cache-Control": "no-store"}, alone=True, **context)


@router.post("/feedback")
def send(request: Request, form: FormFields) -> Response:
    """Store feedback and thank the sender. With a study's token (`Interplay-Enrolment`) the sender is its participant."""
    kind, words, page, episode = (form.get(name, "") for name in ("kind", "words", "page", "episode"))
    box = services(request).feedback
    part, pupil = part_of(request), pupil_of(request)
    study = part.study if part is not None else pupil[0].code if pupil is not None else ""
    try:
        if not SENT.allows(network_of(request)):
            raise TooMuchFeedbackError("thank you; too much came from your network in the last hour. Please write again later")
        box.add(
            kind=kind, words=words, page=page, episode=episode, study=study, version=__version__,
            browser=request.headers.get("user-agent", ""),
            participant=known_participant(request) if part is None else part.participant_id,
        )  # fmt: skip
    except FeedbackError as error:
        status = 429 if isinstance(error, TooMuchFeedbackError) else 422
        return _form(request, status=status, problem=sentence(str(error)), kind=kind, words=words, page=page, episode=episode)
    return _form(request, is_sent=True, page=page if is_own_address(page) else "")


@router.get("/moderation/feedback")
def feedback(request: Request) -> Response:
    if not current_operator(request):
        return see_other("/operator?next=/moderation/feedback")
    box = services(request).feedback
    return desk(request, "feedback_list.html", "/moderation/feedback", known=box.all(limit=SHOWN), most=SHOWN)


@router.get("/moderation/feedback.csv")
def feedback_table(request: Request) -> Response:
    try:
        require_operator(request)
    except HTTPException:
        return see_other("/operator?next=/moderation/feedback")
    box = services(request).feedback
    headers = {"Content-Disposition": 'attachment; filename="feedback.csv"', "Cache-Control": "no-store"}
    return Response(feedback_csv(box.all()), media_type="text/csv; charset=utf-8", headers=headers)
