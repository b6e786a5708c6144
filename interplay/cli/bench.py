"""`interplay bench NAME`: run a measurement from a `bench/` folder of a checkout."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.output import JsonOption, emit, table
from interplay.errors import InterplayError, unknown_name

app = typer.Typer(add_completion=False)

_ROOT = Path(__file__).parent.parent.parent
FOLDERS = (_ROOT / "bench", _ROOT / "packages" / "blockworld" / "bench")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Measurement: record, play, rank, ...; without a name, all are listed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a measurement together with its baseline; without a name, list all measurements.

    Try:  interplay bench record --json
    """
    if not FOLDERS[0].is_dir():
        raise InterplayError(
            "measurements live in the `bench` folder of a checkout, and this is an installed package.\n"
            "Clone the repository and run it there."
        )
    names = benches(*FOLDERS)
    if name is None:
        docs = {one: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for one, path in names.items()}
        found = {one: (text or "").partition("\n")[0] for one, text in docs.items()}
        documents = [{"bench": one, "measures": line} for one, line in found.items()]
        emit(documents, as_json=as_json, text=table(["bench", "what it measures"], found.items()))
        return
    if name not in names:
        raise unknown_name("bench", name, names)
    sys.path[:0] = [str(folder.parent) for folder in FOLDERS]  # one package of both
    sys.argv = [f"bench.{name}", *context.args, *(["--json"] if as_json else [])]
    runpy.run_module(f"bench.{name}", run_name="__main__")


def benches(*folders: Path) -> dict[str, Path]:
    """Map the name of each measurement in these folders to its file: a module that can be run and has an option `--json`."""
    texts = {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py")}
    return {
        path.stem: path
        for path in sorted(texts, key=lambda path: path.stem)
        if '"__main__"' in texts[path] and '"--json"' in texts[path]
    }
