"""Prolific: people come with three ids in the address and go back with a completion code.

Conventions: Prolific API reference, "The study object" (URL placeholders, completion codes), read in November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from interplay.study.channels.base import (
    OUTCOMES,
    Arrival,
    Departure,
    Outcome,
    Query,
    check_departure,
    folded,
    identifier,
    parameters,
    refuse_strangers,
)
from interplay.study.errors import StudyError

COMPLETE = "https://app.prolific.com/submissions/complete?cc="
_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_PLACEHOLDERS = {"worker": "PROLIFIC_PID", "hit": "STUDY_ID", "assignment": "SESSION_ID"}
_TEXTS: dict[Outcome, str] = {
    "done": "That was everything.",
    "screened_out": "This study looks for people with other experience.",
    "failed_check": "Some answers did not fit what was shown, so the study ends here.",
    "no_partner": "Nobody else came.",
    "no_consent": "You did not consent, so nothing was recorded.",
    "withdrawn": "You have withdrawn from the study.",
    "nothing_left": "There is nothing left to do at the moment.",
}
_BACK = " You go back to Prolific now."
_RETURN = " Please return your submission on Prolific: choose 'Cancel participation' there."


class ProlificChannel:
    """A study that Prolific links to.

    Args:
        codes: Outcome -> completion code. `done` is required. All codes must differ, since Prolific acts on them (approve,
            review, ask to return). A person whose outcome has no code is asked to return the submission.
        names: `worker`, `hit` or `assignment` -> the URL parameter that contains it, if it is not Prolific's usual one.
    Raises:
        StudyError: If the codes or names cannot be used.
    """

    name = "prolific"
    frame_ancestors: tuple[str, ...] = ()
    notice = ""

    def __init__(self, codes: Mapping[str, str], names: Mapping[str, str] | None = None) -> None:
        for outcome, code in codes.items():
            if outcome not in OUTCOMES:
                raise StudyError(f"codes.{outcome} is not an outcome; known: {', '.join(OUTCOMES)}")
            if not isinstance(code, str) or not _CODE.fullmatch(code):
                raise StudyError(
                    f"codes.{outcome} must be a completion code as Prolific shows it, such as 'C1A2B3C4'; got {code!r}"
                )
        if "done" not in codes:
            raise StudyError("codes.done is missing: paste the completion code of Prolific's study there")
        if len(set(codes.values())) < len(codes):
            raise StudyError("two outcomes have the same completion code\nGive each outcome its own code in Prolific's study.")
        self.codes = dict(codes)
        self.names = {**_PLACEHOLDERS, **(names or {})}
        for role, parameter in self.names.items():
            if role not in _PLACEHOLDERS:
                raise StudyError(f"names.{role} is not a known setting; known: {', '.join(_PLACEHOLDERS)}")
            if not isinstance(parameter, str) or not _PARAMETER.fullmatch(parameter):
                raise StudyError(
                    f"names.{role} must be the name of a URL parameter, such as {_PLACEHOLDERS[role]!r}; got {parameter!r}"
                )
        if len(set(map(folded, self.names.values()))) < len(self.names):
            raise StudyError("names: worker, hit and assignment need three different parameters")

    def study_url(self, address: str) -> str:
        """Return the address to paste into Prolific, with its placeholders.

        >>> ProlificChannel({"done": "C1"}).study_url("https://lab.example/caves")
        'https://lab.example/caves?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}'
        """
        if urlsplit(address).scheme != "https":
            raise StudyError(f"participants need an https address; got {address!r}")
        filled = "&".join(f"{self.names[role]}={{{{%{placeholder}%}}}}" for role, placeholder in _PLACEHOLDERS.items())
        return f"{address}{'&' if '?' in address else '?'}{filled}"

    def arrival(self, query: Query) -> Arrival:
        """Return the ids of the participant, the submission (`SESSION_ID`) and the study."""
        found = parameters(query, self.names.values())
        refuse_strangers(self.name, found, own=self.names.values())
        ids = {role: identifier(found, name, example="60bf9310e8dec401be6e9615") for role, name in self.names.items()}
        return Arrival(self.name, worker=ids["worker"], assignment=ids["assignment"], hit=ids["hit"])

    def departure(self, arrival: Arrival, outcome: Outcome, results: Mapping[str, str] | None = None) -> Departure:
        check_departure(arrival, outcome, self.name)
        code = self.codes.get(outcome)
        if code is None:
            return Departure("page", _TEXTS[outcome] + _RETURN)
        return Departure("redirect", _TEXTS[outcome] + _BACK, COMPLETE + code)
