"""Find the judge of a request: a person (by enrolment or cookie), a program (by token), or a judge named by the operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request

from interplay.judge.serving.judging import JudgeKind
from interplay.model_judges import MODEL_PREFIX
from interplay.store import Enrolment
from interplay.store.participants import GIVEN_NAME, is_given_name, judge_name, one_spelling
from interplay.study.enrolment import Facts
from interplay.web.http.identity import api_token, current_participant, is_operator, known_participant
from interplay.web.http.refusals import invalid, refusal
from interplay.web.studies.enrolments import part_of, working

OPERATOR = "operator"


@dataclass(frozen=True)
class Judge:
    """The judge who sent a request.

    Attributes:
        name: Name as in matches and answers; empty for an unknown visitor, who owns no match.
        enrolment: The person's part in a study, if the request has its token.
        facts: State of this part, if it was looked up.
    """

    name: str
    kind: JudgeKind
    enrolment: Enrolment | None = None
    facts: Facts | None = None

    @property
    def study(self) -> str | None:
        return None if self.enrolment is None else self.enrolment.study


def judge_of(
    request: Request, named: Any = None, *, make: bool = False, must_work: bool = False, has_begun: bool = False
) -> Judge:
    """Return the judge who sent a request.

    Args:
        named: Name of a judge, which only the operator may choose (None: `operator`).
        make: Whether to make a participant for an unknown visitor.
        must_work: Whether to refuse people whose part in a study is over, or who must still take its quiz.
        has_begun: With `must_work`, whether the request belongs to work that was begun before; see `enrolments.working`.
    Raises:
        HTTPException: 401 for a wrong token, 403 if the sender may not judge in this way, 422 for an invalid name.
    """
    if is_operator(request):
        if named is None:
            return Judge(OPERATOR, "program")
        name = one_spelling(named) if isinstance(named, str) else ""
        if not is_given_name(name):
            raise invalid("judge", GIVEN_NAME)
        return Judge(name, "model" if name.startswith(MODEL_PREFIX) else "program")
    token = api_token(request)
    if token is not None:
        if token.scope != "judge":
            raise refusal(403, f"this token has the scope {token.scope!r}; to judge, you need a token with the scope 'judge'")
        if named not in (None, token.name):
            raise refusal(403, f"with this token you judge only as {token.name!r}")
        return Judge(token.name, "program")
    if named is not None:
        raise refusal(403, "only the operator may name a judge; send the token as 'Authorization: Bearer ...'")
    part = working(request, has_begun=has_begun) if must_work else None
    enrolment, facts = part or (part_of(request), None)
    if enrolment is not None:
        return Judge(judge_name(enrolment.participant_id), "person", enrolment, facts)
    if make:
        return Judge(judge_name(current_participant(request)), "person")
    number = known_participant(request)
    return Judge("" if number is None else judge_name(number), "person")
