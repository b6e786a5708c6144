"""Read recorded episodes into transitions; cache the result in a folder that later runs on the same episodes reuse."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.agents.actions import index_of
from interplay.agents.first_person import choices_of, is_composed
from interplay.envs import Frame, Pipeline, pipeline
from interplay.envs.info import SeatEnd
from interplay.files import alone, is_disk_full, sha256_of, to_disk, write_json
from interplay.learn.transitions import COLUMNS, EpisodeCounts, Owner, TransitionError, Transitions
from interplay.record import Episode
from interplay.record.format.schema import by_seat

FOLDER = "transitions"
"""Folder of the cache in a data folder. It can be deleted at any time; the next run reads the episodes again."""
_VERSION = 4


def load(
    episodes: Sequence[Episode],
    *,
    observation: str = "dqn",
    offsets: Sequence[int] = (0,),
    seat: str | None = None,
    actor: str | None = None,
    composed: bool = False,
    cache: Path | None = None,
    on_episode: Callable[[int], None] | None = None,
) -> Transitions:
    """Read episodes into transitions.

    A recording has native frames, each with an action and a reward; a network decides once in `frame_skip` (4) frames.
    The decision at step t has the pipeline's observation of step t. Its label is the action held for most of steps t to t + 3
    (ties: the action pressed first), because people press keys at any frame. Its reward is the sum over the same steps.
    The last decision of an episode is kept although it has fewer steps; its next observation follows the last step.
    At an offset above 0, an additional first decision sees the first frame and lasts to the offset, or to the end of a shorter
    episode. So each stream has all rewards and the end of its episode.

    Args:
        episodes: Episodes of one kind of world, with discrete actions, or with keys and camera.
        offsets: Steps at which decisions begin, each below the frame skip. `(0,)` reads each frame once; `(0, 1, 2, 3)` gives
            four times as many decisions, each shifted by a frame: more to learn from when episodes are few.
        actor: Take only decisions of this kind of actor (`human`, `agent`, `model`) or this name; None takes all decisions. A
            decision is left out if another actor, such as an agent at a shared wheel, acted in one of its steps.
        composed: Whether actions are keys and camera; they are then read as choices, see `interplay.agents.first_person`.
        cache: Folder of earlier results, used if the same call was made before; None stores nothing. Pictures are written there
            one by one, so that only one frame is in memory.
        on_episode: Called with the number of episodes read so far.
    Raises:
        TransitionError: If there is no decision at all, `composed` does not fit the actions, or the disk is full.
        ValueError: If an offset is not below the frame skip.
    """
    skip = pipeline(observation).frame_skip
    offsets = sorted({offset % skip for offset in offsets} if skip == 1 else set(offsets))
    if not offsets or any(not 0 <= offset < skip for offset in offsets):
        raise ValueError(f"offsets must lie between 0 and {skip - 1}, got {tuple(offsets)!r}")
    asked = {
        "version": _VERSION,
        "observation": observation,
        "offsets": offsets,
        "seat": seat,
        "composed": composed,
        "episodes": [[episode.id, episode.sha256 or sha256_of(episode.path)] for episode in episodes],
    }
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="interplay-transitions-") as folder:
            _write(episodes, Path(folder), asked, on_episode)
            data = _mapped(Path(folder), mmap_mode=None)  # the pictures stay mapped though their name goes
    else:
        folder = cache / hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
        cache.mkdir(parents=True, exist_ok=True)
        with alone(cache / f"{folder.name}.lock"):
            try:
                data = _mapped(folder, mmap_mode="r")
            except (OSError, ValueError, KeyError, TypeError):  # not read before, or a file was removed or lost its end
                with _replacing(folder) as part:
                    _write(episodes, part, asked, on_episode)
                data = _mapped(folder, mmap_mode="r")
    return by(actor, data)


def in_order(episodes: Iterable[Episode]) -> list[Episode]:
    """Sort episodes by seed, player, length and return. The order of recording is not used: it varies if several episodes are
    played at once, and would change batches and held-out episodes."""
    return sorted(episodes, key=lambda one: (one.seed, one.actor, one.num_steps, one.total_reward, one.id))


def by(actor: str | None, data: Transitions) -> Transitions:
    """Return the decisions of an actor (None: all decisions); `TransitionError` if there is no such decision."""
    data = data if actor is None else data.of(actor)
    if not len(data):
        raise TransitionError("the episodes hold no step to learn from")
    return data


def held_actions(actions: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Label of each decision, int64: the action held for most of its steps; if two are held equally long, the first.

    Args:
        actions: int, shape (T,).
        starts: First step of each decision, beginning with 0; a decision lasts until the next one begins, the last to the end.

    >>> held_actions(np.array([0, 3, 3, 3, 4, 4, 1, 1, 2]), np.array([0, 4, 8])).tolist()
    [3, 4, 2]
    """
    labels = actions[starts].astype(np.int64)
    ends = np.append(starts[1:], len(actions))
    changes = np.flatnonzero(np.diff(actions)) + 1  # most decisions hold one action throughout
    for index in np.unique(np.searchsorted(starts, changes, side="right") - 1):
        held = Counter(actions[starts[index] : ends[index]].tolist())  # keeps the order of first appearance, and so does max
        labels[index] = max(held, key=held.__getitem__)
    return labels


def until_takeover(is_person: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Number of steps until a person takes over, int32, for each decision that begins at `starts`; see `Transitions`.

    `is_person`, bool, shape (T,), says whether a person acted at each step.

    >>> until_takeover(np.array([1, 1, 0, 0, 0, 0, 1, 1, 1, 0], bool), np.array([0, 2, 4, 6, 8])).tolist()
    [-1, 4, 2, 0, -1]
    """
    takeovers = np.flatnonzero(is_person[1:] & ~is_person[:-1]) + 1
    result = np.full(len(starts), -1, np.int32)
    if not len(takeovers):
        return result
    is_taken = is_person & (np.arange(len(is_person)) >= takeovers[0])
    result[np.logical_and.reduceat(is_taken, starts)] = 0
    following = np.searchsorted(takeovers, starts)
    waits = ~is_person[starts] & (following < len(takeovers))
    result[waits] = takeovers[following[waits]] - starts[waits]
    return result


def _write(episodes: Sequence[Episode], folder: Path, asked: dict[str, Any], on_episode: Callable[[int], None] | None) -> None:
    columns: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}
    names: dict[Owner, int] = {}
    counts: list[EpisodeCounts] = []
    pictures = _Pictures(folder / "pictures.raw")
    try:
        for index, episode in enumerate(episodes):
            num_decisions = 0
            for stream in _streams(episode, index, pictures, asked, names):
                num_decisions += len(stream["at"])
                for name, values in stream.items():
                    columns[name].append(values)
            counts.append(EpisodeCounts(episode.id, episode.seed, episode.num_steps, num_decisions))
            if on_episode is not None:
                on_episode(index + 1)
        for name, dtype in COLUMNS.items():
            np.save(folder / f"{name}.npy", joined(columns[name], dtype))
        document = {
            "asked": asked,
            "stack": pipeline(asked["observation"]).stack,
            "shape": list(pictures.shape),
            "dtype": pictures.dtype.name,
            "num_pictures": pictures.num_pictures,
            "counts": counts,
            "names": list(names),
        }
        write_json(folder / "index.json", document)
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise TransitionError(
            f"the disk is full: there is no room in {folder.parent} for the data of {len(episodes)} episodes\n"
            "Free some space, or learn from fewer episodes (--where, --actor); what was written is removed again."
        ) from error
    finally:
        pictures.close()


def joined(parts: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    """Join the parts of a column; without parts, return an empty column."""
    return np.concatenate(parts, dtype=dtype) if parts else np.zeros(0, dtype)


def actions_of(episode: Episode, seat: str | None, num_steps: int, *, composed: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that maps the first steps of decisions to their actions; see `Transitions.actions`.

    The seat's game ended after `num_steps`. `TransitionError` if `composed` does not fit the episode's actions.
    """
    space: Any = episode.header.action_spaces.get(episode.header.seats[0] if seat is None else seat)
    if composed:
        if space is not None and not is_composed(space):
            raise TransitionError(f"episode {episode.id} of {episode.task_id} has actions in {space}, not keys and a camera")
        parts = episode.action_parts(seat)  # refuses a seat that is not there
        assert space is not None
        parts = {name: index_of(space[name], values[:num_steps]) for name, values in parts.items()}
        return lambda starts: choices_of(parts, starts)
    taken = episode.actions(seat)
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise TransitionError(
            f"episode {episode.id} of {episode.task_id} has actions in {space}; learning here needs one whole number per step"
        )
    return lambda starts: held_actions(index_of(space, taken[:num_steps]), starts)


def _streams(
    episode: Episode, index: int, pictures: _Pictures, asked: dict[str, Any], names: dict[Owner, int]
) -> Iterator[dict[str, np.ndarray]]:
    view = pipeline(asked["observation"])
    ended = num_steps, _ = episode.ended(asked["seat"])
    actions = actions_of(episode, asked["seat"], num_steps, composed=asked["composed"])
    labels = None if asked["composed"] else episode.labels(asked["seat"])
    space = episode.header.action_spaces[asked["seat"] or episode.header.seats[0]]
    starts = {offset: starts_of(num_steps, view.frame_skip, offset) for offset in asked["offsets"] if num_steps}
    bases, base = {}, pictures.num_pictures
    for offset, its_starts in starts.items():
        bases[offset] = base
        base += len(its_starts) + 1
    _write_pictures(episode, asked["seat"], asked["observation"], num_steps, bases, pictures)
    pictures.num_pictures = base
    for offset, its_starts in starts.items():
        yield stream_of(episode, asked["seat"], ended, its_starts, names) | {
            "at": bases[offset] + np.arange(len(its_starts)),
            "first": np.full(len(its_starts), bases[offset]),
            "actions": actions(its_starts),
            "offsets": np.full(len(its_starts), offset),
            "episodes": np.full(len(its_starts), index),
            "labels": np.full(len(its_starts), -1)
            if labels is None
            else held_actions(index_of(space, labels[:num_steps]), its_starts),
        }


def starts_of(num_steps: int, frame_skip: int, offset: int = 0) -> np.ndarray:
    """First step of each decision of a stream, int64: step 0, then the offset, then every `frame_skip` steps.

    >>> starts_of(10, 4).tolist(), starts_of(10, 4, 3).tolist()
    ([0, 4, 8], [0, 3, 7])
    """
    return np.array(sorted({0, *range(offset, num_steps, frame_skip)}), np.int64)


def stream_of(
    episode: Episode, seat: str | None, ended: tuple[int, SeatEnd], starts: np.ndarray, names: dict[Owner, int]
) -> dict[str, np.ndarray]:
    """Rewards, lengths, ends and owners of decisions that begin at these steps.

    Args:
        ended: The result of `Episode.ended` for the seat.
        names: Number of each owner; owners of this episode are added.
    """
    num_steps, end = ended
    rewards = episode.rewards(seat)[:num_steps]
    rewards = np.where(np.isfinite(rewards), rewards, 0)  # as in `Episode.total_reward`
    owners = owners_of(episode, seat, names)[:num_steps]
    is_person = np.isin(owners, [code for owner, code in names.items() if owner.kind == "human"])
    is_last = np.arange(len(starts)) == len(starts) - 1
    least, most = (function.reduceat(owners, starts) for function in (np.minimum, np.maximum))
    return {
        "rewards": np.add.reduceat(rewards, starts),
        "terminated": is_last & end.terminated,
        "truncated": is_last & end.truncated,
        "steps": starts,
        "held": np.diff(np.append(starts, num_steps)),
        "owners": np.where(least == most, least, -1),
        "until_takeover": until_takeover(is_person, starts),
    }


def _write_pictures(
    episode: Episode, seat: str | None, observation: str, num_steps: int, bases: dict[int, int], pictures: _Pictures
) -> None:
    """Write the pictures of the decisions of each offset, and the last picture, starting at the base of each stream."""
    views = {offset: pipeline(observation) for offset in bases}
    written = dict.fromkeys(bases, 0)

    def write(offset: int, view: Pipeline, seen: np.ndarray) -> None:
        pictures.write(bases[offset] + written[offset], seen[-1] if view.stack else seen)
        written[offset] += 1

    for step, frame in enumerate(_frames(episode, seat, num_steps, pipeline(observation))):
        for offset, view in views.items():
            if step in (0, min(offset, num_steps)):  # the first picture of a shifted stream is of the first frame
                write(offset, view, view.reset(frame))
            elif step > offset:
                seen = view.push(frame, ended=step == num_steps)
                if seen is not None:
                    write(offset, view, seen)


def _frames(episode: Episode, seat: str | None, num_steps: int, view: Pipeline) -> Iterator[Frame]:
    """Yield the frames that a pipeline needs: the frames of the first `num_steps` steps and the next frame."""
    if view.looks_at == "view":
        yield from episode.observed.passing(0, num_steps + 1)
        return
    space = episode.header.observation_space
    if space is None:
        raise TransitionError(
            f"episode {episode.id} of {episode.task_id} keeps pictures but no numbers; "
            f"the pipeline {view.name!r} needs numbers\nChoose a pipeline of pictures, such as dqn."
        )
    seats = episode.header.seats
    seat = seat or seats[0]
    space = by_seat(seats, space)[seat]
    for step, value in enumerate(episode.raw_observations()[: num_steps + 1]):
        own = space, by_seat(seats, value)[seat]
        try:
            numbers = np.asarray(gymnasium.spaces.flatten(*own), np.float32)
        except ValueError:  # of a part without elements
            raise TransitionError(
                f"episode {episode.id} of {episode.task_id} observes {own[0]}, not a row of numbers"
            ) from None
        if not np.isfinite(numbers).all():
            raise TransitionError(
                f"episode {episode.id} of {episode.task_id} has NaN or an infinite number in the observation of step {step}\n"
                f"Mend the environment and record again, or leave such episodes out:  --where 'seed != {episode.seed}'"
            )
        yield Frame(numbers)


def owners_of(episode: Episode, seat: str | None, names: dict[Owner, int]) -> np.ndarray:
    """Owner of each step, int16, shape (T,), as its number in `names`, to which new owners are added; -1 for no owner."""
    seat = episode.header.seats[0] if seat is None else seat
    holders = {held.actor: Owner(held.actor, held.actor_kind) for held in episode.seats if held.seat == seat}
    codes = {name: names.setdefault(owner, len(names)) for name, owner in holders.items()}
    if len(codes) == 1:
        return np.full(episode.num_steps, next(iter(codes.values())), np.int16)
    acted = episode.steps().column(f"owner.{seat}").to_pylist()[: episode.num_steps]
    return np.array([codes.get(name, -1) for name in acted], np.int16)


class _Pictures:
    """A file of pictures of one size, written in any order; the first picture sets the size."""

    def __init__(self, path: Path) -> None:
        self.num_pictures = 0
        self.shape: tuple[int, ...] = ()
        self.dtype = np.dtype(np.uint8)
        self._size = 0
        self._file = path.open("wb")

    def write(self, place: int, picture: np.ndarray) -> None:
        if not self._size:
            self.shape, self.dtype, self._size = picture.shape, picture.dtype, picture.nbytes
        elif picture.shape != self.shape:
            raise TransitionError(
                f"the episodes show pictures of different sizes, {self.shape} and {picture.shape}\n"
                "Learn from episodes of one version of the task, or choose a pipeline that scales them, such as dqn."
            )
        data = memoryview(picture.tobytes())
        position = place * self._size
        while data:  # a disk that fills up takes a part first
            done = os.pwrite(self._file.fileno(), data, position)
            data, position = data[done:], position + done

    def close(self) -> None:
        self._file.close()


def _mapped(folder: Path, *, mmap_mode: Any) -> Transitions:
    document = json.loads((folder / "index.json").read_bytes())
    shape = (document["num_pictures"], *document["shape"])
    pictures = (
        np.memmap(folder / "pictures.raw", document["dtype"], "r", shape=shape) if shape[0] else np.zeros((0, 1), np.uint8)
    )
    return Transitions(
        pictures,
        document["stack"],
        **{name: np.load(folder / f"{name}.npy", mmap_mode=mmap_mode, allow_pickle=False) for name in COLUMNS},
        counts=tuple(EpisodeCounts(*one) for one in document["counts"]),
        names=tuple(Owner(*one) for one in document["names"]),
    )


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that durably replaces `folder` when the block ends, or is deleted if the block raises."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
    part.mkdir()
    try:
        yield part
        for path in part.iterdir():
            to_disk(path)
        shutil.rmtree(folder, ignore_errors=True)  # what is left of a damaged one
        part.replace(folder)
        to_disk(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
