"""Runs commands one after the other, each in a process of its own that has the libraries loaded already: a fork.

Loading these libraries takes longer than what most examples do. Of Interplay itself nothing is loaded before the fork, so a
block that lacks an import of ours, or modules of ours that cannot be imported in its order, fail here as they fail elsewhere.

Reads one request a line, `{"folder": ..., "command": [...]}`, and answers each with one line, `{"status": ..., "said": ...}`.
A command is `python -c CODE`, `python FILE` or `interplay ARGUMENTS`.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import sys
import tempfile

LIBRARIES = ("numpy", "pandas", "pyarrow.parquet", "sqlalchemy.orm", "alembic.command", "typer", "pydantic", "gymnasium", "av")
"""Most examples want these; torch is left out, for it makes the end of every process long."""
LIMIT_S = 180


def run(folder: str, command: list[str]) -> None:
    """What the fork does; it ends as the command would."""
    signal.alarm(LIMIT_S)
    os.chdir(folder)
    program, *sys.argv = command
    if program == "interplay":
        sys.argv = command
        from interplay.cli import main

        main()
    elif sys.argv[0] == "-c":
        sys.path[0] = ""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(sys.argv.pop(1))
            file.flush()
            runpy.run_path(file.name, run_name="__main__")
    else:
        sys.path[0] = os.path.dirname(sys.argv[0])
        runpy.run_path(sys.argv[0], run_name="__main__")


def serve() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    assert not any(name.partition(".")[0] == "interplay" for name in sys.modules)
    gc.freeze()  # what is loaded is neither searched for garbage nor copied for it in each fork
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                run(**json.loads(line))
                return  # through the whole end of the interpreter
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            print(json.dumps({"status": status, "said": said.read().decode(errors="replace")}), flush=True)


if __name__ == "__main__":
    serve()
