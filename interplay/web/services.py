"""`Services`: the services that pages use. `create_app` makes them once, and `services(request)` returns them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from interplay.explore.results.cache import ResultCache
from interplay.explore.results.references import Exposures
from interplay.judge import Judging
from interplay.judge.bans import Bans
from interplay.judge.entrants.api_tokens import ApiTokens
from interplay.judge.entrants.roster import Roster
from interplay.judge.ratings.boards import Boards
from interplay.model_judges import LoggedJudges
from interplay.play.background.drawer import Drawer
from interplay.play.background.films import Films
from interplay.study.classes import Classes
from interplay.study.feedback import FeedbackBox
from interplay.study.money.raffle import RaffleEntries
from interplay.study.pauses import Pauses
from interplay.study.people import People
from interplay.study.play.visits import Visits
from interplay.study.review.reviews import Reviews
from interplay.study.scores import Scores
from interplay.study.studies import Studies
from interplay.tasks import Suite, Task
from interplay.web.examples import Examples
from interplay.web.explore.milestone_queue import Milestones
from interplay.web.http.rates import Rate
from interplay.web.monitoring.probe import DatabaseProbe
from interplay.web.pictures import Pictures
from interplay.web.scores.proofs import Proofs

if TYPE_CHECKING:
    from interplay.play.server import PlayServer
    from interplay.record import Archive


@dataclass(frozen=True)
class Services:
    """The services of one application.

    Attributes:
        play: The live server; None if nobody can play here.
        participant_number: Cookie -> the number of its participant; LookupError for an unknown cookie.
        pupils_seen: Participant -> monotonic seconds of the page's last request, and the task whose rules the page shows.
        joins: Limits of games with others that one person, and that one address, may request in a minute.
        receiving: API tokens whose video is being received.
    """

    archive: Archive
    play: PlayServer | None
    suites: tuple[Suite, ...]
    tasks: dict[str, Task]
    drawer: Drawer
    pictures: Pictures
    films: Films
    milestones: Milestones
    proofs: Proofs
    judging: Judging
    boards: Boards
    examples: Examples
    explore_results: ResultCache
    explore_exposure: Exposures
    logged_judges: LoggedJudges
    studies: Studies
    visits: Visits
    reviews: Reviews
    raffle_entries: RaffleEntries
    pauses: Pauses
    people: People
    classes: Classes
    feedback: FeedbackBox
    scores: Scores
    api_tokens: ApiTokens
    bans: Bans
    roster: Roster
    secret: bytes
    participant_number: Callable[[str], int]
    database_probe: DatabaseProbe
    max_video_bytes: int
    pupils_seen: dict[int, tuple[float, str]] = field(default_factory=dict)
    joins: tuple[Rate, Rate] = field(default_factory=lambda: (Rate(12, 60), Rate(120, 60)))
    receiving: set[str] = field(default_factory=set)

    @property
    def explore(self) -> Suite | None:
        return next((suite for suite in self.suites if suite.id == "explore"), None)


def services(connection: HTTPConnection) -> Services:
    return connection.app.state.services
