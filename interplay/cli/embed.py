"""`interplay demos embed`: recordings and episodes as VPT sees them."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.common import (
    DEFAULT_DATA,
    DatabaseOption,
    DataOption,
    JsonOption,
    emit,
    known_task,
    open_archive,
    progress_bar,
)
from interplay.wording import amount


def embed(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Folder with videos (.mp4); without one, episodes are embedded.")
    ] = None,
    vpt: Annotated[str | None, typer.Option(help="A network: its name in models/, or its folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the embeddings, a file for each recording.")] = None,
    task: Annotated[str | None, typer.Option(help="Only episodes of this task.")] = None,
    where: Annotated[list[str] | None, typer.Option(help="Only episodes such as 'score >= 200'; may be repeated.")] = None,
    chunk: Annotated[int, typer.Option(min=1, max=1024, help="Pictures that pass the network together.")] = 64,
    processes: Annotated[int, typer.Option(min=1, help="How many work at once, each with one thread.")] = 1,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads of one process, at most one for each core; 0 for all.")] = 0,
    data: DataOption = DEFAULT_DATA,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what VPT sees in recordings: the latents of every picture, one file for each recording or episode. Finished files
    are not written again, so the same command continues a run that was stopped.

    Exit 1 when a recording could not be read; the others are embedded.

    Try:  interplay demos embed recordings/find-cave --vpt vpt-1x --out embeddings/find-cave
    """
    if vpt is None:
        raise typer.BadParameter("say which network:  --vpt NAME  (make one:  interplay agents import-vpt)")
    if out is None:
        raise typer.BadParameter("say where the embeddings go:  --out DIR")
    if folder is not None and (task is not None or where):
        raise typer.BadParameter("--task and --where choose episodes; leave out the folder, or them")
    if threads and processes > 1:
        raise typer.BadParameter("several --processes have one thread each; leave out --threads, or --processes")
    # PyTorch's threads wait by spinning otherwise, which takes the cores from those that work; read when it is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from interplay.agents.find import vpt_folder
    from interplay.learn.embed import EmbedError, Source, recordings_in
    from interplay.learn.embed import embed as embed_all

    archive = None if folder is not None else open_archive(data, database, must_exist=True)
    network = vpt_folder(vpt, data / "models")
    sources = [] if folder is None else recordings_in(folder)
    if archive is not None:
        found = archive.episodes(task=known_task(archive, task), where=where or ())
        sources = [Source(episode.id, episode.path) for episode in found]
        if not sources:
            raise EmbedError("no episode fits\nLook what there is:  interplay episodes list")
    with progress_bar("embedding") as bar:
        result = embed_all(
            sources, network, out, chunk=chunk, device=device, processes=processes, threads=threads, on_shard=bar
        )
    lines = ["FAILED " + f"{name}: {reason}".replace("\n", "\n  ") for name, reason in result.failed.items()]
    rate = f", {result.num_frames / result.seconds:,.0f} a second" if result.seconds else ""
    lines += [
        f"Wrote {amount(len(result.written), 'shard')} to {out}: {amount(result.num_frames, 'picture')} "
        f"in {result.seconds:,.0f} s{rate}; there already: {len(result.kept)}; failed: {len(result.failed)}.",
    ]
    emit(asdict(result) | {"out": str(out)}, as_json=as_json, text="\n".join(lines))
    if result.failed:
        raise typer.Exit(1)
