"""The file of a benchmark: tasks, episodes to learn from, algorithms with their settings, and seeds.

`docs/benchmarks.md` shows one, with every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from interplay.errors import InterplayError, NotFoundError
from interplay.learn.config import TrainingConfig
from interplay.learn.settings import CONFIGS
from interplay.tables import MAX_NAME_CHARS, Table, nearest, parse_toml, read_text
from interplay.tasks import Task, find

_REMEDY = "docs/benchmarks.md shows one; bench/tiny.toml is a small one"
MAX_SEED = 2**31 - 1


class BenchmarkError(InterplayError):
    """A benchmark cannot be read or run; the text names the place in its file and what to write there."""


@dataclass(frozen=True)
class Play:
    """Games that an agent plays before anything is learned: `num_games` of them, on the first seeds that are not held out."""

    agent: str
    num_games: int


@dataclass(frozen=True)
class LearnedTask:
    """A task of a benchmark; `reference` is its name in the file: an id or `my.toml:name`.

    `settings` apply to every run of the task. The returns `random` and `best` normalise scores; if None, they are measured.
    """

    reference: str
    task: Task
    settings: Mapping[str, Any]
    play: tuple[Play, ...]
    random: float | None
    best: float | None


@dataclass(frozen=True)
class Contender:
    """An algorithm with its settings, and the name shown in tables."""

    name: str
    algorithm: str
    preset: str | None
    settings: Mapping[str, Any]

    @property
    def slug(self) -> str:
        """The contender's name in a form that can be part of a policy's name."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.name.lower()).strip("-")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark; each policy plays `num_games` held-out seeds."""

    id: str
    title: str
    seeds: tuple[int, ...]
    num_games: int
    settings: Mapping[str, Any]
    tasks: tuple[LearnedTask, ...]
    contenders: tuple[Contender, ...]

    def config(self, contender: Contender, learned: LearnedTask, seed: int) -> TrainingConfig:
        """The settings of one run: those of the benchmark, overridden by the task's, overridden by the contender's."""
        kind = CONFIGS[contender.algorithm]
        known = {item.name for item in fields(kind)}
        given = {name: value for name, value in self.settings.items() if name in known}
        given |= dict(learned.settings) | dict(contender.settings)
        base = {} if contender.preset is None else kind.preset(contender.preset, learned.reference).to_json()
        base.pop("algorithm", None)
        document = {**base, **given, "algorithm": contender.algorithm, "task": learned.reference, "seed": seed}
        return kind.from_json(document, source=f"benchmark {self.id}: {contender.name}")


def read(path: Path) -> Benchmark:
    """Read a benchmark's file; `BenchmarkError` names the place in the file and the remedy."""
    document = parse_toml(read_text(path, BenchmarkError, hint=_REMEDY), str(path), BenchmarkError)
    top = Table(document, str(path), refuse=BenchmarkError)
    head = top.table("benchmark")
    seeds = _seeds(head)
    benchmark = Benchmark(
        id=head.name("id"),
        title=head.line("title"),
        seeds=seeds,
        num_games=head.count("games", 10, high=1000),
        settings=MappingProxyType(head.raw("settings", dict, {})),
        tasks=tuple(map(_task, top.tables("task"))),
        contenders=tuple(map(_contender, top.tables("algorithm"))),
    )
    head.nothing_else()
    top.nothing_else()
    for key, named in (
        ("task", [one.task.id for one in benchmark.tasks]),
        ("algorithm", [c.name for c in benchmark.contenders]),
    ):
        if not named:
            raise top.error(key, "is empty", f"add a [[{key}]]")
        if twice := [name for name in named if named.count(name) > 1]:
            raise top.error(key, f"{twice[0]!r} is there twice", "give each its own" if key == "algorithm" else "leave one out")
    slugs: dict[str, str] = {}
    for contender in benchmark.contenders:  # their policies' names are made of them
        other = slugs.setdefault(contender.slug, contender.name)
        if other != contender.name:
            raise top.error("algorithm", f"{other!r} and {contender.name!r} are too alike", "use other letters or digits")
    every = {item.name for kind in CONFIGS.values() for item in fields(kind)}
    for name in benchmark.settings:
        if name not in every:
            raise head.error(f"settings.{name}", "no algorithm has this setting", nearest(name, every) or "leave it out")
    for number, contender in enumerate(benchmark.contenders):
        for learned in benchmark.tasks:
            _check_run(top, benchmark, contender, learned, number)
    return benchmark


def _check_run(top: Table, benchmark: Benchmark, contender: Contender, learned: LearnedTask, number: int) -> None:
    """Refuse invalid settings of a run, before the first run begins."""
    try:
        benchmark.config(contender, learned, benchmark.seeds[0])
    except InterplayError as error:
        raise top.error(f"algorithm[{number}]", str(error), "change that setting") from None
    if benchmark.num_games > len(learned.task.held_out_seeds):
        raise top.error(
            "benchmark.games",
            f"{learned.task.id} has only {len(learned.task.held_out_seeds)} held-out seeds, and the benchmark asks for "
            f"{benchmark.num_games} games",
            f"write at most {len(learned.task.held_out_seeds)}",
        )


def _seeds(head: Table) -> tuple[int, ...]:
    seeds = head.raw("seeds", list)
    if not seeds or any(type(seed) is not int or not 0 <= seed <= MAX_SEED for seed in seeds) or len({*seeds}) < len(seeds):
        raise head.error("seeds", f"must hold different whole numbers from 0, got {seeds!r}", "write for example [1, 2, 3, 4]")
    return tuple(seeds)


def _task(table: Table) -> LearnedTask:
    reference = table.text("id")
    try:
        task = find(reference)
    except NotFoundError as error:
        raise table.error("id", str(error).splitlines()[0], "choose one of:  interplay tasks list") from None
    actor = table.text("actor", "human")
    plays = []
    for play in table.tables("play", []):
        plays.append(Play(play.line("agent"), play.count("games", low=1, high=100_000)))
        play.nothing_else()
    random, best = (None if key not in table.values else table.number(key, low=-1e12, high=1e12) for key in ("random", "best"))
    if random is not None and best is not None and not best > random:
        raise table.error("best", f"is {best:g}, not above random play, which is {random:g}", "give the return of a good game")
    settings = _settings(table, ("task", "seed", "algorithm", "actor", "where"))
    settings |= {"actor": actor, "where": table.texts("where", [])}
    for key in ("random", "best"):
        table.raw(key, (int, float), 0.0)
    table.nothing_else()
    return LearnedTask(reference, task, MappingProxyType(settings), tuple(plays), random, best)


def _contender(table: Table) -> Contender:
    algorithm = table.choice("algorithm", CONFIGS)
    preset = table.text("preset", "") or None
    if preset is not None and preset not in CONFIGS[algorithm].presets:
        known = CONFIGS[algorithm].presets
        raise table.error(
            "preset",
            f"{algorithm} has no preset {preset!r}",
            nearest(preset, known) or (f"write {' or '.join(known)}" if known else "leave it out"),
        )
    settings = _settings(table, ("task", "seed", "algorithm"))
    name = table.text("name", "") or algorithm
    if len(name) > MAX_NAME_CHARS:
        raise table.error("name", f"has {len(name)} letters", f"write at most {MAX_NAME_CHARS}")
    contender = Contender(name, algorithm, preset, MappingProxyType(settings))
    table.nothing_else()
    return contender


def _settings(table: Table, elsewhere: tuple[str, ...]) -> dict[str, Any]:
    settings = table.raw("settings", dict, {})
    for reserved in elsewhere:
        if reserved in settings:
            where = "written beside `id`" if reserved in ("actor", "where") else "set by the benchmark"
            raise table.error(f"settings.{reserved}", f"is {where}", "leave it out")
    return dict(settings)
