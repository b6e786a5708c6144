"""Settings of a HIT: the workers who may take it, its pay and its times. The defaults follow BEDD's appendix D.1.1.

Requests are plain dictionaries as `CreateHIT` and `CreateQualificationType` take them (API version 2017-01-17), so that they
can be read, saved and tested without an account.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from interplay.study.errors import OptionError, StudyError
from interplay.study.quizzes.export import answer_key, question_form
from interplay.tables import Table

if TYPE_CHECKING:
    import numpy as np

    from interplay.study.quizzes.quiz import Quiz

QUESTION_NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
PERCENT_APPROVED = "000000000000000000L0"
"""Amazon's own qualification type Worker_PercentAssignmentsApproved, the same in sandbox and production."""
NUM_APPROVED = "00000000000000000040"
"""Amazon's own qualification type Worker_NumberHITsApproved, the same in sandbox and production."""

_TEXT_LIMITS = {"title": 128, "description": 2000, "keywords": 1000}
_BOUNDS = {
    "estimated_min": (0.5, 525_600),
    "longest_min": (1, 525_600),
    "lifetime_days": (1, 365),
    "auto_approval_days": (0, 30),
    "num_assignments": (1, 1_000_000_000),
    "min_percent_approved": (0, 100),
    "min_num_approved": (0, 1_000_000_000),
    "quiz_percent": (0, 100),
    "frame_height_px": (0, 100_000),
}
_WRITTEN = (
    "num_assignments", "longest_min", "lifetime_days", "auto_approval_days", "min_percent_approved", "min_num_approved",
    "frame_height_px",
)  # fmt: skip
"""Whole numbers that a study's file may set; the file names `num_assignments` as `assignments`."""


@dataclass(frozen=True)
class HitSettings:
    """The settings of a HIT; the defaults are those of the BEDD evaluation, if its appendix states them.

    Attributes:
        reward_usd: Reward for one assignment, in whole cents.
        estimated_min: Expected minutes of one assignment, named in the description; the limit is `longest_min`.
        longest_min: Minutes from acceptance to submission, after which the assignment goes to somebody else.
        lifetime_days: Number of days for which workers can find the HIT.
        auto_approval_days: Number of days after which an assignment is approved if nobody has reviewed it.
        num_assignments: Number of workers who may do the HIT; from 10 on the fee is higher (`money.estimates.FEES`).
        min_percent_approved: Least percentage of a worker's submitted assignments that were approved.
        min_num_approved: Least number of a worker's HITs that were approved.
        quiz_qualification: Id of the qualification type of the quiz; None: no quiz is required.
        frame_height_px: Height of the frame on Amazon's page; 0 fills the window.
    """

    title: str
    description: str
    keywords: str = "video, games, comparison"
    reward_usd: Decimal = Decimal("3.75")
    estimated_min: float = 15
    longest_min: int = 60
    lifetime_days: int = 7
    auto_approval_days: int = 3
    num_assignments: int = 9
    min_percent_approved: int = 99
    min_num_approved: int = 10_000
    quiz_qualification: str | None = None
    quiz_percent: int = 65
    frame_height_px: int = 0

    def __post_init__(self) -> None:
        for name, limit in _TEXT_LIMITS.items():
            value = getattr(self, name)
            if not value.strip() or len(value) > limit:
                raise StudyError(f"hit.{name} must have 1 to {limit} characters, got {len(value)}")
        if self.reward_usd < 0 or self.reward_usd != self.reward_usd.quantize(Decimal("0.01")):
            raise StudyError(f"hit.reward_usd must be whole cents and not negative, got {self.reward_usd}")
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise StudyError(f"hit.{name} must lie between {low} and {high}, got {value}")
        if self.longest_min < self.estimated_min:
            raise StudyError(
                f"hit.longest_min is {self.longest_min}, and one assignment is expected to take {self.estimated_min:g} "
                "minutes\n"
                "Give slow and careful people time: three to four times the estimate."
            )

    @property
    def hourly_usd(self) -> Decimal:
        return (self.reward_usd * 60 / Decimal(str(self.estimated_min))).quantize(Decimal("0.01"))

    def request(self, address: str, *, is_sandbox: bool, unique_token: str) -> dict[str, Any]:
        """Return the `CreateHIT` request (OptionError if the address is not https, or the token is too long).

        As in BEDD, workers need the system qualifications even for the preview. They need the quiz only to accept the HIT, so
        that they can look at the HIT before. Nobody has ten thousand approved HITs in the sandbox, so that only the quiz is
        required there.

        Args:
            address: https address of the study; Amazon adds four parameters to it.
            unique_token: 1 to 64 characters. If a request is sent again with the same token within 24 hours, only one HIT is
                made. The token is also the HIT's annotation, which only the requester sees, so that the HIT can be found later.
        """
        if not 1 <= len(unique_token) <= 64:
            raise StudyError(f"a request token has 1 to 64 characters, got {len(unique_token)}")
        return {
            "Title": self.title,
            "Description": self.description,
            "Keywords": self.keywords,
            "Reward": f"{self.reward_usd:.2f}",
            "MaxAssignments": self.num_assignments,
            "AssignmentDurationInSeconds": self.longest_min * 60,
            "LifetimeInSeconds": self.lifetime_days * 86_400,
            "AutoApprovalDelayInSeconds": self.auto_approval_days * 86_400,
            "QualificationRequirements": self._requirements(is_sandbox=is_sandbox),
            "Question": external_question(address, frame_height_px=self.frame_height_px),
            "RequesterAnnotation": unique_token,
            "UniqueRequestToken": unique_token,
        }

    def _requirements(self, *, is_sandbox: bool) -> list[dict[str, Any]]:
        required = []
        if not is_sandbox:
            required += [
                _at_least(PERCENT_APPROVED, self.min_percent_approved, "PreviewAndAccept"),
                _at_least(NUM_APPROVED, self.min_num_approved, "PreviewAndAccept"),
            ]
        if self.quiz_qualification is not None:
            required.append(_at_least(self.quiz_qualification, self.quiz_percent, "Accept"))
        return required


def read_hit(table: Table | None) -> dict[str, Any]:
    """Return the HIT settings in a study's file, as arguments of `HitSettings`, whose defaults replace missing settings.
    Raises StudyError if a setting is invalid."""
    if table is None:
        return {}
    said: dict[str, Any] = {}
    if "keywords" in table.values:
        said["keywords"] = " ".join(table.text("keywords").split())
        if len(said["keywords"]) > _TEXT_LIMITS["keywords"]:
            raise table.error("keywords", f"has {len(said['keywords'])} characters; at most 1000 are allowed", "name fewer")
    for field in _WRITTEN:
        key, (low, high) = field.removeprefix("num_"), _BOUNDS[field]
        value = table.count(key, None, low=int(low), high=high)
        if value is not None:
            said[field] = value
    table.nothing_else("keywords")
    return said


def _at_least(kind: str, value: int, guarded: str) -> dict[str, Any]:
    return {
        "QualificationTypeId": kind,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [value],
        "ActionsGuarded": guarded,
    }


def external_question(address: str, *, frame_height_px: int = 0) -> str:
    """Return the `Question` of a HIT that shows one of our pages in a frame (OptionError if its address is not https)."""
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        raise OptionError(
            f"Mechanical Turk shows pages by https only, got {address!r}\nPut the server behind a proxy with a certificate."
        )
    question = ElementTree.Element("ExternalQuestion", xmlns=QUESTION_NAMESPACE)
    ElementTree.SubElement(question, "ExternalURL").text = address
    ElementTree.SubElement(question, "FrameHeight").text = str(frame_height_px)
    return ElementTree.tostring(question, encoding="unicode")


def qualification_request(
    quiz: Quiz, rng: np.random.Generator, *, minutes: int = 15, picture_base: str | None = None
) -> dict[str, Any]:
    """Return the `CreateQualificationType` request of a quiz that Amazon shows and scores, once for each worker.

    Args:
        rng: Decides the order of the boxes.
        minutes: Number of minutes that a worker has for the quiz.
        picture_base: As in `quizzes.export.question_form`.
    Raises:
        QuizError: As `question_form` and `answer_key`.
    """
    return {
        "Name": f"{quiz.title} ({quiz.content_hash})",  # names of one account must differ; the hash tells versions apart
        "Description": quiz.intro[:2000],
        "QualificationTypeStatus": "Active",
        "Test": question_form(quiz, rng, picture_base=picture_base),
        "AnswerKey": answer_key(quiz),
        "TestDurationInSeconds": minutes * 60,
    }
