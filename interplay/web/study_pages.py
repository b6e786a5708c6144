"""What all pages of a study share: how they look, and whose part in which study they belong to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.responses import Response

from interplay.errors import unknown_name
from interplay.store import Enrolment, studies
from interplay.study import Departure
from interplay.study.definition import Study
from interplay.tables import is_name
from interplay.web.enrolments import allow_framing, enrolment_of, study_version
from interplay.web.pages import render


def page(request: Request, name: str, status: int = 200, /, **context: Any) -> Response:
    """A page for participants: it shows nothing of the rest of the site, and is nobody else's to keep."""
    return render(request, name, "", status=status, headers={"Cache-Control": "no-store"}, alone=True, **context)


def opened_study(request: Request, study: str) -> tuple[Study, bool]:
    """The current version of a study that was opened here, and whether it takes people.

    Raises:
        NotFoundError: With the nearest id.
    """
    with request.app.state.archive.database.read() as session:
        row = studies.study_row(session, study) if is_name(study) else None  # not every text can be asked a database
        if row is None:
            raise unknown_name("study", study[:100], [row.id for row in studies.study_rows(session) if row.closed_at is None])
        version = study_version(session, row.content_hash)
        assert version is not None  # a foreign key says so
    allow_framing(request, version)
    return version, row.closed_at is None


Opened = Annotated[tuple[Study, bool], Depends(opened_study)]


def own_enrolment(request: Request, study: str) -> Enrolment:
    """The enrolment of this request, in the study its address names."""
    enrolment = enrolment_of(request)
    if enrolment is None or enrolment.study != study:
        raise HTTPException(401, "this page belongs to somebody's part in a study\nOpen the study again from its start.")
    return enrolment


Enrolled = Annotated[Enrolment, Depends(own_enrolment)]


def end_page(request: Request, study: Study, departure: Departure, outcome: str, *, again: str = "") -> Response:
    """Thanks, and how to go back; `again` leads who declined to where they can agree."""
    code = departure.url.partition("cc=")[2] if departure.kind == "redirect" else ""
    return page(request, "study_end.html", study=study, departure=departure, outcome=outcome, code=code, again=again)
