"""`StudyRules`: what holds in a study, or in the open room, and who may answer there."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from interplay.errors import unknown_name
from interplay.judge.errors import BannedError, QuotaReachedError
from interplay.judge.rules import Rules
from interplay.store import bans
from interplay.store import judging as store


class RulesOfStudy(NamedTuple):
    """The rules of a study, or of the open room, and when it was closed."""

    rules: Rules
    closed_at: datetime | None


class StudyRules:
    """Rules by study; remembers those of each version, which never change.

    Args:
        open_room: The rules where there is no study.
    """

    def __init__(self, open_room: Rules) -> None:
        self._open_room = open_room
        self._by_hash: dict[str, Rules] = {}

    def of(self, session: Session, study: str | None) -> RulesOfStudy:
        """What holds in a study now.

        Raises:
            NotFoundError: If no such study was opened here.
            RulesError: If its rules are none.
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
        return RulesOfStudy(self._by_hash[content_hash], closed_at)


class Part(NamedTuple):
    """What holds for one judge in a study, or in the open room.

    Attributes:
        rules, closed_at: As in `RulesOfStudy`.
        num_answered: How many answers the judge has given there.
    """

    rules: Rules
    closed_at: datetime | None
    num_answered: int


def check_judge(session: Session, judge: str, part: Part) -> None:
    """Refuse a judge who may not answer. Whether the study is closed does not matter: what was served before is still taken.

    Raises:
        BannedError, QuotaReachedError: As they say.
    """
    if bans.is_banned(session, judge):
        raise BannedError("answers of this judge are not accepted; whoever runs this server can say why")
    check_quota(part.rules, part.num_answered)


def check_quota(rules: Rules, num_answered: int) -> None:
    """Refuse a judge who has given all answers one judge is asked for.

    Raises:
        QuotaReachedError: So.
    """
    limit = rules.max_answers_per_judge
    if limit is not None and num_answered >= limit:
        raise QuotaReachedError(f"you have given all {limit} answers one judge is asked for here; thank you")
