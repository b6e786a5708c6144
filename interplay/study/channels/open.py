"""Open links for colleagues, classes, or anybody with the address. Nobody is paid, so that no ids of people are needed."""

from __future__ import annotations

from collections.abc import Mapping

from interplay.study.channels.base import (
    Arrival,
    Departure,
    Outcome,
    Query,
    check_departure,
    parameters,
    refuse_strangers,
)

_TEXTS: dict[Outcome, str] = {
    "done": "That was everything. You may close this page.",
    "screened_out": "Thank you for your interest. This study looks for people with other experience; you may close this page.",
    "failed_check": "Thank you for your time. Some answers did not fit what was shown, so the study ends here for you.",
    "no_partner": "Thank you for waiting. Nobody else came; please try again at another time.",
    "no_consent": "You did not consent, so nothing was recorded. You may close this page.",
    "withdrawn": "You have withdrawn from the study. You may close this page.",
    "nothing_left": "Thank you for coming. There is nothing left to do in this study at the moment.",
}


class OpenChannel:
    """An address that anybody may open; the site's own cookie or an enrolment token tells people apart."""

    name = "open"
    frame_ancestors: tuple[str, ...] = ()
    notice = ""

    def arrival(self, query: Query) -> Arrival:
        """Return a person without a platform's id.
        A link of a paying platform is refused, since people who follow it expect to be paid."""
        refuse_strangers(self.name, parameters(query))
        return Arrival(self.name)

    def departure(self, arrival: Arrival, outcome: Outcome, results: Mapping[str, str] | None = None) -> Departure:
        check_departure(arrival, outcome, self.name)
        return Departure("page", _TEXTS[outcome])


class EmailChannel(OpenChannel):
    """An open link whose last page asks for an e-mail address for the study's raffle (`money/raffle.py`)."""

    name = "email"
