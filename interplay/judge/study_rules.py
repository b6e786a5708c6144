"""`StudyRules`: the rules of a study or of the open room, and who may answer there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.errors import BannedError, QuotaReachedError
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.rules import Rules
from interplay.store import Database
from interplay.store import judging as store
from interplay.tasks import Suite


class RulesOfStudy(NamedTuple):
    """The rules of a study, or of the open room, when it was closed, and the hash of its version; empty in the open room."""

    rules: Rules
    closed_at: datetime | None
    content_hash: str = ""


class StudyRules:
    """Rules by study; caches those of each version, which never change. `open_room` are the rules without a study."""

    def __init__(self, open_room: Rules) -> None:
        self._open_room = open_room
        self._by_hash: dict[str, Rules] = {}

    def of(self, session: Session, study: str | None) -> RulesOfStudy:
        """The current rules of a study.

        Raises:
            NotFoundError: If no such study was opened here.
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
    """How many people can judge whole games of a study at the same time; None for studies of other things. `judging` is its
    table [judging]."""
    rules = Rules.from_mapping(judging)
    if kind != "comparisons" or rules.segments is not None:
        return None
    return Candidates(suites).num_pairs(database, rules.tasks)


def check_not_banned(is_banned: bool) -> None:
    if is_banned:
        raise BannedError("answers of this judge are not accepted; the operator of this server can say why")


def check_judge(state: store.JudgeState, rules: Rules) -> None:
    """Refuse a judge who may not answer (BannedError, QuotaReachedError). Closed studies still accept answers to served
    matches."""
    check_not_banned(state.is_banned)
    limit = rules.max_answers_per_judge
    if limit is not None and state.num_answers >= limit:
        raise QuotaReachedError(f"you have given all {limit} answers that one judge may give here; thank you")
