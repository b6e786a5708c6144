"""Metrics of runs: rates with intervals, by model and by settings.

TSR is the share of runs in which every milestone was reached; MSR is the share of milestones that were reached. Both leave out
milestones reached before the first action, and failed runs, because a server's failure does not mean that the model plays
badly. Ordered MSR counts a milestone only if all milestones that it needs were reached at the same tick or earlier. Runs of one
instance are alike, so intervals treat instances, not runs, as independent.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from interplay.errors import InterplayError
from interplay.explore import published
from interplay.explore.evaluation.replies import KINDS, PLAYED
from interplay.explore.evaluation.runs import Run, RunError, read, read_all
from interplay.explore.evaluation.settings import Settings

DIFFICULTIES = {"easy": 2, "medium": 5, "hard": math.inf}
"""Name of a difficulty -> largest number of tasks plus prerequisites in an instance."""
_Number = TypeVar("_Number", int, float)
_Z = 1.959964


@dataclass(frozen=True)
class Outcome:
    """One milestone of a run: `tick` is `None` if not reached; `in_order`: reached, and not before what it needs."""

    id: str
    verb: str
    tick: int | None
    in_order: bool


@dataclass(frozen=True)
class Result:
    """Result of one run.

    Attributes:
        settings: JSON text of the settings; runs with the same text are in the same table.
        outcomes: One for each milestone that can be judged and was not reached at the start.
        failed: Reason of the failure; `None` if the run was played to its end.
        task_hash: Hash of the task's version; empty if the run's file does not have it.
        prerequisites: Number of edges of the instance's graph.
        depth: Number of tasks on the longest path of enforced edges; `None` if it was never examined.
        latency_ms: Sum over all answered calls.
        answered: Names of the models that answered, as their server reports them.
        input_tokens, output_tokens, cost: `None` if the server does not report it.
    """

    run: str
    task: str
    model: str
    seed: int
    epoch: int
    hops: int
    capabilities: tuple[str, ...]
    settings: str
    outcomes: tuple[Outcome, ...]
    at_start: tuple[str, ...]
    failed: str | None
    ended: str | None
    num_steps: int
    episode: str | None
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    replies: Mapping[str, int]
    cost: float | None
    said_done: bool = False
    task_hash: str = ""
    prerequisites: int = 0
    depth: int | None = None
    latency_ms: float = 0.0
    answered: tuple[str, ...] = ()

    @property
    def difficulty(self) -> str:
        score = self.hops + self.prerequisites
        return next(name for name, most in DIFFICULTIES.items() if score <= most)

    @property
    def label(self) -> str:
        return Settings(**json.loads(self.settings)).label

    @property
    def why(self) -> str | None:
        """First line of `failed`, which names no folder, so that public pages may show it."""
        return None if self.failed is None else self.failed.partition("\n")[0][:200]

    @property
    def reached(self) -> dict[str, int]:
        return dict.fromkeys(self.at_start, 0) | {one.id: one.tick for one in self.outcomes if one.tick is not None}

    @property
    def judged(self) -> set[str]:
        return {*self.at_start, *(one.id for one in self.outcomes)}

    @property
    def num_reached(self) -> int:
        return sum(one.tick is not None for one in self.outcomes)

    @property
    def is_done(self) -> bool:
        return self.num_reached == len(self.outcomes)

    def to_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Result:
        return msgspec.convert(document, cls)


def result_of(run: Run) -> Result:
    """Return a run's result; a run without an end counts as failed. Raise a `RunError` if the file is broken."""
    try:
        return _result_of(run)
    except (KeyError, TypeError, ValueError, AttributeError, InterplayError) as error:
        which = run.header.get("run", "without a name")
        raise RunError(
            f"run {which} cannot be read: {type(error).__name__}: {error}\n"
            "Move its file away; the run is then played again. Or read it with the version that wrote it."
        ) from None


def result_at(path: Path) -> Result | RunError:
    try:
        return result_of(read(path))
    except RunError as error:
        return error


def read_results(data: Path) -> tuple[dict[Path, tuple[Run, Result]], dict[Path, str]]:
    """Read all `files` of runs; return file -> run and its result, and file -> error for files that cannot be read."""
    read, unreadable = read_all(data)
    found = {}
    for path, run in read.items():
        try:
            found[path] = run, result_of(run)
        except RunError as error:
            unreadable[path] = str(error)
    return found, unreadable


def _result_of(run: Run) -> Result:
    head, end, begin = run.header, run.end, run.begin or {}
    if not all(isinstance(name, str) for name in (head["run"], head["task"], head["model"], begin.get("episode", ""))):
        raise TypeError("run, task, model and episode must be texts")
    reached: Mapping[str, int] = end["reached"] if end else {}
    at_start = tuple(begin.get("at_start", ()))
    ticks = {**dict.fromkeys(at_start, 0), **reached}
    needs = {one["id"]: one["needs"] for one in head["milestones"]}
    not_judged = begin.get("not_judged", ())
    calls = [*run.lost, *run.calls]
    usages = [usage if (usage := call["output"].get("usage") or {}).get("total_tokens") else {} for call in calls]
    failed = None if end else (run.failed or {}).get("error") or "it was interrupted; run the same command again"
    return Result(
        **{name: head[name] for name in ("run", "task", "model", "seed", "epoch", "hops")},
        capabilities=tuple(head["capabilities"]),
        settings=json.dumps(Settings(**head["settings"]).to_json(), sort_keys=True),
        outcomes=tuple(
            Outcome(one["id"], one["verb"], reached.get(one["id"]), _in_order(one["id"], ticks, needs))
            for one in head["milestones"]
            if one["id"] not in at_start and one["id"] not in not_judged
        ),
        at_start=at_start,
        failed=failed,
        ended=end["outcome"] if end else None,
        num_steps=end["num_steps"] if end else 0,
        episode=begin.get("episode"),
        calls=len(calls),
        input_tokens=total(usage.get("input_tokens") for usage in usages),
        output_tokens=total(usage.get("output_tokens") for usage in usages),
        replies=((end or run.failed or {}).get("replies", {})),
        cost=total(usage.get("total_cost") for usage in usages) if usages else None,
        said_done=bool(end and end.get("said_done", end["outcome"] == "terminated")),
        task_hash=head.get("task_version", ""),
        prerequisites=sum(map(len, needs.values())),
        depth=_depth(head),
        latency_ms=sum(call.get("latency_ms", 0.0) for call in calls),
        answered=tuple(sorted({_answered(call["output"]) for call in calls} - {""})),
    )


def _depth(head: Mapping[str, Any]) -> int | None:
    """Return the depth in the last proof of a run's instance; if the package has the instance, the package's proofs count.

    `None` without a proof, or for proofs of earlier releases, which called edges enforced without proving it.
    """
    shipped = published.instances().get(head["task"])
    proofs = head.get("instance", {}).get("proofs", ()) if shipped is None else shipped.proofs
    found: list[Any] = [
        hops["depth"]
        for proof in proofs
        if (hops := proof.get("hops")) and "depth" in hops and all("verdict" in edge for edge in hops["edges"])
    ]
    return found[-1] if found else None


def _answered(output: Mapping[str, Any]) -> str:
    choices = output.get("choices") or [{}]
    fingerprint = ((choices[0].get("message") or {}).get("metadata") or {}).get("system_fingerprint")
    return str(output.get("model", "")) + (f" ({fingerprint})" if fingerprint else "")


def total(numbers: Iterable[_Number | None]) -> _Number | None:
    """Sum of the numbers; `None` if one of the numbers is `None`.

    >>> total([1, 2]), total([1, None])
    (3, None)
    """
    known = list(numbers)
    return None if None in known else sum(known)  # type: ignore[return-value,arg-type]


def _in_order(name: str, ticks: Mapping[str, int], needs: Mapping[str, Sequence[str]], seen: tuple[str, ...] = ()) -> bool:
    if name not in ticks or name in seen:
        return False
    below = [other for other in needs.get(name, ()) if other in needs]
    return all(ticks.get(other, math.inf) <= ticks[name] and _in_order(other, ticks, needs, (*seen, name)) for other in below)


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval; `num` counts runs or milestones; if it is 0, share and interval are `None`."""

    value: float | None
    low: float | None
    high: float | None
    num: int
    num_instances: int


def rate(parts: Iterable[tuple[str, float, float]]) -> Rate:
    """Return the ratio p of two sums with Wilson's interval, for data in clusters such as runs of the same instance.

    The effective number of trials is p (1 - p) / variance, at most the sum of denominators. The variance is that of a ratio
    between clusters (Cochran 1977, section 6.3). If p is 0 or 1, the number of clusters is used (Korn & Graubard 1998).

    Args:
        parts: Tuples (cluster, numerator, denominator).

    >>> one = rate([("a", 1, 1), ("b", 0, 1), ("c", 1, 1), ("d", 0, 1)])
    >>> one.value, round(one.low, 3), round(one.high, 3)
    (0.5, 0.125, 0.875)
    """
    above: dict[str, float] = defaultdict(float)
    below: dict[str, float] = defaultdict(float)
    for cluster, numerator, denominator in parts:
        above[cluster] += numerator
        below[cluster] += denominator
    units, count = sum(below.values()), sum(value > 0 for value in below.values())
    if not units:
        return Rate(None, None, None, 0, 0)
    p = sum(above.values()) / units
    trials = float(count)
    if 0 < p < 1 and count > 1:
        spread = sum((above[name] - p * below[name]) ** 2 for name in below)
        variance = spread / units**2 * count / (count - 1)
        trials = min(units, p * (1 - p) / variance) if variance else units
    middle = (p + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = _Z / (1 + _Z**2 / trials) * math.sqrt(p * (1 - p) / trials + _Z**2 / (4 * trials**2))
    return Rate(p, max(0.0, middle - half), min(1.0, middle + half), round(units), count)


def tsr(results: Iterable[Result]) -> Rate:
    """Share of runs that reached every milestone; failed runs, and runs without a milestone to reach, are left out."""
    return rate((one.task, float(one.is_done), 1.0) for one in results if one.outcomes and one.failed is None)


def msr(results: Iterable[Result], take: Callable[[Outcome], bool] = lambda one: True, *, ordered: bool = False) -> Rate:
    """Share of milestones that were reached, in runs that did not fail; only milestones for which `take` is true count."""
    return rate(
        (one.task, float(part.in_order if ordered else part.tick is not None), 1.0)
        for one in results
        if one.failed is None
        for part in one.outcomes
        if take(part)
    )


BY = {
    "hops": "Hops are the tasks of an instance.",
    "difficulty": "Difficulty is tasks + prerequisites (edges of the graph): easy up to 2, medium 3 to 5, hard from 6.",
    "depth": "Depth is the tasks on the longest way through enforced edges, of instances that were proved with --hops.",
    "capability": "Instances published with MineExplorer name no capabilities; those of the planner do.",
}
Reference = Callable[[Sequence[Result]], list[Result]]
"""Function: runs of a table -> results of another player, such as the oracle, on the same instances."""


def summary(results: Sequence[Result], price: tuple[float, float] | None = None) -> dict[str, Any]:
    """Return all metrics of one model under one set of settings, as JSON values.

    `price` is in dollars for a million tokens read and for a million written; without it, the cost is what servers reported.
    """
    replies: Counter[str] = Counter()
    for one in results:
        replies.update(one.replies)
    tokens = [total(one.input_tokens for one in results), total(one.output_tokens for one in results)]
    verbs = {part.verb for one in results for part in one.outcomes}
    costs = [one.cost for one in results if one.calls]
    cost = total(costs) if costs else None
    if price is not None:
        cost = total(None if number is None else number * dollars / 1e6 for number, dollars in zip(tokens, price, strict=True))
    return {
        "runs": len(results),
        "instances": len({one.task for one in results}),
        "failed": sum(one.failed is not None for one in results),
        "false_done": sum(one.said_done and not one.is_done for one in results),
        **_rates(results),
        "by_hops": {str(hops): _rates(own) for hops, own in _grouped(results, lambda one: [one.hops])},
        "by_difficulty": {
            name: _rates(own) for name in DIFFICULTIES if (own := [one for one in results if one.difficulty == name])
        },
        "by_depth": {
            str(depth) if depth else "not known": _rates(own) for depth, own in _grouped(results, lambda one: [one.depth or 0])
        },
        "by_verb": {verb: asdict(msr(results, lambda one, verb=verb: one.verb == verb)) for verb in sorted(verbs)},
        "by_capability": {name: _rates(own) for name, own in _grouped(results, lambda one: one.capabilities)},
        "calls": (calls := sum(one.calls for one in results)),
        "latency_ms": sum(one.latency_ms for one in results) / calls if calls else None,
        "answered_by": sorted({name for one in results for name in one.answered}),
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
        "replies": {kind: replies[kind] for kind in KINDS if replies[kind]},
        "refused_replies": sum(number for kind, number in replies.items() if kind not in PLAYED),
        "cost": cost,
    }


def _rates(results: Sequence[Result]) -> dict[str, Any]:
    rates = {"tsr": tsr(results), "msr": msr(results), "ordered_msr": msr(results, ordered=True)}
    return {name: asdict(one) for name, one in rates.items()}


def _grouped(results: Iterable[Result], keys: Callable[[Result], Iterable[Any]]) -> list[tuple[Any, list[Result]]]:
    groups: dict[Any, list[Result]] = defaultdict(list)
    for one in results:
        for key in keys(one):
            groups[key].append(one)
    return sorted(groups.items())


def tables(
    results: Sequence[Result],
    prices: Mapping[str, tuple[float, float]] | None = None,
    references: Mapping[str, Reference] | None = None,
) -> list[dict[str, Any]]:
    """Return a table for each set of settings: its models by MSR, the best first, and references.

    `key` is the `settings` text of the table's runs, and `label` is the name of these settings. `name` is the label, with a few
    letters added where two tables have the same label.

    Args:
        prices: Model -> dollars for a million tokens read, and for a million written.
        references: Name -> function that gives its results for a table's runs; a reference without results has no row.
    """
    made: list[dict[str, Any]] = []
    for settings, own in _grouped(results, lambda one: [one.settings]):
        rows: list[dict[str, Any]] = [
            {"model": model} | summary(theirs, (prices or {}).get(model)) for model, theirs in by_model(own).items()
        ]
        rows.sort(key=lambda row: (row["msr"]["value"] is None, -(row["msr"]["value"] or 0), row["model"]))
        said = json.loads(settings)
        beside = {name: reference(own) for name, reference in (references or {}).items()}
        made.append(
            {
                "label": Settings(**said).label,
                "key": settings,
                "settings": said,
                "references": [{"model": name} | summary(theirs) for name, theirs in beside.items() if theirs],
                "models": rows,
            }
        )
    labels = Counter(table["label"] for table in made)
    for table in made:
        more = "" if labels[table["label"]] == 1 else f".{hashlib.sha256(table['key'].encode()).hexdigest()[:6]}"
        table["name"] = table["label"] + more
    return made


def by_model(results: Iterable[Result]) -> dict[str, list[Result]]:
    return dict(_grouped(results, lambda one: [one.model]))
