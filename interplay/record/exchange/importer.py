"""Import episodes of data sets in any format: replay and prove each one if possible, otherwise keep it as it is.

A file never decides which code runs: environments are made from ids registered here, never from entry points in the file.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from interplay.envs import make
from interplay.envs.base import EnvError, Frame, PlayableEnv
from interplay.errors import InterplayError
from interplay.files import alone, is_disk_full
from interplay.record.archive import Archive
from interplay.record.errors import RecordingError
from interplay.record.exchange.playback import PlayedBack, Taken
from interplay.record.format.schema import Owner
from interplay.record.recorder import Recorder
from interplay.record.sealed.episode import Episode
from interplay.record.stepper import RecordedEpisode
from interplay.statistics import StatisticSpec
from interplay.store import episodes as queries
from interplay.tables import is_name
from interplay.tasks import Task, builtin_suites

EPISODE_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{7,63}")
"""Allowed ids of imported episodes, because ids become file names."""
UNKNOWN_SEED = -1
"""Seed of an episode whose data set does not give a seed; no replay can prove such an episode."""
_LOCK = ".lock-import"
_SCRATCH = ".import-"
"""Names in a data folder: the lock file of the running import, and the prefix of the folder that an import writes to."""

Look = Callable[[PlayableEnv, Any, int, bool], bool]
"""Function that compares a replay with a data set.
It gets the world, the world's last result, the step, and whether the episode has ended."""


@dataclass(frozen=True)
class Imported:
    """Result of an import.

    Attributes:
        proved: Episodes whose replay gave every observation, reward and end of the data set.
        kept: Id -> why the episode was not proved; such an episode holds the observations of the data set.
        there_already: Ids that were in the catalogue before.
        refused: Data set, or data set and number of an episode -> why it was not imported.
    """

    proved: list[Episode] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    there_already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


class Spaces(NamedTuple):
    """Spaces of the actions and observations of an episode, by seat."""

    action: gymnasium.spaces.Dict
    observation: gymnasium.spaces.Dict


@dataclass(frozen=True)
class Brought:
    """One episode of a data set, in memory.

    Attributes:
        seed: None if the data set does not give it.
        owners: Seat -> its owner at the start.
        created_at: Time of recording; None means the current time.
        why_not: Why the episode cannot be replayed; empty if it can.
        observations: Reads the T + 1 observations, by seat; it is called only if no replay proves the episode.
        look: Makes a function that compares a replay with this episode.
        palette: Colours of pictures that consist of indices, uint8, shape (256, 3).
        pictures: Reads the pictures if the observations are not pictures; None if there are no pictures.
        remark: Text that is added to the reason why no replay proves the episode.
        observes_view: Whether the observations are pictures that are kept only as video.
        memory: The console's memory after each step, for statistics; empty if it is not stored.
        starts: Other tasks that may be the right one; they are tried after `task`.
    """

    id: str
    task: Task
    seed: int | None
    owners: Mapping[str, Owner]
    outcome: str
    created_at: datetime | None
    why_not: str
    steps: Sequence[Taken]
    observations: Callable[[], Sequence[Any]]
    look: Callable[[], Look]
    spaces: Spaces
    palette: np.ndarray | None = None
    pictures: Callable[[], Iterable[Frame]] | None = None
    remark: str = ""
    observes_view: bool = False
    memory: Sequence[bytes] = ()
    starts: Sequence[Task] = ()


def check_names(task: Task) -> None:
    """Check the names of a task and its seats, because they become names of folders and columns."""
    parts = task.id.split("/") if isinstance(task.id, str) else []
    if len(parts) != 2 or not all(map(is_name, [*parts, *task.seats])):
        raise RecordingError(f"its task is called {task.id!r}; expected SUITE/NAME\nExport it again.")


def check_code(archive: Archive, task: Task, statistics: Iterable[StatisticSpec] = (), *, makes_world: bool = True) -> None:
    """Check that a recording from elsewhere names no code that would be imported and called here.
    Such code is allowed if this version of the task was played in this data folder before: its suite file was trusted then.

    Args:
        statistics: Statistics that the recording names in addition to those of its task.
        makes_world: Whether the world of the task will be made here.
    Raises:
        RecordingError: If the recording names such code.
    """
    is_known = archive.knows(task)
    trusted = [*archive.statistics, *(task.statistics if is_known else ())]
    named = [f"the statistic {spec.name!r}" for spec in (*task.statistics, *statistics) if spec.is_own and spec not in trusted]
    if makes_world and not is_known:
        options = {**dict(task.env.options.get("kwargs") or {}), **task.env.options}
        checks = [str(options.get(name) or "") for name in ("check", "automatic")]
        named += [f"the outcome check {check!r}" for check in checks if ":" in check]
        named += [f"the world {task.env.id!r}"] if ":" in task.env.name else []
    if named:
        raise RecordingError(
            f"its task names code to run, {named[0]}, and this task was never played here\n"
            f"If you trust that code, play {task.id} here once, with its suite file; then bring the episodes again."
        )


def why_not_made(task: Task) -> str:
    """Say why the world of a task from a file is not made here; the text is empty if it can be made.

    Ids with a module and options of the block world may name code, which a file from elsewhere must not do.
    """
    module, _, name = task.env.name.rpartition(":")
    if task.env.backend == "gym":
        register_atari(name)
        registered = gymnasium.registry.get(name)
        if registered is None or (module and module != str(registered.entry_point).partition(":")[0].partition(".")[0]):
            return f"{task.env.name} is not registered here"
        is_ours = name.startswith("interplay/")
        return f"{name} has other options" if is_ours and task.env.options.get("kwargs") != registered.kwargs else ""
    known = {task.content_hash for suite in builtin_suites() for task in suite.tasks}
    if task.content_hash in known or (task.env.backend in ("ale", "pettingzoo") and not module):
        return ""
    return f"a world of {task.env.id} is made for built-in tasks only"


def register_atari(name: str) -> None:
    if name.startswith("ALE/"):
        with suppress(ModuleNotFoundError):
            import ale_py  # noqa: F401


def _once() -> Callable[[logging.LogRecord], bool]:
    said: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message in said:
            return False
        said.add(message)
        return True

    return is_new


class Importing:
    """An import into an archive. Each episode is written in `scratch`, and enters the archive only when it is complete."""

    def __init__(self, archive: Archive, scratch: Path) -> None:
        self._archive = archive
        self._scratch = scratch
        with archive.database.read() as session:
            self._known = set(queries.episode_ids(session))
        self.result = Imported()

    @classmethod
    @contextmanager
    def to(cls, archive: Archive) -> Iterator[Importing]:
        """Start an import. Files of a killed import are removed at the start; unfinished files are removed at the end.

        A warning about statistics that concerns many episodes is logged once.

        Raises:
            RecordingError: If another process imports, or every episode was refused.
        """
        busy = f"another process imports episodes into {archive.root}\nWait until it ends, then start again."
        with ExitStack() as stack:
            stack.enter_context(alone(archive.root / _LOCK, otherwise=RecordingError(busy)))
            for left in archive.root.glob(f"{_SCRATCH}*"):
                shutil.rmtree(left, ignore_errors=True)
            # `repair` seals nothing from here.
            importing = cls(archive, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=archive.root))))
            log, once = logging.getLogger("interplay.statistics"), _once()
            log.addFilter(once)
            stack.callback(log.removeFilter, once)
            yield importing
        result = importing.result
        if result.refused and not (result.proved or result.kept or result.there_already):
            raise RecordingError("\n".join(f"{name}: {reason}" for name, reason in result.refused.items()))

    def take(self, label: str, read: Callable[[], Brought]) -> bool:
        """Read one episode, and prove or keep it. Return False if it was refused; `result` has the reason under its label."""
        try:
            brought = read()
            if brought.id in self._known:
                self.result.there_already.append(brought.id)
            else:
                self._enter(brought)
            self._known.add(brought.id)
        except Exception as error:
            if is_disk_full(error):  # and stays full for the others
                raise RecordingError(
                    f"the disk is full: {label} could not be written\n"
                    "Free some space, then import again: the episodes imported so far are kept."
                ) from error
            if isinstance(error, InterplayError):
                self.result.refused[label] = str(error)
                return False
            # Whatever a file that nobody here wrote makes a reader stumble over: the others go on.
            self.result.refused[label] = f"it cannot be read: {type(error).__name__}: {error}\nFetch or export it again."
            return False
        return True

    def _enter(self, brought: Brought) -> None:
        check_code(self._archive, brought.task, makes_world=False)
        reason = brought.why_not
        if not reason:
            for task in (brought.task, *brought.starts):
                proved = self._proved(replace(brought, task=task))
                if isinstance(proved, Episode):
                    self.result.proved.append(proved)
                    return
                reason = reason or proved
        world = PlayedBack(
            brought.task,
            *brought.spaces,
            brought.observations(),
            brought.steps,
            brought.palette,
            None if brought.pictures is None else brought.pictures(),
            observes_view=brought.observes_view,
            memory=brought.memory,
        )
        episode = self._record(brought, RecordedEpisode(world, self._recorder(brought, world)), None)
        assert isinstance(episode, Episode)
        self.result.kept[episode.id] = f"{reason}; {brought.remark}" if brought.remark else reason

    def _proved(self, brought: Brought) -> Episode | str:
        """Return the episode as its replay recorded it, or a sentence that says how the replay differs from the data set."""
        try:
            env = make(brought.task)
        except EnvError as error:
            return str(error).splitlines()[0]
        with closing(env):
            if not env.deterministic:
                return f"{brought.task.env.id} is not deterministic"
            return self._record(brought, RecordedEpisode(env, self._recorder(brought, env)), brought.look())

    def _recorder(self, brought: Brought, env: PlayableEnv) -> Recorder:
        return self._archive.recorder(
            env.task,
            env,
            seed=UNKNOWN_SEED if brought.seed is None else brought.seed,
            owners=brought.owners,
            episode_id=brought.id,
            created_at=brought.created_at,
            folder=self._scratch,
        )

    def _record(self, brought: Brought, played: RecordedEpisode, look: Look | None) -> Episode | str:
        """Step a world through the stored steps and seal the episode. If `look` finds a difference, return it in words."""
        assert played.recorder is not None
        try:
            observations, _ = played.start(UNKNOWN_SEED if brought.seed is None else brought.seed)
            for step, coming in enumerate(chain(brought.steps, [None])):
                if look is not None and not look(played.env, observations, step, coming is None):
                    return f"the replay shows another observation at step {step}"
                if coming is None:
                    break
                if played.outcome is not None:
                    return f"the replay ends at step {step}, the data set later"
                given = played.step(coming.actions, owners=coming.owners)
                observations = given.observations  # type: ignore[assignment]
                if look is None:
                    continue
                if not same(dict(given.rewards), dict(coming.rewards)):
                    return f"the replay gives another reward at step {step}"
                is_last = step == len(brought.steps) - 1
                if given.terminated != coming.terminated or (
                    given.truncated != coming.truncated and not (is_last and coming.truncated)
                ):
                    return f"the replay ends in another way at step {step}"
            outcome = played.outcome or "quit"
            if outcome != "terminated" and brought.outcome in ("time_limit", "quit", "left", "interrupted"):
                outcome = brought.outcome
            return self._archive.seal(played.recorder.finish(outcome))
        except InterplayError:
            raise
        except Exception as error:  # whatever a world says of an action that is not its own
            if look is None:
                raise RecordingError(f"it cannot be recorded: {type(error).__name__}: {error}") from error
            return f"the world refuses it: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        finally:
            played.recorder.abandon()
            played.recorder.path.unlink(missing_ok=True)


def imported_name(actor: str, kind: str) -> str:
    return f"imported/{actor}" if kind == "human" and "/" not in actor else actor


def same(first: Any, second: Any) -> bool:
    """Return whether two values of a space are equal, where NaN equals NaN."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[name], second[name]) for name in first)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape:
        return False
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f"))
