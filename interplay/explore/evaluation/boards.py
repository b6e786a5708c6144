"""The boards of language models: a table for each way of asking, with what models are compared with, and tests of pairs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.explore.evaluation.metrics import Result, tables
from interplay.explore.evaluation.pairs import paired_tests
from interplay.explore.evaluation.references import References
from interplay.explore.evaluation.scripted import PREFIX as SCRIPTED
from interplay.explore.evaluation.settings import GOALS, PROTOCOLS

NUMBERS = (
    "runs", "instances", "failed", "false_done", "calls", "input_tokens", "output_tokens", "refused_replies", "cost",
)  # fmt: skip
COLUMNS = (
    "model",
    *(name + end for name in ("tsr", "msr", "ordered_msr") for end in ("", "_low", "_high")),
    *NUMBERS,
)
"""Of the CSV of a board."""


@dataclass(frozen=True)
class Board:
    """One table, and all that its page says of it.

    Attributes:
        name: In its address.
        table: As `metrics.tables` makes it.
        results: Its runs.
        pairs: As `pairs.paired_tests` makes them.
        num_waiting: First attempts of people that would count, and are not judged yet.
    """

    name: str
    table: Mapping[str, Any]
    results: Sequence[Result]
    pairs: Sequence[Mapping[str, Any]] = ()
    num_waiting: int = 0

    @property
    def models(self) -> list[Mapping[str, Any]]:
        """Rows of the entrants."""
        return [row for row in self.table["models"] if not row["model"].startswith(SCRIPTED)]

    @property
    def references(self) -> list[Mapping[str, Any]]:
        """Rows of those they are compared with, which are pinned on top."""
        scripted = [row for row in self.table["models"] if row["model"].startswith(SCRIPTED)]
        return [*self.table["references"], *scripted]

    @property
    def how(self) -> str:
        """How its models were asked, in words."""
        said = self.table["settings"]
        parts = [PROTOCOLS[said["protocol"]], f"{said['max_steps']:,} ticks at most"]
        return "; ".join(parts + ([GOALS[said["goal"]]] if said["goal"] != "written" else []))

    def failed(self) -> list[Mapping[str, Any]]:
        """Runs that failed, and why."""
        return [
            {
                "run": one.run,
                "model": one.model,
                "task": one.task,
                "epoch": one.epoch,
                "why": one.why,
            }
            for one in self.results
            if one.failed is not None
        ]

    def runs(self) -> list[tuple[str, list[list[Result]]]]:
        """Task -> for each model of the table, in its order, its runs."""
        names = [row["model"] for row in self.table["models"]]
        tasks = sorted({(one.hops, one.task) for one in self.results})
        of = {(task, name): [] for _, task in tasks for name in names}
        for one in self.results:
            of[one.task, one.model].append(one)
        return [(task, [sorted(of[task, name], key=lambda one: one.epoch) for name in names]) for _, task in tasks]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        more = {"failed": self.failed(), "pairs": list(self.pairs), "attempts_not_judged": self.num_waiting}
        return {**self.table, **more, "runs": [one.run for one in self.results]}

    def to_csv(self) -> str:
        """The rows for a spreadsheet; references are in it, and say so."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("kind", *COLUMNS))
        for kind, own in (("reference", self.references), ("model", self.models)):
            for row in own:
                rates = [row[share][part] for share in ("tsr", "msr", "ordered_msr") for part in ("value", "low", "high")]
                writer.writerow([kind, row["model"], *rates, *(row[number] for number in NUMBERS)])
        return text.getvalue()


def boards(results: Sequence[Result], references: References) -> list[Board]:
    """The tables of all runs, those of most entrants first."""
    of_settings: dict[str, list[Result]] = {}
    for one in results:
        of_settings.setdefault(one.settings, []).append(one)
    made = []
    for table in tables(results, references=references.rows):
        own = of_settings[table["key"]]
        tests = paired_tests(own, np.random.default_rng(0))
        made.append(Board(table["name"], table, own, tests, references.num_waiting(own)))
    return sorted(made, key=lambda board: (-len(board.models), -len(board.table["models"]), board.name))
