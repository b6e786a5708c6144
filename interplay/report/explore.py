"""`interplay report explore`: how instances were made, what people's reviews say, and how models play the instances.

The review of MineExplorer (Ju et al. 2026) asked for these results: tasks filtered and kept, the ablation of the makers,
agreement between people, and results by length and by prerequisites.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from interplay.explore.instance import Instance
from interplay.explore.make.bank import verb_of
from interplay.explore.make.reviews import Agreement, agreement, decided, paired, valid_share, verdicts_of
from interplay.rank.bias import share
from interplay.report.table import Cell, Column, Report, Section, Table, count_columns, text_columns
from interplay.study.review.part import QUESTIONS
from interplay.study.review.reviews import Review

KEPT, DROPPED, WAITING = "kept", "dropped", "waiting"
"""Verdicts of the knowledge filter on a task; people decide on waiting tasks."""
ORDER = ("multi", "single", "planner")
"""Order of modes in tables; other modes follow."""
LENGTHS = {"up to 10 s": 200, "10 to 20 s": 400, "20 to 40 s": 800, "more than 40 s": math.inf}
"""Length of the oracle's proof, as written in tables -> most ticks of a proof of this length."""
OTHER = "other"
"""Mode of instances that do not say how they were made."""
_One = TypeVar("_One")


@dataclass(frozen=True)
class Reviewed:
    """One instance and each person's last review of it."""

    instance: Instance
    reviews: tuple[Review, ...]

    @property
    def mode(self) -> str:
        planned = "planner" if "--mode planner" in str(self.instance.source.get("made_by", "")) else OTHER
        return str(self._made.get("mode", planned))

    @property
    def pair(self) -> str:
        """Id shared by the instances that different modes made from the same candidates; empty if models did not make it."""
        return str(self._made.get("pair", ""))

    @property
    def depth(self) -> int | None:
        """Number of tasks on the longest path of enforced edges; None if no proof tells which edges are enforced."""
        found: Any = [one["hops"] for one in self.instance.proofs if one.get("hops")]
        return found[-1].get("depth") if found and all("verdict" in edge for edge in found[-1].get("edges", ())) else None

    @property
    def verdict(self) -> bool | None:
        return decided({one.reviewer: one.is_valid for one in self.reviews})

    @property
    def _made(self) -> Mapping[str, Any]:
        made = self.instance.source.get("made")
        return made if isinstance(made, Mapping) else {}


@dataclass(frozen=True)
class Played:
    """One run of a model; `prerequisites`: number of the instance's edges; `length`: one of `LENGTHS`, None without a proof."""

    model: str
    hops: int
    prerequisites: int
    is_done: bool
    tasks: tuple[str, ...] = ()
    length: str | None = None


def length_of(instance: Instance) -> str | None:
    """Return the length, one of `LENGTHS`, of an instance's last proof; None without a proof."""
    ticks: Any = instance.proofs[-1].get("ticks") if instance.proofs else None
    return next(name for name, most in LENGTHS.items() if ticks <= most) if isinstance(ticks, int) else None


def explore_report(
    *,
    verdicts: Mapping[str, str] = {},
    makings: Sequence[Mapping[str, Any]] = (),
    reviewed: Sequence[Reviewed] = (),
    runs: Sequence[Played] = (),
    rules: Iterable[str] = (),
) -> Report:
    """Make the report.

    Args:
        verdicts: Atomic task -> the knowledge filter's verdict: `kept`, `dropped` or `waiting`.
        makings: Results of the attempts to make instances, one for each instance.
        rules: A sentence on each study: its number of reviewers, and when a third one is asked.
    """
    num_reviews = sum(len(one.reviews) for one in reviewed)
    return Report(
        "explore",
        "Making and reviewing instances",
        "How the instances of Explore were made, and whether people call them valid.",
        (
            _filter_section(verdicts, runs),
            _making_section(makings, reviewed),
            _agreement_section(reviewed, rules),
            _length_section(reviewed, runs),
        ),
        (
            ("tasks", str(len(verdicts))),
            ("instances made", str(len(makings))),
            ("reviewed", str(len(reviewed))),
            ("reviews", str(num_reviews)),
            ("people", str(len({one.reviewer for each in reviewed for one in each.reviews}))),
            ("runs", str(len(runs))),
        ),
    )


def modes_of(makings: Iterable[Mapping[str, Any]], reviewed: Iterable[Reviewed]) -> list[str]:
    found = dict.fromkeys([*(str(one["mode"]) for one in makings), *(one.mode for one in reviewed)])
    return [*(mode for mode in ORDER if mode in found), *(mode for mode in found if mode not in ORDER)]


# Sections


def _filter_section(verdicts: Mapping[str, str], runs: Sequence[Played]) -> Section:
    verbs = Counter(map(verb_of, verdicts))
    rows: list[tuple[Cell, ...]] = []
    for verb, number in verbs.most_common():
        own = Counter(state for task, state in verdicts.items() if verb_of(task) == verb)
        rows.append((verb, number, own[KEPT], own[DROPPED], own[WAITING]))
    every = Counter(verdicts.values())
    rows.append(("all", len(verdicts), every[KEPT], every[DROPPED], every[WAITING]))
    columns = [
        Column("verb"),
        *(Column(name, "count") for name in ("before the filter", "kept", "dropped", "waiting for people")),
    ]
    caption = "Tasks of the bank that went through the knowledge filter: before it, and what it kept."
    counts = Table("filter", "Tasks before and after the filter", tuple(columns), tuple(rows), caption)
    parts = {"every task kept": lambda states: set(states) == {KEPT}, "some task dropped": lambda states: DROPPED in states}
    apart: list[tuple[Cell, ...]] = []
    for name, belongs in parts.items():
        own = [one for one in runs if belongs([verdicts.get(task, WAITING) for task in one.tasks])]
        for model in sorted({one.model for one in own}):
            apart.append((name, model, *_done(one for one in own if one.model == model)))
    heads = (Column("instances"), Column("model"), Column("runs", "count"), Column("done", "count"), *_interval("share done"))
    note = "Runs of instances all of whose tasks the filter kept, and of those with a dropped one. Wilson's 95 % intervals."
    missing = () if verdicts else ("No votes of the knowledge filter are here. Ask it:  interplay explore filter",)
    return Section(
        "filter",
        "Which tasks were kept",
        missing,
        (counts, Table("filter_runs", "Runs on kept and dropped tasks", heads, tuple(apart), note)),
    )


def _making_section(makings: Sequence[Mapping[str, Any]], reviewed: Sequence[Reviewed]) -> Section:
    modes = modes_of(makings, reviewed)
    gate: list[tuple[Cell, ...]] = []
    for mode in modes:
        own = [one for one in makings if one["mode"] == mode]
        if own:
            passed = [one for one in own if one["passed"]]
            at_once = sum(not one["first_reasons"] for one in passed)
            of_all = share(len(passed), len(own))
            gate.append(
                (mode, len(own), at_once, len(passed) - at_once, len(own) - len(passed), of_all.share, of_all.low, of_all.high)
            )
    names = ("made", "passed at once", "passed after repair", "refused")
    columns = (Column("mode"), *(Column(name, "count") for name in names), *_interval("share passed"))
    by_gate = Table("gate", "Instances that the gate let through", columns, tuple(gate), "Wilson's 95 % intervals.")
    caption = (
        "Valid if most of its reviewers say so. Instances that the gate refused need no reviewer: they are not valid. "
        "Wilson's 95 % intervals."
    )
    refused = Counter(str(one["mode"]) for one in makings if not one["passed"])
    rows: list[tuple[Cell, ...]] = []
    for mode in modes:
        own_reviewed = [one for one in reviewed if one.mode == mode]
        if own_reviewed or refused[mode]:
            good = valid_share(one.verdict for one in own_reviewed)
            of_all = valid_share([*(one.verdict for one in own_reviewed), *[False] * refused[mode]])
            undecided = sum(one.verdict is None for one in own_reviewed)
            rows.append((mode, good.num, good.part, undecided, good.share, good.low, good.high, of_all.num, of_all.share))
    heads = (Column("reviewed", "count"), Column("valid", "count"), Column("undecided", "count"))
    ends = (Column("reviewed or refused", "count"), Column("share valid of these", "number", 3))
    ablation = Table(
        "ablation", "Valid instances by mode", (Column("mode"), *heads, *_interval("share valid"), *ends), tuple(rows), caption
    )
    return Section("making", "How instances were made", (), (by_gate, ablation, _paired_table(makings, reviewed, modes)))


def _paired_table(makings: Sequence[Mapping[str, Any]], reviewed: Sequence[Reviewed], modes: Sequence[str]) -> Table:
    said: dict[tuple[str, str], bool | None] = {(one.pair, one.mode): one.verdict for one in reviewed if one.pair}
    for one in makings:
        if not one["passed"]:
            said[str(one["source"]["made"]["pair"]), str(one["mode"])] = False
    rows: list[tuple[Cell, ...]] = []
    for place, first in enumerate(modes):
        for second in modes[place + 1 :]:
            pairs = [pair for pair, mode in said if mode == first and (pair, second) in said]
            both = [(said[pair, first], said[pair, second]) for pair in pairs]
            tested = paired([(bool(a), bool(b)) for a, b in both if a is not None and b is not None])
            if pairs:
                left_out = len(pairs) - tested.num
                counts = (tested.num, tested.both, tested.first_only, tested.second_only, tested.neither)
                rows.append((f"{first}, {second}", *counts, left_out, tested.p))
    names = ("pairs", "both valid", "first only", "second only", "neither", "undecided, left out")
    columns = (Column("modes"), *(Column(name, "count") for name in names), Column("p", "p"))
    caption = "Pairs made of the same candidates; McNemar's exact test, two-sided. Refused instances are not valid."
    return Table("paired", "Modes on the same candidates", columns, tuple(rows), caption)


def _agreement_section(reviewed: Sequence[Reviewed], rules: Iterable[str]) -> Section:
    asked: dict[str, Callable[[Review], bool]] = {"verdict": lambda one: one.is_valid}
    asked |= {text: (lambda one, name=name: one.answers[name]) for name, text in QUESTIONS.items()}
    rows: list[tuple[Cell, ...]] = []
    for text, read in asked.items():
        of_reviews = [(one.instance.name, each.reviewer, read(each)) for one in reviewed for each in one.reviews]
        found: Agreement = agreement(verdicts_of(of_reviews))
        rows.append((text, found.num, *found.table, found.agreement, found.kappa, found.low, found.high, found.cohen))
    counts = tuple(Column(name, "count") for name in ("instances", "all yes", "all no", "split"))
    shares = tuple(Column(name, "number", 3) for name in ("pairs alike", "kappa", "low", "high", "Cohen's kappa"))
    caption = (
        "Fleiss' kappa, with the 95 % interval of 2,000 resamples of instances; Cohen's where the same two people have "
        "reviewed everything. Instances with two reviews or more."
    )
    table = Table("agreement", "Agreement between people", (Column("question"), *counts, *shares), tuple(rows), caption)
    raw = [
        (
            one.instance.name, one.mode, one.instance.num_hops, len(one.instance.edges), len(one.reviews),
            sum(each.is_valid for each in one.reviews), {None: "undecided", True: "valid", False: "not valid"}[one.verdict],
        )
        for one in sorted(reviewed, key=lambda one: one.instance.name)
    ]  # fmt: skip
    heads = (*text_columns("instance", "mode"), *count_columns("hops", "prerequisites", "reviews", "valid"))
    every = Table(
        "reviews", "Every instance", (*heads, Column("most say")), tuple(raw), "Prerequisites are the edges of its graph."
    )
    return Section("agreement", "How far people agree", tuple(rules), (table, every))


def _length_section(reviewed: Sequence[Reviewed], runs: Sequence[Played]) -> Section:
    valid: dict[str, tuple[Column, Callable[[Reviewed], int | str | None]]] = {
        "hops": (Column("hops", "count"), lambda one: one.instance.num_hops),
        "prerequisites": (Column("prerequisites", "count"), lambda one: len(one.instance.edges)),
        "depth": (Column("tasks on the longest enforced way", "count"), lambda one: one.depth),
        "length": (Column("length of the proof"), lambda one: length_of(one.instance)),
    }
    played: dict[str, tuple[Column, Callable[[Played], int | str | None]]] = {
        "hops": (Column("hops", "count"), lambda one: one.hops),
        "prerequisites": (Column("prerequisites", "count"), lambda one: one.prerequisites),
        "length": (Column("length of the proof"), lambda one: one.length),
    }
    tables = []
    for name, (column, of) in valid.items():
        rows = _rows(modes_of((), reviewed), reviewed, lambda one: one.mode, of, _good)
        columns = (Column("mode"), column, Column("reviewed", "count"), Column("valid", "count"), *_interval("share valid"))
        tables.append(Table(f"valid_{name}", f"Valid instances by {column.name}", columns, rows, "Wilson's 95 % intervals."))
    caption = (
        "Runs in which every milestone was reached, of all protocols; Wilson's 95 % intervals, runs treated as independent."
    )
    for name, (column, of) in played.items():
        rows = _rows(sorted({one.model for one in runs}), runs, lambda one: one.model, of, _done)
        columns = (Column("model"), column, Column("runs", "count"), Column("done", "count"), *_interval("share done"))
        tables.append(Table(f"runs_{name}", f"Runs of models by {column.name}", columns, rows, caption))
    return Section("length", "By length and prerequisites", (), tuple(tables))


def _rows(
    groups: Iterable[str],
    every: Sequence[_One],
    group_of: Callable[[_One], str],
    of: Callable[[_One], int | str | None],
    cells: Callable[[list[_One]], tuple[Cell, ...]],
) -> tuple[tuple[Cell, ...], ...]:
    """Make a row for each group and each value in it, in order; `cells` fills the rest. Items without a value are left out."""
    order = [*LENGTHS]
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        own = [one for one in every if group_of(one) == group]
        values = {value for one in own if (value := of(one)) is not None}
        for value in sorted(values, key=lambda one: order.index(one) if isinstance(one, str) else one):
            rows.append((group, value, *cells([one for one in own if of(one) == value])))
    return tuple(rows)


def _good(own: Sequence[Reviewed]) -> tuple[Cell, ...]:
    found = valid_share(one.verdict for one in own)
    return found.num, found.part, found.share, found.low, found.high


def _interval(name: str) -> tuple[Column, ...]:
    return Column(name, "number", 3), Column("low", "number", 3), Column("high", "number", 3)


def _done(runs: Iterable[Played]) -> tuple[Cell, ...]:
    own = list(runs)
    found = share(sum(one.is_done for one in own), len(own))
    return found.num, found.part, found.share, found.low, found.high
