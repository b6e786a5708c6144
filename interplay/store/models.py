"""The tables of the database: one class per table, one line per column. Times are UTC and timezone-aware."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column, relationship


class UTCDateTime(TypeDecorator[datetime]):
    """A timezone-aware instant; SQLite keeps it as naive UTC, PostgreSQL as `timestamptz`."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value!r}; pass datetime.now(UTC)")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True):
    """Base class of all models: dataclasses with keyword arguments."""

    metadata: ClassVar[MetaData] = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UTCDateTime(),
        dict[str, Any]: JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql"),
    }


class TaskRow(Base):
    """One version of a task that has recordings or answers; `definition` is `Task.to_json()`."""

    __tablename__ = "tasks"
    content_hash: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str] = mapped_column(index=True)
    definition: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class Participant(Base):
    """A person who played or judged; `key` is the random value of the person's cookie.

    A person who comes through a recruiting channel is the same participant each time: `worker` is the person's name there.
    """

    __tablename__ = "participants"
    __table_args__ = (Index("uq_participants_worker", "channel", "worker", unique=True),)
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    key: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]
    channel: Mapped[str | None] = mapped_column(default=None)
    """`mturk`, `prolific`, `class` for a pupil, or None for people who opened the page without a channel."""
    worker: Mapped[str | None] = mapped_column(default=None)


class ClassRow(Base):
    """A class: people who play together for an hour, without accounts. Its pupils are participants of the channel `class`.
    `Participant.worker` has their names as `CODE/nickname`, and later as `CODE/#number`."""

    __tablename__ = "classes"
    code: Mapped[str] = mapped_column(primary_key=True)
    """Code that pupils type to join; no code is used twice."""
    title: Mapped[str]
    definition: Mapped[dict[str, Any]]
    opened_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    """Time when the code stops working, unless the class is closed before."""
    closed_at: Mapped[datetime | None] = mapped_column(default=None)
    forgotten_at: Mapped[datetime | None] = mapped_column(default=None)
    """Time when the nicknames were erased."""


class RaffleEntry(Base):
    """An e-mail address that takes part in a study's raffle. No column says whose address it is, or what its owner played."""

    __tablename__ = "raffle_entries"
    __table_args__ = (
        Index("uq_raffle_entries_address", "study", "address", unique=True),
        {"sqlite_with_rowid": False},  # the order in which addresses came would say whose they are
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    """Random id; the raffle draws ids."""
    study: Mapped[str] = mapped_column(ForeignKey("studies.id"), index=True)
    address: Mapped[str | None]
    """The address; None after it was erased, which happens after the draw."""
    seed: Mapped[int | None] = mapped_column(default=None)
    """Seed of the draw that included this entry."""
    has_won: Mapped[bool] = mapped_column(default=False)


class FeedbackRow(Base):
    """A person's words about a page or a game: a problem or an idea. Append-only."""

    __tablename__ = "feedback"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    kind: Mapped[str]
    """Kind of feedback: a name of `study.feedback.KINDS`."""
    words: Mapped[str]
    page: Mapped[str]
    """Path of the page on which it was written, without tokens."""
    episode: Mapped[str]
    """Id of the game on that page; empty without a game."""
    study: Mapped[str]
    """Id of the study, or code of the class, that the page belongs to; empty without one."""
    browser: Mapped[str]
    version: Mapped[str]
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), index=True)
    created_at: Mapped[datetime]


class StudyRow(Base):
    """A study that was opened here, with its present version."""

    __tablename__ = "studies"
    id: Mapped[str] = mapped_column(primary_key=True)
    content_hash: Mapped[str] = mapped_column(ForeignKey("study_versions.content_hash"))
    opened_at: Mapped[datetime]
    closed_at: Mapped[datetime | None] = mapped_column(default=None)


class StudyVersion(Base):
    """One version of a study. It is never changed, so the text that people consented to stays."""

    __tablename__ = "study_versions"
    content_hash: Mapped[str] = mapped_column(primary_key=True)
    study: Mapped[str] = mapped_column(index=True)
    definition: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class Enrolment(Base):
    """One person's part in one study: an assignment of MTurk, a submission of Prolific, or a visit."""

    __tablename__ = "enrolments"
    __table_args__ = (UniqueConstraint("study", "channel", "worker", "assignment", name="uq_enrolments_assignment"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    """Random, 24 hex digits. The signed id is the token that identifies the person where cookies do not work."""
    study: Mapped[str] = mapped_column(ForeignKey("studies.id"), index=True)
    study_hash: Mapped[str] = mapped_column(ForeignKey("study_versions.content_hash"))
    participant_id: Mapped[int] = mapped_column(ForeignKey("participants.id"), index=True)
    channel: Mapped[str]
    """`open`, `email`, `mturk` or `prolific`."""
    worker: Mapped[str]
    """The channel's name for the person; in `open` and `email`, `participant-<id>`."""
    assignment: Mapped[str]
    """The channel's name for this part: assignment id or submission id; empty in `open` and `email`."""
    arrival: Mapped[dict[str, Any]]
    """All other values that the channel sent on arrival (HIT id, study id, address for the submission)."""
    arrived_at: Mapped[datetime]
    consented_at: Mapped[datetime | None] = mapped_column(default=None)
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    outcome: Mapped[str | None] = mapped_column(default=None)
    """How the part ended: `done`, `screened_out`, `failed_check`, `no_partner`, `no_consent`, `withdrawn`, `nothing_left`."""
    variant: Mapped[str | None] = mapped_column(default=None)
    """In a study of play, the variant of this visit; it is set once."""
    variant_reason: Mapped[str | None] = mapped_column(default=None)
    """Reason for this variant: `open_seat`, `target`, `link` or `chosen`."""
    accepted_s: Mapped[float | None] = mapped_column(default=None)
    """Seconds that count towards the variant's target; set when the visit ends."""
    may_release: Mapped[bool | None] = mapped_column(default=None)
    """Whether the person agreed that their games in this study may be released in data sets; None if they were not asked."""
    has_entered_raffle: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether the person has left an address for the raffle of an `email` study; no table says which address."""


class ReleaseChoice(Base):
    """A choice about the release of games in data sets; the newest row counts. Rows are only added.

    With a participant: what this person asked for, for all their games; for a pupil, the answer on joining the class.
    Without a participant: for all open play, outside of studies.
    """

    __tablename__ = "release_choices"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), index=True)
    may_release: Mapped[bool]
    note: Mapped[str]
    created_at: Mapped[datetime]


class Pause(Base):
    """A pause, or its end: of one study (no new people may join), or, without a study, of all new games on the server.

    Rows are only added; the newest row of each study counts.
    """

    __tablename__ = "pauses"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    study: Mapped[str | None] = mapped_column(ForeignKey("studies.id"), index=True)
    is_paused: Mapped[bool]
    note: Mapped[str]
    """Text for people who come during the pause."""
    created_at: Mapped[datetime]


class QuizAttempt(Base):
    """One attempt at a qualification quiz."""

    __tablename__ = "quiz_attempts"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    enrolment_id: Mapped[str] = mapped_column(ForeignKey("enrolments.id"), index=True)
    quiz: Mapped[str]
    quiz_hash: Mapped[str]
    responses: Mapped[dict[str, Any]]
    share: Mapped[float]
    """Share of boxes in the right state, 0 to 1."""
    passed: Mapped[bool]
    created_at: Mapped[datetime]


class VisitAnswer(Base):
    """An answer about one partner, or about two, in a visit of a study of play. Rows are only added."""

    __tablename__ = "visit_answers"
    __table_args__ = (UniqueConstraint("enrolment_id", "form", "question", name="uq_visit_answers_question"),)
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    enrolment_id: Mapped[str] = mapped_column(ForeignKey("enrolments.id"), index=True)
    form: Mapped[str]
    """`partner` or `comparison`, and the episode; each form is sent once."""
    game: Mapped[int]
    """Number of the game in the visit, from 1."""
    episode_id: Mapped[str]
    partner: Mapped[str]
    """Names of the other seats' owners in the recording."""
    before_episode_id: Mapped[str | None]
    """In a comparison: the earlier game, with the first of the two partners; `partner` is the second."""
    before_partner: Mapped[str | None]
    question: Mapped[str]
    value: Mapped[str | None]
    """The chosen or written answer; None if the form was skipped."""
    created_at: Mapped[datetime]


class ReviewRow(Base):
    """One instance shown to one person in a study of reviews, and the person's answers.
    A changed answer adds a row; the last row counts."""

    __tablename__ = "reviews"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    enrolment_id: Mapped[str] = mapped_column(ForeignKey("enrolments.id"), index=True)
    instance: Mapped[str]
    """Name of the instance; the version of the study has its content."""
    place: Mapped[int]
    """Position in the visit, from 1."""
    served_at: Mapped[datetime]
    answers: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """Question -> yes or no; None until the person answers."""
    is_valid: Mapped[bool | None] = mapped_column(default=None)
    why: Mapped[str | None] = mapped_column(default=None)
    has_played: Mapped[bool | None] = mapped_column(default=None)
    answered_at: Mapped[datetime | None] = mapped_column(default=None)


class PayEvent(Base):
    """The pay ledger: each row says what was decided, sent, or answered by the channel. The database allows only new rows."""

    __tablename__ = "pay_events"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    enrolment_id: Mapped[str] = mapped_column(ForeignKey("enrolments.id"), index=True)
    kind: Mapped[str]
    """`reward` or `bonus`; or the reason for a later bonus: `earned` in a visit of play, `waited` for a partner, or won in a
    `raffle`."""
    state: Mapped[str]
    """`planned`, `sent` or `failed`; `due` if it is not a payment yet."""
    amount_cents: Mapped[int]
    currency: Mapped[str]
    request: Mapped[str] = mapped_column(index=True)
    """Id that all events of one payment share. The channel gets it too, so that a repeated request is paid only once."""
    detail: Mapped[str]
    created_at: Mapped[datetime]


class HitEvent(Base):
    """A step in making an object on Mechanical Turk for a study: planned, made or failed, each in one row. Append-only."""

    __tablename__ = "hit_events"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    study: Mapped[str] = mapped_column(ForeignKey("studies.id"), index=True)
    study_hash: Mapped[str] = mapped_column(ForeignKey("study_versions.content_hash"))
    kind: Mapped[str]
    """`qualification` or `hit`."""
    state: Mapped[str]
    """`planned`, `made` or `failed`."""
    is_sandbox: Mapped[bool]
    endpoint: Mapped[str]
    request: Mapped[str]
    """Id that all events of one object share. The service gets it too, so that a repeated request makes only one object."""
    made: Mapped[dict[str, Any]]
    """The service's ids of the object: `hit` and `hit_type`, or `qualification`; empty before it is made."""
    detail: Mapped[str]
    created_at: Mapped[datetime]


class PlaySession(Base):
    """The seat of one person (or scripted client) in one game, until its episode is sealed; a game has one episode."""

    __tablename__ = "play_sessions"
    id: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str] = mapped_column(index=True)
    task_hash: Mapped[str]
    seed: Mapped[int]
    created_at: Mapped[datetime]
    actor: Mapped[str]
    actor_kind: Mapped[str]
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), default=None)
    episode_id: Mapped[str | None] = mapped_column(default=None, index=True)
    state: Mapped[str] = mapped_column(default="waiting")
    """State: `waiting`, `playing`, `ended`, `interrupted`."""
    ended_at: Mapped[datetime | None] = mapped_column(default=None)
    seat: Mapped[str | None] = mapped_column(default=None)
    """Seat in the game; None in old rows, of games with one seat."""
    waited_s: Mapped[float | None] = mapped_column(default=None)
    """Seconds that the player waited until the other seats were taken; None for players who did not wait."""
    came: Mapped[str | None] = mapped_column(default=None)
    """Who came: `person`; `agent`, chosen after a while; or `nobody`, and the player left."""
    enrolment_id: Mapped[str | None] = mapped_column(default=None, index=True)
    """The player's enrolment in a study."""
    for_study: Mapped[str | None] = mapped_column(default=None)
    """JSON: what a study or a class requires of the game, see `interplay.play.games.for_study`; None also in old rows."""
    node: Mapped[str | None] = mapped_column(default=None)
    """The server that holds the game, see `PlayServer.node`; None in rows of earlier versions."""
    game: Mapped[str | None] = mapped_column(default=None, index=True)
    """Id of the episode that the game will be or is, as in `games`; None in rows of earlier versions."""


class NodeRow(Base):
    """A server among the servers of one database. Servers of one `cluster` continue each other's games."""

    __tablename__ = "nodes"
    node: Mapped[str] = mapped_column(primary_key=True)
    cluster: Mapped[str]
    """A digest of the key that signs seat tokens: servers with the same key are one cluster."""
    version: Mapped[str]
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    """When the server last renewed this row, by the clock of the database."""
    is_draining: Mapped[bool] = mapped_column(default=False)


class GameRow(Base):
    """A game that is not over, and the server that holds it: only this server, with this epoch, may record and seal it."""

    __tablename__ = "games"
    episode: Mapped[str] = mapped_column(primary_key=True)
    node: Mapped[str] = mapped_column(index=True)
    epoch: Mapped[int] = mapped_column(default=1)
    """Number of times that the game was granted, taken or moved."""
    lobby: Mapped[str] = mapped_column(index=True)
    """Players of the same lobby can play with each other: a digest of the task, the study and the earlier game."""
    seed: Mapped[int]
    invitation: Mapped[str]
    opened_at: Mapped[datetime]
    is_open: Mapped[bool] = mapped_column(default=False)
    """Whether one more player may join."""
    facts: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """The game as the operator's page shows it, see `interplay.play.live_games`; written every two seconds in a cluster."""


class JournalPart(Base):
    """Some bytes of a segment of a live game's journal, in case the disk of its server is lost."""

    __tablename__ = "journal_parts"
    episode: Mapped[str] = mapped_column(ForeignKey("games.episode", ondelete="CASCADE"), primary_key=True)
    segment: Mapped[int] = mapped_column(primary_key=True)
    start: Mapped[int] = mapped_column(primary_key=True)
    """Number of bytes of the segment before this part."""
    data: Mapped[bytes]


class EpisodeRow(Base):
    """The catalogue: one sealed episode, with the values that filters and lists need; the file has the rest."""

    __tablename__ = "episodes"
    __table_args__ = (Index("ix_episodes_task_seed", "task", "seed"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str] = mapped_column(index=True)
    task_hash: Mapped[str]
    env: Mapped[str]
    seed: Mapped[int]
    actor: Mapped[str] = mapped_column(index=True)
    """Owner of the first seat at the start: an agent's name, or `participant-<id>`."""
    actor_kind: Mapped[str] = mapped_column(index=True)
    """Kind of the first seat's owner: `human`, `agent` or `model` (a language model)."""
    num_steps: Mapped[int]
    duration_s: Mapped[float]
    total_reward: Mapped[float] = mapped_column(index=True)
    terminated: Mapped[bool]
    truncated: Mapped[bool]
    outcome: Mapped[str]
    """Why the episode ended: `terminated`, `time_limit`, `quit`, `left`, `interrupted`."""
    frames: Mapped[str]
    """Frame storage: `replay`, `indexed` or `video`; or `uploaded`: there is only a video, without a recording.
    `path`, `size_bytes` and `sha256` are then those of the mp4; `path` is empty if an imported answer is about a video that
    was not imported."""
    created_at: Mapped[datetime] = mapped_column(index=True)
    path: Mapped[str]
    """Path relative to the data folder, with forward slashes."""
    size_bytes: Mapped[int]
    sha256: Mapped[str]
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), default=None, index=True)
    held_out: Mapped[bool] = mapped_column(default=False)
    """Whether the seed is one of those that the task version holds out."""
    statistics: Mapped[list[EpisodeStatistic]] = relationship(
        default_factory=list, cascade="all, delete-orphan", lazy="selectin"
    )
    seats: Mapped[list[EpisodeSeat]] = relationship(
        default_factory=list, cascade="all, delete-orphan", lazy="selectin", order_by="EpisodeSeat.position"
    )
    """Owners of the seats; if there are no rows, `actor` held the only seat all the time."""

    def __post_init__(self) -> None:
        if not self.seats:
            who = {"actor": self.actor, "actor_kind": self.actor_kind, "participant_id": self.participant_id}
            self.seats = [EpisodeSeat(seat="player", num_steps=self.num_steps, total_reward=self.total_reward, **who)]


class MediaFile(Base):
    """A film, a clip or a second file of one that was made. Judging reads these rows, so that it asks no disk and no store."""

    __tablename__ = "media_files"
    name: Mapped[str] = mapped_column(primary_key=True)
    """Path below `media/` without `.mp4`: an episode's id, `clips/...` or `twins/...`."""
    made_at: Mapped[datetime]


class Place(Base):
    """Where the files of this database are, if they are not in a data folder; one row at most."""

    __tablename__ = "places"
    kind: Mapped[str] = mapped_column(primary_key=True)
    """`blobs`: an S3-compatible store."""
    address: Mapped[str]
    """`s3://BUCKET/PREFIX`, without credentials."""


class EpisodeSeat(Base):
    """One owner's part in one seat of an episode."""

    __tablename__ = "episode_seats"
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"), primary_key=True, init=False)
    seat: Mapped[str] = mapped_column(primary_key=True)
    actor: Mapped[str] = mapped_column(primary_key=True, index=True)
    actor_kind: Mapped[str]
    num_steps: Mapped[int]
    total_reward: Mapped[float]
    position: Mapped[int] = mapped_column(default=0)
    """Position in the list: seats in the order of the task, then the owners of a seat in the order in which they came."""
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), default=None, index=True)


class EpisodeStatistic(Base):
    """One final statistic of an episode: a number or a text, indexed by its value."""

    __tablename__ = "episode_statistics"
    __table_args__ = (
        Index("ix_episode_statistics_number", "name", "number"),
        Index("ix_episode_statistics_text", "name", "text"),
    )
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"), primary_key=True, init=False)
    name: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[float | None] = mapped_column(default=None)
    text: Mapped[str | None] = mapped_column(default=None)


class SeatStatistic(Base):
    """A statistic of what one owner did in one seat of an episode, computed live or later; indexed by its value."""

    __tablename__ = "seat_statistics"
    __table_args__ = (Index("ix_seat_statistics_number", "name", "number"),)
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"), primary_key=True)
    seat: Mapped[str] = mapped_column(primary_key=True)
    actor: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    """Type of the value: `int`, `float`, or `duration` in seconds."""
    number: Mapped[float | None]
    """The value; None if it is undefined, such as the share of hits without any shot."""
    counts: Mapped[dict[str, Any]]
    """The numbers that the value is computed from; they can be added up over the games of a visit."""


class EpisodeVerdict(Base):
    """Result of verifying an episode; the newest row of an episode counts."""

    __tablename__ = "verdicts"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"), index=True)
    is_equal: Mapped[bool]
    reason: Mapped[str]
    """The difference and its first step; empty if there is no difference."""
    created_at: Mapped[datetime]


class SavedQuery(Base):
    """A list of episodes that can be cited: the query, and the hash of its result when it was saved."""

    __tablename__ = "saved_queries"
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    task: Mapped[str | None]
    conditions: Mapped[str]
    """A JSON list of conditions, in the form that `--where` takes."""
    sha256: Mapped[str]
    """Hash of the ids and file hashes of its episodes."""
    num_episodes: Mapped[int]
    created_at: Mapped[datetime]


class SavedQueryEpisode(Base):
    """One episode of a saved query, and the hash of its file when the query was saved."""

    __tablename__ = "saved_query_episodes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["name", "version"],
            ["saved_queries.name", "saved_queries.version"],
            name="fk_saved_query_episodes_name_saved_queries",
        ),
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    episode_id: Mapped[str] = mapped_column(primary_key=True)
    sha256: Mapped[str]


class Entrant(Base):
    """An agent, a person or people ranked in one task. Episodes may be judged from its approval until its withdrawal.

    An agent's own episodes are those with its name in a seat. Other episodes are entered one by one (`EntrantEpisode`).
    """

    __tablename__ = "entrants"
    __table_args__ = (UniqueConstraint("name", "task"),)
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(index=True)
    task: Mapped[str] = mapped_column(index=True)
    kind: Mapped[str]
    """Kind that is shown beside the name: `agent`, `bc`, `human`, `person`, `people`."""
    created_at: Mapped[datetime]
    origin: Mapped[str] = mapped_column(default="agent")
    """Source of the episodes: `agent` (recorded here), `person` (one participant), `people` (several participants together),
    `upload` (videos), or `published` (a published data set)."""
    participant_id: Mapped[int | None] = mapped_column(ForeignKey("participants.id"), default=None)
    withdrawn_at: Mapped[datetime | None] = mapped_column(default=None)
    approved_at: Mapped[datetime | None] = mapped_column(default=None)
    """Time when it was approved for matchmaking; None while it waits for a moderator."""
    declined_at: Mapped[datetime | None] = mapped_column(default=None)
    declined_because: Mapped[str] = mapped_column(default="")
    """The moderator's reason, shown to its proposer."""
    proposed_by: Mapped[str | None] = mapped_column(default=None)
    """Name of the API token that proposed it; None for the operator."""
    description: Mapped[str] = mapped_column(default="")


class EntrantEpisode(Base):
    """A seat of an episode that was entered for an entrant, in addition to the seats that have its name."""

    __tablename__ = "entrant_episodes"
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrants.id"), primary_key=True)
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"), primary_key=True, index=True)
    seat: Mapped[str] = mapped_column(primary_key=True)
    added_at: Mapped[datetime] = mapped_column(index=True)


class JudgingAgreement(Base):
    """A person's last answer to the question whether others may watch and compare one of their games.

    This is not a column of `episodes`, for three reasons: an entry of the catalogue is rewritten from its file, a game may have
    several people, and the answer may come before the episode is in the catalogue.
    """

    __tablename__ = "judging_agreements"
    episode_id: Mapped[str] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participants.id"), primary_key=True)
    agreed: Mapped[bool]
    created_at: Mapped[datetime]


_MATCH_IS_OPEN = text("answered_at IS NULL AND released_at IS NULL")


class Match(Base):
    """Two episodes of one task and one seed, shown to one judge.

    A match is open while `answered_at` and `released_at` are both empty. `left` and `right` are the sides that the judge sees.
    The database refuses changes of the judge, the episodes, and the times of serving and answering.
    """

    __tablename__ = "matches"
    __table_args__ = (
        Index("ix_matches_open_task", "task", sqlite_where=_MATCH_IS_OPEN, postgresql_where=_MATCH_IS_OPEN),
        # A judge has one match before them at a time.
        Index("uq_matches_open_judge", "judge", unique=True, sqlite_where=_MATCH_IS_OPEN, postgresql_where=_MATCH_IS_OPEN),
        Index("ix_matches_agents", "task", "left_agent", "right_agent"),
        Index("ix_matches_judge_answered", "judge", "answered_at"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    task: Mapped[str]
    task_hash: Mapped[str]
    seed: Mapped[int]
    left_episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"))
    right_episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"))
    left_agent: Mapped[str]
    right_agent: Mapped[str]
    judge: Mapped[str]
    """Name of the judge: `participant-<id>` or the name of a scripted judge."""
    served_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    """Last heartbeat of the judge's page; the match is released when this time is too long ago."""
    answered_at: Mapped[datetime | None] = mapped_column(default=None)
    released_at: Mapped[datetime | None] = mapped_column(default=None)
    study: Mapped[str | None] = mapped_column(default=None, index=True)
    purpose: Mapped[str] = mapped_column(default="rating")
    """`rating`, or a purpose that changes no ratings: `segment`, or the checks `attention` (`expected` is right) and `repeat`
    (of the match `repeat_of`)."""
    expected: Mapped[str | None] = mapped_column(default=None)
    repeat_of: Mapped[str | None] = mapped_column(default=None)
    judge_kind: Mapped[str] = mapped_column(default="person")
    draft: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """The form and the viewing log, as the page last sent them, so that nothing is lost if the page closes."""
    seat: Mapped[str] = mapped_column(default="", server_default="")
    """The seat that both entrants held and that the answer is about; empty in matches served before this column existed."""
    left_segment_id: Mapped[int | None] = mapped_column(default=None)
    right_segment_id: Mapped[int | None] = mapped_column(default=None)
    """Right segment (`Segment.id`) if segments are compared; `seed` is then the seed of the left one."""


class Segment(Base):
    """A few seconds of a game, from one step to another, that a study compares with others. Rows are only added.

    Segments are drawn once for each version of a study, when it is opened. Pictures are made from the episode when needed.
    """

    __tablename__ = "segments"
    __table_args__ = (UniqueConstraint("study_hash", "episode_id", "first_step", "last_step", name="uq_segments_study_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    study: Mapped[str] = mapped_column(index=True)
    study_hash: Mapped[str]
    """Hash of the study version that the segment was drawn for."""
    episode_id: Mapped[str] = mapped_column(ForeignKey("episodes.id"))
    first_step: Mapped[int]
    last_step: Mapped[int]
    """The last action that belongs to the segment; the picture after that action is its last picture."""
    agent: Mapped[str]
    """Whose play it is: the name of an entrant or of an actor."""
    is_held_out: Mapped[bool]
    """Whether answers about the segment only measure learned rewards, and rewards never learn from them. Segments are held out
    by world: in some worlds all, in the others none."""


class SegmentGuide(Base):
    """Sums of a learned reward over the segments of a study; the pairs about which the reward is least certain are asked next.
    Append-only; the newest row of a study counts."""

    __tablename__ = "segment_guides"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    study: Mapped[str] = mapped_column(index=True)
    reward: Mapped[str]
    sums: Mapped[dict[str, Any]]
    """Segment, as `EPISODE:FIRST:LAST` -> sums of its rewards, one for each network."""
    created_at: Mapped[datetime]


class Answer(Base):
    """A judge's answer to a match. Append-only: never updated, never deleted.

    `sequence` is the order in which answers were accepted; ratings are computed in that order.
    """

    __tablename__ = "answers"
    sequence: Mapped[int] = mapped_column(primary_key=True, init=False)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), unique=True)
    task: Mapped[str] = mapped_column(index=True)
    seed: Mapped[int]
    left_agent: Mapped[str] = mapped_column(index=True)
    right_agent: Mapped[str] = mapped_column(index=True)
    outcome: Mapped[str]
    """`left`, `right` or `draw`: the answer to the overall question; for segments also `na`, if the judge cannot tell."""
    responses: Mapped[dict[str, Any]]
    """Question id -> answer: `{"left": bool, "right": bool}` to direct questions, `left|draw|right|na` to comparative ones."""
    reason: Mapped[str]
    judge: Mapped[str] = mapped_column(index=True)
    created_at: Mapped[datetime]
    duration_s: Mapped[float | None]
    """Seconds from serving to answering; None if the clock was changed in between, because the time is then unknown."""
    viewing: Mapped[dict[str, Any]] = mapped_column(default_factory=dict)
    """Report of the judge's page: play, pause and seek events with times, and seconds watched per side."""
    study: Mapped[str | None] = mapped_column(default=None, index=True)
    purpose: Mapped[str] = mapped_column(default="rating")
    """Purpose as in `Match`; only `rating` changes ratings."""
    judge_kind: Mapped[str] = mapped_column(default="person")
    """`person`, `program` (a script of the operator), or `model` (a model judge).
    Answers of model judges are shown beside people's answers and never counted among them."""
    source: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """For an imported answer: all source data that has no column here, and `dataset`, the name of the import."""


class Retraction(Base):
    """An answer that its judge took back: it stays in the log and does not count. Append-only."""

    __tablename__ = "retractions"
    sequence: Mapped[int] = mapped_column(ForeignKey("answers.sequence"), primary_key=True)
    created_at: Mapped[datetime]


class Problem(Base):
    """A judge's report of a problem with a match, which was then released. Append-only."""

    __tablename__ = "problems"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), index=True)
    judge: Mapped[str]
    kind: Mapped[str]
    """Kind of problem: a name of `judge.form.PROBLEMS`."""
    words: Mapped[str]
    created_at: Mapped[datetime]


class Ban(Base):
    """A judge whose answers do not count, from the first answer on. If the ban is lifted, they count again. Ratings change too.

    A ban is added once and may be lifted once; the database refuses any other change.
    """

    __tablename__ = "bans"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    judge: Mapped[str] = mapped_column(index=True)
    reason: Mapped[str]
    created_at: Mapped[datetime]
    lifted_at: Mapped[datetime | None] = mapped_column(default=None)


class ApiToken(Base):
    """A token that lets a program act over HTTP; only its digest is stored."""

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str] = mapped_column(unique=True)
    scope: Mapped[str]
    """`agents` (may propose agents and upload their videos), `judge` (may judge under its name) or `read`."""
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None] = mapped_column(default=None)


class ShownTask(Base):
    """A person was shown the parts of a task, or how others played it, so this person's later games are no first attempts."""

    __tablename__ = "shown_tasks"
    participant_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """Id of the participant; it is not a foreign key, because the tables of version 0.2.0 have none here."""
    task: Mapped[str] = mapped_column(primary_key=True)
    shown_at: Mapped[datetime]
