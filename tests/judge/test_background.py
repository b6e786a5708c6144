"""Second encodes are made in the background: what cannot be made is tried again later, and hinders nothing."""

from interplay.judge.entrants import duplicates
from interplay.judge.entrants.duplicates import Twins, twin_of


def test_what_could_not_be_made_is_tried_again_and_others_are_made(archive, monkeypatch):
    monkeypatch.setattr(duplicates, "_AGAIN_AFTER_S", 0.0)
    tries = []

    bad, good = "bad", "clips/good"

    def make(video, target):
        tries.append(video.stem)
        if tries == ["bad"]:
            raise OSError("the disk is full")
        target.touch()

    twins = Twins(archive, make)
    for _ in range(3):
        twins.want([bad, good])
        twins.wait(60)
    assert sorted(tries) == ["bad", "bad", "good"]
    assert archive.videos_made(map(twin_of, (bad, good))) == {"twins/bad", "clips/twins/good"}
    assert not twins.is_busy

    archive.video_path(twin_of(good)).unlink()
    twins.want([good])
    twins.wait(60)
    assert archive.has_video(twin_of(good)), "what somebody took away is made again"
