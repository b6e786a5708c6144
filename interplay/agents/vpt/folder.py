"""A VPT network among the models of a data folder: `vpt.safetensors` (weights) and `vpt.json` (everything else)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

FORMAT = "interplay-vpt"
VERSION = 1
DESCRIPTION, WEIGHTS = "vpt.json", "vpt.safetensors"
_REQUIRED = {"name": str, "sizes": dict, "weights_sha256": str, "made_from": list}


class VPTError(InterplayError):
    """A network's files are missing, damaged or do not fit each other."""


def is_vpt_folder(folder: Path) -> bool:
    return (folder / DESCRIPTION).is_file() or (folder / WEIGHTS).is_file()


def describe_networks(models: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, description in one line) of each network below a folder; the line says if a network is damaged."""
    for folder in sorted(models.iterdir()) if models.is_dir() else ():
        if is_vpt_folder(folder):
            try:
                document = read_description(folder)
            except VPTError as error:
                yield folder.name, f"damaged: {str(error).splitlines()[0]}"
                continue
            yield folder.name, f"VPT with {document['sizes'].get('hidsize')} numbers a picture, for block worlds"


def read_description(folder: Path) -> dict[str, Any]:
    """Read `vpt.json`; `VPTError` if the file is missing, is not JSON, or lacks an entry."""
    path = folder / DESCRIPTION
    remedy = "Import the published files again:  interplay agents import-vpt FILE.model FILE.weights --name NAME"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise VPTError(f"VPT network {folder.name!r}: {path} is missing\n{remedy}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise VPTError(f"VPT network {folder.name!r}: {path} is damaged: {error}\n{remedy}") from None
    if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (FORMAT, VERSION):
        raise VPTError(f"VPT network {folder.name!r}: {path} is not of format {FORMAT!r}, version {VERSION}\n{remedy}")
    for key, kind in _REQUIRED.items():
        if not isinstance(document.get(key), kind):
            raise VPTError(f"VPT network {folder.name!r}: {path}: {key!r} is missing or is not a {kind.__name__}\n{remedy}")
    return document
