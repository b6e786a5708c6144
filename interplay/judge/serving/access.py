"""Access of judges: find the rules that hold for them, and check whether they may answer a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.errors import (
    AlreadyAnsweredError,
    BannedError,
    ForeignMatchError,
    QuotaReachedError,
    SupersededError,
    UnknownMatchError,
    WithdrawnError,
)
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.rules import Rules
from interplay.store import Database, Match
from interplay.store import judging as store
from interplay.tasks import Suite


class RulesOfStudy(NamedTuple):
    """The rules of a study, the time when it was closed, and the hash of its version (empty for the open room)."""

    rules: Rules
    closed_at: datetime | None
    content_hash: str = ""


class StudyRules:
    """Finds the rules of a study (`open_room` without a study). Versions of studies never change, so their rules are cached."""

    def __init__(self, open_room: Rules) -> None:
        self._open_room = open_room
        self._by_hash: dict[str, Rules] = {}

    def of(self, session: Session, study: str | None) -> RulesOfStudy:
        """Return the current rules of a study, or of the open room for `study` None.

        Raises:
            NotFoundError: If no study of this id was opened on this server.
            RulesError: If its rules are invalid.
        """
        if study is None:
            return RulesOfStudy(self._open_room, None)
        row = store.study(session, study)
        if row is None:
            raise unknown_name("study", study[:100], store.studies(session), hint="Open it with:  interplay study open FILE")
        content_hash, closed_at = row
        if content_hash not in self._by_hash:
            definition = store.study_definition(session, content_hash)
            self._by_hash[content_hash] = Rules.from_mapping(definition.get("judging"), f"study {study}: [judging]")
        return RulesOfStudy(self._by_hash[content_hash], closed_at, content_hash)


def judges_at_once(database: Database, suites: Sequence[Suite], kind: str, judging: Mapping[str, Any] | None) -> int | None:
    """Return how many people can judge at once in a study that compares whole games; None for any other kind of study.
    `judging` is the study's table [judging]."""
    rules = Rules.from_mapping(judging)
    if kind != "comparisons" or rules.segments is not None:
        return None
    return Candidates(suites).num_pairs(database, rules.tasks)


def check_not_banned(is_banned: bool) -> None:
    if is_banned:
        raise BannedError("answers of this judge are not accepted; the operator of this server can say why")


def check_judge(state: store.JudgeState, rules: Rules) -> None:
    """Refuse a judge who may not answer (BannedError, QuotaReachedError).
    Whether the study is closed does not matter here: it still accepts answers to matches that it has served."""
    check_not_banned(state.is_banned)
    limit = rules.max_answers_per_judge
    if limit is not None and state.num_answers >= limit:
        raise QuotaReachedError(f"you have given all {limit} answers that one judge may give here; thank you")


def known(session: Session, match_id: str) -> Match:
    match = store.match_to_read(session, match_id)
    if match is None:
        raise UnknownMatchError(f"there is no match {match_id!r}; ask for a new match")
    return match


def own(session: Session, match_id: str, judge: str) -> Match:
    match = known(session, match_id)
    check_owner(match_id, match.judge, judge)
    return match


def unanswered(session: Session, match_id: str, judge: str) -> Match:
    match = own(session, match_id, judge)
    if match.answered_at is not None:
        raise AlreadyAnsweredError(
            f"match {match_id} was answered at {match.answered_at:%Y-%m-%d %H:%M} UTC; an answer cannot be changed"
        )
    return match


def check_owner(match_id: str, owner: str, judge: str) -> None:
    if owner != judge:
        raise ForeignMatchError(f"match {match_id} was served to another judge; ask for a match of your own")


def check_not_withdrawn(session: Session, match_id: str) -> None:
    if store.is_withdrawn(session, match_id):
        raise WithdrawnError("a player of one of the two games does not want it to be compared any more; ask for another pair")


def check_not_superseded(session: Session, match: Match) -> None:
    if store.has_answered_since(session, match):
        raise SupersededError(
            f"you answered another match with the same two videos after match {match.id} was served; that answer counts"
        )


def check_study(match: Match, study: str | None) -> None:
    """Refuse a person whose match is not from `study`, because consent, quiz and closing time were checked for `study` only."""
    if match.judge_kind == "person" and match.study != study:
        where = "the open room" if match.study is None else f"the study {match.study}"
        raise ForeignMatchError(f"match {match.id} belongs to {where}; continue there, with the link that you were given")
