"""Checks whose a match is, and whether it still accepts an answer."""

from __future__ import annotations

from sqlalchemy.orm import Session

from interplay.judge.errors import (
    AlreadyAnsweredError,
    ForeignMatchError,
    SupersededError,
    UnknownMatchError,
    WithdrawnError,
)
from interplay.store import Match
from interplay.store import judging as store


def known(session: Session, match_id: str) -> Match:
    match = store.match_to_read(session, match_id)
    if match is None:
        raise UnknownMatchError(f"there is no match {match_id!r}; ask for a new one")
    return match


def own(session: Session, match_id: str, judge: str) -> Match:
    match = known(session, match_id)
    check_owner(match_id, match.judge, judge)
    return match


def unanswered(session: Session, match_id: str, judge: str) -> Match:
    match = own(session, match_id, judge)
    if match.answered_at is not None:
        raise AlreadyAnsweredError(
            f"match {match_id} was answered at {match.answered_at:%Y-%m-%d %H:%M} UTC; answers are kept as given"
        )
    return match


def check_owner(match_id: str, owner: str, judge: str) -> None:
    if owner != judge:
        raise ForeignMatchError(f"match {match_id} was served to another judge; ask for one of your own")


def check_not_withdrawn(session: Session, match_id: str) -> None:
    if store.is_withdrawn(session, match_id):
        raise WithdrawnError("a player of one of the two games does not want it to be compared any more; ask for another pair")


def check_not_superseded(session: Session, match: Match) -> None:
    if store.has_answered_since(session, match):
        raise SupersededError(
            f"you have answered about the same two videos since match {match.id} was served; that answer counts"
        )


def check_study(match: Match, study: str | None) -> None:
    """Refuse people another study than their current one, for which consent, quiz and end were checked."""
    if match.judge_kind == "person" and match.study != study:
        where = "the open room" if match.study is None else f"the study {match.study}"
        raise ForeignMatchError(f"match {match.id} belongs to {where}; continue with it there, by the link you came with")
