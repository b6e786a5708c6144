"""`interplay report crowdplay`: the analyses of CrowdPlay (Gerstgrasser et al. 2022) on the recordings of any archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interplay.errors import InterplayError
from interplay.record import Archive
from interplay.record.catalogue import parse_condition
from interplay.report.crowdplay.groups import teams_section, treatments_section
from interplay.report.crowdplay.maps import maps_section
from interplay.report.crowdplay.plays import Play, quality_of, read_plays
from interplay.report.crowdplay.times import hours_section, latency_section
from interplay.report.table import Report
from interplay.store.episodes import statistic_names
from interplay.store.study.studies import all_versions
from interplay.study.definition import Study


class NothingPlayedError(InterplayError):
    """Raised when the report finds no recordings."""


def crowdplay_report(
    archive: Archive,
    *,
    quality: Sequence[str] = (),
    seed: int = 0,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Make the whole report on an archive's present recordings.

    Args:
        quality: Conditions such as `inside_out >= 0.8` that make a play good; by default those of the studies.
    Raises:
        NothingPlayedError: If there is no recording.
        RecordingError: If a condition cannot be read, or compares texts.
        NotFoundError: If a condition names a statistic that no play has.
    """
    with archive.database.read() as session:
        given = [parse_condition(text, statistic_names(session)) for text in quality]
        studies = [Study.from_json(version.definition) for version in all_versions(session)]
    if texts := [one.name for one in given if isinstance(one.value, str)]:
        raise NothingPlayedError(
            f"--quality compares numbers, and {texts[0]} is compared with a text\nWrite for example: --quality 'score >= 200'"
        )
    plays = read_plays(archive, on_file=on_file)
    if not plays:
        raise NothingPlayedError(
            f"there are no recordings in {archive.root} to report on\nPlay something (interplay serve), let agents play "
            "(interplay play), or fetch episodes (interplay episodes pull)."
        )
    shares = _shares(archive, plays)
    rule = quality_of(studies, {name for names in shares.values() for name in names}, given)
    people = [play for play in plays if play.is_person]
    days = sorted(play.held.created_at.date().isoformat() for play in plays)
    facts = (
        ("hours of people", f"{sum(play.seconds for play in people) / 3600:,.2f}"),
        ("people", f"{len({play.held.participant_id or play.held.actor for play in people}):,}"),
        ("agents", str(len({play.held.actor for play in plays if not play.is_person}))),
        ("episodes", f"{len({play.held.episode for play in plays}):,}"),
        ("tasks", str(len({play.held.task for play in plays}))),
        ("recorded", days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"),
    )
    return Report(
        "crowdplay",
        "What a crowd played",
        "The analyses of CrowdPlay (Gerstgrasser et al. 2022) on these recordings: how much was played, how differently, "
        "under which incentives, how fast, and how well together.",
        (
            hours_section(plays, rule),
            maps_section(plays, rule, shares, seed=seed),
            treatments_section(plays, rule),
            latency_section(plays),
            teams_section(plays),
        ),
        facts,
    )


def _shares(archive: Archive, plays: Sequence[Play]) -> dict[str, list[str]]:
    """Return world -> names of its tasks' statistics that are shares of a whole, without `accuracy`, which measures success."""
    found: dict[str, list[str]] = {}
    for task in {play.held.task_hash: play.task for play in plays}.values():
        names = found.setdefault(task.env.id, [])
        names += [one.name for one in archive.collected(task) if one.is_share and one.name not in (*names, "accuracy")]
    return found
