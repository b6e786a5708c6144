"""Live games: see the seats and the state of each game, watch a seat, and pause the start of new games."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request, WebSocket
from fastapi.responses import Response

from interplay.play import player_socket
from interplay.play.live_games import LiveGame, live_games
from interplay.store.participants import participant_number
from interplay.web.agents.access import require_operator
from interplay.web.desk.access import desk, may_watch, signed_in
from interplay.web.http.forms import FormFields, see_other
from interplay.web.rendering import titles
from interplay.web.services import services

router = APIRouter(tags=["play"])


def who(name: str, kind: str) -> str:
    """Return the name of a player for pages; people have numbers instead of names.

    >>> who("participant-7", "human"), who("scripted", "agent"), who("", "")
    ('person 7', 'scripted', '')
    """
    number = participant_number(name) if kind == "human" else None
    return name if number is None else f"person {number}"


@router.get("/api/live", dependencies=[Depends(require_operator)])
def live(request: Request) -> dict[str, Any]:
    """List the games that are played now or wait for players, with task, seats, players, scores, steps per second and delays
    in milliseconds. For operators. `paused` is the operator's note while no new game may begin, else null."""
    pause = services(request).pauses.of(None)
    return {"games": [asdict(game) for game in _games(request)], "paused": None if pause is None else pause.note}


@router.get("/desk", include_in_schema=False, dependencies=[Depends(signed_in)])
def live_page(request: Request) -> Response:
    """Show live and waiting games. The page refreshes itself every two seconds."""
    games = _games(request)
    play = services(request).play
    return desk(
        request, "desk_live.html", "/desk",
        games=[game for game in games if not game.is_waiting], waiting=[game for game in games if game.is_waiting],
        num_people=sum(seat.kind == "human" and seat.is_connected for game in games for seat in game.seats),
        titles=titles(request), who=who, pause=services(request).pauses.of(None), is_live=play is not None,
        troubles=[] if play is None else play.troubles,
    )  # fmt: skip


@router.post("/desk/pause", include_in_schema=False, dependencies=[Depends(signed_in)])
def pause_games(request: Request, form: FormFields) -> Response:
    if form.get("verb") == "resume":
        services(request).pauses.resume()
    else:
        services(request).pauses.pause(note=form.get("note", ""))
    return see_other("/desk")


@router.get("/desk/watch/{number}/{seat}", include_in_schema=False, dependencies=[Depends(signed_in)])
def watch_page(request: Request, number: int, seat: str) -> Response:
    play = services(request).play
    here = [] if play is None else live_games(play.games, play.cluster.address)
    game = next((one for one in here if one.number == number), None)
    if game is None or all(one.seat != seat for one in game.seats):
        raise HTTPException(404, "This game is over, or it has no such seat. The page of live games lists games in progress.")
    title = titles(request).get(game.task, game.task)
    return desk(request, "desk_watch.html", "/desk", game=game, seat=seat, title=title, who=who)


@router.websocket("/api/watch/{number}/{seat}")
async def watch(websocket: WebSocket, number: int, seat: str) -> None:
    """Send the frames of a seat to the operator, who watches without playing; see docs/protocol.md."""
    play = services(websocket).play
    if play is None or not may_watch(websocket):
        await websocket.close()
        return
    await player_socket.serve_watcher(websocket, play.place(number, seat))


def _games(request: Request) -> list[LiveGame]:
    play = services(request).play
    return [] if play is None else [*live_games(play.games, play.cluster.address), *play.cluster.games_elsewhere()]
