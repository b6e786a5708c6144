"""The part of Prolific's API that payment needs: approve or reject submissions, set up and pay bonuses.

Source: docs.prolific.com, "Approve or reject a submission", "Set up bonuses" and "Pay bonuses", read in November 2026.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, get_args

from interplay.study.errors import PaymentError, PaymentUnknownError

if TYPE_CHECKING:
    import httpx

ENDPOINT = "https://api.prolific.com"
TOKEN_VARIABLE = "PROLIFIC_TOKEN"
MIN_REASON_CHARS = 100
MAX_BONUSES = 200
"""Most participants in one batch of bonuses."""

RejectionCategory = Literal[
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
]
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Submission:
    """A submission; `status` is one of Prolific's names (`AWAITING REVIEW`, `APPROVED`, `RETURNED`, ...)."""

    submission: str
    participant: str
    study: str
    status: str


@dataclass(frozen=True)
class BonusBatch:
    """Bonuses that were set up on Prolific and are not paid yet.
    Money is in cents of the study's currency; `total_cents` includes fees and tax."""

    batch: str
    amount_cents: int
    fees_cents: int
    vat_cents: int
    total_cents: int


class ProlificApi:
    """A client of Prolific. Its token can do everything that the researcher's account can; the token is kept only in memory."""

    def __init__(self, token: str, *, endpoint: str = ENDPOINT, timeout_s: float = 30) -> None:
        self._token = token
        self.endpoint = endpoint
        self._timeout_s = timeout_s

    @classmethod
    def from_environment(cls, variable: str = TOKEN_VARIABLE, *, endpoint: str = ENDPOINT) -> ProlificApi:
        """Return a client with the token from an environment variable (PaymentError if it is not set)."""
        token = os.environ.get(variable, "").strip()
        if not token:
            raise PaymentError(
                f"the environment variable {variable} holds no token\n"
                "Make a token in Prolific under Settings, API tokens, and set the variable for this command only."
            )
        return cls(token, endpoint=endpoint)

    def submission(self, submission: str) -> Submission:
        """Read a submission (PaymentError for an unknown id). Call this before paying: anybody can type ids into an address."""
        return _submission(self._call("GET", f"/api/v1/submissions/{_checked(submission)}/"))

    def approve(self, submission: str) -> Submission:
        """Approve a submission, which pays the reward; Prolific ignores a second approval.
        Raises PaymentError if the submission was never handed in, or is no longer handed in."""
        return self._transition(submission, {"action": "APPROVE"})

    def reject(self, submission: str, reason: str, category: RejectionCategory) -> Submission:
        """Reject a submission; the participant reads the reason.
        Raises PaymentError if reason or category is invalid, or the submission does not await review."""
        if len(reason.strip()) < MIN_REASON_CHARS:
            found = len(reason.strip())
            raise PaymentError(
                f"Prolific wants a reason of at least {MIN_REASON_CHARS} characters for a rejection; got {found}"
            )
        if category not in get_args(RejectionCategory):
            raise PaymentError(
                f"{category!r} is not a rejection category of Prolific; choose one of {', '.join(get_args(RejectionCategory))}"
            )
        return self._transition(submission, {"action": "REJECT", "message": reason.strip(), "rejection_category": category})

    def set_up_bonuses(self, study: str, amounts: Mapping[str, Decimal]) -> BonusBatch:
        """Set up bonuses: submission (or participant) -> amount in the study's currency, whole cents; at most 200.

        This pays nobody yet; a repeated call only makes a second batch (PaymentError if an amount or a person is refused).
        """
        if not 1 <= len(amounts) <= MAX_BONUSES:
            raise PaymentError(f"a batch holds 1 to {MAX_BONUSES} bonuses, got {len(amounts)}; send several batches")
        for name, amount in amounts.items():
            if amount <= 0 or amount != amount.quantize(Decimal("0.01")):
                raise PaymentError(f"the bonus for {name} must be whole cents and above 0, got {amount}")
        lines = "".join(f"{_checked(name)},{amount:.2f}\n" for name, amount in amounts.items())
        made = self._call("POST", "/api/v1/submissions/bonus-payments/", {"study_id": _checked(study), "csv_bonuses": lines})
        cents = {key: round(float(made.get(key) or 0)) for key in ("amount", "fees", "vat", "total_amount")}
        return BonusBatch(str(made["id"]), cents["amount"], cents["fees"], cents["vat"], cents["total_amount"])

    def pay_bonuses(self, batch: str) -> None:
        """Pay a batch. **Prolific pays again if it is asked again**, so this method never repeats a request.

        Before the call, write down that the batch is being sent. Never call for a batch that was written down before.

        Raises:
            PaymentError: If it was refused; nobody was paid.
            PaymentUnknownError: If no answer came; then first look at the study's bonuses on Prolific.
        """
        self._call("POST", f"/api/v1/bulk-bonus-payments/{_checked(batch)}/pay/", {}, is_payment=True)

    def _transition(self, submission: str, request: Mapping[str, Any]) -> Submission:
        return _submission(self._call("POST", f"/api/v1/submissions/{_checked(submission)}/transition/", request))

    def _call(
        self, method: str, path: str, request: Mapping[str, Any] | None = None, *, is_payment: bool = False
    ) -> dict[str, Any]:
        import httpx

        headers = {"Authorization": f"Token {self._token}"}
        try:
            reply = httpx.request(method, self.endpoint + path, json=request, headers=headers, timeout=self._timeout_s)
        except httpx.ConnectError as error:
            raise PaymentError(f"cannot reach {self.endpoint}: {error}\nNothing was sent; try again later.") from error
        except httpx.TransportError as error:
            raise self._unknown(path, type(error).__name__, is_payment=is_payment) from error
        if reply.status_code >= 500:
            raise self._unknown(path, f"HTTP {reply.status_code}", is_payment=is_payment)
        if reply.status_code >= 400:
            raise PaymentError(_refusal(path, reply))
        try:
            document = reply.json() if reply.content else {}
        except ValueError:
            document = {}
        return document if isinstance(document, dict) else {}

    def _unknown(self, path: str, problem: str, *, is_payment: bool) -> PaymentError:
        if is_payment:
            return PaymentUnknownError(
                f"{path}: no answer from Prolific ({problem}); the bonuses may have been paid\n"
                "Look at the study's submissions on Prolific. Do not send the batch again: Prolific would pay it again."
            )
        return PaymentError(
            f"{path}: no answer from Prolific ({problem})\nTry again later; repeating this request does no harm."
        )


def _submission(document: Mapping[str, Any]) -> Submission:
    """Return a submission from the API's document, where the participant is under one of two keys."""
    participant = document.get("participant") or document.get("participant_id") or ""
    return Submission(
        str(document.get("id", "")), str(participant), str(document.get("study_id", "")), str(document.get("status", ""))
    )


def _refusal(path: str, reply: httpx.Response) -> str:
    try:
        said = reply.json().get("error", {})
        detail = said.get("detail", said) if isinstance(said, Mapping) else said
    except (ValueError, AttributeError):
        detail = ""
    text = f"{path} was refused: {str(detail)[:500] or 'no reason given'} [HTTP {reply.status_code}]"
    return text + (
        "\nThe token is wrong or was deleted; make a new one in Prolific's settings." if reply.status_code == 401 else ""
    )


def _checked(name: str) -> str:
    if not _ID.fullmatch(name):
        raise PaymentError(f"{name[:60]!r} is not an id from Prolific")
    return name
