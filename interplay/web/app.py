"""Build the application: its services, routers, static files, headers and errors."""

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
from interplay.explore.results.references import Exposures
from interplay.judge import Judging, Rules
from interplay.judge.bans import Bans
from interplay.judge.entrants.api_tokens import ApiTokens
from interplay.judge.entrants.roster import Roster
from interplay.judge.ratings.boards import Boards
from interplay.model_judges import LoggedJudges
from interplay.play.background.drawer import Drawer
from interplay.play.background.films import SOON, Films
from interplay.play.connections.tokens import server_secret
from interplay.study.classes import Classes
from interplay.study.feedback import FeedbackBox
from interplay.study.money.raffle import RaffleEntries
from interplay.study.pauses import Pauses
from interplay.study.people import People
from interplay.study.play.visits import Visits
from interplay.study.review.reviews import Reviews
from interplay.study.scores import Scores
from interplay.study.studies import Studies
from interplay.tasks import Suite, builtin_suites, index
from interplay.web import episodes, examples, feedback, pages, releases
from interplay.web import play as play_routes
from interplay.web.agents import page as agents_page
from interplay.web.agents import routes as agents_routes
from interplay.web.agents.uploads import MAX_VIDEO_BYTES
from interplay.web.classes import joining, teachers
from interplay.web.desk import live, moderation
from interplay.web.desk import pages as desk_pages
from interplay.web.explore import milestones, runs
from interplay.web.explore import pages as explore_pages
from interplay.web.explore.milestone_queue import Milestones
from interplay.web.http import api_docs, errors
from interplay.web.http.identity import IdentityMiddleware, participant_numbers
from interplay.web.http.nodes import NodeMiddleware
from interplay.web.http.security import (
    BodyLimitMiddleware,
    HeadMiddleware,
    HostMiddleware,
    Hosts,
    NulMiddleware,
    SecurityMiddleware,
)
from interplay.web.judging import board, calibration
from interplay.web.judging import routes as judging_routes
from interplay.web.monitoring import readiness
from interplay.web.monitoring.probe import DatabaseProbe
from interplay.web.monitoring.requests import RequestNameMiddleware
from interplay.web.pictures import Pictures
from interplay.web.scores import pages as scores_pages
from interplay.web.scores.proofs import Proofs
from interplay.web.services import Services
from interplay.web.studies import arrival, review, steps
from interplay.web.studies import play as studies_play

if TYPE_CHECKING:
    from interplay.play.server import PlayServer
    from interplay.record import Archive

STATIC = Path(__file__).parent / "static"
FORGET_EVERY_S = 3600.0
_ROOMS = (
    pages, episodes, play_routes, judging_routes, board, examples, calibration, teachers, joining, feedback, agents_routes,
    agents_page, api_docs, explore_pages, runs, milestones, moderation, releases, review, scores_pages, arrival,
    steps, studies_play, live, desk_pages, readiness,
)  # fmt: skip
"""Modules with a `router`, in the order in which addresses are tried."""

log = logging.getLogger("interplay.web")


class _Static(StaticFiles):
    """Static files; browsers ask each time if a file has changed (usual answer: 304), since old modules break new importers."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def _forget_nicknames(classes: Classes) -> None:
    try:
        await asyncio.to_thread(classes.forget_due)
    except DBAPIError as error:  # the database is busy, or its disk is full: they are erased in an hour
        log.warning("the nicknames of classes were not erased: %s", error)


async def _forget_hourly(classes: Classes) -> None:
    while True:
        await asyncio.sleep(FORGET_EVERY_S)
        await _forget_nicknames(classes)


def _services(
    archive: Archive,
    *,
    play: PlayServer | None,
    judging: Judging | None,
    suites: tuple[Suite, ...],
    secret: bytes,
    max_video_bytes: int,
    open_room: Rules | None,
) -> Services:
    database, tasks = archive.database, index(suites)
    cores_needed = play.cores_needed if play is not None else lambda: 0.0
    films = Films(archive) if play is None else play.films
    milestones = Milestones(archive, cores_needed=cores_needed)
    if judging is None:
        judging = Judging(
            archive, rng=np.random.default_rng(), suites=suites, rules=open_room,
            want_video=lambda episode_id: films.wanted(episode_id, SOON), is_held=lambda: films.is_held,
        )  # fmt: skip
    studies, people = Studies(database), People(database)
    return Services(
        archive=archive,
        play=play,
        suites=suites,
        tasks=tasks,
        drawer=Drawer(),
        pictures=Pictures(archive.root / "media" / "tasks"),
        films=films,
        milestones=milestones,
        proofs=Proofs(archive, cores_needed=cores_needed),
        judging=judging,
        boards=Boards(judging, judging.rules.publish_every),
        examples=examples.Examples(archive.root),
        explore_results=ResultCache(database, archive.root, milestones.reached),
        explore_exposure=Exposures(database),
        logged_judges=LoggedJudges(archive, lambda task: getattr(tasks.get(task), "questions", ())),
        studies=studies,
        visits=Visits(database, studies),
        reviews=Reviews(database, studies),
        raffle_entries=RaffleEntries(database, studies),
        pauses=Pauses(database),
        people=people,
        classes=Classes(database),
        feedback=FeedbackBox(database),
        scores=Scores(database),
        api_tokens=ApiTokens(database),
        bans=Bans(database),
        roster=Roster(database),
        secret=secret,
        participant_number=participant_numbers(people, secret),
        database_probe=DatabaseProbe(database),
        max_video_bytes=max_video_bytes,
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    here: Services = app.state.services
    if here.play is not None:
        await here.play.start()
    await _forget_nicknames(here.classes)
    forgetting = asyncio.create_task(_forget_hourly(here.classes))
    yield
    forgetting.cancel()
    here.pictures.close()
    await asyncio.to_thread(here.films.close)
    await asyncio.to_thread(here.milestones.close)
    await asyncio.to_thread(here.proofs.close)
    await here.drawer.stop()
    if here.play is not None:
        await here.play.stop()


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
        play: The live server, which the application starts and stops. Without it, nobody can play.
        judging: The judging room; None to make one over the archive.
        secret: Key that signs cookies; None for the archive's own key, which is stored in its folder.
        hosts: Host names to accept; None to accept all.
        open_room: Rules of the open room, if the judging room is made here; None for `judge.OPEN_ROOM`.
    Raises:
        TaskError: If two suites have a task with the same id.
    """
    made = _services(
        archive, play=play, judging=judging, suites=tuple(builtin_suites() if suites is None else suites),
        secret=server_secret(archive.root) if secret is None else secret, max_video_bytes=max_video_bytes, open_room=open_room,
    )  # fmt: skip
    app = FastAPI(
        title="Interplay",
        version=__version__,
        lifespan=_lifespan,
        docs_url=None,  # those pages load their scripts from other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.services = made
    for room in _ROOMS:
        app.include_router(room.router)
    if find_spec("blockworld") is not None:  # the renderer of its worlds
        app.mount("/static/blockworld", _Static(packages=[("blockworld", "web")]))
    app.mount("/static", _Static(directory=STATIC), name="static")
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(IdentityMiddleware)
    app.add_middleware(NulMiddleware)
    if play is not None and play.cluster.address:
        app.add_middleware(NodeMiddleware, node=play.node)
    if hosts is not None:
        app.add_middleware(HostMiddleware, hosts=hosts)
    app.add_middleware(SecurityMiddleware)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(RequestNameMiddleware)
    errors.install(app)
    return app
