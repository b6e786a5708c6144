"""`Proofs` plays episodes of high scores again in a background process, and checks that they equal their recordings."""

from __future__ import annotations

from functools import partial

from interplay.play.background.filming import Pace, make_what_is_asked
from interplay.play.background.films import SOON, Films
from interplay.record import Archive
from interplay.record.verification import proofs
from interplay.study.scores import Place


class Proofs(Films):
    """Plays one episode after the other again in a process of low priority, in the same way as films are made."""

    module = "interplay.web.scores.proofs"

    def is_made(self, episode_id: str) -> bool:
        return proofs.proof_path(self._archive.root, episode_id).exists()

    def known(self, place: Place) -> bool | None:
        found = proofs.kept(self._archive.root, place.episode, place.sha256)
        if found is None:
            self.wanted(place.episode, SOON)
        return found


def _prove(archive: Archive, episode_id: str, pace: Pace) -> None:
    proofs.prove(archive, episode_id)


main = partial(make_what_is_asked, _prove)
