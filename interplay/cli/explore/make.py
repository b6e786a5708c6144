"""`interplay explore make`: language models or the planner make instances; the gate passes instances that are proved."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interplay.cli.explore.bank import planned
from interplay.cli.explore.models import (
    AddressOption,
    KeyOption,
    PricesOption,
    TimeoutOption,
    needs_models,
    prices_of,
    server_at,
    spent_text,
)
from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, SeedOption, choose_seed, open_archive, place_options
from interplay.cli.output import JsonOption, emit, progress, table
from interplay.errors import InterplayError
from interplay.explore.evaluation.scripted import PREFIX

if TYPE_CHECKING:
    from interplay.explore.make.synthesis import Synthesis

MOST_PLANNED = 4
_MODES = {"multi": ("multi",), "single": ("single",), "both": ("multi", "single")}
_Hops = Annotated[
    int | None,
    typer.Option(
        "--hops",
        min=1,
        max=12,
        help="Number of tasks in an instance; default: 2 to 4, drawn by the seed; with planner: each of 1 to 4.",
    ),
]
_TaskFile = Annotated[
    Path | None,
    typer.Option(
        "--tasks",
        help="File with tasks to choose from: a bank, a result of the filter (its kept tasks), or one name in each line.",
    ),
]
_Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Folder for the instances; default: explore/make/instances in the data folder; with planner: 'planned'.",
    ),
]


def make(
    model: Annotated[
        str, typer.Option("--model", help="Name of the model in Inspect: openai/NAME, ...; scripted/maker needs no network.")
    ] = "",
    mode: Annotated[
        str,
        typer.Option(
            help="multi: makers debate; single: one prompt; both: one of each from the same candidates; planner: no model."
        ),
    ] = "multi",
    hops: _Hops = None,
    count: Annotated[
        int,
        typer.Option(
            "--count", min=1, max=1000, help="Number of instances for each mode; with planner: for each number of hops."
        ),
    ] = 1,
    tasks: _TaskFile = None,
    out: _Out = None,
    role_models: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE=MODEL", help="Another model for a role; may be repeated.")
    ] = None,
    address: AddressOption = None,
    key_env: KeyOption = None,
    prices: PricesOption = None,
    timeout: TimeoutOption = 300,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Number of instances that are made at the same time.")] = 2,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make instances with language models or the planner. Each is checked and proved after every revision, and written if it
    passes. After an interruption, run it again: it continues, and pays for no answer twice. Exit 1 if no instance passed or,
    with the planner, if one was not made.

    Try:  interplay explore make --hops 3 --mode both --model scripted/maker --seed 1
    """
    if mode == "planner":
        if hops is not None and hops > MOST_PLANNED:
            raise typer.BadParameter(f"--mode planner makes instances of 1 to {MOST_PLANNED} hops; got {hops}")
        planned(hops, count, out or Path("planned"), choose_seed(seed), as_json=as_json)
        return
    if mode not in _MODES:
        raise typer.BadParameter(f"--mode takes {', '.join(_MODES)} or planner; got {mode!r}")
    if not model.strip():
        raise typer.BadParameter("--model is missing; name one, such as openai/NAME or scripted/maker, or write --mode planner")
    with needs_models("make"):
        from interplay.explore.evaluation.providers import model_named
        from interplay.explore.make import synthesis
    from interplay.explore.make.chat import FOLDER, Chat
    from interplay.explore.make.dialogue import ROLES

    at = server_at(address, key_env)
    roles = dict(_role(one, ROLES) for one in role_models or ())
    chosen = choose_seed(seed)
    plan = synthesis.Plan(tasks_of(tasks, model), _MODES[mode], count, hops, chosen, model)
    with closing(open_archive(data, database)) as archive, progress() as bar:
        line = bar.add_task(f"{model} makes", total=None)
        chat = Chat(archive.root / FOLDER / "makers.jsonl", prices=prices_of(prices), timeout_s=timeout)
        with closing(chat):

            def report(far: synthesis.Far) -> None:
                said = f"{model} makes, {far.passed} passed, {spent_text(chat.spent)}"
                bar.update(line, description=said, completed=far.done, total=far.total)

            made = asyncio.run(
                synthesis.make(
                    plan,
                    archive,
                    chat,
                    model_named(model, at),
                    roles={name: model_named(other, at) for name, other in roles.items()},
                    out=out,
                    num_at_once=at_once,
                    report=report,
                )
            )
    document = {
        "seed": chosen,
        "modes": made.by_mode(),
        "instances": [_instance(made, one) for one in made.makings],
        "spent": {name: one.to_json() for name, one in chat.spent.items()},
    }
    lines = [f"refused  {one['name']} ({one['mode']}): {_first(one['reasons'])}" for one in made.makings if not one["passed"]]
    lines.append(f"\nMade with seed {chosen}; {spent_text(chat.spent)}.")
    if made.files:
        file = next(iter(made.files.values()))
        lines.append(f"Play one:  interplay play {file} --agent random{place_options(data, database)}")
        lines.append(
            f'Let people review them:  [review] instances = ["{file.parent}"] in a study; see docs/studies-of-reviews.md'
        )
    names = ("mode", "instances", "passed", "repaired", "refused", "turns", "refused_replies")
    heads = ["mode", "#instances", "#passed", "#of them repaired", "#refused", "#turns", "#replies refused"]
    text = table(heads, [tuple(row[key] for key in names) for row in made.by_mode()])
    emit(document, as_json=as_json, text=[text, *lines])
    if not made.files:
        raise typer.Exit(1)


def _instance(made: Synthesis, one: Mapping[str, Any]) -> dict[str, Any]:
    same = ("name", "mode", "hops", "passed", "reasons", "first_reasons", "debates", "replies", "tools")
    file = str(made.files.get(one["name"], "")) or None
    return {key: one[key] for key in same} | {"turns": len(one["turns"]), "rulings": one["rulings"], "file": file}


def _first(reasons: list[str]) -> str:
    return reasons[0].partition("\n")[0] if reasons else "no reason was given"


def _role(text: str, known: Any) -> tuple[str, str]:
    name, _, model = text.partition("=")
    if name not in known or not model:
        raise typer.BadParameter(f"--role takes ROLE=MODEL, where ROLE is one of {', '.join(known)}; got {text!r}")
    return name, model


def tasks_of(file: Path | None, model: str) -> tuple[str, ...]:
    """Return names of tasks from a file: a bank, a list in the published form (its kept tasks), or one name in each line.
    Without a file, return the whole bank of this package; scripted makers get only the tasks that they know."""
    from interplay.explore.make import bank
    from interplay.explore.make.scripted import NEEDS

    if file is None:
        return tuple(NEEDS) if model.startswith(PREFIX) else tuple(bank.drawn())
    try:
        said = json.loads(file.read_text(encoding="utf-8")) if file.suffix == ".json" else {}
        if any(isinstance(one, dict) and "requires_domain_knowledge" in one for one in said.values()):
            names = [bank.normalised(name) for name, one in said.items() if one["requires_domain_knowledge"] == "No"]
        else:
            names = list(bank.load(file))
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise InterplayError(f"{file} cannot be read as a list of tasks: {error}\nWrite one name in each line.") from None
    if not names:
        raise InterplayError(f"{file} names no task\nWrite one name in each line, such as: mine oak_log")
    return tuple(dict.fromkeys(names))
