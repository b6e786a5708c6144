"""The objects of a task file: `Task`, `Suite`, `Question`, `EnvSpec`. They are frozen, comparable, and hashed by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from interplay.errors import InterplayError
from interplay.statistics import Setting, StatisticSpec
from interplay.tasks.keys import KeyMap

if TYPE_CHECKING:
    import numpy as np

QuestionKind = Literal["direct", "comparative", "overall"]
RewardRule = Literal["own", "shared"]
Pace = Literal["clock", "turns"]


class TaskError(InterplayError):
    """A task file cannot be used. The text names the file, the key and the remedy."""


@dataclass(frozen=True)
class EnvSpec:
    """The world of a task.

    Attributes:
        id: `"<backend>:<name>"`: `ale:space_invaders` (an Atari ROM) or `gym:CartPole-v1` (any registered Gymnasium id);
            `video:none` if there is no world, but only videos to judge.
        options: Options of that backend, JSON values only.
    """

    id: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def backend(self) -> str:
        return self.id.partition(":")[0]

    @property
    def name(self) -> str:
        return self.id.partition(":")[2]

    @property
    def is_playable(self) -> bool:
        """Whether there is a world to act in; False if there are only videos."""
        return self.backend != "video"


@dataclass(frozen=True)
class Question:
    """One question of the judging form.

    Attributes:
        id: Short name, unique in its task; the key of the answer.
        factor: The measured quality (BEDD, Table 10), e.g. "task success".
        kind: `direct` (yes or no, asked of each side), `comparative` (left, draw, right or not applicable), or `overall` (left,
            draw or right: the answer that moves ratings; exactly one per task).
        text: Shown to the judge.
    """

    id: str
    factor: str
    kind: QuestionKind
    text: str

    @property
    def is_inverted(self) -> bool:
        """Whether a yes is the bad answer, because the factor of a direct question begins with "least"."""
        return self.kind == "direct" and self.factor.lower().startswith("least ")


@dataclass(frozen=True)
class Task:
    """A task: instructions for an actor, the world to act in, and the judging form.

    Attributes:
        id: `"<suite>/<name>"`.
        title, goal: A headline, and one sentence for lists.
        instructions: Plain text, paragraphs separated by empty lines.
        frame_rate_hz: Steps per second when a person plays.
        max_steps: Number of steps after which the episode is truncated.
        held_out_seeds: Seeds never used for demonstrations or training; agents are compared on them.
        keys: How a person's keys become actions.
        questions: The judging form, in order.
        tags: Free words for search.
        seats: Names of the places in the world, each for one person or agent. All seats use the same keys.
        reward: Reward of a seat in a step. `own`: as the world gives it. `shared`: the sum over all seats, the same for each.
        held_out_share: Share of people's games on held-out seeds, 0 to 1; None leaves it to the server. At 1 the task has no
            other seeds, whatever the server says.
        statistics: Statistics that are computed in addition to the default statistics of its world
            (`interplay.statistics.defaults`).
        pace: When the world takes a step while people play: by the `clock`, `frame_rate_hz` times a second; or by `turns`, when
            every seat has pressed a key. Then `frame_rate_hz` is the highest speed, for example while a key is held.
    """

    id: str
    title: str
    goal: str
    instructions: str
    env: EnvSpec
    frame_rate_hz: float
    max_steps: int
    held_out_seeds: tuple[int, ...]
    keys: KeyMap
    questions: tuple[Question, ...]
    tags: tuple[str, ...] = ()
    seats: tuple[str, ...] = ("player",)
    reward: RewardRule = "own"
    held_out_share: float | None = None
    statistics: tuple[StatisticSpec, ...] = ()
    pace: Pace = "clock"

    @property
    def suite(self) -> str:
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        return self.id.partition("/")[2]

    @property
    def time_limit_s(self) -> float:
        """Longest possible episode at full speed, in seconds."""
        return self.max_steps / self.frame_rate_hz

    @property
    def setting(self) -> Setting:
        """Facts that collectors of statistics need before a game begins. In a task of turns every step is an action."""
        noop = None if self.takes_turns else self.keys.noop
        noops = {} if self.takes_turns else {seat: self.keys.of(seat).noop for seat in self.keys.seats}
        return Setting(self.env.id, self.seats, self.frame_rate_hz, noop, self.takes_turns, noops)

    def draw_seed(self, rng: np.random.Generator) -> int:
        """Draw a seed for learning, from 0 to 2**31 - 1; it is never a held-out seed."""
        while (seed := int(rng.integers(2**31))) in self.held_out_seeds:
            pass
        return seed

    @property
    def takes_turns(self) -> bool:
        """Whether the world waits for its players."""
        return self.pace == "turns"

    def to_json(self) -> dict[str, Any]:
        """Return the whole task as JSON values, in the form that `content_hash` digests and episodes store.

        A field that was added after the first release is left out if it has its default, so that older tasks keep their hash.
        """
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("env", "keys", "questions")}
        document = plain | {
            "env": {"id": self.env.id, "options": dict(self.env.options)},
            "keys": self.keys.to_json(),
            "questions": [asdict(question) for question in self.questions],
            "statistics": [spec.to_json() for spec in self.statistics],
        }
        document = {name: value for name, value in document.items() if name not in _LATER or value != _LATER[name]}
        return json.loads(json.dumps(document))

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Task:
        env = document["env"]
        parts: dict[str, Any] = {
            "env": EnvSpec(env["id"], env["options"]),
            "held_out_seeds": tuple(document["held_out_seeds"]),
            "keys": KeyMap.from_json(document["keys"]),
            "questions": tuple(Question(**question) for question in document["questions"]),
            "tags": tuple(document["tags"]),
            "seats": tuple(document["seats"]),
            "statistics": tuple(map(StatisticSpec.from_json, document.get("statistics", ()))),
        }
        return cls(**{**document, **parts})

    @cached_property
    def content_hash(self) -> str:
        """First 16 hex digits of the SHA-256 of the task's content."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


_LATER = {"reward": "own", "held_out_share": None, "statistics": [], "pace": "clock"}
"""Fields that were added after the first release, and their defaults."""


@dataclass(frozen=True)
class Suite:
    """Tasks that belong together, as one TOML file defines them."""

    id: str
    title: str
    description: str
    tasks: tuple[Task, ...]


_SUITE = "basalt"
"""BEDD's data set and MineRL's tools have other names for the tasks of this suite."""


def published_name(task: Task) -> str:
    """Return the name of a task in the published data set; a task of another suite has its id as name.

    >>> from interplay.tasks import find
    >>> published_name(find("basalt/find_cave")), published_name(find("atari/breakout"))
    ('FindCave', 'atari/breakout')
    """
    return "".join(part.capitalize() for part in task.name.split("_")) if task.suite == _SUITE else task.id


def published_names(task: Task) -> tuple[str, ...]:
    """Return all published names of a task, first the data set's name; empty for tasks of other suites.

    >>> from interplay.tasks import find
    >>> published_names(find("basalt/find_cave"))
    ('FindCave', 'MineRLBasaltFindCave-v0', 'MineRLFindCave-v0')
    """
    if task.suite != _SUITE:
        return ()
    name = published_name(task)
    return (name, f"MineRLBasalt{name}-v0", f"MineRL{name}-v0")
