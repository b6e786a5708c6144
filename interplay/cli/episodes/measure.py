"""`interplay episodes measure | collected | quality`: statistics of recordings, by the same collectors as in live games."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, RayOption, known_task, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress, table
from interplay.wording import amount

app = typer.Typer(add_completion=False)


@app.command()
def measure(
    episode_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Episodes; or use --all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every episode of the catalogue.")] = False,
    task: Annotated[str | None, typer.Option(help="Every episode of this task.")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Every episode that meets this condition, e.g. 'score >= 200'; may be repeated.")
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option("--statistic", help="Another statistic: a name, or module:factory; may be repeated."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Store nothing; compare with the values that were computed during the game.")
    ] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play episodes again to compute statistics that they lack, and store these in the catalogue. The same command continues a
    run that was stopped. Exit 1 when an episode could not be measured, or with --check when a value differs.

    Try:  interplay episodes measure --all
    """
    from interplay.jobs import Executor
    from interplay.record.measuring import measure_all
    from interplay.statistics import StatisticSpec

    if bool(episode_ids) == (every or task is not None or bool(where)):
        raise typer.BadParameter("give episode ids, or --all for every episode, or choose some by --task and --where")
    archive = open_archive(data, database, must_exist=True)
    archive.statistics = tuple(map(StatisticSpec, statistic or ()))
    for spec in archive.statistics:
        spec.build()  # a mistyped name is an error, not a statistic that is left out of every episode
    if episode_ids:
        episodes = [archive.get(name) for name in episode_ids]
    else:
        episodes = archive.episodes(task=known_task(archive, task), where=where or [])
    found = []
    with progress() as bar:
        done = bar.add_task("measuring steps", total=sum(episode.num_steps for episode in episodes))
        for one in measure_all(
            archive, episodes, check=check, executor=Executor(2, ray), advance=lambda steps: bar.advance(done, steps)
        ):
            found.append(one)
    document: dict[str, Any] = {
        "episodes": [
            {
                "episode": one.episode,
                "values": [measure.to_json() for measure in one.measures],
                "left_out": one.left_out,
                "differences": list(one.differences),
                "failed": one.failed,
            }
            for one in found
        ],
        "num_measured": sum(not one.was_complete and one.failed is None for one in found),
        "num_complete": sum(one.was_complete for one in found),
        "num_values": sum(one.num_kept if check else len(one.measures) for one in found),
        "num_different": sum(len(one.differences) for one in found),
        "num_failed": sum(one.failed is not None for one in found),
    }
    lines = [f"{one.episode} left out {name}: {reason}" for one in found for name, reason in one.left_out.items()]
    lines += ["FAILED " + f"{one.episode}: {one.failed}".replace("\n", "\n  ") for one in found if one.failed is not None]
    lines += [f"{one.episode} DIFFERS: {difference}" for one in found for difference in one.differences]
    if check:
        lines.append(
            f"{amount(document['num_values'], 'value')} of {amount(document['num_measured'], 'episode')} compared, "
            f"{document['num_different']} different."
        )
    else:
        lines.append(
            f"{amount(document['num_measured'], 'episode')} measured, {amount(document['num_values'], 'value')} kept; "
            f"{document['num_complete']} had all of them."
        )
        lines.append(f"Search by them:  interplay episodes list --where 'active_time >= 60'{place_options(data, database)}")
    emit(document, as_json=as_json, text="\n".join(lines))
    if document["num_failed"] or document["num_different"]:
        raise typer.Exit(1)


StudyOption = Annotated[str | None, typer.Option(metavar="ID", help="Only games of this study.")]


def collected(
    study: StudyOption = None, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show hours of recorded games by day (UTC), task and channel.

    Try:  interplay episodes collected --json
    """
    from interplay.record.summary import Summary

    hours = Summary(open_archive(data, database, must_exist=True)).hours(study)
    rows = [(one.day, one.task, one.channel, f"{one.hours:.2f}", one.num_episodes) for one in hours]
    text: Any = table(["day", "task", "channel", "#hours", "#episodes"], rows) if rows else "Nothing has been recorded yet."
    emit([one._asdict() for one in hours], as_json=as_json, text=text)


def quality(
    study: StudyOption = None, data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False
) -> None:
    """Show how good people's games are: latency, lost frames, active time, score and length of each task, and outliers.

    Try:  interplay episodes quality
    """
    from rich.console import Group

    from interplay.record.summary import Summary

    found = Summary(open_archive(data, database, must_exist=True)).quality(study)
    document = {
        "measures": {name: {task: one._asdict() for task, one in spreads.items()} for name, spreads in found.measures.items()},
        "outcomes": found.outcomes,
        "verified": {"equal": found.equal, "different": found.different, "never": found.unverified},
        "different": dict(found.problems),
        "outliers": [vars(one) for one in found.outliers],
    }
    rows = [
        (task, name, one.num, *(f"{value:.4g}" for value in one[1:]))
        for name, spreads in found.measures.items()
        for task, one in spreads.items()
    ]
    parts: list[Any] = [f"verified: {found.equal} equal, {found.different} different, {found.unverified} not verified yet"]
    if rows:
        parts += ["", table(["task", "measure", "#games", "#5 %", "#25 %", "#median", "#75 %", "#95 %"], rows)]
    else:
        parts.append("No person has played yet.")
    parts += [f"outlier: {one.episode}, {one.task}: {one.measure} {one.value:.4g}" for one in found.outliers]
    emit(document, as_json=as_json, text=Group(*parts))
