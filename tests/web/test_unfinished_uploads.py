"""What a killed server had received of videos goes when the next one begins."""

from web_server import serving

import interplay.record


def test_a_server_begins_by_removing_what_a_killed_one_had_received(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    archive.close()
    folder = tmp_path / "data" / "media" / "uploads"
    folder.mkdir(parents=True)
    (folder / "5770f6c8.mp4").write_bytes(b"half a video")
    kept = tmp_path / "data" / "media" / "whole.mp4"
    kept.write_bytes(b"a whole one")
    with serving(tmp_path / "data", tmp_path, {}):
        assert list(folder.iterdir()) == []
        assert kept.exists()
