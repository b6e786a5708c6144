"""`Milestones` finds the milestones reached in episodes of `explore`: a background process plays each episode again.

`main` runs in that process, which gets its requests in the same way as `filming`.
"""

from __future__ import annotations

from functools import partial

from interplay.explore import judgement_cache
from interplay.explore.judgement_cache import Judgement
from interplay.play.background.filming import Pace, make_what_is_asked
from interplay.play.background.films import SOON, Films
from interplay.record import Archive


class Milestones(Films):
    """Finds the milestones of one episode after the other in a process of low priority, in the same way as films are made."""

    module = "interplay.web.explore.milestone_queue"

    def is_made(self, episode_id: str) -> bool:
        return judgement_cache.read(self._archive.root, episode_id) is not None

    def reached(self, episode_id: str) -> Judgement | None:
        judgement = judgement_cache.read(self._archive.root, episode_id)
        if judgement is None:
            self.wanted(episode_id, SOON)
        return judgement


def _judge(archive: Archive, episode_id: str, pace: Pace) -> None:
    from interplay.explore import judging  # brings the block world, which pages do without

    pace.begin(archive.get(episode_id).num_steps)
    judging.known(archive, episode_id, advance=pace.advance)


main = partial(make_what_is_asked, _judge)
