"""Live play over HTTP: a player requests a seat here, and takes it over the web socket."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, HTTPException, Query, Request, WebSocket
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from interplay.play import tables
from interplay.play.background.films import SOON
from interplay.play.connections.tokens import TokenError
from interplay.play.games import agreement
from interplay.play.games.for_study import ForStudy
from interplay.play.server import COUNTDOWN_S, PlayServer
from interplay.store.participants import GIVEN_NAME, is_given_name, one_spelling
from interplay.tasks import Task
from interplay.web.classes.pupils import class_of_game
from interplay.web.http.identity import (
    current_participant,
    is_operator,
    known_participant,
    network_of,
    require_operator_token,
)
from interplay.web.services import services
from interplay.web.studies.enrolments import give_seat, may_play

router = APIRouter(tags=["play"])

_OPERATOR_FIELDS = ("actor", "actor_kind", "seed", "countdown_s")


class SessionRequest(BaseModel):
    """A request to play a task. `drawn` says whether the browser or the server draws the pictures. Only operators may set
    `actor`, `actor_kind`, `seed` and `countdown_s`."""

    model_config = ConfigDict(extra="forbid")
    task: str = Field(max_length=200)
    actor: str | None = None
    actor_kind: Literal["human", "agent", "model"] | None = None
    seed: int | None = Field(None, ge=0, lt=2**31)
    countdown_s: int | None = Field(None, ge=0, le=10)
    drawn: Literal["here", "server"] = "server"
    partner: str | None = Field(None, max_length=200)
    wheel: str | None = Field(None, max_length=200)
    invitation: str | None = Field(None, max_length=40)
    again: str | None = Field(None, max_length=400)

    @field_validator("actor")
    @classmethod
    def _name(cls, actor: str | None) -> str | None:
        name = None if actor is None else one_spelling(actor)
        if name is not None and not is_given_name(name):
            raise ValueError(GIVEN_NAME)
        return name


class SessionGrant(BaseModel):
    """A seat, and where to take it."""

    session: str
    token: str
    socket: str
    subprotocol: str
    expires_at: str


@router.post("/api/sessions", status_code=201)
def open_session(request: Request, wanted: SessionRequest, asked: Annotated[str, Query(max_length=2000)] = "") -> SessionGrant:
    """Grant a seat in a task. With a study's token (`Interplay-Enrolment`) the game belongs to that visit; pupils of a class
    play with each other. A server of a cluster may answer 307: at another server others wait, or there is room. `asked` then
    names the servers that were asked before."""
    play = _play(request)
    part = may_play(request, wanted.task)
    enrolment, group = (None, None) if part is None else part
    operator = enrolment is None and is_operator(request)
    if enrolment is None and not operator and (pupils := class_of_game(request, wanted.task)) is not None:
        group = ForStudy(pupils, wait_s=play.partner_after_s)
    for name in _OPERATOR_FIELDS:
        if getattr(wanted, name) is not None and not operator:
            raise HTTPException(
                403,
                f"{name} may only be set by an operator: send the token in operator.token of the data folder as "
                "'Authorization: Bearer <token>'",
            )
    if not operator:
        _check_not_paused(request)
    task = play.task(wanted.task)
    _check_agents(play, task, wanted, is_operator=operator)
    if group is not None and (wanted.partner or wanted.wheel or wanted.invitation or wanted.again):
        message = (
            "this study or class does not let you choose agents or partners; leave partner, wheel, invitation and again out"
        )
        raise HTTPException(409, message)
    person = None if operator else current_participant(request) if enrolment is None else enrolment.participant_id
    if len(task.seats) > 1 and not operator and wanted.partner is None:
        own, all_of_address = services(request).joins
        if not (own.allows(str(person)) and all_of_address.allows(network_of(request))):
            message = f"you have asked for {own.most} games with others in a minute, or your address for {all_of_address.most}"
            raise HTTPException(429, f"{message}; wait a minute, then try again", {"Retry-After": "60"})
    if not task.env.is_playable:
        raise HTTPException(409, f"task {task.id} cannot be played; it has only videos to judge")
    try:
        company = None if wanted.again is None else play.played(wanted.again)[0]
    except TokenError as error:
        raise HTTPException(403, str(error)) from None
    if wanted.again is not None and company is None:
        raise HTTPException(409, "that game was not recorded, so the server does not know who played it; press Start instead")
    grant = play.create_session(
        task,
        participant_id=person,
        actor=wanted.actor or ("operator" if operator else None),
        actor_kind=wanted.actor_kind or "human",
        seed=wanted.seed,
        countdown_s=COUNTDOWN_S if wanted.countdown_s is None else wanted.countdown_s,
        client=None if operator else network_of(request) or None,
        drawn_here=wanted.drawn == "here",
        partner=wanted.partner,
        wheel=wanted.wheel,
        study=group,
        invitation=wanted.invitation,
        company=company,
        asked=asked.split(","),
    )
    if enrolment is not None:
        give_seat(request, enrolment, grant.session)  # before the player knows of the seat
    return SessionGrant(**grant.to_json())


def _check_not_paused(request: Request) -> None:
    pause = services(request).pauses.of(None)
    if pause is not None:
        raise HTTPException(503, pause.note or "new games are paused; please come back later", {"Retry-After": "60"})


def _check_agents(play: PlayServer, task: Task, wanted: SessionRequest, *, is_operator: bool) -> None:
    """Refuse agents that are not on offer, unless an operator names them: the name of such an agent loads code."""
    for name in ("partner", "wheel"):
        agent = getattr(wanted, name)
        if agent is None or is_operator:
            continue
        choices = play.roster.choices(task)
        if agent not in choices:
            raise HTTPException(403, f"{agent!r} cannot be the {name} in {task.id}; choose one of: {', '.join(choices)}")


class Agreement(BaseModel):
    """A player's answer whether judges may compare the game of a seat, or an own episode, with other games."""

    model_config = ConfigDict(extra="forbid")
    token: str | None = Field(None, max_length=400)
    episode: str | None = Field(None, max_length=200)
    agreed: bool

    @model_validator(mode="after")
    def _names_one_game(self) -> Self:
        if (self.token is None) == (self.episode is None):
            raise ValueError("send either the token of your seat or the id of your episode")
        return self


@router.post("/api/play/agreement")
def agree(request: Request, said: Agreement) -> dict[str, bool]:
    """Store whether judges may compare your game with others; the last answer counts. Name the game by your seat's token, or
    by the episode's id with the cookie of the browser in which you played; only this works after the token expires."""
    database = services(request).archive.database
    if said.token is not None:
        try:
            episode_id, participant_id = _play(request).played(said.token)
        except TokenError as error:
            raise HTTPException(403, str(error)) from None
    else:
        episode_id, participant_id = str(said.episode), known_participant(request)
        if agreement.said(database, episode_id=episode_id, participant_id=participant_id) is None:
            raise HTTPException(403, "this browser has played no game of this id that can be compared with others")
    now = datetime.now(UTC)
    try:
        is_compared = agreement.agree(
            database, episode_id=episode_id, participant_id=participant_id, agreed=said.agreed, now=now
        )
    except agreement.AgreementError as error:
        raise HTTPException(409, str(error)) from None
    if is_compared and episode_id is not None:
        services(request).films.wanted(episode_id, SOON)
    return {"is_compared": is_compared}


class SeatToken(BaseModel):
    """The token of a seat."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=400)


@router.post("/api/play/place")
def place(request: Request, seat: SeatToken) -> dict[str, str | None]:
    """Say where the socket of a seat is now: `socket` is its path, or null while no server has the game; then ask again in a
    moment. A page asks after its socket was closed, because another server may have taken the game."""
    try:
        return {"socket": _play(request).where(seat.token)}
    except TokenError as error:
        raise HTTPException(403, str(error)) from None


@router.get("/api/play/statistics")
def statistics(request: Request) -> dict[str, Any]:
    """Show statistics of the live server; for operators."""
    require_operator_token(request)
    return _play(request).statistics()


@router.get("/api/scene/tables/{name}.bin", response_class=FileResponse)
def scene_tables(request: Request, name: str) -> FileResponse:
    """Get the tables with which a browser draws a world; a seat's `welcome` names them. A file of one name never changes."""
    path = tables.find(services(request).archive.root, name)
    if path is None:
        raise HTTPException(404, "there are no tables of this name; load the page again: the server may have newer tables")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'"{name}"'}
    return FileResponse(path, media_type="application/octet-stream", headers=headers)


@router.websocket("/api/play")
async def play_socket(websocket: WebSocket) -> None:
    play = services(websocket).play
    if play is None:
        await websocket.close()
        return
    await play.handle_socket(websocket)


def _play(request: Request) -> PlayServer:
    play = services(request).play
    if play is None:
        raise HTTPException(503, "this server shows pages only; to play, start `interplay serve`")
    return play
