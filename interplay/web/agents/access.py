"""Access to agents and episodes: what a visitor may see, and which agents a token may change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from interplay.errors import InterplayError
from interplay.judge.entrants.roster import OPERATOR, Viewer
from interplay.record import Episode
from interplay.record.catalogue import is_there, withheld
from interplay.store import Entrant
from interplay.store.episodes import EpisodeQuery
from interplay.tasks import Task, lookup
from interplay.web.http.identity import api_token, current_operator, current_participant, is_operator, known_participant
from interplay.web.http.refusals import refusal
from interplay.web.services import services
from interplay.web.studies.enrolments import part_here, part_of


def holder(request: Request) -> str | None:
    """Return the name of the request's token of scope `agents`; None for the operator (others: HTTPException 401 or 403)."""
    if current_operator(request):
        return None
    token = api_token(request)
    if token is None:
        raise refusal(401, "send a token as 'Authorization: Bearer ...'; ask the operator of this server for one")
    if token.scope != "agents":
        raise refusal(403, f"this token has the scope {token.scope}; to propose agents, you need one with the scope agents")
    return token.name


Holder = Annotated[str | None, Depends(holder)]


def require_operator(request: Request) -> None:
    """Let only the operator pass, by token or signed in (HTTPException 401 without a token, 403 with another token)."""
    if current_operator(request):
        return
    if api_token(request) is None:
        raise refusal(401, "only the operator may do this; send the operator's token as 'Authorization: Bearer ...'")
    raise refusal(403, "only the operator may do this")


def viewer_of(request: Request) -> Viewer:
    if current_operator(request):
        return OPERATOR
    token = api_token(request)
    return Viewer() if token is None else Viewer(token.scope == "read", token.name)


def visible_episodes(request: Request) -> EpisodeQuery:
    """Return a query for the episodes that the visitor may see now or later (those of `hidden_tasks` are included)."""
    return EpisodeQuery(
        with_waiting=viewer_of(request).sees_all,
        own=_here(request),
        not_of=blind_studies(request),
        without_withheld=not current_operator(request),
    )


def check_shown(request: Request, episode: Episode) -> None:
    """Refuse an episode that the visitor must not see, or must not see now.

    Raises:
        HTTPException: 404, as for an unknown episode, if it is a video that waits for a moderator and the visitor is neither
            its uploader nor the operator. 403 for an episode of others if the visitor has an open pair of its task, if the
            visitor may still play its task of `explore`, or if its players have not agreed to a release.
    """
    check_not_judged(request, episode)
    if not _is_own(request, episode):
        check_may_know(request, episode.task_id)
        if withheld_here(request, [episode.id]):
            raise refusal(
                403,
                "this is the game of somebody who has not agreed that others may see it: only its players, in the browser in "
                "which they played, and the operator of this server may see it. Operators sign in at /operator",
                code="not_released",
            )


def withheld_here(request: Request, ids: Sequence[str]) -> set[str]:
    """Return the ids of episodes that the visitor must not see because their players have not agreed to a release."""
    if current_operator(request):
        return set()
    return withheld(services(request).archive.database, ids, own=_here(request))


def check_not_judged(request: Request, episode: Episode) -> None:
    if episode.is_video_only:
        rows = services(request).roster.rows(name=episode.actor, task=episode.task_id)
        if rows and not any(map(viewer_of(request).sees, rows)):
            raise refusal(404, f"unknown episode {episode.id!r}")
    if not _is_own(request, episode) and episode.task_id in judged_now(request):
        raise refusal(
            403,
            "you have an open pair of this task, and judging is blind: you see its episodes again after you "
            "answer, or an hour after you leave the pair",
            code="judging_is_blind",
        )


def may_know_players(request: Request, episode: Episode) -> bool:
    blind = blind_studies(request)
    return not blind or is_there(services(request).archive.database, EpisodeQuery(ids=[episode.id], not_of=blind))


def blind_studies(request: Request) -> list[str]:
    return [] if viewer_of(request).sees_all else services(request).studies.blind()


def _is_own(request: Request, episode: Episode) -> bool:
    here = _here(request)
    if any(held.participant_id in here for held in episode.seats):
        return True
    token = viewer_of(request).token if episode.is_video_only else None
    rows = services(request).roster.rows(name=episode.actor, task=episode.task_id) if token else []
    return any(row.proposed_by == token for row in rows)


def judged_now(request: Request) -> set[str]:
    """Return the tasks of which this visitor has an open pair (docs/judging.md); judges must not learn who made the videos."""
    return services(request).roster.watched_by(_here(request))


def hidden_tasks(request: Request) -> set[str]:
    """Return the tasks whose episodes and reasons (of others) this visitor must not see: `judged_now`, `unplayed_tasks`."""
    return judged_now(request) | unplayed_tasks(request)


def unplayed_tasks(request: Request) -> set[str]:
    return set() if viewer_of(request).sees_all else _tasks_of_explore(request) - _known_tasks(request)


def may_know(request: Request, task_id: str) -> bool:
    """Whether the visitor may know the contents of a task and how others play it.

    Tasks of `explore` test people, too. A task on offer is shown only to people who have played it, judged it or asked to see
    it, and to operators. It is recorded that an operator has seen it.
    """
    if task_id not in _tasks_of_explore(request):
        return True
    if current_operator(request):
        # A program sends its token in a header; it is not a person, so no participant is made for it.
        person = known_participant(request) if is_operator(request) else current_participant(request)
        if person is not None:
            services(request).explore_exposure.add(person, task_id, datetime.now(UTC))
        return True
    return viewer_of(request).sees_all or task_id in _known_tasks(request)


def check_may_know(request: Request, task_id: str) -> None:
    """Refuse (403) to show a task to people who may still play it; see `may_know`."""
    if not may_know(request, task_id):
        text = f"episodes of {task_id} are shown to those who have played it: play it yourself first, or ask to see it"
        raise refusal(403, f"{text} at /{task_id.replace('/', '/tasks/')}", code="not_played_yet")


def _tasks_of_explore(request: Request) -> set[str]:
    suite = services(request).explore
    return set() if suite is None else {task.id for task in suite.tasks}


def _known_tasks(request: Request) -> set[str]:
    return {task for number in _here(request) for task in services(request).explore_exposure.known_to(number)}


def _here(request: Request) -> set[int]:
    """Return the numbers of this browser's participants: the visitor, and the person who takes part in a study in it."""
    part = part_of(request)
    numbers = known_participant(request), part_here(request), None if part is None else part.participant_id
    return {number for number in numbers if number is not None}


def task_on_offer(request: Request, task_id: str) -> Task:
    try:
        return lookup(task_id[:200], services(request).tasks)
    except InterplayError as error:
        raise refusal(422, f"tasks: {str(error).partition(chr(10))[0]}") from None


def check_own(rows: list[Entrant], token: str | None) -> None:
    """Refuse (403) a token that did not propose this agent. `token` None is the operator, who may change every agent."""
    if token is not None and rows[0].proposed_by != token:
        raise refusal(
            403, f"{rows[0].name} was proposed by somebody else; you can change only agents proposed with your own token"
        )
