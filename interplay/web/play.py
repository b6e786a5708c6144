"""Live play over HTTP: a seat is asked for here, and taken over the socket."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request, WebSocket
from pydantic import BaseModel, ConfigDict, Field, field_validator

from interplay.play import PlayServer
from interplay.play.agreement import AgreementError
from interplay.play.server import COUNTDOWN_S
from interplay.play.sockets import client_of
from interplay.play.tokens import TokenError
from interplay.web.identity import (
    GIVEN_NAME,
    current_participant,
    is_given_name,
    is_operator,
    one_spelling,
    require_operator_token,
)

router = APIRouter(tags=["play"])

_OPERATOR_FIELDS = ("actor", "actor_kind", "seed", "countdown_s")


class SessionRequest(BaseModel):
    """Who wants to play what; all but the task is for operators."""

    model_config = ConfigDict(extra="forbid")
    task: str = Field(max_length=200)
    actor: str | None = None
    actor_kind: Literal["human", "agent", "model"] | None = None
    seed: int | None = Field(None, ge=0, lt=2**31)
    countdown_s: int | None = Field(None, ge=0, le=10)

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
def open_session(request: Request, wanted: SessionRequest) -> SessionGrant:
    """Grant a seat in a task."""
    play = _play(request)
    operator = is_operator(request)
    for name in _OPERATOR_FIELDS:
        if getattr(wanted, name) is not None and not operator:
            raise HTTPException(
                403,
                f"{name} may only be set by an operator: send the token in operator.token of the data folder as "
                "'Authorization: Bearer <token>'",
            )
    task = play.task(wanted.task)
    if not task.env.is_playable:
        raise HTTPException(409, f"task {task.id} cannot be played: there are videos only, to judge")
    grant = play.create_session(
        task,
        participant_id=None if operator else current_participant(request),
        actor=wanted.actor or ("operator" if operator else None),
        actor_kind=wanted.actor_kind or "human",
        seed=wanted.seed,
        countdown_s=COUNTDOWN_S if wanted.countdown_s is None else wanted.countdown_s,
        client=None if operator or request.client is None else client_of(request.client.host),
    )
    return SessionGrant(**grant.to_json())


class Agreement(BaseModel):
    """Whether a player lets their game be compared with others."""

    model_config = ConfigDict(extra="forbid")
    token: str = Field(max_length=400)
    agreed: bool


@router.post("/api/play/agreement")
def agree(request: Request, said: Agreement) -> dict[str, bool]:
    """Keep whether a game may be shown to judges beside others; the seat's token says whose game."""
    try:
        return {"is_compared": _play(request).agree(said.token, agreed=said.agreed)}
    except TokenError as error:
        raise HTTPException(403, str(error)) from None
    except AgreementError as error:
        raise HTTPException(409, str(error)) from None


@router.get("/api/play/statistics")
def statistics(request: Request) -> dict[str, Any]:
    """How the live server is doing; for operators."""
    require_operator_token(request)
    return _play(request).statistics()


@router.websocket("/api/play")
async def play_socket(websocket: WebSocket) -> None:
    """One seat's socket: docs/protocol.md."""
    play: PlayServer | None = websocket.app.state.play
    if play is None:
        await websocket.close()
        return
    await play.handle_socket(websocket)


def _play(request: Request) -> PlayServer:
    play: PlayServer | None = request.app.state.play
    if play is None:
        raise HTTPException(503, "this server only shows; start `interplay serve` to play")
    return play
