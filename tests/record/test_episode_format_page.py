"""docs/episode-format.md names the columns that files really have."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "episode-format.md"


def test_the_page_lists_every_column_and_no_other(record, invaders, make_cartpole):
    section = PAGE.read_text().split("## Columns of a sealed episode")[1].split("Spaces:")[0]
    listed = set()
    for line in section.splitlines():
        if line.startswith("| `"):
            listed |= {name.replace("<seat>", "player") for name in re.findall(r"`([^`]+)`", line.split("|")[1])}
    files = [
        record(invaders, num_steps=3, policy="indexed"),
        record(make_cartpole(), num_steps=3, policy="replay"),
        record(make_cartpole(deterministic=False), num_steps=3, policy="video"),
    ]
    assert listed == {name for played in files for name in played.episode.schema.names}
