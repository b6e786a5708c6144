"""The process that finds out what was reached in episodes of `explore`, beside the games: each is played again.

`main` is started by `milestones.Milestones`; it is told what as `filming` is.
"""

from __future__ import annotations

from functools import partial

from interplay.explore import judging
from interplay.play.background.filming import Pace, make_what_is_asked
from interplay.record import Archive


def _judge(archive: Archive, episode_id: str, pace: Pace) -> None:
    pace.begin(archive.get(episode_id).num_steps)
    judging.known(archive, episode_id, advance=pace.advance)


main = partial(make_what_is_asked, _judge)
