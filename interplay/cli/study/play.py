"""`interplay study simulate | answers | raffle`: assignment in a study of play, answers about partners, and winners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, place_options
from interplay.cli.output import JsonOption, emit, progress, table
from interplay.cli.study.common import opened_place, print_csv
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.study.assignment import Outcome
    from interplay.study.money.raffle import RaffleEntries

WITHIN = 0.1
"""Largest difference between accepted time and a target, as a share, that counts as near."""


def simulate(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="A study file (my_study.toml), or the id of a built-in study.")],
    arrivals: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many people come.")] = 1000,
    dropout: Annotated[float, typer.Option(min=0, max=1, help="Share of people who leave before they are done.")] = 0.3,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="How many studies to simulate.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Simulate how a study of play spreads people over its variants; compare this with variants drawn at random.

    Variants differ in their length and in how many people meet the requirements. The rule does not know this beforehand.

    Try:  interplay study simulate crowdplay --arrivals 1000 --dropout 0.3
    """
    from interplay.study import StudyError
    from interplay.study.assignment import simulate as simulated
    from interplay.study.definition import find_study

    study = find_study(name)
    if study.play is None:
        raise StudyError(f'{name} is a study of comparisons, so it has no variants\nRemedy: name a study with kind = "play".')
    outcomes: list[Outcome] = []
    with progress() as bar:
        running = bar.add_task("Simulating", total=2 * seeds)
        for one in simulated(study.play, minutes=study.minutes, arrivals=arrivals, dropout=dropout, seeds=seeds):
            outcomes.append(one)
            bar.advance(running)
    document = _document(study.id, outcomes, {one.name: one.target_min for one in study.play.variants})
    document |= {"arrivals": arrivals, "dropout": dropout, "seeds": seeds}
    emit(document, as_json=as_json, text=None if as_json else _text(document))


def _document(study: str, outcomes: Sequence[Outcome], targets: dict[str, float | None]) -> dict[str, Any]:
    document: dict[str, Any] = {"study": study, "targets_min": targets}
    for method in ("balanced", "random"):
        ones = [one for one in outcomes if one.method == method]
        document[method] = {
            "largest_deviation": max(one.deviation for one in ones),
            "mean_spread": sum(one.spread for one in ones) / len(ones),
            "mean_accepted_min": {name: sum(one.accepted_min[name] for one in ones) / len(ones) for name in targets},
            "mean_turned_away": sum(one.turned_away for one in ones) / len(ones),
            "mean_dropped_out": sum(one.dropped_out for one in ones) / len(ones),
        }
    ours, theirs = document["balanced"], document["random"]
    document["is_within"] = ours["largest_deviation"] <= WITHIN
    document["spread_ratio"] = ours["mean_spread"] / theirs["mean_spread"] if theirs["mean_spread"] else None
    document["runs"] = [one.to_json() for one in outcomes]
    return document


def _text(document: dict[str, Any]) -> Any:
    from rich.console import Group

    ours, theirs = document["balanced"], document["random"]
    rows = [
        (name, "" if target is None else f"{target:g}", *(f"{one['mean_accepted_min'][name]:.0f}" for one in (ours, theirs)))
        for name, target in document["targets_min"].items()
    ]
    near = "within" if document["is_within"] else "NOT within"
    wanted = sum(target or 0 for target in document["targets_min"].values())
    came = sum(ours["mean_accepted_min"].values())
    return Group(
        table(["variant", "#target, min", "#accepted, min", "#drawn at random, min"], rows),
        "",
        f"Largest deviation from a target: {ours['largest_deviation']:.1%}, {near} {WITHIN:.0%} "
        f"(at random {theirs['largest_deviation']:.1%}).",
        f"Accepted in all: {came:.0f} min{f' of {wanted:g} wanted' if wanted else ''}.",
        f"Spread between variants: {ours['mean_spread']:.1%} (at random {theirs['mean_spread']:.1%}).",
        f"Of {document['arrivals']} people {ours['mean_dropped_out']:.0f} left early, and {ours['mean_turned_away']:.0f} found "
        "every target reached.",
    )


def answers(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV on standard output.")] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List people's answers about their partners, one row for each question, in the order of the answers.

    A form that was skipped has rows without a value.

    Try:  interplay study answers my_study --csv > partners.csv
    """
    from interplay.study.play.visits import PartnerAnswer, Visits
    from interplay.study.studies import Studies

    archive, hint = opened_place(data, database)
    found = Visits(archive.database, Studies(archive.database)).answers(study, hint=hint)
    rows = [asdict(one) | {"answered_at": one.answered_at.isoformat()} for one in found]
    if as_csv and not as_json:
        print_csv([field.name for field in fields(PartnerAnswer)], rows)
        return
    shown = ("participant", "variant", "form", "#game", "before_partner", "partner", "question", "label")
    cells = [["skipped" if (value := row[name.lstrip("#")]) is None else str(value) for name in shown] for row in rows]
    emit(
        rows, as_json=as_json, text=table(shown, cells) if rows else f"Nobody has answered questions about partners in {study}."
    )


def raffle(
    study: Annotated[str, typer.Argument(metavar="ID", help="Id of a study that was opened in this data folder.")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the draw, made public with the result; drawn if not given.")
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Erase the e-mail addresses; first tell the winners. The result of the draw stays.")
    ] = False,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the winners of a study's raffle, once, among everybody whose visit is done. Later calls show the same draw.

    Anybody can repeat the draw: the number of an entry is the SHA-256 of "SEED:ENTRY", and the smallest numbers win. In a study
    whose link goes out by e-mail, the entries are the addresses that people left; they are kept apart from the games.

    Try:  interplay study raffle my_study --seed 2026
    """
    from rich.console import Group

    from interplay.study import StudyError
    from interplay.study.money.payroll import Payroll
    from interplay.study.money.raffle import RaffleEntries, has_addresses
    from interplay.study.studies import Studies

    archive, hint = opened_place(data, database)
    place, studies = place_options(data, database), Studies(archive.database)
    if has_addresses(studies.get(study, hint=hint)):
        _raffle_of_addresses(RaffleEntries(archive.database, studies), study, seed, place, forget=forget, as_json=as_json)
        return
    if forget:
        raise StudyError(f"{study} keeps no addresses, so there is nothing to erase")
    drawn = Payroll(archive.database).raffle(study, seed=seed, hint=hint)
    document = drawn.to_json()
    rows = [(rank + 1, one["worker"], one["enrolment"], one["number"][:16]) for rank, one in enumerate(document["winners"])]
    deed = "Drawn" if document["is_new"] else "Drawn before"
    lines = [
        "",
        f"{deed} from {drawn.entries} entries with the seed {drawn.seed}.",
        f"Pay them:  interplay study pay {study}{place}",
    ]
    text = None if as_json else Group(table(["#place", "worker", "enrolment", "number"], rows), *lines)
    emit(document, as_json=as_json, text=text)


def _raffle_of_addresses(
    entries: RaffleEntries, study: str, seed: int | None, place: str, *, forget: bool, as_json: bool
) -> None:
    from rich.console import Group

    if forget:
        number = entries.forget(study)
        emit({"erased": number}, as_json=as_json, text=f"{amount(number, 'address', 'addresses')} erased.")
        return
    drawn = entries.draw(study, seed=seed)
    rows = [(rank + 1, address or "(erased)", entry) for rank, (entry, address) in enumerate(drawn.winners)]
    deed = "Drawn" if drawn.is_new else "Drawn before"
    lines = ["", f"{deed} from {len(drawn.entries)} entries with the seed {drawn.seed}."]
    if any(address for _, address in drawn.winners):
        lines.append(f"Write to the winners, then erase all addresses:  interplay study raffle {study} --forget{place}")
    emit(drawn.to_json(), as_json=as_json, text=None if as_json else Group(table(["#place", "address", "entry"], rows), *lines))
