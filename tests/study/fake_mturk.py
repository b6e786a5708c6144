"""A stand-in for Mechanical Turk's requester API: signatures, required fields, states and request tokens as the real one's.

Rules from the API reference (2017-01-17) and its service model: required members, patterns of ids and amounts, states of an
assignment, request tokens that hold for 24 hours and then are forgotten.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from fake_platform import FakePlatform, Refused, Request

KEY_ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>\w+)/(?P<day>\d{8})/(?P<region>[\w-]+)/(?P<service>[\w-]+)/aws4_request, ?"
    r"SignedHeaders=(?P<names>[\w;-]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
_REQUIRED = {
    "GetAccountBalance": (),
    "GetAssignment": ("AssignmentId",),
    "ApproveAssignment": ("AssignmentId",),
    "RejectAssignment": ("AssignmentId", "RequesterFeedback"),
    "ListBonusPayments": (),
    "SendBonus": ("WorkerId", "BonusAmount", "AssignmentId", "Reason"),
    "CreateHIT": ("LifetimeInSeconds", "AssignmentDurationInSeconds", "Reward", "Title", "Description", "Question"),
    "CreateQualificationType": ("Name", "Description", "QualificationTypeStatus"),
    "AssociateQualificationWithWorker": ("QualificationTypeId", "WorkerId"),
}
_PATTERNS = {
    "AssignmentId": r"[A-Z0-9]{1,64}",
    "WorkerId": r"A[A-Z0-9]{1,63}",
    "QualificationTypeId": r"[A-Z0-9]{1,64}",
    "BonusAmount": r"[0-9]+(\.)?[0-9]{0,2}",
    "Reward": r"[0-9]+(\.)?[0-9]{0,2}",
    "UniqueRequestToken": r".{1,64}",
}
TOKEN_LIFE_S = 24 * 3600


class FakeMTurk(FakePlatform):
    """One requester's account. `now_s` is the platform's clock for request tokens; tests move it."""

    def __init__(self) -> None:
        super().__init__()
        self.funds = Decimal(1000)
        self.assignments: dict[str, dict[str, Any]] = {}
        self.bonuses: list[dict[str, Any]] = []
        self.hits: list[dict[str, Any]] = []
        self.qualifications: dict[str, dict[str, Any]] = {}
        self.granted: dict[tuple[str, str], int] = {}
        self.now_s = 0.0
        self.page_size = 100
        self._tokens: dict[str, float] = {}

    def hand_in(self, assignment: str, worker: str, hit: str = "3HIT") -> None:
        """A worker hands an assignment in."""
        self.assignments[assignment] = {
            "AssignmentId": assignment,
            "WorkerId": worker,
            "HITId": hit,
            "AssignmentStatus": "Submitted",
        }

    def answer(self, request: Request) -> dict[str, Any]:
        self._check_signature(request)
        operation = request.headers.get("x-amz-target", "").removeprefix("MTurkRequesterServiceV20170117.")
        if operation not in _REQUIRED or request.headers.get("content-type") != "application/x-amz-json-1.1":
            raise Refused(400, {"__type": "UnknownOperationException"})
        fields = json.loads(request.body)
        for name in _REQUIRED[operation]:
            if fields.get(name) in (None, ""):
                raise _error("AWS.ParametersMissing", f"{name} is missing")
        for name, pattern in _PATTERNS.items():
            if name in fields and not re.fullmatch(pattern, str(fields[name])):
                raise _error("AWS.ParameterOutOfRange", f"{name} does not match {pattern}")
        return getattr(self, f"_{operation}")(fields)

    def _check_signature(self, request: Request) -> None:
        """Recompute the signature from what arrived."""
        found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
        if found is None or found["key"] != KEY_ID or (found["region"], found["service"]) != ("us-east-1", "mturk-requester"):
            raise Refused(400, {"__type": "UnrecognizedClientException", "message": "The security token is invalid."})
        names = found["names"].split(";")
        if not {"host", "x-amz-date"} <= set(names) or names != sorted(names):
            raise Refused(400, {"__type": "IncompleteSignatureException", "message": "host and x-amz-date must be signed"})
        head = "".join(f"{name}:{request.headers[name].strip()}\n" for name in names)
        canonical = f"{request.method}\n{request.path}\n\n{head}\n{';'.join(names)}\n{hashlib.sha256(request.body).hexdigest()}"
        scope = f"{found['day']}/us-east-1/mturk-requester/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = b"AWS4" + SECRET.encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        if hmac.new(key, text.encode(), hashlib.sha256).hexdigest() != found["signature"]:
            raise Refused(403, {"__type": "SignatureDoesNotMatchException", "message": "The signature does not match."})

    def _use_token(self, fields: dict[str, Any]) -> bool:
        """Whether this request's token is new; tokens are forgotten after a day."""
        token = fields.get("UniqueRequestToken")
        if token is None:
            return True
        is_new = self.now_s - self._tokens.get(token, -TOKEN_LIFE_S - 1) > TOKEN_LIFE_S
        if is_new:
            self._tokens[token] = self.now_s
        return is_new

    def _GetAccountBalance(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"AvailableBalance": str(self.funds)}

    def _GetAssignment(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {"Assignment": self._held(fields), "HIT": {"HITId": self._held(fields)["HITId"]}}

    def _held(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["AssignmentId"] not in self.assignments:
            raise _error("AWS.MechanicalTurk.AssignmentDoesNotExist", f"Assignment {fields['AssignmentId']} does not exist.")
        return self.assignments[fields["AssignmentId"]]

    def _ApproveAssignment(self, fields: dict[str, Any]) -> dict[str, Any]:
        return self._review(fields, "Approved")

    def _RejectAssignment(self, fields: dict[str, Any]) -> dict[str, Any]:
        return self._review(fields, "Rejected")

    def _review(self, fields: dict[str, Any], status: str) -> dict[str, Any]:
        held = self._held(fields)
        if held["AssignmentStatus"] != "Submitted":
            text = f"This operation can be called with a status of: Submitted (it is {held['AssignmentStatus']})"
            raise _error("AWS.MechanicalTurk.InvalidAssignmentState", text)
        held["AssignmentStatus"] = status
        return {}

    def _ListBonusPayments(self, fields: dict[str, Any]) -> dict[str, Any]:
        if "AssignmentId" not in fields and "HITId" not in fields:
            raise _error("AWS.ParametersMissing", "HITId or AssignmentId is missing")
        found = [bonus for bonus in self.bonuses if bonus["AssignmentId"] == fields.get("AssignmentId")]
        start = int(fields.get("NextToken", "0"))
        page = found[start : start + self.page_size]
        more = {"NextToken": str(start + self.page_size)} if start + self.page_size < len(found) else {}
        return {"NumResults": len(page), "BonusPayments": page, **more}

    def _SendBonus(self, fields: dict[str, Any]) -> dict[str, Any]:
        if self._held(fields)["WorkerId"] != fields["WorkerId"]:
            raise _error("AWS.MechanicalTurk.WorkerDoesNotHoldAssignment", "The worker did not do this assignment.")
        if not self._use_token(fields):
            raise _error("AWS.MechanicalTurk.RequestTokenUsed", "The idempotency token has already been processed.")
        amount = Decimal(fields["BonusAmount"])
        cost = amount + max(amount * Decimal("0.2"), Decimal("0.01"))
        if cost > self.funds:
            raise _error("AWS.MechanicalTurk.InsufficientFunds", "This Requester has insufficient funds in their account.")
        self.funds -= cost
        self.bonuses.append({key: fields[key] for key in ("WorkerId", "AssignmentId", "BonusAmount", "Reason")})
        return {}

    def _CreateHIT(self, fields: dict[str, Any]) -> dict[str, Any]:
        question = ElementTree.fromstring(fields["Question"])
        if not question.tag.endswith("}ExternalQuestion") or not (question[0].text or "").startswith("https://"):
            raise _error("AWS.MechanicalTurk.XMLParseError", "the question is no ExternalQuestion with an https address")
        for required in fields.get("QualificationRequirements", []):
            kind = required["QualificationTypeId"]
            if kind not in ("000000000000000000L0", "00000000000000000040") and kind not in self.qualifications:
                raise _error("AWS.MechanicalTurk.QualificationTypeDoesNotExist", f"QualificationType {kind} does not exist.")
        if not self._use_token(fields):
            raise _error("AWS.MechanicalTurk.HitAlreadyExists", f"The HIT {self.hits[-1]['HITId']} already exists.")
        self.hits.append({**fields, "HITId": f"3HIT{len(self.hits)}", "HITTypeId": f"3TYPE{len(self.hits)}"})
        return {"HIT": self.hits[-1]}

    def _CreateQualificationType(self, fields: dict[str, Any]) -> dict[str, Any]:
        if any(one["Name"] == fields["Name"] for one in self.qualifications.values()):
            raise _error("AWS.MechanicalTurk.QualificationTypeAlreadyExists", f"You have already created {fields['Name']}.")
        if "Test" in fields and not fields.get("TestDurationInSeconds"):
            raise _error("AWS.ParametersMissing", "TestDurationInSeconds is missing")
        for name in ("Test", "AnswerKey"):
            ElementTree.fromstring(fields.get(name, "<none/>"))
            if len(fields.get(name, "").encode()) > 65_535:
                raise _error("AWS.ParameterOutOfRange", f"{name} is too long")
        made = f"3QUAL{len(self.qualifications)}"
        self.qualifications[made] = fields
        return {"QualificationType": {"QualificationTypeId": made, "Name": fields["Name"]}}

    def _AssociateQualificationWithWorker(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["QualificationTypeId"] not in self.qualifications:
            raise _error("AWS.MechanicalTurk.QualificationTypeDoesNotExist", "no such type")
        self.granted[fields["QualificationTypeId"], fields["WorkerId"]] = fields.get("IntegerValue", 1)
        return {}


def _error(code: str, message: str) -> Refused:
    kind = "com.amazonaws.mturk.requester#RequestError"
    return Refused(400, {"__type": kind, "Message": f"{message} (1700000000000)", "TurkErrorCode": code})
