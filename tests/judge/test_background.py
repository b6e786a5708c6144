"""Second encodes are made in the background: what cannot be made is tried again later, and hinders nothing."""

from interplay.judge.entrants import duplicates
from interplay.judge.entrants.duplicates import Twins, twin_path


def test_what_could_not_be_made_is_tried_again_and_others_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(duplicates, "_AGAIN_AFTER_S", 0.0)
    tries = []

    bad, good = tmp_path / "bad.mp4", tmp_path / "good.mp4"

    def make(video, target):
        tries.append(video)
        if tries.count(video) == 1 and video == bad:
            raise OSError("the disk is full")
        target.touch()

    twins = Twins(make)
    for _ in range(3):
        twins.want([bad, good])
        twins.wait(60)
    assert sorted(tries) == [bad, bad, good]
    assert not twins.is_busy

    twin_path(good).unlink()
    twins.want([good])
    twins.wait(60)
    assert twin_path(good).exists(), "what somebody took away is made again"
