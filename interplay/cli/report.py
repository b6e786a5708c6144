"""`interplay report NAME`: tables and figures of everything recorded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, RayOption, open_archive, seeds_of
from interplay.cli.output import JsonOption, emit, progress, progress_bar, table, working
from interplay.errors import InterplayError

if TYPE_CHECKING:
    from interplay.record import Archive
    from interplay.report.bedd.demonstrations import Effort
    from interplay.report.bedd.reasons import CountsReport, SentimentTests
    from interplay.report.table import Report

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def report() -> None:
    """Tables and figures of everything recorded, as HTML, PDF, JSON and CSV.

    Try:  interplay report bedd --data interplay-data
    """


@app.command()
def bedd(
    counts: Annotated[
        Path | None,
        typer.Option(
            "--counts", help="JSON file with sentiment counts by task and agent; they are tested without any database."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: reports/bedd in the data folder.")
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option("--agents", help="Agents to compare, separated by commas; default: the paper's six, else the best six."),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            "--recordings", help="Folder of published recordings (find-cave/*.jsonl ...); their actions are counted too."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the resamples behind the ratings' intervals.")] = 0,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Every table and figure of BEDD's evaluation (Milani et al. 2023) on your answers, with the paper's numbers beside them.

    Try:  interplay report bedd --out report
    """
    if counts is not None:
        given = {"--out": out, "--agents": agents, "--recordings": recordings}
        idle = [name for name, value in given.items() if value is not None]
        if idle:
            raise typer.BadParameter(f"{', '.join(idle)} cannot be used with --counts, which reads only its own file")
        from interplay.report.bedd.reasons import counts_report

        tested = counts_report(counts)
        emit(tested.to_json(), as_json=as_json, text=_counts_text(tested))
        return
    made = _bedd_report(data, database, _names(agents), recordings, seed)
    _finish(made, out or data / "reports" / "bedd", as_json)


@app.command()
def crowdplay(
    quality: Annotated[
        list[str] | None,
        typer.Option(
            "--quality",
            metavar="CONDITION",
            help="Condition of a good play, e.g. 'inside_out >= 0.8'; may be repeated. Default: the studies' requirements.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: reports/crowdplay in the data folder.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the maps on which similar games are close together (t-SNE).")
    ] = 0,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """CrowdPlay's analyses (Gerstgrasser et al. 2022) on your recordings: hours, maps, incentives, latency, teams.

    Try:  interplay report crowdplay --out report
    """
    _require_data(data, database, "no recordings", "begin with:  interplay serve")
    from interplay.report.crowdplay.report import crowdplay_report

    with closing(open_archive(data, database, must_exist=True)) as archive, progress_bar("reading recordings") as report:
        made = crowdplay_report(archive, quality=quality or (), seed=seed, on_file=report)
    _finish(made, out or data / "reports" / "crowdplay", as_json)


@app.command()
def crossplay(
    task_id: Annotated[str, typer.Argument(metavar="TASK", help="Id of a task of several seats, or my.toml:name.")],
    agents: Annotated[
        str | None,
        typer.Option(
            "--agents", help="Agents, separated by commas; default: the scripted one, the task's policies, and random."
        ),
    ] = None,
    seeds: Annotated[
        str,
        typer.Option(help="'heldout' for the held-out seeds, or numbers separated by commas; every line-up plays all of them."),
    ] = "heldout",
    num_episodes: Annotated[int, typer.Option("--episodes", min=1, help="Games per line-up and seed.")] = 1,
    max_seconds: Annotated[float | None, typer.Option(min=0.1, help="Cut games after this many seconds of play.")] = None,
    score: Annotated[
        str | None,
        typer.Option(
            "--score", help="A statistic of the games; default: the return, or the outcome check if the task has no rewards."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: reports/crossplay/TASK in the data folder.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the agents' own draws.")] = 0,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Scores of every agent with every other as partners in a task: a matrix for each seat, and means with intervals.

    Plays missing games, in all orders of the seats, and records them. After an interruption, run it again: it continues.

    Try:  interplay report crossplay overcooked/cramped_room --agents scripted,random --seeds 1,2
    """
    from interplay.agents.cross_play import cross_play, entrants, lineups
    from interplay.agents.evaluate import worthwhile_processes
    from interplay.jobs import Executor
    from interplay.report.crossplay import crossplay_report, default_score, games_of, peoples_games
    from interplay.tasks import find

    task = find(task_id)
    chosen = seeds_of(seeds, task)
    max_steps = None if max_seconds is None else max(1, round(max_seconds * task.frame_rate_hz))
    with closing(open_archive(data, database)) as archive:
        who = _names(agents) or entrants(task, archive)
        num_games = len(lineups(task.seats, who)) * len(chosen) * num_episodes
        with progress_bar(f"{' and '.join(who)} play {task.id}") as report:
            played = cross_play(
                archive,
                task,
                who,
                chosen,
                num_episodes=num_episodes,
                seed=seed,
                max_steps=max_steps,
                executor=Executor(worthwhile_processes(task, num_games, max_steps), ray),
                report=report,
            )
        names = list(dict.fromkeys(name for lineup in played for name in lineup.split(" + ")))
        episodes = [*(one for part in played.values() for one in part), *peoples_games(archive, task, names)]
        measure = score or default_score(episodes)
        made = crossplay_report(
            task,
            games_of(archive, episodes, measure),
            names,
            score=measure,
            seeds=chosen,
            facts={"games a seed": str(num_episodes), "seed of draws": str(seed)},
        )
    _finish(made, out or data / "reports" / "crossplay" / task.id.replace("/", "-"), as_json)


@app.command()
def explore(
    studies: Annotated[
        list[str] | None,
        typer.Option("--study", metavar="ID", help="A study of reviews; may be repeated. Default: all of them."),
    ] = None,
    votes: Annotated[
        Path | None,
        typer.Option(
            "--votes",
            help="votes.json of the knowledge filter; default: that in explore/make/filter of the data folder, if any.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: reports/explore in the data folder.")
    ] = None,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """How instances of explore were filtered and made, whether people find them valid, and how models play them.

    Try:  interplay report explore --out report
    """
    _require_data(data, database, "no instances and no reviews", "begin with:  interplay explore make")
    from interplay.report.explore import explore_report
    from interplay.report.explore_reading import makings, played, reviewed, verdicts

    with closing(open_archive(data, database, must_exist=True)) as archive:
        found, rules = reviewed(archive.database, studies)
        made = explore_report(
            verdicts=verdicts(data, votes),
            makings=makings(archive.root),
            reviewed=found,
            runs=played(archive),
            rules=rules,
        )
    _finish(made, out or data / "reports" / "explore", as_json)


@app.command()
def offline(
    benchmarks: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark",
            metavar="ID",
            help="Only runs of this benchmark; may be repeated. Default: all benchmarks that were run.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the report; default: reports/offline in the data folder.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the resamples behind intervals.")] = 0,
    data: DataOption = DEFAULT_DATA,
    as_json: JsonOption = False,
) -> None:
    """Results of `interplay learn benchmark`: scores, aggregates and profiles; and CrowdPlay's tables, computed again.

    Try:  interplay learn benchmark bench/tiny.toml, then:  interplay report offline
    """
    _require_data(data, None, "no benchmarks", "begin with:  interplay learn benchmark bench/tiny.toml")
    from interplay.learn.benchmark.results import read_results
    from interplay.report.offline import offline_report

    made = offline_report(read_results(data, benchmarks or ()), seed=seed)
    _finish(made, out or data / "reports" / "offline", as_json)


def _finish(made: Report, folder: Path, as_json: bool) -> None:
    from interplay.report.write import write_report

    with progress(counts=False) as bar:
        line = bar.add_task("writing", total=None)
        try:
            written = write_report(made, folder, on_part=lambda part: bar.update(line, description=f"writing {part}"))
        except OSError as error:
            raise InterplayError(
                f"the report cannot be written to {folder}: {error.strerror or error}\nName another folder with --out."
            ) from None
    lines = [", ".join(f"{name}: {value}" for name, value in made.facts), "", *(f"wrote {path}" for path in written)]
    lines += ["", f"Open it:  {written.html.resolve().as_uri()}"]
    emit(made.to_json() | {"files": [str(path) for path in written]}, as_json=as_json, text="\n".join(lines))


def _require_data(data: Path, database: str | None, nothing: str, begin: str) -> None:
    if database is None and not (data / "interplay.db").exists():
        raise InterplayError(f"{nothing} in {data}: it holds no interplay.db\nName the folder with --data, or {begin}")


def _names(agents: str | None) -> list[str] | None:
    if agents is None:
        return None
    names = [name.strip() for name in agents.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("--agents is empty; give names separated by commas, or leave it out")
    return names


def _bedd_report(data: Path, database: str | None, agents: list[str] | None, recordings: Path | None, seed: int) -> Report:
    _require_data(data, database, "no answers", "test counts with --counts, or begin with:  interplay judge import --help")
    from interplay.report.bedd.report import database_report

    with closing(open_archive(data, database, must_exist=True)) as archive, ExitStack() as stack:

        def begin(total: int) -> Callable[[], None]:
            if total <= 10_000:  # less than two seconds' reading
                stack.enter_context(working("making tables"))
                return lambda: None
            bar = stack.enter_context(progress())
            reading = bar.add_task("reading reasons", total=total)
            bar.add_task("making tables", total=None)
            return lambda: bar.advance(reading)

        efforts, source = _efforts(archive, recordings)
        return database_report(
            archive.database, agents=agents, efforts=efforts, effort_source=source, seed=seed, on_begin=begin
        )


def _efforts(archive: Archive, recordings: Path | None) -> tuple[list[Effort], str]:
    """Return demonstrations of the archive, or of a folder of recordings if given, and words for their source."""
    from interplay.report.bedd.demonstrations import archived_efforts, recorded_efforts

    if recordings is None:
        return list(archived_efforts(archive)), "human episodes of this archive"
    with progress_bar("counting recordings") as report:
        efforts = recorded_efforts(recordings, on_file=report)
    return efforts, f"published recordings in {recordings.name}"


def _counts_text(tested: CountsReport) -> Any:
    from rich.console import Group

    parts: list[Any] = []
    for name, tests in (("tasks", tested.task_sentiment), ("agents", tested.agent_sentiment)):
        statistic, df, p = tests.chi_square
        num = sum(map(sum, tests.counts.values()))
        overall = f"sentiment by {name}: X²({df}, N = {num:,}) = {statistic:.2f}, p = {p:.3g}"
        parts += [overall, "", _pairs_text(name, tests), ""]
    return Group(*parts, f"{tested.comparison_points:,} comparison points (the paper: 27,905)")


def _pairs_text(kind: str, tests: SentimentTests) -> Any:
    from interplay.report.bedd.texts import pair_table

    pairs = pair_table(tests.counts, kind)
    rows = []
    for row in pairs.rows:
        cells = list(zip(pairs.columns, row, strict=True))
        ours = [column.write(cell) for column, cell in cells]
        statistic, p = (column.write_paper(cell) for column, cell in cells[1:3])
        rows.append([*ours[:2], statistic, ours[2], p, *ours[3:]])
    return table(["pair", "#X²", "#paper's", "#p", "#paper's", "significant", "in the paper"], rows, title=pairs.caption)
