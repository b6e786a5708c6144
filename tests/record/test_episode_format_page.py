"""docs/episode-format.md names the columns that files really have."""

import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from interplay.record.format.schema import sealed_schema
from interplay.tasks.task import EnvSpec

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
    for_people = sealed_schema(
        replace(
            files[1].episode.header, view={"gui_scale": 2}, has_painted=True, has_options=True, experts={"player": "scripted"}
        )
    )
    assert listed == {name for schema in (*(played.episode.schema for played in files), for_people) for name in schema.names}


def test_stored_video_decodes_with_the_colour_matrix_and_range_of_the_page(record, make_cartpole):
    import av

    played = record(make_cartpole(deterministic=False), num_steps=12)
    decoder = av.CodecContext.create("h264", "r")
    packets = pq.read_table(played.episode.path).column("frame").to_pylist()
    frames = [frame for data in [*packets, None] for frame in decoder.decode(None if data is None else av.Packet(data))]
    assert len(frames) == len(packets)
    for frame, view in zip(frames, played.views, strict=True):
        y, u, v = frame.to_ndarray().astype(np.float64)
        red = 1.164 * (y - 16) + 1.596 * (v - 128)
        green = 1.164 * (y - 16) - 0.392 * (u - 128) - 0.813 * (v - 128)
        blue = 1.164 * (y - 16) + 2.017 * (u - 128)
        error = np.stack([red, green, blue], axis=-1).clip(0, 255) - view
        assert np.abs(error).mean() < 1


def test_the_page_replays_sticky_atari_without_the_package(record, invaders, tmp_path, monkeypatch):
    sticky = replace(invaders, env=EnvSpec(invaders.env.id, {**invaders.env.options, "sticky": 0.25}))
    episode = record(sticky, num_steps=120, policy="replay").episode
    folder = tmp_path / "interplay-data" / "episodes" / "atari" / "breakout"
    folder.mkdir(parents=True)
    shutil.copy(episode.path, folder)
    (block,) = (code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "import ale_py" in code)
    assert "interplay." not in block
    script = tmp_path / "replay.py"
    script.write_text(block)
    monkeypatch.chdir(tmp_path)
    assert runpy.run_path(str(script))["step"] == 120
