"""`Study`: the tasks, consent, recruiting and pay of a study, read from one TOML file.

`load_study` reads a file and everything that it names, such as the quiz and its pictures, into one document. The database
stores this document under its hash, so that the text to which a person agreed stays available when the file changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Literal, cast, get_args

from interplay.errors import InterplayError, unknown_name
from interplay.study.channels import KINDS as CHANNELS
from interplay.study.channels import Channel, MTurkChannel, make_channel
from interplay.study.channels.base import UNPAID, is_of
from interplay.study.errors import StudyError
from interplay.study.play.variants import PlayPart, cents, read_play
from interplay.study.questions import taken_in
from interplay.study.quizzes.file import QuizPart, quiz_taken_in, read_quiz
from interplay.study.review.part import ReviewPart, read_review, review_taken_in
from interplay.tables import Table, parse_toml, read_text
from interplay.wording import num_visible_chars

KINDS = ("comparisons", "play", "review")
"""Kinds of study: people compare two episodes by the rules of the [judging] table (`comparisons`), play variants (`play`), or
review instances (`review`)."""
_SHORT = ("title", "summary", "contact", "ethics", "label", "caption", "keywords")
_MAX_SHORT_CHARS = 1000
CURRENCIES = ("USD", "GBP", "EUR")
Release = Literal["ask", "included", "never"]
RELEASES: tuple[Release, ...] = get_args(Release)


@dataclass(frozen=True)
class Consent:
    """The text to which people agree, in paragraphs; `stores` has one line for each party and says which data that party keeps.

    Attributes:
        is_required: Whether people must tick a box; if not, the text is shown and they agree by continuing.
        release: Whether games recorded in the study may be released in data sets, without names. `ask`: people decide with a
            separate checkbox. `included`: agreement to the text includes it. `never`: no game is released.
    """

    text: tuple[str, ...]
    stores: tuple[str, ...] = ()
    is_required: bool = True
    release: Release = "never"

    def may_release(self, *, ticked: bool) -> bool:
        """Return whether a participant's games may be released; `ticked` says whether they ticked the box of `ask`."""
        return self.release == "included" or (self.release == "ask" and ticked)


@dataclass(frozen=True)
class Example:
    """A video that shows people what to look for.

    Attributes:
        task: Task id; empty if the example is for every task.
        video: Its address on this server, beginning with `/`; for an episode or file, the address where the study serves it.
        episode: Id of a recorded episode, or empty.
        file: Path of an mp4 file in the data folder, or empty.
    """

    task: str
    caption: str
    video: str
    episode: str = ""
    file: str = ""


@dataclass(frozen=True)
class Debrief:
    """The last page of an open study, as paragraphs of plain text."""

    about: tuple[str, ...]
    learn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pay:
    """The pay for one finished visit, in hundredths of `currency`; `hourly_target_cents` is the intended pay of an hour."""

    reward_cents: int
    currency: str = "USD"
    hourly_target_cents: int | None = None

    def hourly_cents(self, minutes: float) -> float:
        """Return the pay of an hour for a participant who takes `minutes` for a visit, in hundredths of `currency`.

        >>> Pay(375).hourly_cents(15)
        1500.0
        """
        return self.reward_cents * 60 / minutes


@dataclass(frozen=True)
class Study:
    """One version of a study.

    Attributes:
        id, title, summary: The name in addresses, the headline, and one sentence about the study.
        kind: One of `KINDS`.
        instructions: Paragraphs of plain text, shown on arrival and again during the work.
        minutes: Estimated length of a visit.
        num_answers: Number of answers in one visit; None: each person decides. In a study of reviews, at most the number of
            instances.
        max_visits: How often one person may take part; None: as often as the platform sends them.
        contact: The person whom participants can ask, as participants read it; a study without a contact cannot be opened.
        ethics: Reference of an ethics board's approval, as shown to people; may be empty.
        examples: Videos that show what to look for; `judging` contains them, too.
        judging: Rules for comparing two episodes.
        debrief: The last page for people who are not paid; None: the summary is shown.
        document: All of the above as JSON; `from_json(document)` builds the same study.
    """

    id: str
    title: str
    summary: str
    kind: str
    instructions: tuple[str, ...]
    minutes: float
    num_answers: int | None
    max_visits: int | None
    contact: str
    ethics: str
    consent: Consent | None
    quiz: QuizPart | None
    pay: Pay | None
    channels: Mapping[str, Channel]
    examples: tuple[Example, ...]
    judging: Mapping[str, Any]
    play: PlayPart | None
    review: ReviewPart | None
    debrief: Debrief | None
    document: Mapping[str, Any] = field(repr=False, compare=False)

    @cached_property
    def content_hash(self) -> str:
        canonical = json.dumps(self.document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        return dict(self.document)

    @classmethod
    def from_json(cls, document: Mapping[str, Any], *, source: str = "study") -> Study:
        """Build a study from its document (StudyError if the document contradicts itself)."""
        return _study(document, source)

    def answered_by(self, contact: str | None, ethics: str | None) -> Study:
        """Return a copy of the study with this contact and this ethics reference."""
        given = {key: text for key, text in (("contact", contact), ("ethics", ethics)) if text is not None}
        return Study.from_json({**self.document, "study": {**self.document["study"], **given}}) if given else self

    def quiz_of(self, variant: str | None) -> QuizPart | None:
        """Return the quiz for a variant: the variant's own quiz, or else the study's quiz.
        If variants have their own quizzes, returns None without a variant."""
        if self.play is None or not self.play.has_quizzes:
            return self.quiz
        found = None if variant is None else self.play.variant(variant)
        return None if found is None else found.quiz or self.quiz

    def page(self, address: str) -> str:
        return f"{address.rstrip('/')}/studies/{self.id}"

    def channel_of(self, parameters: Mapping[str, str]) -> Channel:
        """Return the channel through which somebody came, by the parameters of their link.

        Parameters of a platform select the channel of that platform. Without such parameters, the open channel is used, if
        there is one. A study with only one channel always uses this channel, which then says what is wrong with a link.
        """
        if len(self.channels) == 1:
            return next(iter(self.channels.values()))
        for channel in self.channels.values():
            if any(is_of(channel.name, name, marks(channel)) for name in parameters):
                return channel
        return self.channels["open"] if "open" in self.channels else next(iter(self.channels.values()))


def marks(channel: Channel) -> tuple[str, ...]:
    if channel.name == "mturk":
        return ("assignmentId", "workerId", "turkSubmitTo")
    return tuple(getattr(channel, "names", {}).values())


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file; a quiz that it names must be in the same folder (StudyError if it is invalid)."""
    file = Path(path)
    hint = "Begin with a study that ships:  interplay study show basalt --toml > my_study.toml"
    text = read_text(file, StudyError, hint=hint)
    return parse_study(text, source=str(file), folder=file.parent)


def parse_study(text: str, *, source: str = "<text>", folder: Path | None = None) -> Study:
    """Build a study from TOML text; errors as `load_study`.
    `source` names the text in errors; `folder` contains the quiz that the text may name."""
    document = parse_toml(text, source, StudyError)
    try:
        json.dumps(document)
    except TypeError:
        raise StudyError(f"{source}: contains a date or time\nRemedy: write it in quotes, as a text.") from None
    faults: list[InterplayError] = []
    root = Table(document, source, refuse=StudyError, faults=faults)
    try:
        _take_in(root, document, folder)
        return _study(document, source, faults)
    except StudyError as error:
        raise StudyError("\n".join(dict.fromkeys(map(str, (*faults, error))))) from None


def _take_in(root: Table, document: dict[str, Any], folder: Path | None) -> None:
    """Read the quizzes, instances, questions and examples that a file names, and put them into its document."""
    part = root.optional("quiz")
    if part is not None:
        document["quiz"] = quiz_taken_in(part, folder)
    for place, variant in enumerate(root.tables("variants", [])):
        if (own := variant.optional("quiz")) is not None:
            document["variants"][place]["quiz"] = quiz_taken_in(own, folder)
    if (reviewed := root.optional("review")) is not None:
        document["review"] = review_taken_in(reviewed, folder)
    if (asked := root.optional("questions")) is not None:
        document["questions"] = taken_in(asked)
    examples = _examples(root, root.table("study").name("id"))
    if examples:
        judging = root.raw("judging", dict, {})
        if "examples" in judging:
            raise root.error(
                "judging.examples", "and [[examples]] are both given", "keep one of them; [[examples]] may name episodes"
            )
        shown = [{"task": one.task, "video": one.video, "caption": one.caption} for one in examples]
        document["judging"] = {**judging, "examples": shown}


@cache
def builtin_studies() -> dict[str, Study]:
    return {study.id: study for study in (load_study(file) for file in _builtin_files())}


def builtin_text(study_id: str) -> str:
    """Return the file of a built-in study as text (NotFoundError with the nearest id)."""
    for file in _builtin_files():
        if file.stem == study_id:
            return file.read_text(encoding="utf-8")
    raise unknown_name("study", study_id, [file.stem for file in _builtin_files()])


def find_study(name: str) -> Study:
    """Return a built-in study by its id, or a study file by its path (NotFoundError with the nearest id, or StudyError)."""
    if name.endswith(".toml"):
        return load_study(name)
    if name not in builtin_studies():
        raise unknown_name("study", name, builtin_studies(), hint="A study of your own is named by its file: my_study.toml")
    return builtin_studies()[name]


def _builtin_files() -> list[Path]:
    return sorted((Path(str(resources.files("interplay.study"))) / "studies").glob("*.toml"))


def _study(document: Mapping[str, Any], source: str, faults: list[InterplayError] | None = None) -> Study:
    """Build a study from a complete document; `faults` collects the faults as in `Table`, and the last fault is raised."""
    root = Table(document, source, refuse=StudyError, faults=faults)
    head = root.table("study")
    kind = head.choice("kind", KINDS, KINDS[0])
    wage = _pay(root.optional("pay"))
    play = _play(root, head, wage) if kind == "play" else None
    review = None
    if kind == "review":
        _nothing_compared(root, "reviews")
        review = read_review(root)
    study = Study(
        id=head.name("id"),
        title=head.text("title"),
        summary=" ".join(head.text("summary").split()),
        kind=kind,
        instructions=head.paragraphs("instructions"),
        minutes=float(head.number("minutes", low=0.5, high=24 * 60)),
        num_answers=head.count("answers", None) if review is None else _num_reviews(head, review),
        max_visits=head.count("max_visits", None),
        contact=" ".join(head.text("contact", "").split()),
        ethics=" ".join(head.text("ethics", "").split()),
        consent=_consent(root.optional("consent")),
        quiz=read_quiz(root.optional("quiz")),
        pay=wage,
        channels=_channels(root),
        examples=_examples(root, head.name("id")),
        judging=dict(root.raw("judging", dict, {})) if kind == "comparisons" else {},
        play=play,
        review=review,
        debrief=_debrief(root.optional("debrief")),
        document=document,
    )
    head.nothing_else()
    root.nothing_else()
    if faults:
        raise faults[-1]
    paying = [name for name in study.channels if name not in UNPAID]
    if paying and study.num_answers is None and play is None:
        raise head.error(
            "answers",
            f"is missing; the channel {paying[0]} needs the number of answers that complete a visit",
            "add answers = 1, or more",
        )
    if paying and study.pay is None:
        raise root.error("pay", f"is missing; {paying[0]} pays people", 'add [pay] with reward = 3.75 and currency = "USD"')
    if "email" in study.channels and (play is None or play.raffle is None or wage is None):
        problem = "needs a raffle: people leave an address for it"
        raise root.error("channels.email", problem, "add [raffle] with winners and prize, and [pay] with the currency")
    beside = [name for name in study.channels if name != "email"]
    if "email" in study.channels and beside:
        problem = f"does not work with {beside[0]}: the raffle needs e-mail addresses, which {beside[0]} does not give"
        raise root.error("channels.email", problem, "write one study for each channel")
    if "mturk" in study.channels and play is not None and play.waiting.pay_cents:
        problem = "does not work with mturk, which pays the whole reward for a finished HIT, also if nobody came"
        raise root.error("waiting.pay", problem, "leave it out: people who waited get the reward; or write two studies")
    mturk = study.channels.get("mturk")
    longest = mturk.hit.get("longest_min") if isinstance(mturk, MTurkChannel) else None
    if longest is not None and longest < study.minutes:
        problem = f"is {longest}, and a visit is expected to take {study.minutes:g} minutes"
        raise root.error("channels.mturk.hit.longest_min", problem, "give slow and careful people three to four times as long")
    return study


def _consent(table: Table | None) -> Consent | None:
    if table is None:
        return None
    stores = tuple(" ".join(line.split()) for line in table.texts("stores", []))
    release = cast(Release, table.choice("release", RELEASES, "never"))
    consent = Consent(table.paragraphs("text"), stores, table.raw("required", bool, True), release)
    table.nothing_else()
    if consent.release == "included" and not consent.is_required:
        raise table.error(
            "release", "is 'included', but people need not agree to the text", 'write release = "ask", or leave out required'
        )
    return consent


def _debrief(table: Table | None) -> Debrief | None:
    if table is None:
        return None
    learn = table.paragraphs("learn") if "learn" in table.values else ()
    debrief = Debrief(table.paragraphs("about"), learn)
    table.nothing_else()
    return debrief


def _examples(root: Table, study_id: str) -> tuple[Example, ...]:
    examples = []
    for index, table in enumerate(root.tables("examples", [])):
        homes = {key: table.text(key, "") for key in ("video", "episode", "file")}
        if sum(map(bool, homes.values())) != 1:
            raise table.error("video", "needs one home", 'write one of video = "/static/...", episode = "ID" or file = "PATH"')
        if homes["video"] and (not homes["video"].startswith("/") or homes["video"].startswith("//")):
            raise table.error(
                "video",
                f"{homes['video']!r} is not an address on this server",
                "begin it with /static/; the pages load files only from there",
            )
        path = Path(homes["file"])
        if homes["file"] and (path.is_absolute() or ".." in path.parts or path.suffix != ".mp4"):
            raise table.error(
                "file", f"{homes['file']!r} is not an mp4 inside the data folder", "write its path relative to that folder"
            )
        address = homes["video"] or f"/studies/{study_id}/examples/{index}.mp4"
        caption = " ".join(table.text("caption").split())
        examples.append(Example(table.text("task", ""), caption, address, homes["episode"], homes["file"]))
        table.nothing_else()
    return tuple(examples)


def _play(root: Table, head: Table, wage: Pay | None) -> PlayPart:
    _nothing_compared(root, "play")
    if "answers" in head.values:
        raise head.error("answers", "has no use in a study of play", 'write [[requirements]] with statistic = "games" instead')
    currency = "USD" if wage is None else wage.currency
    play = read_play(root, reward_cents=0 if wage is None else wage.reward_cents, currency=currency)
    if wage is None and (play.waiting.pay_cents or any(one.treatment.max_cents for one in play.variants)):
        raise root.error("pay", "is missing, and people are promised money", 'add [pay] with reward and currency = "USD"')
    return play


def _num_reviews(head: Table, review: ReviewPart) -> int:
    most = len(review.instances)
    number = head.count("answers", most)
    if number > most:
        problem = f"is {number}, and there are only {most} instances to review"
        raise head.error("answers", problem, f"write {most} or fewer, or leave it out: a visit then has all instances")
    return number


def _nothing_compared(root: Table, kind: str) -> None:
    for key in ("judging", "examples"):
        if root.raw(key, (dict, list), None) is not None:
            raise root.error(key, f"has no use in a study of {kind}", 'leave it out, or write kind = "comparisons"')


def _pay(table: Table | None) -> Pay | None:
    if table is None:
        return None
    hourly = cents(table, "hourly_target", 0, low=0.01)
    pay = Pay(cents(table, "reward"), table.choice("currency", CURRENCIES, "USD"), hourly or None)
    table.nothing_else()
    return pay


def _channels(root: Table) -> dict[str, Channel]:
    table = root.table("channels")
    if not table.values:
        raise root.error(
            "channels", "names no channel", "add [channels.open], [channels.email], [channels.mturk] or [channels.prolific]"
        )
    channels = {}
    for name in table.values:
        if name not in CHANNELS:
            error = unknown_name("channel", name, CHANNELS)
            raise StudyError(f"{root.source}: {table.place(name)}: {error}")
        channels[name] = make_channel(name, table.table(name).values, where=f"{root.source}: {table.place(name)}")
    return channels


def check_texts(name: str, value: Any, place: str = "") -> None:
    """Raise StudyError for the first text that has only invisible characters or is too long for its place."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        check_texts(name, inner, f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}".lstrip("."))
    if isinstance(value, str) and value and not num_visible_chars(value):
        raise StudyError(f"{name}: {place} has only invisible characters\nRemedy: write words, or leave it out.")
    if isinstance(value, str) and place.rpartition(".")[2] in _SHORT and len(value) > _MAX_SHORT_CHARS:
        problem = f"has {len(value):,} characters, and at most {_MAX_SHORT_CHARS:,} fit where people read it"
        raise StudyError(f"{name}: {place} {problem}\nRemedy: shorten it; instructions and consent may be long.")
