import numpy as np
import pytest

from interplay.envs import Frame, make
from interplay.envs.atari import PALETTE
from interplay.record import Owner, RecordedEpisode, RecordingError
from interplay.record.format.picture_changes import PictureChanges, difference, packed, unpacked
from interplay.tasks import find


@pytest.mark.parametrize(("height", "width"), [(6, 8), (5, 7)])  # words of 8 pixels, and of one
def test_pictures_come_back_from_what_changed_in_them(height: int, width: int) -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (height, width), np.uint8)
    changes, pictures, parts = PictureChanges(height, width), [], []
    for number in range(40):
        if number % 10 == 9:  # all of it
            picture = rng.integers(0, 256, (height, width), np.uint8)
        elif number % 3:  # else nothing
            picture[rng.integers(height), rng.integers(width)] = rng.integers(256)
        seen = picture if number % 2 else np.asfortranarray(picture)
        pictures.append(picture.copy())
        parts.append(packed(seen, changes.take(seen), whole=number == 0))
    last = np.zeros(height * width, np.uint8)
    batches = b"".join(parts[:15]), b"".join(parts[15:])
    found = [one.copy() for batch in batches for one in unpacked(batch, last)]
    assert np.array_equal(np.reshape(found, (-1, height, width)), pictures)
    assert len(parts[3]) == 8  # nothing changed


def out_of_memory(_: np.ndarray) -> bytes:
    raise MemoryError


def test_a_difference_is_the_old_picture_xor_the_new_one_and_leaves_nothing_behind() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.integers(0, 256, (2, 4, 10), np.uint8)
    after[:3] = before[:3]
    first, second = PictureChanges(4, 10), PictureChanges(4, 10)
    first.take(before)
    second.take(before)
    change = first.take(after)
    second.follow(change)
    assert np.array_equal(second.last, after)
    assert difference(40, change, np.ndarray.tobytes) == (before ^ after).tobytes()
    with pytest.raises(MemoryError):
        difference(40, change, out_of_memory)
    assert difference(40, second.take(after), np.ndarray.tobytes) == bytes(40)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (Frame(np.zeros((105, 160), np.uint8), PALETTE), "changed the size of its pictures; record it with frames='replay'"),
        (
            Frame(np.zeros((210, 160), np.uint8), PALETTE[::-1]),
            "changed its palette; record it with frames='video'",
        ),
    ],
)
def test_pictures_that_no_longer_fit_are_refused_with_what_to_do(archive, frame, said) -> None:
    task = find("atari/breakout")
    env = make(task)
    played = RecordedEpisode(env, archive.recorder(task, env, seed=1, owners={"player": Owner("me", "human")}))
    played.start(1)
    env.view = lambda: frame
    with pytest.raises(RecordingError, match=said):
        played.step({"player": 0})
    env.close()
