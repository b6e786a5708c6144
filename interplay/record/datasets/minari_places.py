"""Paths of Minari data sets: in any folder, or in Minari's own folder, where ids name them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from interplay.errors import not_installed
from interplay.record.errors import RecordingError
from interplay.tables import visible

_ID = re.compile(r"(?!-)[-\w]+(/[-\w]+)*-v\d+")
METADATA = "metadata.json"


def is_id(text: str) -> bool:
    """Return whether a text names a data set in Minari's own folder; any other text names a folder of ours.

    >>> is_id("mine/breakout-v0"), is_id("./breakout-v0"), is_id("exports")
    (True, False, False)
    """
    return _ID.fullmatch(text) is not None


def require_minari() -> None:
    """Import Minari; `RecordingError` if it is not installed."""
    try:
        import h5py  # noqa: F401
        import minari  # noqa: F401
    except ModuleNotFoundError as error:
        raise RecordingError(not_installed("data sets of Minari need", error.name, "export")) from None


def own_folder() -> Path:
    """Minari's own folder: `MINARI_DATASETS_PATH`, or `~/.minari/datasets`."""
    from minari.storage import get_dataset_path

    return get_dataset_path().resolve()


def find(place: str) -> tuple[list[Path], dict[str, str]]:
    """Return the sorted `data` folders of the data sets in a place, and a mapping unreadable folder -> reason.

    Args:
        place: An id, a data set's folder, or a folder of data sets.
    Raises:
        RecordingError: If there is no data set.
    """
    root = own_folder() / place if is_id(place) and not Path(place).exists() else Path(place).resolve()
    found: list[Path] = []
    refused = {}
    for path in sorted(visible(root.rglob(METADATA), root), key=lambda path: len(path.parts)):  # a killed export leaves others
        if not set(found).isdisjoint(path.parents[1:]):  # Minari's arrow format has one in each episode
            continue
        try:
            metadata(path.parent)
            found.append(path.parent)
        except RecordingError as error:  # elsewhere it is somebody else's, or of a data set that is being written
            if path.parent.name == "data":
                refused[str(path.parent)] = str(error)
    if not found:
        if refused:
            raise RecordingError("\n".join(refused.values()))
        raise RecordingError(
            f"there is no data set of Minari in {root}\n"
            "Give a data set's folder, a folder of data sets, or the id of a local data set:  minari list local\n"
            "This command downloads nothing; fetch a data set first:  minari download NAME"
        )
    return sorted(found), refused


def metadata(folder: Path) -> dict[str, Any]:
    try:
        document = json.loads((folder / METADATA).read_text("utf-8"))
        if not isinstance(document, dict) or "dataset_id" not in document:
            raise ValueError("it names no dataset_id")
    except (OSError, ValueError, RecursionError) as error:
        raise RecordingError(
            f"{folder / METADATA} is not a description of a data set: {error}\nFetch or export it again."
        ) from error
    return document
