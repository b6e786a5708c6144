"""Read the input of `interplay report explore`: votes of the filter, results of makings, reviews, and runs of models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.explore.evaluation import metrics
from interplay.explore.instance import parse
from interplay.explore.judging import judge
from interplay.explore.results import verification
from interplay.record import Archive
from interplay.report.explore import DROPPED, KEPT, WAITING, Played, Reviewed, length_of
from interplay.store import Database
from interplay.study.review.reviews import Review, Reviews
from interplay.study.studies import Studies
from interplay.wording import amount

MAKINGS = Path("explore") / "make" / "makings"
"""Folder of results in a data folder, as in `explore.make.synthesis`, which is not imported because it imports Inspect."""

VOTES = Path("explore") / "make" / "filter" / "votes.json"
"""File of the filter's votes in a data folder; `interplay explore filter` writes this file."""


def verdicts(data: Path, path: Path | None = None) -> dict[str, str]:
    """Read atomic task -> the filter's verdict from `path`, by default `VOTES` of the data folder (empty if it is missing)."""
    if path is None:
        path = data / VOTES
        if not path.exists():
            return {}
    states = {"No": KEPT, "Yes": DROPPED, None: WAITING}
    try:
        return {task: states[one["verdict"]] for task, one in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise InterplayError(
            f"{path} cannot be read as the filter's votes: {error}\nName the votes.json that `interplay explore filter` wrote."
        ) from None


def makings(data: Path) -> list[dict[str, Any]]:
    """Read the results of all attempts to make instances in a data folder; damaged files are left out."""
    found = []
    for path in sorted((data / MAKINGS).glob("*.json")):
        try:
            found.append(json.loads(path.read_bytes()))
        except (ValueError, RecursionError):  # the machine stopped while it was written; it is made again
            continue
    return found


def reviewed(database: Database, studies: Sequence[str] | None) -> tuple[list[Reviewed], list[str]]:
    """Read the instances that people have reviewed, and each study's rules about reviewers, as sentences.

    Args:
        studies: Ids of studies; None for every study of reviews.
    Raises:
        NotFoundError: If there is no such study.
        InterplayError: If a study is not one of reviews; or if none is named and several have reviews of one instance.
    """
    service = Studies(database)
    opened = (
        [one.study for one in service.all() if one.study.review is not None]
        if studies is None
        else [service.get(one).study for one in studies]
    )
    by_instance: dict[str, list[Review]] = {}
    studies_of: dict[str, set[str]] = {}
    documents: dict[str, Mapping[str, Any]] = {}
    rules = []
    for study in opened:
        if study.review is None:
            raise InterplayError(f'{study.id} is not a study of reviews\nName one whose file says kind = "review".')
        third = "a third one where two disagree" if study.review.third else "and no other where they disagree"
        rules.append(f"Study {study.id}: {study.review.raters} reviewers for each instance, {third}; fixed before it opened.")
        for one in Reviews(database, service).of_study(study.id):
            part = service.version(one.version).review
            assert part is not None
            by_instance.setdefault(one.instance, []).append(one)
            studies_of.setdefault(one.instance, set()).add(study.id)
            documents[one.instance] = part.instances[one.instance]
    if shared := [name for name, own in studies_of.items() if len(own) > 1]:
        several = f"{', '.join(shared[:3])} ({amount(len(shared), 'instance')}) in {', '.join(sorted(studies_of[shared[0]]))}"
        if studies is None:
            raise InterplayError(
                f"several studies have reviews of the same instances: {several}\n"
                "Name one with --study, or name all of them to count their reviews together."
            )
        rules.append(f"Reviews of several studies count together: {several}.")
    return [Reviewed(parse(documents[name], source=name), tuple(own)) for name, own in by_instance.items()], rules


def played(archive: Archive) -> list[Played]:
    """Read the runs of models that were played to their end; runs that contradict their episodes are left out."""
    found = []
    for path, (run, result) in metrics.read_results(archive.root)[0].items():
        if result.failed is None and result.outcomes and not verification.compared(archive, path, run, result, judge):
            needs = sum(len(one.get("needs", ())) for one in run.header["milestones"])
            tasks, length = ((), None) if run.instance is None else (run.instance.nodes, length_of(run.instance))
            found.append(Played(result.model, result.hops, needs, result.is_done, tasks, length))
    return found
