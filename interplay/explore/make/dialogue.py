"""Turns of the makers, and the parser of replies: a reply that does not have its turn's form is refused with a reason.

A reply changes the draft only as its turn allows; a reply's claims about the gate, the oracle or other makers do not count.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.explore.evaluation.replies import Reply, clean, objects
from interplay.explore.instance import SCHEMA, parse
from interplay.explore.make.draft import Draft
from interplay.tables import Table

TEXTS = Path(__file__).with_name("roles.toml")
TOOLS = ("commands", "look", "walk", "fact")


@dataclass(frozen=True)
class Role:
    """One of the makers: its model's temperature, as published, and the `tools` (of `TOOLS`) that the model may call."""

    name: str
    temperature: float
    tools: tuple[str, ...]
    most_calls: int


@dataclass(frozen=True)
class Turn:
    """One turn in the order of turns; `kind` is the key of its prompt in `roles.toml` and of its parser in `_READERS`."""

    role: str
    kind: str


ROLES = {
    role.name: role
    for role in (
        Role("selector", 0.7, ("fact",), 5),
        Role("scene", 0.7, TOOLS, 1),
        Role("milestones", 0.2, ("look", "walk", "fact"), 5),
        Role("expert", 0.3, ("look", "fact"), 5),
        Role("validator", 0.2, TOOLS, 1),
        Role("single", 0.7, (), 0),
    )
}
OPENING = (
    Turn("selector", "select"),
    Turn("scene", "scene"),
    Turn("scene", "report"),
    Turn("expert", "feedback"),
    Turn("milestones", "milestones"),
)
DEBATE = (
    Turn("expert", "inspect"),
    Turn("validator", "validate_graph"),
    Turn("validator", "validate_milestones"),
    Turn("selector", "reselect"),
    Turn("scene", "rescene"),
    Turn("scene", "report"),
    Turn("milestones", "remilestones"),
    Turn("expert", "inspect"),
    Turn("validator", "validate"),
)
MOST_DEBATES = 2
SINGLE, SINGLE_AGAIN = Turn("single", "all"), Turn("single", "all_again")
MOST_TRIES = 3
"""Number of unusable replies after which a turn passes without a result."""


@cache
def texts() -> dict[str, Any]:
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))


KINDS = ("empty", "refusal", "role_swapped", "too_long", "cut_json", "no_json", "wrong_form", "unknown_tool", "not_there")
"""Kinds of refused replies; `not_there`: the reply names something that is not in the scene."""
TARGETS = ("selector", "scene", "milestones")
NOTE_CHARS = 1500
MOST_COMMANDS = 120


class ReplyError(InterplayError):
    """Raised when a reply cannot be used; `kind` is one of `KINDS`."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(clean(why, 600))
        self.kind = kind


class _FormError(InterplayError):
    """Raised when a value does not have the type that the form requires."""


@dataclass(frozen=True)
class ToolCall:
    """A call of one of `TOOLS`; `sandbox` reads the arguments."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """Result of one turn: the draft, a critic's approval (`None` for makers), and notes to the others, one line each."""

    draft: Draft
    approved: bool | None = None
    notes: tuple[str, ...] = field(default=())


def read(
    turn: Turn, role: Role, text: Any, draft: Draft, *, there: Collection[str] = (), withheld: bool = False
) -> Said | ToolCall:
    """Parse the reply of a turn.

    Args:
        there: Names of blocks and mobs in the scene; a report may name only these.
        withheld: Whether the model's server says that it held the reply back.
    Raises:
        ReplyError: If the reply cannot be used; the draft stays as it was.
    """
    found = objects(text, withheld=withheld)
    if isinstance(found, Reply):
        why = "it speaks for somebody else; speak as yourself alone" if found.kind == "role_swapped" else found.why
        raise ReplyError(found.kind, why)
    value = found[0]
    if "tool" in value:
        tool = value["tool"]
        if tool not in role.tools:
            known = f"it may call {', '.join(role.tools)}" if role.tools else "it has no tools"
            raise ReplyError("unknown_tool", f"{clean(tool, 40)!r} is not a tool of the {role.name}: {known}")
        return ToolCall(tool, value)
    values = _plain(value)
    table = Table(values, "reply", refuse=_FormError)
    try:
        said = _READERS[turn.kind](table, draft)
        table.nothing_else()
    except ReplyError:
        raise
    except (InterplayError, RecursionError) as error:
        raise ReplyError("wrong_form", str(error).replace("\n", " ") or "its lists or objects are nested too deeply") from None
    seen = {name.removeprefix("minecraft:") for name in values["seen"]} if turn.kind == "report" else set()
    if invented := sorted(seen - set(there)):
        raise ReplyError(
            "not_there", f"it says that {clean(invented[0], 60)} was seen, and no such block or mob is in the scene"
        )
    return said


def _plain(value: Any) -> Any:
    """Clean the texts of a JSON value so that they can be stored; refuse numbers that are too large or not finite."""
    if isinstance(value, str):
        return clean(value, len(value))
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise ReplyError("wrong_form", "it holds a number that is not finite")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**9:
        raise ReplyError("wrong_form", "it holds a number that is far too large")
    if isinstance(value, Mapping):
        return {clean(name, len(name)): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


# Makers


def _select(table: Table, draft: Draft) -> Said:
    tasks, edges = _graph(table.texts("selected_tasks"), table.table("dependency_graph"))
    return Said(draft.with_graph(tasks, _note(table, "selection_reasoning"), edges))


def _reselect(table: Table, draft: Draft) -> Said:
    notes = _notes(table, "response_to_critic", "suggestions_for_scene")
    tasks, graph = _given(table, "revised_tasks", list), _given(table, "revised_graph", dict)
    if tasks is None and graph is None:
        return Said(draft, notes=notes)
    chosen = table.texts("revised_tasks") if tasks is not None else draft.tasks
    nodes = {"nodes": list(chosen), "edges": [dict(edge) for edge in draft.edges]} if graph is None else graph
    new, edges = _graph(chosen, Table(nodes, table.source, "revised_graph", refuse=_FormError))
    return Said(draft.with_graph(new, "", edges), notes=notes)


def _graph(tasks: tuple[str, ...], graph: Table) -> tuple[tuple[str, ...], tuple[Mapping[str, Any], ...]]:
    """Read tasks and edges. The nodes of the graph must be the tasks; the gate checks everything else."""
    if not tasks:
        raise graph.error("nodes", "are none", "choose tasks")
    nodes, edges = graph.texts("nodes"), []
    if set(nodes) != set(tasks):
        raise graph.error(
            "nodes", f"are {list(nodes)}, and the selected tasks are {list(tasks)}", "name the same tasks in both"
        )
    for edge in graph.tables("edges"):
        edges.append({"from": edge.text("from"), "to": edge.text("to"), "reason": edge.text("reason", "")})
        edge.nothing_else()
    graph.nothing_else()
    return tasks, tuple(edges)


def _scene_of(table: Table) -> dict[str, Any]:
    scene: dict[str, Any] = {
        name: table.text(name, "")[:NOTE_CHARS] for name in ("scene_name", "scene_description", "design_notes")
    }
    scene["task_text"] = table.text("task_text")
    scene["atomic_tasks_ordered"] = list(table.texts("atomic_tasks_ordered"))
    scene["commands"] = list(table.texts("commands"))
    table.nothing_else()
    if len(scene["commands"]) > MOST_COMMANDS:
        raise table.error("commands", f"are {len(scene['commands'])}", f"write at most {MOST_COMMANDS}")
    return scene


def _rescene(table: Table, draft: Draft) -> Said:
    return Said(_with_scene(table, draft), notes=_notes(table, "response_to_critic", "proposal_for_team"))


def _report(table: Table, draft: Draft) -> Said:
    table.texts("seen")
    return Said(_with_scene(table, draft), notes=_notes(table, "screenshot_observations"))


def _with_scene(table: Table, draft: Draft) -> Draft:
    if _given(table, "revised_scene", dict) is None:
        return draft
    return replace(draft, scene=_scene_of(table.table("revised_scene")))


def _remilestones(table: Table, draft: Draft) -> Said:
    notes = _notes(table, "response_to_critic", "scene_clarification_request")
    if _given(table, "revised_milestones", list) is None:
        return Said(draft, notes=notes)
    return Said(replace(draft, milestones=_milestones_of(table, "revised_milestones")), notes=notes)


def _milestones_of(table: Table, key: str) -> tuple[Mapping[str, Any], ...]:
    given = table.raw(key, list)
    graph = {"nodes": [], "edges": []}
    rest = {"selected_tasks": [], "reasoning_graph": graph, "task_text": "none", "atomic_tasks_ordered": [], "commands": []}
    parse({"schema": SCHEMA, "name": "reply", "milestones": given} | rest, source="reply")
    if not given:
        raise table.error(key, "are none", "write one for each task")
    return tuple(given)


def _all(table: Table, draft: Draft) -> Said:
    chosen = _select(table, draft).draft
    scene = _scene_of(table.table("scene"))
    return Said(replace(chosen, scene=scene, milestones=_milestones_of(table, "milestones")))


# Critics


def _inspect(table: Table, draft: Draft) -> Said:
    notes = []
    for issue in table.tables("issues", []):
        target = issue.choice("target", TARGETS)
        notes.append(f"to {target}: {issue.text('issue')[:NOTE_CHARS]} {issue.text('suggestion', '')[:NOTE_CHARS]}".strip())
        issue.nothing_else()
    return _critic(table, draft, notes)


def _validate_graph(table: Table, draft: Draft) -> Said:
    issues = [*table.texts("structural_issues", []), *table.texts("semantic_issues", [])]
    return _critic(table, draft, _to("selector", [*issues, table.text("critique_for_task_selector", "")]))


def _validate_milestones(table: Table, draft: Draft) -> Said:
    notes = _to("milestones", [*table.texts("issues", []), table.text("critique_for_milestones", "")])
    return _critic(table, draft, [*notes, *_to("scene", [table.text("critique_for_scene", "")])])


def _critic(table: Table, draft: Draft, notes: list[str]) -> Said:
    approved = table.raw("approved", bool)
    if not approved and not notes:
        raise table.error("approved", "is false, and nothing says why", "say what is wrong, and who should change it")
    return Said(draft, approved, tuple(_one_line(note) for note in notes))


def _to(target: str, texts: list[str]) -> list[str]:
    return [f"to {target}: {text}" for text in texts if text]


def _notes(table: Table, *keys: str) -> tuple[str, ...]:
    return tuple(note for key in keys if (note := _note(table, key)))


def _note(table: Table, key: str) -> str:
    return _one_line(_given(table, key, str) or "")


def _one_line(text: str) -> str:
    """Put a text into one line, so that a model cannot read it as another part of the prompt, such as the gate's words."""
    return " ".join(text.split())[:NOTE_CHARS]


def _given(table: Table, key: str, kind: type) -> Any:
    return table.raw(key, (kind, type(None)), None)


_READERS: dict[str, Callable[[Table, Draft], Said]] = {
    "select": _select,
    "reselect": _reselect,
    "scene": lambda table, draft: Said(replace(draft, scene=_scene_of(table))),
    "rescene": _rescene,
    "report": _report,
    "milestones": lambda table, draft: Said(replace(draft, milestones=_milestones_of(table, "milestones"))),
    "remilestones": _remilestones,
    "feedback": _inspect,
    "inspect": _inspect,
    "validate_graph": _validate_graph,
    "validate_milestones": _validate_milestones,
    "validate": lambda table, draft: _critic(table, draft, list(table.texts("issues", []))),
    "all": _all,
    "all_again": _all,
}
