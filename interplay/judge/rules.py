"""What a study of comparisons asks of its judges: tasks, quotas, checks, minimum viewing time, matchmaking, examples.

A study's file says it in its table `[judging]`; without a study, the defaults here are the rules of the open room.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from interplay.errors import InterplayError
from interplay.judge.form import MAX_REASON_CHARS, MIN_REASON_CHARS
from interplay.judge.policies import policy as make_policy
from interplay.rank import OUTCOMES, Outcome

TaskChoice = Literal["random", "fixed"]


class RulesError(InterplayError):
    """Rules that cannot be followed; the text names the key and the remedy."""


@dataclass(frozen=True)
class AttentionCheck:
    """Two episodes of one task whose better one is beyond doubt. Sides are drawn anew each time it is shown.

    Attributes:
        task: Task id.
        left, right: Episode ids.
        expected: The right answer.
    """

    task: str
    left: str
    right: str
    expected: Outcome


@dataclass(frozen=True)
class Example:
    """A video that shows judges what to look for.

    Attributes:
        task: Task id; empty for an example of every task.
        video: Its address on this server, beginning with `/`.
        caption: What there is to see in it.
    """

    task: str
    video: str
    caption: str


@dataclass(frozen=True)
class Rules:
    """The rules of one study, or of the open room.

    Attributes:
        tasks: Task ids to judge; None for all that have agents to compare.
        task_choice: `random` draws a task for every match, `fixed` once for every judge; people in a study cannot choose.
        min_viewing_s: How long after serving an answer is accepted from a person, seconds.
        min_watched_share: How much of each video a person must have played, from 0 to 1.
        min_reason_chars: The shortest reason.
        max_answers_per_judge: How many answers one judge may give, checks included; None for no limit.
        target_answers: The study is full with so many answers that count; None for no limit.
        max_shows_of_pair: How often one judge may be shown the same two videos; None for again when all was seen.
        max_answers_of_agents: How many answers one judge may give about the same two agents in one task; None for no limit.
        attention_every: One match of every so many is an attention check, at a place drawn by chance; None for none.
        attention_checks: What attention checks show; without one for a task, the same video stands on both sides.
        repeat_every: One match of every so many is a pair this judge has answered before, sides swapped; None for none.
        policy: Which pair of agents comes next: a name of `judge.policies`, `default` for the one measured best.
        policy_options: Its options.
        examples: Shown above the match.
    Raises:
        RulesError: If a value is outside its range, or checks are more than half of all matches; the text names it.
    """

    tasks: tuple[str, ...] | None = None
    task_choice: TaskChoice = "random"
    min_viewing_s: float = 10.0
    min_watched_share: float = 0.0
    min_reason_chars: int = MIN_REASON_CHARS
    max_answers_per_judge: int | None = None
    target_answers: int | None = None
    max_shows_of_pair: int | None = None
    max_answers_of_agents: int | None = None
    attention_every: int | None = None
    attention_checks: tuple[AttentionCheck, ...] = ()
    repeat_every: int | None = None
    policy: str = "default"
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()

    def __post_init__(self) -> None:
        """Check every range."""
        for name, is_good, expected in (
            ("tasks", self.tasks is None or len(self.tasks) > 0, "one task or more; leave it out for all"),
            ("task_choice", self.task_choice in ("random", "fixed"), "'random' or 'fixed'"),
            ("min_viewing_s", 0 <= self.min_viewing_s <= 3600, "a number of seconds from 0 to 3600"),
            ("min_watched_share", 0 <= self.min_watched_share <= 1, "a number from 0 to 1"),
            ("min_reason_chars", 0 <= self.min_reason_chars <= MAX_REASON_CHARS, f"from 0 to {MAX_REASON_CHARS}"),
            *(
                (
                    name,
                    (value := getattr(self, name)) is None or value >= smallest,
                    f"{smallest} or more; leave it out for none",
                )
                for name, smallest in _SMALLEST.items()
            ),
        ):
            if not is_good:
                raise RulesError(f"{name} must be {expected}; got {getattr(self, name)!r}")
        attention, repeat = self.attention_every, self.repeat_every
        if attention is not None and repeat is not None and 2 * (attention + repeat) > attention * repeat:
            raise RulesError(
                f"attention_every {attention} and repeat_every {repeat} make checks of more than half of all matches, "
                f"1/{attention} + 1/{repeat}; make one of them larger"
            )
        try:
            make_policy(self.policy, **self.policy_options)
        except InterplayError as error:
            raise RulesError(f"policy: {error}") from None

    @classmethod
    def from_mapping(cls, mapping: Any, where: str = "[judging]") -> Rules:
        """The rules a study's table says.

        Args:
            mapping: The table `[judging]`, as TOML or JSON gives it; empty or None for the defaults.
            where: What to call it in errors.
        Raises:
            RulesError: Naming the key, what it holds, and what it may hold.
        """
        if mapping is None:
            return cls()
        if not isinstance(mapping, Mapping):
            raise RulesError(f"{where} must be a table of settings; got {mapping!r}")
        values: dict[str, Any] = {}
        for key, value in mapping.items():
            if key not in _READERS:
                near = difflib.get_close_matches(str(key), _READERS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it may hold {', '.join(_READERS)}"
                raise RulesError(f"{where} has no setting {key!r}; {hint}")
            if value is not None:
                values[key] = _READERS[key](value, f"{where} {key}")
        try:
            return cls(**values)
        except RulesError as error:
            raise RulesError(f"{where} {error}") from None


_SMALLEST = {
    "max_answers_per_judge": 1,
    "target_answers": 1,
    "max_shows_of_pair": 1,
    "max_answers_of_agents": 1,
    "attention_every": 2,
    "repeat_every": 2,
}


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise RulesError(f"{where} must be text; got {value!r}")
    return value


def _whole(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RulesError(f"{where} must be a whole number; got {value!r}")
    return value


def _number(value: Any, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        raise RulesError(f"{where} must be a number; got {value!r}")
    return float(value)


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RulesError(f"{where} must be a table; got {value!r}")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise RulesError(f"{where} must be a list; got {value!r}")
    return list(value)


def _tasks(value: Any, where: str) -> tuple[str, ...]:
    tasks = [_text(task, where) for task in _list(value, where)]
    return tuple(dict.fromkeys(tasks))


def _tables(value: Any, where: str, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """A list of tables with exactly these keys, all of them texts."""
    found = []
    for number, entry in enumerate(_list(value, where), 1):
        entry_where = f"{where}, entry {number}"
        table = _table(entry, entry_where)
        if unknown := sorted(set(table) - set(keys) - set(optional)):
            raise RulesError(f"{entry_where} has no setting {unknown[0]!r}; it holds {', '.join(keys + optional)}")
        if lacking := [key for key in keys if key not in table]:
            raise RulesError(f"{entry_where} lacks {lacking[0]!r}; it holds {', '.join(keys + optional)}")
        found.append({key: _text(text, f"{entry_where} {key}") for key, text in table.items() if text or key not in optional})
    return found


def _attention_checks(value: Any, where: str) -> tuple[AttentionCheck, ...]:
    checks = []
    for entry in _tables(value, where, ("task", "left", "right", "expected")):
        if entry["expected"] not in OUTCOMES:
            raise RulesError(f"{where} expected must be left, right or draw; got {entry['expected']!r}")
        checks.append(AttentionCheck(entry["task"], entry["left"], entry["right"], cast(Outcome, entry["expected"])))
    return tuple(checks)


def _examples(value: Any, where: str) -> tuple[Example, ...]:
    examples = []
    for entry in _tables(value, where, ("video", "caption"), ("task",)):
        if not entry["video"].startswith("/") or entry["video"].startswith("//"):
            raise RulesError(
                f"{where} video must be an address on this server, such as /media/example.mp4; got {entry['video']!r}\n"
                "Judges' pages load nothing from other hosts."
            )
        examples.append(Example(entry.get("task", ""), entry["video"], entry["caption"]))
    return tuple(examples)


_READERS = {
    "tasks": _tasks,
    "task_choice": _text,
    "min_viewing_s": _number,
    "min_watched_share": _number,
    "min_reason_chars": _whole,
    **dict.fromkeys(_SMALLEST, _whole),
    "attention_checks": _attention_checks,
    "policy": _text,
    "policy_options": lambda value, where: dict(_table(value, where)),
    "examples": _examples,
}
"""Setting -> how it is read."""
