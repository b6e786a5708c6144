"""Mechanical Turk's requester API (2017-01-17), as far as a study needs it: HITs, qualifications, reviews, bonuses."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from interplay.study.channels.aws import Credentials, signed_headers
from interplay.study.channels.mturk import NO_NEW_CUSTOMERS
from interplay.study.errors import PaymentError, PaymentUnknownError

if TYPE_CHECKING:
    import httpx

PRODUCTION = "https://mturk-requester.us-east-1.amazonaws.com"
SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
_REGION, _SERVICE, _TARGET = "us-east-1", "mturk-requester", "MTurkRequesterServiceV20170117"
_ATTEMPTS = 3
_PAUSE_S = 1.0


@dataclass(frozen=True)
class HeldAssignment:
    """What Amazon knows of an assignment: who holds it, of which HIT, and `Submitted`, `Approved` or `Rejected`."""

    assignment: str
    worker: str
    hit: str
    status: str


@dataclass(frozen=True)
class CreatedHit:
    """A HIT that exists now."""

    hit: str
    hit_type: str

    def preview_url(self, *, is_sandbox: bool) -> str:
        """Where workers find it."""
        host = "workersandbox.mturk.com" if is_sandbox else "worker.mturk.com"
        return f"https://{host}/mturk/preview?groupId={self.hit_type}"


class MTurkApi:
    """A signed client.

    Requests that can be repeated without harm are, up to three times, when Amazon is busy or does not answer; paying is among
    them, because a bonus carries a reference that is looked for first.

    Args:
        credentials: Of the requester's account.
        is_sandbox: The sandbox pays nobody; production must be asked for.
        endpoint: Another address, such as a stand-in on this machine.
        timeout_s: For one request.
        clock: The time now, UTC.
        sleep: Waits between attempts, seconds.
    """

    def __init__(
        self,
        credentials: Credentials,
        *,
        is_sandbox: bool = True,
        endpoint: str | None = None,
        timeout_s: float = 30,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = endpoint or (SANDBOX if is_sandbox else PRODUCTION)
        self._credentials = credentials
        self._timeout_s = timeout_s
        self._clock = clock
        self._sleep = sleep

    def balance(self) -> Decimal:
        """What the account can spend, USD."""
        return Decimal(self._call("GetAccountBalance", {})["AvailableBalance"])

    def assignment(self, assignment: str) -> HeldAssignment:
        """Who holds an assignment; ask before paying, because ids in an address can be typed by anybody.

        Raises:
            PaymentError: If it is not one of this account's.
        """
        found = self._call("GetAssignment", {"AssignmentId": assignment})["Assignment"]
        return HeldAssignment(found["AssignmentId"], found["WorkerId"], found["HITId"], found["AssignmentStatus"])

    def approve(self, assignment: str, feedback: str = "") -> bool:
        """Approve, which pays the reward.

        Returns:
            False if it was approved before; nothing is paid twice.
        Raises:
            PaymentError: If it was rejected, is not handed in, or the account lacks funds.
        """
        request = {"AssignmentId": assignment, **({"RequesterFeedback": feedback} if feedback else {})}
        return self._review("ApproveAssignment", request, "Approved")

    def reject(self, assignment: str, reason: str) -> bool:
        """Reject; the worker reads the reason, and their approval rate falls.

        Returns:
            False if it was rejected before.
        Raises:
            PaymentError: If there is no reason, it was approved, or it is not handed in.
        """
        if not reason.strip():
            raise PaymentError("a rejection needs a reason: the worker reads it, and may answer it")
        return self._review("RejectAssignment", {"AssignmentId": assignment, "RequesterFeedback": reason}, "Rejected")

    def send_bonus(self, worker: str, assignment: str, amount_usd: Decimal, reason: str, *, request: str) -> bool:
        """Pay a bonus once, however often this is called with the same `request`.

        Amazon forgets its own request tokens after 24 hours, so a reference made of `request` stands at the end of the reason
        as well, and the bonuses of the assignment are searched for it first.

        Args:
            request: The payment's own name in the caller's books.
        Returns:
            False if it had been paid before.
        Raises:
            PaymentError: If it was refused, or was paid before with another amount.
            PaymentUnknownError: If no answer came and it cannot be seen whether it was paid.
        """
        if amount_usd <= 0 or amount_usd != amount_usd.quantize(Decimal("0.01")):
            raise PaymentError(f"a bonus must be whole cents and more than nothing, got {amount_usd}")
        if not reason.strip() or not request:
            raise PaymentError(
                "a bonus needs a reason for the worker to read, and a request name that is the same when it is repeated"
            )
        digest = hashlib.sha256(request.encode()).hexdigest()
        reference = f"(ref {digest[:12]})"
        if self._was_paid(assignment, reference, amount_usd):
            return False
        sent = {
            "WorkerId": worker,
            "AssignmentId": assignment,
            "BonusAmount": f"{amount_usd:.2f}",
            "Reason": f"{reason.strip()} {reference}",
            "UniqueRequestToken": f"interplay-{digest[:48]}",
        }
        try:
            self._call("SendBonus", sent)
        except PaymentError as error:
            # Either it went through and the answer was lost, or an earlier call with this token did.
            try:
                if self._was_paid(assignment, reference, amount_usd):
                    return True
            except PaymentError:
                raise PaymentUnknownError(
                    f"SendBonus of {amount_usd} USD for assignment {assignment}: no answer, and bonuses cannot be listed\n"
                    f"{error}\n"
                    "Send it again with the same request name later; it is looked for before it is paid."
                ) from error
            raise
        return True

    def create_hit(self, request: Mapping[str, Any]) -> CreatedHit:
        """Create a HIT from `HitSettings.request(...)`, or find the one that an earlier request with its token made.

        Amazon knows a token for 24 hours; where it may be older, ask `find_hit` first.

        Raises:
            PaymentError: If it was refused.
            PaymentUnknownError: If no answer came: there may be a HIT.
        """
        try:
            return _hit(self._call("CreateHIT", request)["HIT"])
        except PaymentError as error:
            if "HitAlreadyExists" not in str(error):
                raise
            found = self.find_hit(request["RequesterAnnotation"])
            if found is None:
                raise PaymentUnknownError(f"{error}\nAmazon does not list it yet; run this again in a minute.") from error
            return found

    def find_hit(self, annotation: str) -> CreatedHit | None:
        """This account's HIT with an annotation, whatever became of it; None if there is none."""
        for hit in self._every("ListHITs", {}, "HITs"):
            if hit.get("RequesterAnnotation") == annotation:
                return _hit(hit)
        return None

    def create_qualification(self, request: Mapping[str, Any]) -> str:
        """Create a qualification type from `qualification_request(...)`, or find the one of that name: an account has one.

        Returns:
            Its id, for `HitSettings.quiz_qualification`.
        Raises:
            PaymentError: If it was refused.
            PaymentUnknownError: If no answer came; asking again does no harm.
        """
        try:
            return str(self._call("CreateQualificationType", request)["QualificationType"]["QualificationTypeId"])
        except PaymentError as error:
            if "QualificationTypeAlreadyExists" not in str(error):
                raise
            found = self.find_qualification(request["Name"])
            if found is None:
                raise PaymentUnknownError(
                    f"{error}\nAmazon does not list it yet, or is still deleting it; run this again later."
                ) from error
            return found

    def find_qualification(self, name: str) -> str | None:
        """Id of this account's qualification type of that name; None if there is none."""
        mine = {"MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for kind in self._every("ListQualificationTypes", mine, "QualificationTypes"):
            if kind.get("Name") == name:
                return str(kind["QualificationTypeId"])
        return None

    def grant(self, qualification: str, worker: str, value: int) -> None:
        """Give a worker a qualification, such as the score of a quiz taken on our own pages; no e-mail is sent."""
        sent = {"QualificationTypeId": qualification, "WorkerId": worker, "IntegerValue": value, "SendNotification": False}
        self._call("AssociateQualificationWithWorker", sent)

    def _review(self, operation: str, request: Mapping[str, Any], wanted: str) -> bool:
        """Approve or reject; an assignment that stands so already is no error."""
        try:
            self._call(operation, request)
        except PaymentError as error:
            if isinstance(error, PaymentUnknownError) or "InvalidAssignmentState" not in str(error):
                raise
            if self.assignment(request["AssignmentId"]).status == wanted:
                return False
            raise
        return True

    def _was_paid(self, assignment: str, reference: str, amount_usd: Decimal) -> bool:
        """Whether a bonus with this reference is among those of the assignment."""
        for bonus in self._every("ListBonusPayments", {"AssignmentId": assignment}, "BonusPayments"):
            if str(bonus.get("Reason", "")).endswith(reference):
                if Decimal(bonus["BonusAmount"]) != amount_usd:
                    raise PaymentError(
                        f"this payment was made before with {bonus['BonusAmount']} USD instead of {amount_usd}\n"
                        "Give the difference a request name of its own."
                    )
                return True
        return False

    def _every(self, operation: str, request: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
        """Every entry of a list that comes in pages."""
        more: dict[str, Any] = {}
        while True:
            page = self._call(operation, {**request, "MaxResults": 100, **more})
            yield from page.get(key, [])
            if not page.get("NextToken"):
                return
            more = {"NextToken": page["NextToken"]}

    def _call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """One operation, repeated when Amazon is busy or silent."""
        import httpx

        body = json.dumps(request).encode()
        problem = ""
        is_unknown = False
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._sleep(_PAUSE_S * 2 ** (attempt - 1))
            headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": f"{_TARGET}.{operation}"}
            signed = signed_headers(
                self._credentials, self.endpoint, body, headers, region=_REGION, service=_SERVICE, now=self._clock()
            )
            try:
                reply = httpx.post(f"{self.endpoint}/", content=body, headers=signed, timeout=self._timeout_s)
            except httpx.ConnectError as error:
                problem = f"cannot reach {self.endpoint}: {error}"
                continue
            except httpx.TransportError as error:
                problem, is_unknown = f"{self.endpoint} did not answer: {type(error).__name__}", True
                continue
            if reply.status_code < 500 and not _is_throttled(reply):
                return _answer(operation, reply)
            problem = f"Mechanical Turk is busy (HTTP {reply.status_code})"
            is_unknown = is_unknown or reply.status_code >= 500
        kind = PaymentUnknownError if is_unknown else PaymentError
        raise kind(f"{operation}: {problem}; tried {_ATTEMPTS} times\n{NO_NEW_CUSTOMERS}")


def _hit(document: Mapping[str, Any]) -> CreatedHit:
    return CreatedHit(document["HITId"], document["HITTypeId"])


def _answer(operation: str, reply: httpx.Response) -> dict[str, Any]:
    """The answer's document, or Amazon's refusal as an error."""
    try:
        document = reply.json() if reply.content else {}
    except ValueError:
        document = {}
    if reply.status_code == 200 and isinstance(document, dict):
        return document
    said = document if isinstance(document, dict) else {}
    code = said.get("TurkErrorCode") or str(said.get("__type", "")).rpartition("#")[2] or f"HTTP {reply.status_code}"
    text = said.get("Message") or said.get("message") or "no reason given"
    raise PaymentError(f"{operation} was refused: {text} [{code}]")


def _is_throttled(reply: httpx.Response) -> bool:
    return reply.status_code == 429 or (reply.status_code == 400 and b"ThrottlingException" in reply.content)
