"""`interplay compile`: compile during installation, so that the first block-world game on a machine need not wait a minute."""

from __future__ import annotations

import os
import time

import typer

from interplay.cli.output import stage_bars

app = typer.Typer()


@app.command()
def compile_kernels() -> None:
    """Compile the block world for this version on this machine; takes about a minute.  Try:  interplay compile

    Compiled code is kept beside the package, in your cache folder where the package cannot be written, or in the folder that
    NUMBA_CACHE_DIR names. If you skip this, the first game compiles it, and its player waits.
    """
    from blockworld import compiling

    if compiling.is_ready():
        print("The block world is compiled already.  Next:  interplay serve")
        return
    begin = time.monotonic()
    with stage_bars(counts=False) as report:
        compiling.ensure(
            lambda share: report("Compiling the block world, once", share, 1.0), processes=min(2, len(os.sched_getaffinity(0)))
        )
    print(f"The block world is compiled: {time.monotonic() - begin:.0f} s, only this once.  Next:  interplay serve")
