"""Boards of language models: a table for each group of settings, with references and tests of pairs."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.explore.evaluation.metrics import BY, Result, tables
from interplay.explore.evaluation.scripted import PREFIX as SCRIPTED
from interplay.explore.evaluation.settings import GOALS, PROTOCOLS
from interplay.explore.results.pairs import paired_tests
from interplay.explore.results.references import References

NUMBERS = (
    "runs", "instances", "failed", "false_done", "calls", "input_tokens", "output_tokens", "refused_replies", "cost",
    "latency_ms",
)  # fmt: skip
COLUMNS = (
    "model",
    *(name + end for name in ("tsr", "msr", "ordered_msr") for end in ("", "_low", "_high")),
    *NUMBERS,
)


@dataclass(frozen=True)
class Board:
    """One table, and all that its page says of it.

    Attributes:
        table: As `metrics.tables` makes it.
        pairs: As `pairs.paired_tests` makes them.
        num_waiting: First attempts of people that would count, and are not judged yet.
        wrong: Runs left out because they contradict their episodes, each with the reason.
        num_believed: Runs that were not compared with their episodes yet.
    """

    name: str
    table: Mapping[str, Any]
    results: Sequence[Result]
    pairs: Sequence[Mapping[str, Any]] = ()
    num_waiting: int = 0
    wrong: Sequence[tuple[Result, str]] = ()
    num_believed: int = 0

    @property
    def models(self) -> list[Mapping[str, Any]]:
        return [row for row in self.table["models"] if not row["model"].startswith(SCRIPTED)]

    @property
    def references(self) -> list[Mapping[str, Any]]:
        scripted = [row for row in self.table["models"] if row["model"].startswith(SCRIPTED)]
        return [*self.table["references"], *scripted]

    @property
    def meanings(self) -> Mapping[str, str]:
        return BY

    @property
    def how(self) -> str:
        said = self.table["settings"]
        parts = [PROTOCOLS[said["protocol"]], f"{said['max_steps']:,} ticks at most"]
        return "; ".join(parts + ([GOALS[said["goal"]]] if said["goal"] != "written" else []))

    def failed(self) -> list[Mapping[str, Any]]:
        return [_named(one, one.why) for one in self.results if one.failed is not None]

    def left_out(self) -> list[Mapping[str, Any]]:
        """Wrong runs and why, without milestones: people who look at the page may still play."""
        return [_named(one, why.partition(":")[0]) for one, why in self.wrong]

    def runs(self) -> list[tuple[str, list[list[Result]]]]:
        names = [row["model"] for row in self.table["models"]]
        tasks = sorted({(one.hops, one.task) for one in self.results})
        of = {(task, name): [] for _, task in tasks for name in names}
        for one in self.results:
            of[one.task, one.model].append(one)
        return [(task, [sorted(of[task, name], key=lambda one: one.epoch) for name in names]) for _, task in tasks]

    def to_json(self) -> dict[str, Any]:
        more = {"failed": self.failed(), "pairs": list(self.pairs), "attempts_not_judged": self.num_waiting}
        more |= {"left_out": self.left_out(), "not_compared": self.num_believed}
        return {**self.table, **more, "runs": [one.run for one in self.results]}

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("kind", *COLUMNS))
        for kind, own in (("reference", self.references), ("model", self.models)):
            for row in own:
                rates = [row[share][part] for share in ("tsr", "msr", "ordered_msr") for part in ("value", "low", "high")]
                writer.writerow([kind, row["model"], *rates, *(row[number] for number in NUMBERS)])
        return text.getvalue()


def _named(result: Result, why: str | None) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("run", "model", "task", "epoch")} | {"why": why}


def sorted_out(
    results: Sequence[Result], verdicts: Mapping[str, str | None]
) -> tuple[list[Result], list[tuple[Result, str]], list[Result]]:
    """Runs that count; wrong ones with the reason; and those of the first that were not compared with their episodes.

    `verdicts` has run -> as `verification.compared`. If several runs name one episode, none of them counts.
    """
    claims = Counter(one.episode for one in results if one.failed is None)
    whys = {one.run: verdicts.get(one.run, "") for one in results}
    whys |= {
        one.run: f"{claims[one.episode]} runs say that they are episode {one.episode}"
        for one in results
        if one.failed is None and one.episode is not None and claims[one.episode] > 1
    }
    counts = [one for one in results if not whys[one.run]]
    return counts, [(one, why) for one in results if (why := whys[one.run])], [one for one in counts if whys[one.run] is None]


def boards(every: Sequence[Result], references: References, verdicts: Mapping[str, str | None] = {}) -> list[Board]:
    """Tables of all runs that count, those with most entrants first; `verdicts` as for `sorted_out`."""
    results, wrong, believed = sorted_out(every, verdicts)
    of_settings: dict[str, list[Result]] = {}
    for one in results:
        of_settings.setdefault(one.settings, []).append(one)
    made = []
    for table in tables(results, references=references.rows):
        own = of_settings[table["key"]]
        tests = paired_tests(own, np.random.default_rng(0))
        of_table = [(one, why) for one, why in wrong if one.settings == table["key"]]
        num_believed = sum(one.settings == table["key"] for one in believed)
        made.append(Board(table["name"], table, own, tests, references.num_waiting(own), of_table, num_believed))
    return sorted(made, key=lambda board: (-len(board.models), -len(board.table["models"]), board.name))
