"""The gate: validators first, then the oracle. A refused draft goes back with reasons; no draft passes without a proof."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.explore import checking
from interplay.explore.instance import Instance
from interplay.explore.make.draft import Brief, Draft
from interplay.explore.oracle.hops import LEAKS, EdgeVerdict, edge_verdicts, leaked
from interplay.explore.oracle.proving import Verdict, prove


@dataclass(frozen=True)
class Ruling:
    """The gate's ruling on one draft: reasons of a refusal, and what the oracle found of a draft that the validators passed."""

    digest: str
    reasons: tuple[str, ...]
    verdict: Verdict | None = None
    edges: tuple[EdgeVerdict, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.reasons and self.verdict is not None and self.verdict.solved


def rule(brief: Brief, draft: Draft) -> Ruling:
    """Find mistakes of a whole draft; the first stage that finds some reports them, and the rest waits."""
    try:
        instance = draft.instance(brief)
    except InterplayError as error:
        return Ruling(draft.digest, (str(error),))
    if found := (*_unasked(brief, instance), *(str(one) for one in checking.check(instance).findings)):
        return Ruling(draft.digest, found)
    named, leakage = leaked(instance)
    if leakage is not None and leakage >= LEAKS:
        text = f"task_text: names {' and '.join(repr(task) for task in named)}, which the player should find out"
        return Ruling(draft.digest, (f"{text}\n  Remedy: say the last goal alone.",))
    verdict = prove(instance)
    if not verdict.solved:
        missed = [one for one in verdict.milestones if one.tick is None]
        return Ruling(draft.digest, tuple(f"milestone {one.milestone}: {one.reason}" for one in missed), verdict)
    edges = edge_verdicts(instance)
    return Ruling(draft.digest, tuple(_way_round(one) for one in edges if not one.enforced), verdict, edges)


def _unasked(brief: Brief, instance: Instance) -> tuple[str, ...]:
    foreign = [task for task in instance.selected_tasks if task not in brief.candidates]
    found = [f"selected_tasks: {task!r} is not one of the candidates\n  Remedy: choose of them." for task in foreign]
    if len(instance.selected_tasks) != brief.hops:
        found.append(f"selected_tasks: are {len(instance.selected_tasks)}\n  Remedy: choose exactly {brief.hops}.")
    return tuple(found)


def _way_round(edge: EdgeVerdict) -> str:
    if edge.tick is not None:
        text = f"reasoning_graph.edges: {edge.then!r} does not need {edge.first!r}: done without it at tick {edge.tick}"
        return f"{text}\n  Remedy: close that way in the scene, or take the edge out."
    text = f"reasoning_graph.edges: {edge.then!r} without {edge.first!r}: no way found, and no proof that there is none"
    return f"{text}\n  Remedy: let it need an item that only the first gives, or take the edge out (docs/explore.md)."
