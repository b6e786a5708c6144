"""Bodies of requests and answers about agents, as in the API description. Answers are made from the rows of an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, LiteralString

from fastapi import Request
from pydantic import AfterValidator, BaseModel, Field, StringConstraints
from pydantic_core import PydanticCustomError

from interplay.store import Entrant
from interplay.store.entrants import Brought, EntrantState, state
from interplay.tasks import Task
from interplay.web.agents.access import viewer_of, withheld_here
from interplay.web.services import services

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,59}$"
_LINE = r"^[^\x00-\x1f\x7f]+$"
_TEXT = r"^[^\x00]*$"
_NAME_WORDS = "1 to 60 letters, digits or . _ + -, the first a letter or digit"


def _matching(pattern: str, message: LiteralString) -> AfterValidator:
    """Return a validator that refuses text not matching `pattern`, with `message`; pydantic's own message shows the pattern."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise PydanticCustomError("string_pattern_mismatch", message)
        return value

    return AfterValidator(check)


_IS_TEXT = _matching(_TEXT, "must not contain the character NUL")
Name = Annotated[str, _matching(_NAME, f"must be {_NAME_WORDS}"), Field(json_schema_extra={"pattern": _NAME})]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    _matching(_LINE, "must be one line, without control characters"),
    Field(json_schema_extra={"pattern": _LINE}),
]
Text = Annotated[str, StringConstraints(max_length=4000), _IS_TEXT, Field(json_schema_extra={"pattern": _TEXT})]
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1000),
    _IS_TEXT,
    Field(json_schema_extra={"pattern": _TEXT}),
]


class Video(BaseModel):
    """One video of an agent."""

    seed: int = Field(description="Held-out seed of the task the agent played.")
    episode: str = Field(description="Id of the episode.")
    video: str = Field(description="Address of the mp4.", examples=["/api/episodes/ID/video.mp4"])
    seats: list[str] = Field(description="Seats that the agent held in a game of several seats; empty in a game of one player.")


class AgentInTask(BaseModel):
    """An agent's state and videos in one task."""

    task: str = Field(examples=["basalt/find_cave"])
    title: str
    state: EntrantState = Field(description="Judges see only `approved` agents. A withdrawn agent keeps its answers.")
    declined_because: str = Field(description="The moderator's reason, if the state is `declined`.")
    videos: list[Video] = Field(description="Videos in order of their seeds; empty if `hidden` is true.")
    missing_seeds: list[int] = Field(description="Held-out seeds without a video. Judges never see the agent on these seeds.")
    hidden: bool = Field(
        description="True if you do not see the videos now: you have an open pair of this task, or may still play it."
    )


class AgentDocument(BaseModel):
    """An agent, with its state and videos in each of its tasks."""

    name: str
    kind: str = Field(description="Kind of agent, in a word or two.", examples=["behaviour cloning"])
    description: str
    proposed_by: str | None = Field(description="Name of the token that proposed it. Null if you may not know.")
    page: str = Field(description="Address of its page.", examples=["/agents/team-red-v2"])
    tasks: list[AgentInTask]


class Proposal(BaseModel):
    """An agent to be judged."""

    name: Name = Field(
        description=f"{_NAME_WORDS}. Unique (capital letters make no difference). From now on it is yours.",
        examples=["team-red-v2"],
    )
    kind: Line = Field(default="agent", description="Kind of agent, in a word or two.", examples=["PPO"])
    description: Text = Field(default="", description="Plain text for the agent's page, shown as you write it.")
    tasks: list[str] = Field(
        min_length=1, max_length=50, description="Ids of the tasks in which to judge the agent. You can add more later.",
        examples=[["basalt/find_cave"]],
    )  # fmt: skip


class Change(BaseModel):
    """A change of an agent's state, in one task or in all its tasks."""

    task: str | None = Field(
        default=None, description="Change it only in this task. If not given: in all of the agent's tasks."
    )


class Decline(Change):
    """A refusal of an agent, in one task or in all its tasks, with its reason."""

    reason: Reason = Field(description="The proposer of the agent sees it.")


class Uploaded(BaseModel):
    """The result of an upload."""

    agent: str
    task: str
    seed: int
    episode: str = Field(description="Id of the new episode.")
    missing_seeds: list[int] = Field(description="Held-out seeds that still have no video.")


def documents(request: Request, rows: Sequence[Entrant], hidden: set[str]) -> list[AgentDocument]:
    by_name: dict[str, list[Entrant]] = {}
    for row in rows:
        by_name.setdefault(row.name, []).append(row)
    brought = services(request).roster.brought(by_name)
    viewer, tasks = viewer_of(request), services(request).tasks
    withheld = withheld_here(request, [one.episode for shown in brought.values() for one in shown])
    return [
        _one_document(
            tasks, same, brought, hidden, withheld, sees_proposer=viewer.sees_all or viewer.token == same[0].proposed_by
        )
        for same in by_name.values()
    ]


def document_of(request: Request, rows: Sequence[Entrant], hidden: set[str]) -> AgentDocument:
    return documents(request, rows, hidden)[0]


def _one_document(
    tasks: Mapping[str, Task],
    rows: list[Entrant],
    brought: Mapping[tuple[str, str], list[Brought]],
    hidden: set[str],
    withheld: set[str],
    *,
    sees_proposer: bool,
) -> AgentDocument:
    entries = []
    for row in rows:
        episodes = brought.get((row.name, row.task), [])
        task = tasks.get(row.task)
        there = {one.seed for one in episodes if one.path}
        seeds = task.held_out_seeds if task is not None else ()
        entries.append(
            AgentInTask(
                task=row.task,
                title=task.title if task is not None else row.task,
                state=state(row),
                declined_because=row.declined_because,
                videos=[
                    Video(
                        seed=one.seed,
                        episode=one.episode,
                        video=f"/api/episodes/{one.episode}/video.mp4",
                        seats=list(one.seats) if task is not None and len(task.seats) > 1 else [],
                    )
                    for one in episodes
                    if row.task not in hidden and one.episode not in withheld and one.path and (not seeds or one.seed in seeds)
                ],
                missing_seeds=[seed for seed in seeds if seed not in there],
                hidden=row.task in hidden,
            )
        )
    first = rows[0]
    return AgentDocument(
        name=first.name,
        kind=first.kind,
        description=first.description,
        proposed_by=first.proposed_by if sees_proposer else None,
        page=f"/agents/{first.name}",
        tasks=entries,
    )
