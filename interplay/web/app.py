"""The application: rooms on `app.state`, routers, static files, headers, errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from interplay import __version__
from interplay.explore.results.cache import ResultCache
from interplay.explore.results.first_attempts import Exposures
from interplay.judge import Judging, Rules
from interplay.judge.banning import Bans
from interplay.judge.entrants.api_tokens import ApiTokens
from interplay.judge.entrants.roster import Roster
from interplay.judge.ratings.boards import Boards
from interplay.model_judges import LoggedJudges
from interplay.play.background.drawer import Drawer
from interplay.play.background.films import SOON, Films
from interplay.play.connections.tokens import server_secret
from interplay.study.classes import Classes
from interplay.study.feedback import FeedbackBox
from interplay.study.pausing import Pauses
from interplay.study.people import People
from interplay.study.playing.visits import Visits
from interplay.study.raffle_entries import RaffleEntries
from interplay.study.reviewing.reviews import Reviews
from interplay.study.scores import Scores
from interplay.study.studies import Studies
from interplay.tasks import Suite, builtin_suites, index
from interplay.web import api_docs, episodes, errors, examples, feedback, moderation, pages, released
from interplay.web import play as play_routes
from interplay.web.agents import page as agents_page
from interplay.web.agents import routes as agents_routes
from interplay.web.agents.uploads import MAX_VIDEO_BYTES
from interplay.web.classes import joining, teachers
from interplay.web.desk import live
from interplay.web.desk import pages as desk_pages
from interplay.web.explore import boards, milestones, runs
from interplay.web.explore import pages as explore_pages
from interplay.web.explore.milestones import Milestones
from interplay.web.identity import IdentityMiddleware, participant_numbers
from interplay.web.judging import board, calibration
from interplay.web.judging import routes as judging_routes
from interplay.web.pictures import Pictures
from interplay.web.rates import Rate
from interplay.web.scores import pages as scores_pages
from interplay.web.security import BodyLimitMiddleware, HeadMiddleware, HostMiddleware, Hosts, NulMiddleware, SecurityMiddleware
from interplay.web.studies import arriving, questions, review, steps
from interplay.web.studies import play as studies_play

if TYPE_CHECKING:
    from interplay.play.server import PlayServer
    from interplay.record import Archive

STATIC = Path(__file__).parent / "static"
FORGET_EVERY_S = 3600.0

log = logging.getLogger("interplay.web")


class _Static(StaticFiles):
    """Files that browsers ask about each time (and get 304): modules import each other by plain names, stale ones break."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, or 304, with that rule in its headers."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _forget_nicknames(app: FastAPI) -> None:
    """Erase the nicknames of classes for which that is due."""
    try:
        await asyncio.to_thread(app.state.classes.forget_due)
    except DBAPIError as error:  # the database is busy, or its disk is full: they are erased in an hour
        log.warning("the nicknames of classes were not erased: %s", error)


async def _forget_hourly(app: FastAPI) -> None:
    while True:
        await asyncio.sleep(FORGET_EVERY_S)
        await _forget_nicknames(app)


def create_app(
    archive: Archive,
    *,
    play: PlayServer | None = None,
    judging: Judging | None = None,
    suites: Sequence[Suite] | None = None,
    secret: bytes | None = None,
    max_video_bytes: int = MAX_VIDEO_BYTES,
    hosts: Hosts | None = None,
    open_room: Rules | None = None,
) -> FastAPI:
    """Build the application over one archive.

    Args:
        archive: Episodes and database.
        play: The live server; the application starts and stops it with itself. Without one, pages only show.
        judging: The judging room; made over the archive when not given.
        suites: Tasks to offer; the built-in ones when not given.
        secret: Signs cookies; the archive's own, kept in its folder, when not given.
        max_video_bytes: The largest video that may be uploaded.
        hosts: The names it answers to; any when not given.
        open_room: Rules of the open room, where the judging room is made here; `judge.OPEN_ROOM` when not given.
    Raises:
        TaskError: If two suites hold a task of the same id.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if play is not None:
            await play.start()
        await _forget_nicknames(app)
        forgetting = asyncio.create_task(_forget_hourly(app))
        yield
        forgetting.cancel()
        app.state.pictures.close()
        await asyncio.to_thread(app.state.films.close)
        await asyncio.to_thread(app.state.milestones.close)
        await asyncio.to_thread(app.state.proofs.close)
        await app.state.drawer.stop()
        if play is not None:
            await play.stop()

    app = FastAPI(
        title="Interplay",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # those pages load their scripts from other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.archive = archive
    app.state.play = play
    app.state.suites = tuple(builtin_suites() if suites is None else suites)
    app.state.tasks = index(app.state.suites)
    app.state.explore = next((suite for suite in app.state.suites if suite.id == "explore"), None)  # offered, or not
    app.state.drawer = Drawer()
    app.state.pictures = Pictures(archive.root / "media" / "tasks")
    app.state.films = Films(archive) if play is None else play.films
    app.state.milestones = Milestones(archive) if play is None else Milestones(archive, cores_needed=play.cores_needed)
    app.state.proofs = (
        scores_pages.Proofs(archive) if play is None else scores_pages.Proofs(archive, cores_needed=play.cores_needed)
    )
    app.state.judging = judging or Judging(
        archive,
        rng=np.random.default_rng(),
        suites=app.state.suites,
        want_video=lambda episode_id: app.state.films.wanted(episode_id, SOON),
        is_held=lambda: app.state.films.is_held,
        rules=open_room,
    )
    app.state.boards = Boards(app.state.judging, app.state.judging.rules.publish_every)
    app.state.examples = examples.Examples(archive.root)
    app.state.live_boards = Boards(app.state.judging) if app.state.boards.publish_every > 1 else app.state.boards
    app.state.explore_kept = ResultCache(archive.database, archive.root, app.state.milestones.reached)
    app.state.explore_shown = Exposures(archive.database)
    app.state.logged_judges = LoggedJudges(archive, lambda task: getattr(app.state.tasks.get(task), "questions", ()))
    app.state.secret = server_secret(archive.root) if secret is None else secret
    app.state.studies = Studies(archive.database)
    app.state.visits = Visits(archive.database, app.state.studies)
    app.state.reviews = Reviews(archive.database, app.state.studies)
    app.state.raffle_entries = RaffleEntries(archive.database, app.state.studies)
    app.state.pauses = Pauses(archive.database)
    app.state.people = People(archive.database)
    app.state.classes = Classes(archive.database)
    app.state.pupils_seen = {}  # participant -> when and where their page last asked
    app.state.joins = Rate(12, 60), Rate(120, 60)  # of a person, and of an address: who waits is told of each
    app.state.feedback = FeedbackBox(archive.database)
    app.state.scores = Scores(archive.database)
    app.state.participant_number = participant_numbers(app.state.people, app.state.secret)
    app.state.api_tokens = ApiTokens(archive.database)
    app.state.bans = Bans(archive.database)
    app.state.roster = Roster(archive.database)
    app.state.max_video_bytes = max_video_bytes
    for room in (
        pages,
        episodes,
        play_routes,
        judging_routes,
        board,
        examples,
        calibration,
        teachers,
        joining,
        feedback,
        agents_routes,
        agents_page,
        api_docs,
        boards,
        runs,
        explore_pages,
        milestones,
        moderation,
        released,
        review,
        scores_pages,
        arriving,
        steps,
        studies_play,
        questions,
        live,
        desk_pages,
    ):
        app.include_router(room.router)
    if find_spec("blockworld") is not None:  # the renderer of its worlds
        app.mount("/static/blockworld", _Static(packages=[("blockworld", "web")]))
    app.mount("/static", _Static(directory=STATIC), name="static")
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(IdentityMiddleware)
    app.add_middleware(NulMiddleware)
    if hosts is not None:
        app.add_middleware(HostMiddleware, hosts=hosts)
    app.add_middleware(SecurityMiddleware)
    app.add_middleware(HeadMiddleware)
    errors.install(app)
    return app
