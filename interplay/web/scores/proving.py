"""The process that proves episodes of high scores, beside the games: each is played again, as `filming` makes films."""

from __future__ import annotations

from functools import partial

from interplay.play.background.filming import Pace, make_what_is_asked
from interplay.record import Archive, proofs


def _prove(archive: Archive, episode_id: str, pace: Pace) -> None:
    proofs.prove(archive, episode_id)


main = partial(make_what_is_asked, _prove)
