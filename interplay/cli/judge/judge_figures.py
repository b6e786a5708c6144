"""Figures of model judges as tables: how accurate trained judges are, and how often vision-language models agree with
people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interplay.cli.output import table

if TYPE_CHECKING:
    from interplay.model_judges import MeasuredJudge, TaskJudge


def calibration_report(made: Sequence[TaskJudge], skipped: Mapping[str, str], seed: int, options: str) -> Any:
    """Return figures of trained judges, their faults, and the next command.

    `options` are the options with which that command finds the same judges."""
    from rich.console import Group

    rows = []
    for judge in made:
        found = judge.calibration
        rows.append(
            (
                judge.task,
                f"{found.num_answers:,}",
                f"{found.accuracy:.0%} ({found.commonest:.0%})",
                f"{found.decided_accuracy:.0%}",
                f"{found.brier:.3f} ({found.brier_reference:.3f})",
                f"{found.calibration_error:.3f}",
                _people(found.people_agree, found.num_people_pairs),
                _saved(found.answers_saved),
            )
        )
    measures = ["#right (most common)", "#side right", "#Brier (shares)", "#ECE", "#people agree", "#answers saved"]
    parts: list[Any] = [table(["task", "#answers", *measures], rows)]
    for judge in made:
        parts += ["", *_remarks(judge)]
    parts += _skipped(skipped)
    parts += ["", f"Right, side right, Brier and ECE are about seeds the model did not see. Seed of the splits: {seed}."]
    if any(judge.calibration.judges_new_agents for judge in made):
        parts += [f"Let it answer:  interplay judge by-model{options}      See more:  /judges/models on the server"]
    else:
        parts += ["It is not worth letting it answer yet. Collect more answers, then calibrate again."]
    return Group(*parts)


def agreement_report(measured: Sequence[MeasuredJudge], skipped: Mapping[str, str]) -> Any:
    """Return figures of judges that answer by looking at videos (vision-language models)."""
    from rich.console import Group

    rows, remarks = [], []
    for judge in measured:
        found = judge.agreement
        if found is None:
            continue
        rows.append(
            (
                judge.task,
                f"{found.num_pairs:,}",
                f"{found.num_answers:,}",
                f"{found.accuracy.share:.0%} [{found.accuracy.low:.0%}, {found.accuracy.high:.0%}] ({found.commonest:.0%})",
                "–" if found.side_accuracy.share is None else f"{found.side_accuracy.share:.0%} of {found.side_accuracy.num}",
                f"{found.brier:.3f} ({found.brier_reference:.3f})",
                _people(found.people_agree, found.num_people_pairs),
                _saved(found.answers_saved),
            )
        )
        if not found.is_better_than_commonest:
            remarks.append(
                f"{judge.task}: model:{judge.name} is no better than always giving the most common "
                f"outcome, as far as {found.num_answers:,} answers can show"
            )
        if found.num_certain:
            remarks.append(
                f"{judge.task}: {'all' if found.num_certain == found.num_answers else 'some'} of its answers have no "
                "probability; for the Brier score they count as certain"
            )
    measures = ["#same (most common)", "#side the same", "#Brier (shares)", "#people agree", "#answers saved"]
    parts: list[Any] = [
        table(["task", "#pairs", "#people's answers", *measures], rows),
        *(["", *remarks] if remarks else []),
        *_skipped(skipped),
    ]
    parts += [
        "",
        "Figures are about the pairs that people answered too; answers saved are about all pairs it answered; [95 % interval].",
    ]
    return Group(*parts, "By question:  --json, or /judges/models on the server")


def _remarks(judge: TaskJudge) -> list[str]:
    found, lines = judge.calibration, []
    if found.num_left_out:
        total = found.num_answers + found.num_left_out
        why = "this server has no video of their episodes"
        lines.append(f"{judge.task}: {found.num_left_out:,} of {total:,} answers are left out: {why}")
    strongest = ", ".join(f"{name} {weight:+.2f}" for name, weight in judge.strongest(5))
    if not strongest:
        lines.append(f"{judge.task}: it has learnt nothing: no feature predicts which episode people prefer")
    if found.left_out is not None and found.names_only is not None:
        lines.append(
            f"{judge.task}: correct side on unseen seeds {found.decided_accuracy:.0%}, from names alone "
            f"{found.names_only.decided_accuracy:.0%}; on agents left out {found.left_out.decided_accuracy:.0%} "
            f"(Brier score {found.left_out.brier:.3f} against {found.left_out.brier_reference:.3f} from shares alone)"
        )
    lines.append(f"{judge.task}: {found.verdict}")
    return [*lines, f"{judge.task}, strongest features: {strongest}"] if strongest else lines


def _skipped(skipped: Mapping[str, str]) -> list[str]:
    return ["", *(f"Skipped: {reason.splitlines()[0]}" for reason in skipped.values())] if skipped else []


def _people(agree: float | None, num_pairs: int) -> str:
    return "–" if agree is None else f"{agree:.0%} of {num_pairs}"


def _saved(answers: int | None) -> str:
    return "–" if answers is None else f"{answers:,}"
