"""Proofs of episodes: whether a replay of an episode matches its recording. Lists of high scores need them."""

from __future__ import annotations

import json
from pathlib import Path

from interplay.files import write_json
from interplay.record.archive import Archive
from interplay.record.verification.verify import verify


def proof_path(root: Path, episode_id: str) -> Path:
    return root / "media" / "proofs" / f"{episode_id}.json"


def kept(root: Path, episode_id: str, sha256: str | None) -> bool | None:
    """Return the stored proof: whether an episode matches its recording; None if none was made for the file as it is now."""
    try:
        known = json.loads(proof_path(root, episode_id).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return bool(known["equal"]) if known.get("sha256") == sha256 else None


def prove(archive: Archive, episode_id: str) -> bool:
    """Replay an episode, store whether it matches its recording, and return that."""
    episode = archive.get(episode_id)
    verdict = verify(episode)
    path = proof_path(archive.root, episode_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"equal": verdict.equal, "sha256": episode.sha256, "reason": verdict.reason})
    return verdict.equal
