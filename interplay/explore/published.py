"""Instances that come with the package, by name.

They come from MineExplorer (MIT; see NOTICE in their folder) and from our planner (`interplay explore make --mode planner`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from interplay.errors import InterplayError, unknown_name
from interplay.explore.instance import Instance, InstanceError, load
from interplay.tables import visible
from interplay.tasks import Suite

SET = "published"
PLANNED = "planner"
PREFIX = "explore/"
_DATA = Path(__file__).parent / "data"
FOLDERS = {SET: _DATA / "mineexplorer", PLANNED: _DATA / "planner"}


def names(which: str | None = None) -> list[str]:
    return list(_files(which))


@cache
def instances() -> dict[str, Instance]:
    return {name: load(file) for name, file in _files().items()}


@cache
def suite() -> Suite:
    about = "Scenes to explore, each with a goal. People and language models play the same ones."
    return Suite(PREFIX.strip("/"), "Explore", about, tuple(one.task() for one in instances().values()))


def file_of(name: str) -> Path:
    """Return the file of `explore/NAME`, an instance that comes with the package; return any other path as it is.

    Raises:
        NotFoundError: For an unknown name after `explore/`; the text offers the nearest name.
    """
    if not name.startswith(PREFIX) or name.endswith(".json"):
        return Path(name)
    files = _files()
    if name not in files:
        hint = "All that come with the package:  interplay explore check published"
        raise unknown_name("instance", name, list(files), hint=hint)
    return files[name]


def files_of(given: Iterable[str]) -> list[Path]:
    """List files of instances, each once, for `published`, `planner`, `explore/NAME`, files, and folders (their `.json` files).

    Raises:
        NotFoundError: As for `file_of`.
        InstanceError: If a folder holds no instance.
    """
    found: list[Path] = []
    for name in given:
        path = FOLDERS.get(name) or file_of(name)
        if path.is_dir():
            inside = visible(path.glob("*.json"), path)
            if not inside:
                raise InstanceError(f"{path}: holds no .json file\nRemedy: name a folder or a file of instances.")
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def load_each(given: Iterable[str]) -> tuple[dict[Path, Instance], dict[str, str]]:
    """Read the instances that `files_of` lists; return file -> instance, and file or name -> error where reading failed."""
    found, refused = dict[Path, Instance](), dict[str, str]()
    for name in given:
        try:
            files = files_of([name])
        except InterplayError as error:
            files, refused[name] = [], str(error).removeprefix(f"{name}: ")
        for file in files:
            try:
                found[file] = load(file)
            except InterplayError as error:
                refused[str(file)] = str(error).removeprefix(f"{file}: ")
    return found, refused


def _files(which: str | None = None) -> dict[str, Path]:
    folders = FOLDERS.values() if which is None else [FOLDERS[which]]
    return {f"{PREFIX}{file.stem}": file for folder in folders for file in sorted(folder.glob("*.json"))}
