"""Read suites from TOML. Refuse impossible suites with an error that names the file, the key and the remedy."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from interplay.errors import InterplayError, unknown_name
from interplay.statistics import StatisticSpec
from interplay.tables import Table, is_name, nearest, parse_toml, read_text
from interplay.tasks import backend_names
from interplay.tasks.keys import MAX_BUTTONS, MAX_COMPOSED_BUTTONS, MAX_TURN, POINTER_DEGREES, POINTERS, Axis, KeyMap
from interplay.tasks.task import EnvSpec, Pace, Question, QuestionKind, RewardRule, Suite, Task, TaskError

_CODE = re.compile(
    r"Key[A-Z]|Digit\d|F\d\d?|Numpad(\d|Add|Subtract|Multiply|Divide|Decimal|Enter|Comma|Equal)|Arrow(Up|Down|Left|Right)"
    r"|(Shift|Control|Alt|Meta)(Left|Right)|Bracket(Left|Right)|Page(Up|Down)|Intl(Backslash|Ro|Yen)"
    r"|Space|Enter|Tab|Backspace|CapsLock|Comma|Period|Slash|Semicolon|Quote|Backslash|Backquote|Minus|Equal|Insert|Delete|Home|End"
    r"|Mouse(Left|Right|Middle)"
)
"""Allowed `KeyboardEvent.code` values. They name places on the keyboard, the same for every layout, and mouse buttons.
Escape and media keys are not allowed, because browsers use them."""
_COMMON_CODES = [f"Arrow{way}" for way in ("Up", "Down", "Left", "Right")] + [f"Key{chr(65 + n)}" for n in range(26)]
_COMMON_CODES += [f"Digit{n}" for n in range(10)] + ["Space", "Enter", "ShiftLeft", "ControlLeft", "Tab", "Comma", "Period"]
_COMMON_CODES += ["MouseLeft", "MouseRight", "MouseMiddle"]

MAX_SEATS = 64
MAX_TIME_LIMIT_S = 24 * 3600
VIDEO_FRAME_RATE_HZ = 30
"""Default frame rate of tasks that have only videos."""


def load_suite(path: str | Path) -> Suite:
    """Read one suite from a TOML file. Raises `TaskError` if the file is missing, is not TOML, or has impossible values."""
    file = Path(path)
    text = read_text(file, TaskError, hint="Give the path of a task file; docs/tasks.md has one to copy.")
    return parse_suite(text, source=str(file))


def parse_suite(text: str, *, source: str = "<text>") -> Suite:
    """Build a suite from TOML text. `source` names the text in errors. Raises the same errors as `load_suite`."""
    root = Table(parse_toml(text, source, TaskError), source, refuse=TaskError)
    head = root.table("suite")
    suite_id = head.name("id", max_chars=None)
    defaults = root.raw("defaults", dict, {})
    tasks: dict[str, Task] = {}
    entries = root.tables("task", [])
    if not entries:
        raise root.error("task", "has no tasks", "add at least one [[task]] table")
    for entry in entries:
        task = _task(entry.over(defaults), suite_id)
        if task.id in tasks:
            raise entry.error("name", f"{task.name!r} is used twice", "give each task its own name")
        tasks[task.id] = task
    suite = Suite(suite_id, head.line("title"), head.text("description", ""), tuple(tasks.values()))
    head.nothing_else()
    root.nothing_else()
    return suite


@cache
def builtin_suites() -> tuple[Suite, ...]:
    """The suites that ship with the package."""
    files = sorted(resources.files("interplay.tasks").iterdir(), key=lambda item: item.name)
    return tuple(
        parse_suite(item.read_text(encoding="utf-8"), source=item.name) for item in files if item.name.endswith(".toml")
    )


def find(task_id: str, suites: Iterable[Suite] | None = None) -> Task:
    """Look up a task by id, or by path and name (`my.toml:my_task`).

    Raises:
        NotFoundError: If the task is unknown; the text offers the nearest known id.
        TaskError: If `task_id` names a file that cannot be used.
    """
    path, colon, name = task_id.rpartition(":")
    if task_id.endswith(".toml"):
        names = ", ".join(f"{task_id}:{task.name}" for task in load_suite(task_id).tasks)
        raise TaskError(f"{task_id} is a file of tasks; name one of them: {names}")
    if colon and path.endswith(".toml"):
        tasks = {task.name: task for task in load_suite(path).tasks}
        if name not in tasks:
            raise unknown_name("task", name, tasks, hint=f"Tasks of {path} are listed by: interplay tasks check {path}")
        return tasks[name]
    return lookup(task_id, index(builtin_suites() if suites is None else suites))


def index(suites: Iterable[Suite]) -> dict[str, Task]:
    """Return task id -> task, over all suites. Raises `TaskError` if two suites hold a task with the same id."""
    homes: dict[str, Suite] = {}
    tasks: dict[str, Task] = {}
    for suite in suites:
        for task in suite.tasks:
            if task.id in tasks:
                raise TaskError(
                    f"two suites hold a task {task.id!r}: {homes[task.id].title!r} and {suite.title!r}\n"
                    "Give one of the suites another id, or leave one out."
                )
            homes[task.id], tasks[task.id] = suite, task
    return tasks


def lookup(task_id: str, tasks: Mapping[str, Task]) -> Task:
    """Return one task of an index by its id. No file is read, so it is safe for ids from unknown senders. Raises
    `NotFoundError` with the nearest known id."""
    if task_id not in tasks:
        raise unknown_name("task", task_id[:100], tasks, hint="All tasks:  interplay tasks list")
    return tasks[task_id]


def _task(table: Table, suite_id: str) -> Task:
    name = table.name("name", max_chars=None)
    env = _env(table.table("env"))
    seeds = _seeds(table, lowest=0 if env.is_playable else -(2**31))
    goal = table.line("goal")
    frame_rate_hz = float(table.number("frame_rate_hz", 60 if env.is_playable else VIDEO_FRAME_RATE_HZ, low=0.1, high=240))
    pace = cast(Pace, table.choice("pace", get_args(Pace), "clock"))
    max_steps = _max_turns(table) if pace == "turns" else _steps_of_time(table, frame_rate_hz, is_needed=env.is_playable)
    keys = _keys(table.table("keys")) if env.is_playable else _no_keys(table)
    questions = tuple(_question(entry) for entry in table.tables("questions"))
    if len({question.id for question in questions}) != len(questions):
        raise table.error("questions", "two questions share an id", "give each its own id")
    if sum(question.kind == "overall" for question in questions) != 1:
        raise table.error("questions", "must have exactly one question of kind 'overall'", "its answer changes the ratings")
    seats = _seats(table)
    if unknown := [seat for seat in keys.seats if seat not in seats]:
        remedy = nearest(unknown[0], seats) or f"seats are {', '.join(seats)}"
        raise table.error(f"keys.seats.{unknown[0]}", "is not a seat of this task", remedy)
    task = Task(
        id=f"{suite_id}/{name}",
        title=table.line("title"),
        goal=goal,
        instructions=table.text("instructions", ... if env.is_playable else goal),
        env=env,
        frame_rate_hz=frame_rate_hz,
        max_steps=max_steps,
        held_out_seeds=tuple(seeds),
        keys=keys,
        questions=questions,
        tags=table.texts("tags", []),
        seats=seats,
        reward=_reward(table, seats),
        held_out_share=table.number("held_out_share", None, low=0, high=1),
        statistics=tuple(_statistic(table, entry) for entry in table.raw("statistics", list, [])),
        pace=pace,
    )
    if task.takes_turns and not (env.is_playable and keys.has_table):
        remedy = "list actions for the keys, or leave pace out" if env.is_playable else "leave pace out"
        raise table.error("pace", "'turns' needs keys that have actions", remedy)
    table.nothing_else()
    return task


def _steps_of_time(table: Table, frame_rate_hz: float, *, is_needed: bool) -> int:
    """Return the largest number of steps of an episode, from its time limit."""
    if table.raw("max_turns", int, None) is not None and table.is_own("max_turns"):
        raise table.error("max_turns", 'needs pace = "turns", too', 'add pace = "turns", or use time_limit_s instead')
    time_limit_s = table.number("time_limit_s", ... if is_needed else MAX_TIME_LIMIT_S, low=0.1, high=MAX_TIME_LIMIT_S)
    return max(1, round(time_limit_s * frame_rate_hz))


def _max_turns(table: Table) -> int:
    """Return the largest number of turns of an episode, for a world that waits for its players."""
    if table.raw("time_limit_s", (int, float), None) is not None and table.is_own("time_limit_s"):
        raise table.error("time_limit_s", "has no use in a task of turns, which waits for its players", "write max_turns = ...")
    return table.count("max_turns", low=1, high=1_000_000)


def _seats(table: Table) -> tuple[str, ...]:
    seats = table.texts("seats", ["player"])
    if not 1 <= len(seats) <= MAX_SEATS or len(set(seats)) != len(seats):
        raise table.error("seats", f"must be 1 to {MAX_SEATS} different names, got {list(seats)!r}", "name each seat once")
    for seat in seats:
        if not is_name(seat):
            raise table.error("seats", f"{seat!r} is not a name", "use lower-case letters, digits, '_' and '-'")
    return seats


def _reward(table: Table, seats: tuple[str, ...]) -> RewardRule:
    reward = cast(RewardRule, table.choice("reward", get_args(RewardRule), "own"))
    if reward == "shared" and len(seats) == 1:
        raise table.error("reward", "cannot be shared in a task of one seat", "list several seats, or leave reward out")
    return reward


def _statistic(table: Table, entry: object) -> StatisticSpec:
    """Read one entry of `statistics`: a name, or a table of `name` and parameters. Code of other packages is not imported."""
    parameters = dict(entry) if isinstance(entry, dict) else {"name": entry}
    name = parameters.pop("name", None)
    if not isinstance(name, str) or not name:
        problem = f"must hold names, or tables with a name, got {entry!r}"
        raise table.error(
            "statistics", problem, 'write for example ["aliens_hit", { name = "active_time", action_timeout_s = 20 }]'
        )
    spec = StatisticSpec(name, parameters)
    if not spec.is_own:
        try:
            spec.build()
        except InterplayError as error:
            raise table.error("statistics", "names a statistic that cannot be collected", str(error)) from None
    return spec


def _seeds(table: Table, *, lowest: int) -> list[int]:
    seeds = table.raw("held_out_seeds", list)
    if not seeds:
        raise table.error("held_out_seeds", "is empty", "list at least one seed; agents are compared on these seeds")
    for seed in seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or not lowest <= seed < 2**31:
            low = "-2**31" if lowest else "0"
            raise table.error("held_out_seeds", f"{seed!r} is not a whole number from {low} to 2**31 - 1", "replace it")
    if len(set(seeds)) != len(seeds):
        raise table.error("held_out_seeds", "holds the same seed twice", "keep each seed once")
    return seeds


def _no_keys(table: Table) -> KeyMap:
    if table.raw("keys", dict, None) is not None and table.is_own("keys"):
        raise table.error("keys", "has no use in a task of videos, which nobody plays", "leave it out")
    return KeyMap((), {}, {frozenset(): None})


def _env(table: Table) -> EnvSpec:
    env_id = table.text("id")
    backend, colon, name = env_id.partition(":")
    if not colon or not name or not backend_names.is_known(backend):
        near = difflib.get_close_matches(backend, backend_names.names(), n=1)
        remedy = (
            f"did you mean '{near[0]}:{name or '...'}'"
            if near
            else "write 'ale:<rom>', 'gym:<registered id>', 'voxel:<name>', or 'video:none' where there are videos only"
        )
        raise table.error("id", f"{env_id!r} names no known backend", remedy)
    if backend == "video" and name != "none":
        raise table.error("id", f"{env_id!r} names no known backend", "did you mean 'video:none'")
    options = table.raw("options", dict, {})
    if backend == "video" and options and table.is_own("options"):
        raise table.error("options", "has no effect in a task without a world", "leave it out")
    table.nothing_else()
    return EnvSpec(env_id, {} if backend == "video" else options)


def _question(table: Table) -> Question:
    kind = cast(QuestionKind, table.choice("kind", get_args(QuestionKind)))
    question = Question(table.name("id", max_chars=None), table.text("factor"), kind, table.text("text"))
    table.nothing_else()
    return question


def _keys(table: Table) -> KeyMap:
    compose = table.raw("compose", bool, False)
    limit = MAX_COMPOSED_BUTTONS if compose else MAX_BUTTONS
    buttons = table.texts("buttons")
    if not 1 <= len(buttons) <= limit or len(set(buttons)) != len(buttons):
        raise table.error("buttons", f"must be 1 to {limit} different names, got {list(buttons)!r}", "name each button once")
    pointer, pointer_degrees, turns = _pointer(table, buttons, compose=compose)
    axes = _axes(table, buttons)
    buttons += tuple(turns)

    def checked(key: str, button: object) -> str:
        if button not in buttons:
            remedy = nearest(str(button), buttons) or f"buttons are {', '.join(buttons)}"
            raise table.error(key, f"{button!r} is not a button of this task", remedy)
        return cast(str, button)

    for code in table.raw("bindings", dict):
        if not _CODE.fullmatch(code):
            remedy = nearest(code, _COMMON_CODES) or "use the `code` of the browser's key events, such as 'KeyW'"
            raise table.error(f"bindings.{code}", "is not a key's name", remedy)
    bindings = {code: checked(f"bindings.{code}", button) for code, button in table.raw("bindings", dict).items()}
    # An entry that no key presses stays 0 for people and is there for programs; any other button would be of no use.
    unbound = [button for button in (turns if compose else buttons) if button not in bindings.values()]
    if unbound:
        raise table.error("bindings", f"no key presses {unbound[0]!r}", f'bind a key, for example KeyF = "{unbound[0]}"')
    if compose and table.raw("actions", dict, None) is not None:
        raise table.error("actions", "cannot be combined with compose = true", "leave one of them out")
    if axes:
        _refuse_beside_axes(table, buttons, axes)

    def acting(name: str, given: object) -> dict[frozenset[str], Any]:
        found: dict[frozenset[str], Any] = {}
        for combination, action in given.items() if isinstance(given, dict) else ():
            names = [part for part in combination.split("+") if part]
            key = frozenset(checked(f"{name}.{combination!r}", one) for one in names)
            if key in found:
                raise table.error(f"{name}.{combination!r}", "names a combination that is already listed", "keep one of them")
            found[key] = action
        if frozenset() not in found:
            raise table.error(name, "has no action for the case that no key is held", 'add "" = <the no-op action>')
        return found

    own = table.raw("seats", dict, {})
    if own and (compose or axes):
        raise table.error("seats", "can only be combined with actions", "leave it out")
    actions = {} if compose or axes else acting("actions", table.raw("actions", dict))
    of_seats = {seat: acting(f"seats.{seat}", given) for seat, given in own.items()}
    opposites = []
    for pair in table.raw("opposites", list, []):
        if not isinstance(pair, list) or len(pair) != 2:
            raise table.error("opposites", f"must hold pairs of buttons, got {pair!r}", 'write [["LEFT", "RIGHT"]]')
        opposites.append((checked("opposites", pair[0]), checked("opposites", pair[1])))
    labels = {checked("labels", button): str(text) for button, text in table.raw("labels", dict, {}).items()}
    table.nothing_else()
    return KeyMap(
        buttons, bindings, actions, tuple(opposites), labels, compose, pointer, pointer_degrees, turns, axes, of_seats
    )


def _axes(table: Table, buttons: tuple[str, ...]) -> tuple[Axis, ...]:
    axes: list[Axis] = []
    for entry in table.tables("axes", []):
        pointer = entry.choice("pointer", POINTERS)
        if pointer in (one.pointer for one in axes):
            raise entry.error(
                "pointer", f"{pointer!r} moves another axis already", "an action has two numbers at most, x and y"
            )
        values = entry.raw("values", list)
        if len(values) != 2 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
            raise entry.error("values", f"must be two numbers, got {values!r}", "write [-1, 1]")
        ends = float(np.float32(values[0])), float(np.float32(values[1]))
        if not all(map(math.isfinite, ends)) or ends[0] == ends[1]:
            raise entry.error("values", f"must be two different finite numbers, got {values!r}", "write [-1, 1]")
        pair = entry.texts("buttons", [])
        if len(pair) not in (0, 2) or len(set(pair)) != len(pair) or not set(pair) <= set(buttons):
            problem = f"must be two different buttons of this task, got {list(pair)!r}"
            raise entry.error("buttons", problem, f"buttons are {', '.join(buttons)}; or leave it out")
        entry.nothing_else()
        axes.append(Axis(pointer, ends, pair))
    return tuple(axes)


def _refuse_beside_axes(table: Table, buttons: tuple[str, ...], axes: tuple[Axis, ...]) -> None:
    for key in ("actions", "compose"):
        if table.raw(key, (dict, bool), None):
            raise table.error(key, "cannot be combined with axes", "leave one of them out")
    used = [button for axis in axes for button in axis.buttons]
    for button in buttons:
        if used.count(button) != 1:
            problem = f"{button!r} belongs to {used.count(button) or 'no'} {'axes' if button in used else 'axis'}"
            raise table.error("buttons", problem, "name it in the buttons of one axis")


def _pointer(
    table: Table, buttons: tuple[str, ...], *, compose: bool
) -> tuple[str | None, float, dict[str, tuple[float, float]]]:
    pointer: str | None = table.raw("pointer", str, None)
    degrees = float(table.number("pointer_degrees", POINTER_DEGREES, low=0.001, high=45))
    given = table.raw("turns", dict, {})
    for key, needs, there in (
        ("pointer", "compose = true", compose),
        ("pointer_degrees", 'pointer = "<the entry that turns>"', pointer is not None),
        ("turns", 'pointer = "<the entry that turns>"', pointer is not None),
    ):
        if table.raw(key, (str, int, float, dict), None) is not None and not there:
            raise table.error(key, f"needs {needs}, too", f"add that, or leave {key} out")
    if pointer is not None and (not pointer or pointer in buttons):
        raise table.error("pointer", f"{pointer!r} must not be empty or a button", "name the entry that takes (pitch, yaw)")
    turns: dict[str, tuple[float, float]] = {}
    for button, turn in given.items():
        if button in buttons or button == pointer:
            raise table.error(f"turns.{button}", "is already an entry of the action", "give the turn another name")
        if (
            not isinstance(turn, list)
            or len(turn) != 2
            or not all(isinstance(angle, int | float) and not isinstance(angle, bool) for angle in turn)
            or not all(abs(angle) <= MAX_TURN for angle in turn)
        ):
            problem = f"must be [pitch, yaw] in degrees per step, each from -{MAX_TURN:g} to {MAX_TURN:g}, got {turn!r}"
            raise table.error(f"turns.{button}", problem, "write for example [0, 5] to turn right")
        turns[button] = (float(turn[0]), float(turn[1]))
    if len(buttons) + len(turns) > MAX_COMPOSED_BUTTONS:
        problem = f"makes {len(buttons) + len(turns)} buttons with the action's; at most {MAX_COMPOSED_BUTTONS} are allowed"
        raise table.error("turns", problem, "leave some out")
    return pointer, degrees, turns
