"""A stand-in for Prolific's API: token, states of submissions, bonuses; asked twice to pay, it pays twice, as the real one."""

import json
import re
from decimal import Decimal
from typing import Any

from fake_platform import FakePlatform, Refused, Request

TOKEN = "a-secret-token"
STUDY = "60aca280709ee40ec37d4885"
CATEGORIES = {
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
}


class FakeProlific(FakePlatform):
    """One researcher's account with one study. `paid` is participant -> pounds, in cents."""

    def __init__(self) -> None:
        super().__init__()
        self.submissions: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, dict[str, Decimal]] = {}
        self.paid: dict[str, int] = {}

    def hand_in(self, submission: str, participant: str) -> None:
        """A participant hands a submission in."""
        self.submissions[submission] = {
            "id": submission,
            "participant": participant,
            "study_id": STUDY,
            "status": "AWAITING REVIEW",
        }

    def answer(self, request: Request) -> dict[str, Any]:
        if request.headers.get("authorization") != f"Token {TOKEN}":
            raise _error(401, "Authentication credentials were not provided.")
        fields = json.loads(request.body) if request.body else {}
        if found := re.fullmatch(r"/api/v1/submissions/(\w+)/", request.path):
            return self._submission(found[1])
        if request.method != "POST":
            raise _error(405, "Method not allowed.")
        if found := re.fullmatch(r"/api/v1/submissions/(\w+)/transition/", request.path):
            return self._transition(self._submission(found[1]), fields)
        if request.path == "/api/v1/submissions/bonus-payments/":
            return self._set_up(fields)
        if found := re.fullmatch(r"/api/v1/bulk-bonus-payments/(\w+)/pay/", request.path):
            return self._pay(found[1])
        raise _error(404, "Not found.")

    def _submission(self, name: str) -> dict[str, Any]:
        if name not in self.submissions:
            raise _error(404, "Not found.")
        return self.submissions[name]

    def _transition(self, submission: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
        status = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(fields.get("action", ""))
        if status is None:
            raise _error(400, {"action": ["Not a valid choice."]})
        if status == "REJECTED":
            if len(fields.get("message", "")) < 100:
                raise _error(400, {"message": ["Ensure this field has at least 100 characters."]})
            if fields.get("rejection_category") not in CATEGORIES:
                raise _error(400, {"rejection_category": ["Not a valid choice."]})
        if submission["status"] == status:
            return submission  # the second request is ignored
        if submission["status"] != "AWAITING REVIEW":
            raise _error(400, f"Submission is {submission['status']} and cannot be changed.")
        submission["status"] = status
        return submission

    def _set_up(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields.get("study_id") != STUDY:
            raise _error(400, "Study not found.")
        people = {one["participant"]: one["participant"] for one in self.submissions.values()}
        people |= {name: one["participant"] for name, one in self.submissions.items()}
        amounts: dict[str, Decimal] = {}
        for line in fields.get("csv_bonuses", "").strip().split("\n"):
            found = re.fullmatch(r"(\w+),(\d+(?:\.\d{1,2})?)", line)
            if found is None:
                raise _error(400, f"Invalid line: {line}")
            if found[1] not in people:
                raise _error(400, f"The following ids did not take part in the study: {found[1]}")
            amounts[people[found[1]]] = Decimal(found[2])
        batch = f"{len(self.batches) + 1:024x}"
        self.batches[batch] = amounts
        cents = int(sum(amounts.values()) * 100)
        fees = round(cents * 0.333)
        return {"id": batch, "study": STUDY, "amount": cents, "fees": fees, "vat": 0, "total_amount": cents + fees}

    def _pay(self, batch: str) -> dict[str, Any]:
        if batch not in self.batches:
            raise _error(404, "Not found.")
        for participant, amount in self.batches[batch].items():
            self.paid[participant] = self.paid.get(participant, 0) + int(amount * 100)
        return {}


def _error(status: int, detail: Any) -> Refused:
    return Refused(status, {"error": {"status": status, "error_code": 140000 + status, "title": "Error", "detail": detail}})
