"""A stand-in for Mechanical Turk's requester API: signatures, required fields, states and request tokens as the real one's.

Rules from the API reference (2017-01-17) and its service model: required members, patterns of ids and amounts, states of an
assignment, request tokens that hold for 24 hours and then are forgotten.
"""

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
    "ListHITs": (),
    "ListQualificationTypes": ("MustBeRequestable",),
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
_TEXTS = {"Title": 128, "Description": 2000, "Keywords": 1000, "RequesterAnnotation": 255, "Question": 65_535}
_NUMBERS = {
    "MaxAssignments": (1, 1_000_000_000),
    "AssignmentDurationInSeconds": (30, 31_536_000),
    "LifetimeInSeconds": (30, 31_536_000),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "TestDurationInSeconds": (1, 31_536_000),
    "MaxResults": (1, 100),
}
_SYSTEM_TYPES = ("000000000000000000L0", "00000000000000000040")
_TYPE_PROPERTIES = (
    "Title", "Description", "Keywords", "Reward", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds",
    "QualificationRequirements",
)  # fmt: skip
_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
TOKEN_LIFE_S = 24 * 3600


class FakeMTurk(FakePlatform):
    """One requester's account. `now_s` is the platform's clock for request tokens; tests move it. The newest `hidden` entries
    are not in lists yet."""

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
        self.hidden = 0
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
            if name in fields and not (isinstance(fields[name], str) and re.fullmatch(pattern, fields[name])):
                raise _error("AWS.ParameterOutOfRange", f"{name} does not match {pattern}")
        for name, longest in _TEXTS.items():
            if name in fields and not (isinstance(fields[name], str) and len(fields[name]) <= longest):
                raise _error("AWS.ParameterOutOfRange", f"{name} is not a text of at most {longest} characters")
        for name, (low, high) in _NUMBERS.items():
            if name in fields and not (type(fields[name]) is int and low <= fields[name] <= high):
                raise _error("AWS.ParameterOutOfRange", f"{name} is not a whole number from {low} to {high}")
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
        return self._page(fields, "BonusPayments", found)

    def _page(self, fields: dict[str, Any], key: str, found: list[dict[str, Any]]) -> dict[str, Any]:
        """One page of a list."""
        start = int(fields.get("NextToken", "0"))
        size = min(self.page_size, fields.get("MaxResults", 10))
        page = found[start : start + size]
        more = {"NextToken": str(start + size)} if start + size < len(found) else {}
        return {"NumResults": len(page), key: page, **more}

    def _ListHITs(self, fields: dict[str, Any]) -> dict[str, Any]:
        return self._page(fields, "HITs", self.hits[: len(self.hits) - self.hidden])

    def _ListQualificationTypes(self, fields: dict[str, Any]) -> dict[str, Any]:
        every = [{**one, "QualificationTypeId": name} for name, one in self.qualifications.items()]
        every = every[: len(every) - self.hidden]
        if not fields.get("MustBeOwnedByCaller"):
            every = [{"Name": "Somebody else's", "QualificationTypeId": "3OTHER"}, *every]
        return self._page(fields, "QualificationTypes", every)

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
        question = _parsed(fields["Question"], "2006-07-14/ExternalQuestion")
        if [child.tag.rpartition("}")[2] for child in question] != ["ExternalURL", "FrameHeight"]:
            raise _error("AWS.MechanicalTurk.XMLParseError", "an ExternalQuestion has ExternalURL and FrameHeight")
        if not (question[0].text or "").startswith("https://") or not (question[1].text or "").isdigit():
            raise _error("AWS.MechanicalTurk.XMLParseError", "the address is not https, or the height is not a number")
        for required in fields.get("QualificationRequirements", []):
            self._check_requirement(required)
        token = fields.get("UniqueRequestToken")
        if not self._use_token(fields):
            made = next(one["HITId"] for one in reversed(self.hits) if one.get("UniqueRequestToken") == token)
            raise _error("AWS.MechanicalTurk.HitAlreadyExists", f"The HIT {made} already exists.")
        reward, count = Decimal(fields["Reward"]), fields.get("MaxAssignments", 1)
        cost = count * (reward + max(reward * Decimal("0.2" if count < 10 else "0.4"), Decimal("0.01")))
        if cost > self.funds:
            if token is not None:
                del self._tokens[token]
            raise _error("AWS.MechanicalTurk.InsufficientFunds", "This Requester has insufficient funds in their account.")
        self.funds -= cost
        kind = json.dumps([fields.get(name) for name in _TYPE_PROPERTIES])
        types = list(dict.fromkeys([*(one["type"] for one in self.hits), kind]))
        number = types.index(kind)
        made = {"HITId": f"3HIT{len(self.hits)}", "HITTypeId": f"3TYPE{number}", "HITGroupId": f"3GROUP{number}"}
        self.hits.append({**fields, **made, "HITStatus": "Assignable", "type": kind})
        return {"HIT": self.hits[-1]}

    def _check_requirement(self, required: dict[str, Any]) -> None:
        """One condition a worker must meet, as this project asks for them: one whole number to compare with."""
        kind = required["QualificationTypeId"]
        if kind not in _SYSTEM_TYPES and kind not in self.qualifications:
            raise _error("AWS.MechanicalTurk.QualificationTypeDoesNotExist", f"QualificationType {kind} does not exist.")
        if required["Comparator"] != "GreaterThanOrEqualTo" or [type(one) for one in required["IntegerValues"]] != [int]:
            raise _error("AWS.ParameterOutOfRange", "GreaterThanOrEqualTo compares with one whole number")
        if required["ActionsGuarded"] not in ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept"):
            raise _error("AWS.ParameterOutOfRange", f"{required['ActionsGuarded']} is not an action")

    def _CreateQualificationType(self, fields: dict[str, Any]) -> dict[str, Any]:
        if any(one["Name"] == fields["Name"] for one in self.qualifications.values()):
            raise _error("AWS.MechanicalTurk.QualificationTypeAlreadyExists", f"You have already created {fields['Name']}.")
        if "Test" in fields and not fields.get("TestDurationInSeconds"):
            raise _error("AWS.ParametersMissing", "TestDurationInSeconds is missing")
        if "AnswerKey" in fields and "Test" not in fields:
            raise _error("AWS.ParametersMissing", "Test is missing")
        schemas = {"Test": "2017-11-06/QuestionForm", "AnswerKey": "2005-10-01/AnswerKey"}
        asked = [
            {one.text for one in _parsed(fields[name], schema).iter() if one.tag.endswith("}QuestionIdentifier")}
            for name, schema in schemas.items()
            if name in fields
        ]
        if asked and asked[0] != asked[-1]:
            raise _error("AWS.MechanicalTurk.InvalidAnswerKey", "test and key have different questions")
        made = f"3QUAL{len(self.qualifications)}"
        self.qualifications[made] = fields
        return {"QualificationType": {"QualificationTypeId": made, "Name": fields["Name"]}}

    def _AssociateQualificationWithWorker(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["QualificationTypeId"] not in self.qualifications:
            raise _error("AWS.MechanicalTurk.QualificationTypeDoesNotExist", "no such type")
        self.granted[fields["QualificationTypeId"], fields["WorkerId"]] = fields.get("IntegerValue", 1)
        return {}


def _parsed(text: str, schema: str) -> ElementTree.Element:
    """A document of one of Amazon's schemas."""
    if len(text.encode()) > 65_535:
        raise _error("AWS.ParameterOutOfRange", "the document is too long")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise _error("AWS.MechanicalTurk.XMLParseError", f"There was an error parsing the XML: {error}") from None
    if root.tag != f"{{{_SCHEMAS}/{schema}.xsd}}{schema.rpartition('/')[2]}":
        raise _error("AWS.MechanicalTurk.XMLParseError", f"{root.tag} is not what {schema} describes")
    return root


def _error(code: str, message: str) -> Refused:
    kind = "com.amazonaws.mturk.requester#RequestError"
    return Refused(400, {"__type": kind, "Message": f"{message} (1700000000000)", "TurkErrorCode": code})
