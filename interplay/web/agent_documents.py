"""What goes over the wire about agents: the bodies of requests and answers, and refusals, as the API description shows them."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

from fastapi import HTTPException
from pydantic import BaseModel, Field, StringConstraints

from interplay.store.agents import AgentState

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,59}$")]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]
Text = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]


class Refusal(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="A short code for programs.", examples=["forbidden"])
    message: str = Field(description="What is wrong and what to do about it.")


class Video(BaseModel):
    """One video of an agent."""

    seed: int = Field(description="Held-out seed of the task the agent played.")
    episode: str = Field(description="Id of the episode.")
    video: str = Field(description="Address of the mp4.", examples=["/api/episodes/ID/video.mp4"])


class AgentInTask(BaseModel):
    """Where an agent stands in one task."""

    task: str = Field(examples=["basalt/find_cave"])
    title: str
    state: AgentState = Field(description="Judges are shown `approved` agents only; a withdrawn one keeps its answers.")
    declined_because: str = Field(description="The moderator's reason, where the state is `declined`.")
    videos: list[Video] = Field(description="By seed. Empty for whoever has a pair of this task before them (`hidden`).")
    missing_seeds: list[int] = Field(description="Held-out seeds without a video: judges never see the agent on these.")
    hidden: bool = Field(description="Whether videos are kept back because you are judging this task right now.")


class AgentDocument(BaseModel):
    """An agent, in every task it is in."""

    name: str
    kind: str = Field(description="What it is, in a word or two.", examples=["behaviour cloning"])
    description: str
    proposed_by: str | None = Field(description="Name of the token that brought it; null unless it is yours to know.")
    page: str = Field(description="Address of its page.", examples=["/agents/team-red-v2"])
    tasks: list[AgentInTask]


class Proposal(BaseModel):
    """An agent to be judged."""

    name: Name = Field(
        description="1 to 60 letters, digits or . _ + -; unique whatever its capitals, and yours from now on.",
        examples=["team-red-v2"],
    )
    kind: Line = Field(default="agent", description="What it is, in a word or two.", examples=["PPO"])
    description: Text = Field(default="", description="For the agent's page: plain text, shown as written.")
    tasks: list[str] = Field(
        min_length=1, max_length=50, description="Ids of the tasks to be judged in; more can be proposed later.",
        examples=[["basalt/find_cave"]],
    )  # fmt: skip


class Change(BaseModel):
    """Where to change an agent's state."""

    task: str | None = Field(default=None, description="Only in this task; in all of the agent's tasks if not given.")


class Decline(Change):
    """Where to refuse an agent, and why."""

    reason: Reason = Field(description="Told to whoever proposed it.")


class Uploaded(BaseModel):
    """What became of a video."""

    agent: str
    task: str
    seed: int
    episode: str = Field(description="Id of the new episode.")
    missing_seeds: list[int] = Field(description="Held-out seeds that still have no video.")


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The API description of what may go wrong."""
    return {status: {"model": Refusal, "description": _REFUSALS[status]} for status in statuses}


_REFUSALS = {
    401: "No token, or one that is unknown or revoked.",
    403: "The token may not do this, or the agent is another's.",
    404: "No such agent, or it is not in this task.",
    409: "The name is taken, or the agent is not in a state for this.",
    413: "The video is larger than the server takes.",
    422: "A value is missing or wrong; the message names it.",
    503: "The server has no room left.",
}


_CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    413: "too_large",
    422: "invalid",
    503: "unavailable",
}


def refuse(status: int, message: str) -> NoReturn:
    """Answer with a refusal in the form the description promises."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    raise HTTPException(status, {"error": _CODES[status], "message": message}, headers)
