"""Files that are made beside everything else: what cannot be made is tried again later, and hinders nothing."""

from interplay.judge.entrants import duplicates
from interplay.judge.entrants.duplicates import Background


def test_what_could_not_be_made_is_tried_again_and_others_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(duplicates, "_AGAIN_AFTER_S", 0.0)
    tries = []

    def make(item, target):
        tries.append(item)
        if tries.count(item) == 1 and item == "bad":
            raise OSError("the disk is full")
        target.touch()

    files = Background("files", lambda item: tmp_path / item, make, "they are missed")
    for _ in range(3):
        files.want(["bad", "good"])
        files.wait(60)
    assert sorted(tries) == ["bad", "bad", "good"]
    assert not files.is_busy

    (tmp_path / "good").unlink()
    files.want(["good"])
    files.wait(60)
    assert (tmp_path / "good").exists(), "what somebody took away is made again"
