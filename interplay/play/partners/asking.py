"""A worker's side of agents that decide in another process. The worker sends an observation there after a step, and takes the
decided action for the next step.

An action that does not come in time is late: the agent's last action is held, and the late action counts from its arrival. No
new question is sent before the last one is answered. When the process dies, its seats hold their last actions until a new
process runs.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.agents import AgentError, Decision, SeatedAgent
from interplay.envs import PlayableEnv
from interplay.play.partners import messages
from interplay.play.partners.driving import as_agents_see, decided_on
from interplay.play.partners.messages import ToAsker, ToDecider
from interplay.play.workers.channel import Unpacker, pack
from interplay.play.workers.clock import now_us
from interplay.record import InputTiming
from interplay.tasks import Task

HANGS_US = 5_000_000
"""An agent loses its seat if it has not decided for this long while its process answers for other agents."""
LOADS_US = 120_000_000
"""Limit instead of `HANGS_US` for an agent that has to begin, because it may have to load its libraries."""
SILENT_US = 2_000_000
"""The process sends four heartbeats in this time. If none has come, the fault lies with the process, not with one agent."""
_CONNECT_EVERY_US = 100_000


class Helper:
    """A worker's socket to the deciding process. `num_late`: number of due decisions that did not come in time."""

    def __init__(self, address: str) -> None:
        self.num_decisions = self.num_late = 0
        self._address = address
        self._socket: socket.socket | None = None
        self._unpacker = Unpacker()
        self._unsent = b""
        self._drivers: dict[tuple[int, int], HelperDriver] = {}
        self._connect_at_us = 0
        self._heard_us = 0

    @property
    def readable(self) -> list[socket.socket]:
        return [] if self._socket is None else [self._socket]

    @property
    def writable(self) -> list[socket.socket]:
        return [] if self._socket is None or not self._unsent else [self._socket]

    def add(self, driver: HelperDriver) -> None:
        self._drivers[driver.key] = driver
        self.connect(now_us())
        if self._socket is not None:
            driver.begin()

    def remove(self, driver: HelperDriver) -> None:
        if self._drivers.get(driver.key) is driver:
            del self._drivers[driver.key]
            self.send(driver.key, ToDecider.LEAVE)

    def connect(self, now: int) -> None:
        """Connect if an agent needs the process. If the process does not listen yet, try again after a while."""
        if self._socket is not None or not self._drivers or now < self._connect_at_us:
            return
        self._connect_at_us = now + _CONNECT_EVERY_US
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        channel.setblocking(False)
        try:
            channel.connect(self._address)
        except OSError:
            channel.close()
            return
        self._socket, self._unpacker, self._unsent, self._heard_us = channel, Unpacker(), b"", now
        for driver in list(self._drivers.values()):
            driver.begin()

    def send(self, key: tuple[int, int], kind: ToDecider, payload: bytes = b"") -> bool:
        """Send a message without waiting. Return False, with nothing sent, if there is no socket, or if a question would have
        to wait."""
        if self._socket is None or (kind == ToDecider.ASK and self._unsent):
            return False
        self._unsent += pack(key[0], kind, payload, seat=key[1])
        self.flush()
        return True

    def flush(self) -> None:
        if self._socket is None or not self._unsent:
            return
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._lost()

    def read(self) -> None:
        if self._socket is None:
            return
        try:
            data = self._socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        self._heard_us = now_us()
        for number, seat, kind, payload in self._unpacker.feed(data):
            driver = self._drivers.get((number, seat))
            if driver is not None:
                driver.take(kind, payload)

    def is_silent(self, now: int) -> bool:
        """Whether the process has said nothing for too long, or has died."""
        return self._socket is None or now - self._heard_us > SILENT_US

    def watch(self, now: int) -> None:
        for driver in list(self._drivers.values()):
            driver.watch(now)

    def _lost(self) -> None:
        assert self._socket is not None
        with contextlib.suppress(OSError):
            self._socket.close()
        self._socket, self._unsent = None, b""
        self._connect_at_us = now_us() + _CONNECT_EVERY_US  # what is dying may still seem to listen
        for driver in list(self._drivers.values()):
            driver.helper_died()


class _Shown:
    """The name and pipeline of an agent that decides in another process, for `SeatedAgent`."""

    def __init__(self, begun: messages.Begun) -> None:
        self.name, self.observation = begun.name, begun.observation

    def begin(self, task: Task, *, rng: np.random.Generator) -> None:
        """Do nothing: the agent has already begun in its own process."""

    def decide(self, observations: Any, states: Any) -> Any:
        raise NotImplementedError


class HelperDriver:
    """An agent that decides in the other process.

    Args:
        key: Number of the game, index of the seat.
        on_begun: Called when the agent has begun and may take its seat.
        on_failed: Called with the reason if the agent cannot begin.
    """

    def __init__(
        self,
        helper: Helper,
        key: tuple[int, int],
        agent: str,
        world: PlayableEnv,
        seat: str,
        *,
        seed: int,
        on_begun: Callable[[HelperDriver], None],
        on_failed: Callable[[HelperDriver, Exception], None],
    ) -> None:
        self.key = key
        self.agent = agent
        self.name = agent
        self._helper = helper
        self._world = world
        self._seat = seat
        self._seed = seed
        self._on_begun, self._on_failed = on_begun, on_failed
        self._seated: SeatedAgent | None = None
        self._begun: messages.Begun | None = None
        self._is_beginning = False
        self._failure: Exception | None = None
        self._asked_step: int | None = None
        self._asked_us = now_us()
        self._is_late = False
        self._decided_step: int | None = None

    def begin(self) -> None:
        """Ask the process to let the agent begin. Ask again when there is a new process."""
        self._is_beginning = True
        self._asked_step, self._asked_us = None, now_us()
        begin = messages.Begin(self.agent, self._world.task.to_json(), self._seed)
        self._helper.send(self.key, ToDecider.BEGIN, messages.pack_struct(begin))

    def sit(self, info: Mapping[str, Any], step: int, due_us: int) -> None:
        assert self._begun is not None
        seated = SeatedAgent(_Shown(self._begun), self._world.task, rng=np.random.default_rng(0))
        with as_agents_see(self._world):
            seated.sit(self._world, self._seat, info)
        self._seated = seated
        self._ask(step, due_us)

    @property
    def has_decided(self) -> bool:
        return self._failure is not None or (self._asked_step is None and not self._is_beginning)

    def act(self, step: int) -> tuple[Any, InputTiming | None]:
        """Return the last decided action; count a late decision once. Raises `AgentError` if the agent has failed, or hangs."""
        if self._failure is not None:
            raise self._failure
        assert self._seated is not None
        if self._asked_step is not None:
            if not self._is_late:
                self._is_late = True
                self._helper.num_late += 1
            self.watch(now_us())
            if self._failure is not None:
                raise self._failure
        action = self._seated.hold(self._world.task.keys.of(self._seat).noop)
        return action, None if self._decided_step is None else decided_on(self._decided_step)

    def see(self, info: Mapping[str, Any], step: int, due_us: int) -> None:
        assert self._seated is not None
        with as_agents_see(self._world):
            self._seated.see(info)
        self._ask(step, due_us)

    def leave(self) -> None:
        self._helper.remove(self)

    def _ask(self, step: int, due_us: int) -> None:
        assert self._seated is not None
        observation = self._seated.observation
        if observation is None:
            return
        self._helper.num_decisions += 1
        now = now_us()
        is_free = self._asked_step is None and not self._is_beginning
        if is_free:
            question = messages.pack_question(step, now, max(due_us, now), messages.encode_value(observation))
            is_free = self._helper.send(self.key, ToDecider.ASK, question)
        if is_free:
            self._asked_step, self._asked_us, self._is_late = step, now, False
        else:
            self._helper.num_late += 1

    # What the process answers

    def take(self, kind: int, payload: bytes) -> None:
        """Take an answer of the process. If the answer cannot be read, the agent fails."""
        try:
            if kind == ToAsker.BEGUN:
                self._is_beginning, begun = False, messages.unpack_begun(payload)
                self.name, self._begun = begun.name, begun
                if self._seated is None:
                    self._on_begun(self)
            elif kind == ToAsker.LOST:
                raise AgentError(payload.decode())
            elif kind == ToAsker.DECIDED and self._seated is not None:
                step, packed = messages.unpack_answer(payload)
                if step == self._asked_step:
                    self._asked_step = None
                    self._seated.take(Decision(*messages.decode_value(packed)))
                    self._decided_step = step
        except Exception as error:
            self._fail(error)

    def watch(self, now: int) -> None:
        """Let the agent fail if it has not answered for too long, while its process answers others."""
        if self._helper.is_silent(now):
            return
        if self._is_beginning and now - self._asked_us > LOADS_US:
            self._fail(AgentError(f"agent {self.agent!r} was not ready within {LOADS_US // 1_000_000} s"))
        elif self._asked_step is not None and now - self._asked_us > HANGS_US:
            self._fail(AgentError(f"agent {self.agent!r} has not decided for {HANGS_US // 1_000_000} s"))

    def helper_died(self) -> None:
        self._is_beginning, self._asked_step = True, None

    def _fail(self, error: Exception) -> None:
        if self._seated is None:
            self._helper.remove(self)
            self._on_failed(self, error)
        else:
            self._failure = error  # for the next step
