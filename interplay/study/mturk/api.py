"""The part of Mechanical Turk's requester API (2017-01-17) that studies need: HITs, qualifications, reviews, bonuses."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from interplay.errors import not_installed
from interplay.study.channels.mturk import NO_NEW_CUSTOMERS
from interplay.study.errors import PaymentError, PaymentUnknownError

PRODUCTION = "https://mturk-requester.us-east-1.amazonaws.com"
SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
_REGION = "us-east-1"
_ATTEMPTS = 3
_PAUSE_S = 1.0


@dataclass(frozen=True)
class HeldAssignment:
    """An assignment, as read from Amazon; `status` is `Submitted`, `Approved` or `Rejected`."""

    assignment: str
    worker: str
    hit: str
    status: str


@dataclass(frozen=True)
class CreatedHit:
    """A HIT that exists at Amazon."""

    hit: str
    hit_type: str

    def preview_url(self, *, is_sandbox: bool) -> str:
        host = "workersandbox.mturk.com" if is_sandbox else "worker.mturk.com"
        return f"https://{host}/mturk/preview?groupId={self.hit_type}"


class MTurkApi:
    """Access to Mechanical Turk through boto3.

    If Amazon is busy or does not answer, requests that can safely be repeated are tried up to three times. Payments are among
    them, because a bonus has a reference that is searched for first.

    Args:
        key_id, secret, session_token: An access key of the requester's account; only temporary keys have a token.
        is_sandbox: Whether to use the sandbox, which pays nobody.
        endpoint: Another address of the API, such as a local test server.
        sleep: Function that waits between attempts, in seconds.
    Raises:
        PaymentError: If boto3 is not installed or cannot be set up.
    """

    def __init__(
        self,
        key_id: str,
        secret: str,
        session_token: str | None = None,
        *,
        is_sandbox: bool = True,
        endpoint: str | None = None,
        timeout_s: float = 30,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            import boto3
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError
        except ImportError as error:
            raise PaymentError(not_installed("Mechanical Turk needs", error.name, "mturk")) from None
        self.endpoint = endpoint or (SANDBOX if is_sandbox else PRODUCTION)
        self._sleep = sleep
        try:
            self._client = boto3.client(
                "mturk",
                region_name=_REGION,
                endpoint_url=self.endpoint,
                aws_access_key_id=key_id,
                aws_secret_access_key=secret,
                aws_session_token=session_token,
                config=Config(connect_timeout=timeout_s, read_timeout=timeout_s, retries={"total_max_attempts": 1}),
            )
        except (BotoCoreError, ValueError) as error:
            raise PaymentError(f"Mechanical Turk at {self.endpoint} cannot be used: {error}") from error

    @classmethod
    def from_environment(cls, *, is_sandbox: bool = True, endpoint: str | None = None) -> MTurkApi:
        """Return a client with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN.
        Raises PaymentError if a key is missing."""
        key_id, secret = os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_SECRET_ACCESS_KEY", "")
        if not key_id or not secret:
            raise PaymentError(
                "no AWS access key in the environment\n"
                "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary keys) for this command."
            )
        return cls(key_id, secret, os.environ.get("AWS_SESSION_TOKEN") or None, is_sandbox=is_sandbox, endpoint=endpoint)

    def balance(self) -> Decimal:
        return Decimal(self._call("get_account_balance", {})["AvailableBalance"])

    def assignment(self, assignment: str) -> HeldAssignment:
        """Read an assignment (PaymentError if it does not belong to this account).
        Call this before paying: anybody can type ids into an address."""
        found = self._call("get_assignment", {"AssignmentId": assignment})["Assignment"]
        return HeldAssignment(found["AssignmentId"], found["WorkerId"], found["HITId"], found["AssignmentStatus"])

    def approve(self, assignment: str, feedback: str = "") -> bool:
        """Approve an assignment, which pays the reward; return False if it was approved before.
        Raises PaymentError if it cannot be approved, or funds are missing."""
        request = {"AssignmentId": assignment, **({"RequesterFeedback": feedback} if feedback else {})}
        return self._review("approve_assignment", request, "Approved")

    def reject(self, assignment: str, reason: str) -> bool:
        """Reject an assignment; the worker reads the reason, and the worker's approval rate falls.
        Returns False if it was rejected before (PaymentError if Amazon refuses)."""
        if not reason.strip():
            raise PaymentError("a rejection needs a reason: the worker reads it, and may answer it")
        return self._review("reject_assignment", {"AssignmentId": assignment, "RequesterFeedback": reason}, "Rejected")

    def send_bonus(self, worker: str, assignment: str, amount_usd: Decimal, reason: str, *, request: str) -> bool:
        """Pay a bonus once for each `request`, even if called again; return False if it was paid before.

        Amazon forgets request tokens after 24 hours. Therefore a reference made from `request` is added to the end of the
        reason. Before a bonus is paid, the assignment's earlier bonuses are searched for this reference.

        Args:
            request: The name of the payment in the caller's ledger.
        Raises:
            PaymentError: If it was refused, or was paid before with another amount.
            PaymentUnknownError: If no answer came and it is unknown whether the bonus was paid.
        """
        if amount_usd <= 0 or amount_usd != amount_usd.quantize(Decimal("0.01")):
            raise PaymentError(f"a bonus must be whole cents and above 0, got {amount_usd}")
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
            self._call("send_bonus", sent)
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
        """Create a HIT from `HitSettings.request(...)`, or return the HIT that an earlier request with the same token made.

        Amazon remembers a token for 24 hours; if the token may be older, call `find_hit` first.

        Raises:
            PaymentError: If it was refused.
            PaymentUnknownError: If no answer came: the HIT may exist.
        """
        try:
            return _hit(self._call("create_hit", request)["HIT"])
        except PaymentError as error:
            if "HitAlreadyExists" not in str(error):
                raise
            found = self.find_hit(request["RequesterAnnotation"])
            if found is None:
                raise PaymentUnknownError(f"{error}\nAmazon does not list it yet; run this again in a minute.") from error
            return found

    def find_hit(self, annotation: str) -> CreatedHit | None:
        """Return this account's HIT with an annotation, in any state; None if there is no such HIT."""
        hits = self._every("list_hits", {}, "HITs")
        return next((_hit(hit) for hit in hits if hit.get("RequesterAnnotation") == annotation), None)

    def create_qualification(self, request: Mapping[str, Any]) -> str:
        """Create a qualification type from `qualification_request(...)`, or find the account's type with that name.

        Returns:
            Id of the qualification type, for `HitSettings.quiz_qualification`.
        Raises:
            PaymentError: If it was refused.
            PaymentUnknownError: If no answer came; a repeated request does no harm.
        """
        try:
            return str(self._call("create_qualification_type", request)["QualificationType"]["QualificationTypeId"])
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
        mine = {"MustBeRequestable": False, "MustBeOwnedByCaller": True}
        kinds = self._every("list_qualification_types", mine, "QualificationTypes")
        return next((str(kind["QualificationTypeId"]) for kind in kinds if kind.get("Name") == name), None)

    def grant(self, qualification: str, worker: str, value: int) -> None:
        """Give a worker a qualification, such as the score of a quiz on our own pages; Amazon sends no e-mail."""
        sent = {"QualificationTypeId": qualification, "WorkerId": worker, "IntegerValue": value, "SendNotification": False}
        self._call("associate_qualification_with_worker", sent)

    def _review(self, method: str, request: Mapping[str, Any], wanted: str) -> bool:
        """Approve or reject an assignment; return False, without an error, if it is already in the state `wanted`."""
        try:
            self._call(method, request)
        except PaymentError as error:
            if isinstance(error, PaymentUnknownError) or "InvalidAssignmentState" not in str(error):
                raise
            if self.assignment(request["AssignmentId"]).status == wanted:
                return False
            raise
        return True

    def _was_paid(self, assignment: str, reference: str, amount_usd: Decimal) -> bool:
        for bonus in self._every("list_bonus_payments", {"AssignmentId": assignment}, "BonusPayments"):
            if str(bonus.get("Reason", "")).endswith(reference):
                if Decimal(bonus["BonusAmount"]) != amount_usd:
                    raise PaymentError(
                        f"this payment was made before with {bonus['BonusAmount']} USD instead of {amount_usd}\n"
                        "Pay the difference under another request name."
                    )
                return True
        return False

    def _every(self, method: str, request: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
        more: dict[str, Any] = {}
        while True:
            page = self._call(method, {**request, "MaxResults": 100, **more})
            yield from page.get(key, [])
            if not page.get("NextToken"):
                return
            more = {"NextToken": page["NextToken"]}

    def _call(self, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation, and repeat it when Amazon is busy or silent.
        boto3's own retries would not show whether an earlier attempt may have succeeded."""
        from botocore import exceptions
        from botocore.parsers import ResponseParserError

        operation = self._client.meta.method_to_api_mapping[method]
        problem, is_unknown = "", False
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._sleep(_PAUSE_S * 2 ** (attempt - 1))
            try:
                return getattr(self._client, method)(**request)
            except exceptions.ClientError as error:
                status = error.response["ResponseMetadata"]["HTTPStatusCode"]
                code = error.response.get("TurkErrorCode") or error.response["Error"]["Code"] or f"HTTP {status}"
                if status < 500 and status != 429 and code != "ThrottlingException":
                    text = error.response["Error"]["Message"] or "no reason given"
                    raise PaymentError(f"{operation} was refused: {text} [{code}]") from error
                problem = f"Mechanical Turk is busy (HTTP {status})"
                is_unknown = is_unknown or status >= 500
            except exceptions.ConnectionError as error:
                problem = f"cannot reach {self.endpoint}: {error}"
            except (exceptions.HTTPClientError, ResponseParserError) as error:
                problem, is_unknown = f"{self.endpoint} did not answer: {type(error).__name__}", True
            except exceptions.BotoCoreError as error:
                raise PaymentError(f"{operation} cannot be sent: {error}") from error
        kind = PaymentUnknownError if is_unknown else PaymentError
        raise kind(f"{operation}: {problem}; tried {_ATTEMPTS} times\n{NO_NEW_CUSTOMERS}")


def _hit(document: Mapping[str, Any]) -> CreatedHit:
    return CreatedHit(document["HITId"], document["HITTypeId"])
