"""Studies that were opened in a data folder, as every command finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interplay.errors import unknown_name

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.store import StudyRow
    from interplay.study.definition import Study


def row_of(session: Session, study: str, place: str) -> StudyRow:
    """The row of a study that was opened here; `place` are the options that name the place.

    Raises:
        NotFoundError: With the nearest id.
    """
    from interplay.store import studies

    row = studies.study_row(session, study)
    if row is None:
        known = [one.id for one in studies.study_rows(session)]
        raise unknown_name(
            "study", study, known, hint=f"Only studies opened in this data folder count:  interplay study list{place}"
        )
    return row


def version_of(session: Session, content_hash: str) -> Study:
    """A version of a study that was opened here."""
    from interplay.store import studies
    from interplay.study.definition import Study

    version = studies.study_version(session, content_hash)
    assert version is not None  # a foreign key says so
    return Study.from_json(version.definition)
