"""`interplay agents list` and `import-vpt`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import DEFAULT_DATA, DatabaseOption, DataOption, open_archive, place_options
from interplay.cli.output import JsonOption, emit, table, working

app = typer.Typer(add_completion=False, help="List agents, or import one.  Try:  interplay agents list", no_args_is_help=True)


@app.callback()
def agents() -> None:
    """List agents, or import one.  Try:  interplay agents list"""


@app.command("list")
def list_agents(data: DataOption = DEFAULT_DATA, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the built-in agents and the trained policies of the data folder."""
    from interplay.agents import names

    # Where there is no folder there are the built-in ones.
    known = names(open_archive(data, database, must_exist=True) if data.is_dir() or database else None)
    emit(
        [agent._asdict() for agent in known],
        as_json=as_json,
        text=table(["agent", "kind", "what it does"], [(agent.name, agent.kind, agent.description) for agent in known]),
    )


@app.command("import-vpt")
def import_vpt(
    model: Annotated[Path, typer.Argument(metavar="FILE.model", help="VPT's `.model` file, with the sizes of the network.")],
    weights: Annotated[Path, typer.Argument(metavar="FILE.weights", help="VPT's file with the weights of that network.")],
    name: Annotated[str, typer.Option(help="Name of the agent; it is stored in models/NAME.")],
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an agent from VPT's published files. The files are pickles: nothing in them is run, and a file that asks to run
    anything is refused. The agent acts in the block world and in MineRL, and `interplay demos embed` can use it.

    Try:  interplay agents import-vpt foundation-model-1x.model foundation-model-1x.weights --name vpt-1x
    """
    from interplay.agents.vpt.agent import import_files
    from interplay.learn.train import model_folder

    archive = open_archive(data, database)
    folder = model_folder(archive, name)
    with working("reading weights"):
        path = import_files(model, weights, folder)
        archive.put_model(folder)
    place = place_options(data, database)
    emit(
        {"agent": name, "folder": str(folder), "description": str(path)},
        as_json=as_json,
        text=f"Wrote {folder}: vpt.safetensors, vpt.json\n"
        f"Next:  interplay play basalt/find_cave --agent {name}{place}\n"
        f"       interplay demos embed VIDEOS --vpt {name} --out embeddings{place}",
    )
