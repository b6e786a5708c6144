"""The process that decides for agents in live games: trained policies, and users' own agents. `decider` starts `main`.

One thread reads the sockets. Each agent has a thread of its own, so that an agent that hangs costs only its own seats. An agent
answers all games that ask at about the same moment in one call. The first question waits for others at most for half of the
time until its action is due, minus the time that recent calls took. Games come first: the process has a lower priority.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import os
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import interplay.record
from interplay.agents import Agent, AgentError, Decision, find
from interplay.agents.base import Insider, as_agent
from interplay.play.partners import messages
from interplay.play.partners.messages import Board, ToAsker, ToDecider
from interplay.play.workers import processes
from interplay.play.workers.channel import Unpacker, pack, pack_event
from interplay.play.workers.clock import now_us
from interplay.tasks import Task

ALIVE_EVERY_S = 0.5
NICENESS = 2
HANGS_S = 5.0
"""When a call takes longer than this, other seats no longer wait for it."""
MAX_GAMES_OF_CALL = 256
_DEVIATIONS = 2.0
"""A call may take longer than usual by this many mean deviations, as in TCP's time-outs (Jacobson 1988, appendix A)."""

log = logging.getLogger("interplay.play.partners.deciding")


class Asker:
    """The socket of one worker. Any thread may answer on it."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.unpacker = Unpacker()
        self._lock = threading.Lock()

    def say(self, key: Key, kind: ToAsker, payload: bytes = b"") -> None:
        """Send a message. Messages are small: a worker without room for one more does not read, and is disconnected."""
        message = pack(key.number, kind, payload, seat=key.seat)
        with self._lock:
            try:
                whole = self.channel.send(message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) == len(message)
            except OSError:
                whole = False
            if not whole:
                with contextlib.suppress(OSError):
                    self.channel.shutdown(socket.SHUT_RDWR)


class Key(NamedTuple):
    """A seat in a game of one worker."""

    asker: Asker
    number: int
    seat: int


class Question(NamedTuple):
    """An observation to decide on, and when it was asked and is due on the monotonic clock, in microseconds."""

    step: int
    asked_us: int
    due_us: int
    observation: Any


@dataclass
class Seated:
    """An agent in one seat."""

    agent: Agent
    state: Any


@dataclass
class Shared:
    """State that all players of the process share. Agents in `suspects` decide one at a time; agents in `refused` never
    decide."""

    archive: interplay.record.Archive
    board: Board
    suspects: frozenset[str]
    refused: frozenset[str]
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    num_decisions: int = 0
    num_calls: int = 0


class Player:
    """One agent, its games, and the thread in which it decides. `keys`: the seats that it has or is about to have.
    `has_failed`: whether the agent could not be loaded; a new try needs a new `Player`."""

    def __init__(self, name: str, shared: Shared) -> None:
        self.name = name
        self._shared = shared
        self._place = shared.board.enter(name)
        self._alone = shared.one_at_a_time if name in shared.suspects else contextlib.nullcontext()
        self.keys: set[Key] = set()
        self.has_failed = False
        self._changed = threading.Condition()  # guards the work that waits for the thread
        self._begins: list[tuple[Key, messages.Begin]] = []
        self._questions: dict[Key, Question] = {}
        self._left: list[Key] = []
        self._wakes_at_us = math.inf
        self._seated: dict[Key, Seated] = {}
        self._busy_since: float | None = None
        self._begun_us = 0.0
        """When the last call should have begun, in microseconds."""
        self._taken_us, self._deviation_us = 2_000.0, 0.0
        """Running averages of the time from `_begun_us` until all questions are answered, and of the deviation of this time."""
        threading.Thread(target=self._run, name=f"agent {name}", daemon=True).start()

    @property
    def hangs(self) -> bool:
        since = self._busy_since
        return since is not None and time.monotonic() - since > HANGS_S

    def begin(self, key: Key, begin: messages.Begin) -> None:
        with self._changed:
            self.keys.add(key)
            self._begins.append((key, begin))
            self._changed.notify()

    def give_up_begins(self) -> list[tuple[Key, messages.Begin]]:
        """If this player hangs in a game, remove and return the seats that wait for it, so that another player can take
        them."""
        with self._changed:
            if not (self.hangs and self._seated):
                return []
            begins, self._begins = self._begins, []
            self.keys.difference_update(key for key, _ in begins)
            return begins

    def ask(self, key: Key, question: Question) -> None:
        """Queue a question of a seat; an earlier question without an answer is dropped."""
        with self._changed:
            self._questions[key] = question
            if self._latest_us(question) < self._wakes_at_us or len(self._questions) >= len(self._seated):
                self._changed.notify()

    def leave(self, key: Key) -> None:
        with self._changed:
            self.keys.discard(key)
            self._left.append(key)
            self._begins = [one for one in self._begins if one[0] != key]
            self._questions.pop(key, None)
            self._changed.notify()

    # The thread

    def _run(self) -> None:
        shared: Agent | None = None
        failure: Exception | None = None
        try:
            if self.name in self._shared.refused:
                raise AgentError(
                    f"the process that decides for agents died several times while agent {self.name!r} was at work"
                )
            with self._at_work():
                found = find(self.name, self._shared.archive)
            gc.freeze()  # what is loaded now stays: a collection that looked at all of it would keep games waiting
            shared = found if isinstance(found, Agent) else None
        except Exception as error:
            log.warning("agent %r cannot be loaded", self.name, exc_info=error)
            failure, self.has_failed = error, True
        while True:
            begins, questions = self._next()
            for key, begin in begins:
                if failure is not None:
                    self._lose(key, failure)
                    continue
                try:
                    self._sit(key, begin, shared)
                except Exception as error:
                    self._lose(key, error)
            if questions:
                self._decide({key: one for key, one in questions.items() if key in self._seated})
                error_us = now_us() - self._begun_us - self._taken_us
                self._taken_us += error_us / 8
                self._deviation_us += (abs(error_us) - self._deviation_us) / 4

    def _next(self) -> tuple[list[tuple[Key, messages.Begin]], dict[Key, Question]]:
        with self._changed:
            self._wakes_at_us = math.inf
            while True:
                for key in self._left:
                    self._seated.pop(key, None)
                self._left.clear()
                if self._begins:
                    begins, self._begins = self._begins, []
                    return begins, {}
                if self._questions:
                    have_all_asked = len(self._questions) >= min(len(self._seated), MAX_GAMES_OF_CALL)
                    wait_us = min(map(self._latest_us, self._questions.values())) - now_us()
                    if have_all_asked or wait_us <= 0:
                        self._begun_us = min(now_us(), self._wakes_at_us)
                        chosen = dict(list(self._questions.items())[:MAX_GAMES_OF_CALL])
                        for key in chosen:
                            del self._questions[key]
                        return [], chosen
                    self._wakes_at_us = now_us() + wait_us
                    self._changed.wait(wait_us / 1e6)
                else:
                    self._wakes_at_us = math.inf
                    self._changed.wait()

    def _latest_us(self, question: Question) -> float:
        return (question.asked_us + question.due_us) / 2 - self._taken_us - _DEVIATIONS * self._deviation_us

    def _sit(self, key: Key, begin: messages.Begin, shared: Agent | None) -> None:
        with self._at_work():
            # One in the short form plays one game: another one for each.
            found = shared or find(self.name, self._shared.archive)
            if isinstance(found, Insider):
                raise AgentError(
                    f"agent {self.name!r} reads the state of the world; in live games only built-in agents may do that"
                )
            agent = as_agent(found)
            state = agent.begin(Task.from_json(begin.task), rng=np.random.default_rng(begin.seed))
        self._seated[key] = Seated(agent, state)
        key.asker.say(key, ToAsker.BEGUN, messages.pack_struct(messages.Begun(agent.name, agent.observation)))

    def _decide(self, questions: dict[Key, Question]) -> None:
        """Answer questions; ask agents that are the same object in one call."""
        objects: dict[int, list[Key]] = {}
        for key in questions:
            objects.setdefault(id(self._seated[key].agent), []).append(key)
        for keys in objects.values():
            try:
                self._decide_at_once(keys, questions)
            except Exception as error:
                if len(keys) == 1:
                    self._lose(keys[0], error)
                    continue
                for key in keys:  # only those lose their seat over whom it fails
                    try:
                        self._decide_at_once([key], questions)
                    except Exception as own:
                        self._lose(key, own)

    def _decide_at_once(self, keys: Sequence[Key], questions: dict[Key, Question]) -> None:
        agent = self._seated[keys[0]].agent
        with self._at_work():
            decisions = agent.decide([questions[key].observation for key in keys], [self._seated[key].state for key in keys])
        if len(decisions) != len(keys):
            raise AgentError(f"agent {self.name!r} made {len(decisions)} decisions for {len(keys)} games")
        self._shared.num_decisions += len(keys)
        self._shared.num_calls += 1
        for key, decision in zip(keys, decisions, strict=True):
            try:
                if not isinstance(decision, Decision):
                    raise AgentError(f"agent {self.name!r} answered {decision!r:.80}, expected a Decision(action, hold_steps)")
                packed = messages.encode_value([decision.action, decision.hold_steps])
            except Exception as error:
                self._lose(key, error)
                continue
            key.asker.say(key, ToAsker.DECIDED, messages.pack_answer(questions[key].step, packed))

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._alone:
            self._busy_since = time.monotonic()
            self._shared.board.mark(self._place, is_busy=True)
            try:
                yield
            finally:
                self._shared.board.mark(self._place, is_busy=False)
                self._busy_since = None

    def _lose(self, key: Key, error: Exception) -> None:
        log.warning(
            "agent %r loses seat %d of game %d", self.name, key.seat, key.number, exc_info=error, extra={"game": key.number}
        )
        with self._changed:
            self.keys.discard(key)
            self._seated.pop(key, None)
        text = str(error).splitlines()[:1]
        reason = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
        key.asker.say(key, ToAsker.LOST, (text[0] if isinstance(error, AgentError) and text else reason).encode())


class Decider:
    """The thread that reads messages: from the web process on one side, from workers on the other."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._unpacker = Unpacker()
        self._listener: socket.socket | None = None
        self._shared: Shared | None = None
        self._askers: dict[socket.socket, Asker] = {}
        self._players: dict[str, Player] = {}
        self._player_of: dict[Key, Player] = {}

    def run(self) -> None:
        alive_at = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= alive_at:
                self._report()
                for player in set(self._player_of.values()):
                    for key, begin in player.give_up_begins():
                        self._begin(key, begin)
                alive_at = now + ALIVE_EVERY_S
            sockets = [self._channel, *self._askers, *([] if self._listener is None else [self._listener])]
            readable, _, _ = select.select(sockets, [], [], max(0.0, alive_at - time.monotonic()))
            for one in readable:
                if one is self._channel:
                    if not self._hear_web_process():
                        return
                elif one is self._listener:
                    accepted, _ = one.accept()
                    self._askers[accepted] = Asker(accepted)
                else:
                    self._hear(self._askers[one])

    def _report(self) -> None:
        event = messages.Decisions(
            num_decisions=0 if self._shared is None else self._shared.num_decisions,
            num_calls=0 if self._shared is None else self._shared.num_calls,
            num_seats=len(self._player_of),
            cpu_s=round(time.process_time(), 3),
        )
        with contextlib.suppress(OSError):
            self._channel.send(pack_event(0, event))
        for asker in list(self._askers.values()):
            asker.say(Key(asker, 0, 0), ToAsker.ALIVE)

    def _hear_web_process(self) -> bool:
        data = processes.receive(self._channel)
        for _, _, _, payload in self._unpacker.feed(data):
            match messages.decode_command(payload):
                case messages.Listen(address, root, database, suspects, refused):
                    archive = interplay.record.open(Path(root), database=database)
                    self._shared = Shared(archive, Board(Path(address).parent), frozenset(suspects), frozenset(refused))
                    self._listener = _listen(address)
                case messages.Load(agent):
                    self._player(agent)
        return bool(data)

    def _hear(self, asker: Asker) -> None:
        data = processes.receive(asker.channel)
        if not data:
            del self._askers[asker.channel]
            for key in [key for key in self._player_of if key.asker is asker]:
                self._leave(key)
            asker.channel.close()
            return
        for number, seat, kind, payload in asker.unpacker.feed(data):
            key = Key(asker, number, seat)
            if kind == ToDecider.BEGIN:
                self._leave(key)
                self._begin(key, messages.unpack_begin(payload))
            elif kind == ToDecider.ASK and key in self._player_of:
                step, asked_us, due_us, observation = messages.unpack_question(payload)
                self._player_of[key].ask(key, Question(step, asked_us, due_us, messages.decode_value(observation)))
            elif kind == ToDecider.LEAVE:
                self._leave(key)

    def _begin(self, key: Key, begin: messages.Begin) -> None:
        self._player_of[key] = player = self._player(begin.agent)
        player.begin(key, begin)

    def _player(self, agent: str) -> Player:
        """Return the player of this name. If it hangs or could not be loaded, make a new one."""
        player = self._players.get(agent)
        if player is None or player.hangs or player.has_failed:
            assert self._shared is not None
            self._players[agent] = player = Player(agent, self._shared)
        return player

    def _leave(self, key: Key) -> None:
        player = self._player_of.pop(key, None)
        if player is not None:
            player.leave(key)


def _listen(address: str) -> socket.socket:
    """Listen for workers. An earlier process may have left its socket at the address."""
    path = Path(address)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    return listener


def main(descriptor: int) -> None:
    channel = processes.enter(descriptor, "agents")
    os.nice(NICENESS)
    Decider(channel).run()
    logging.shutdown()
    os._exit(0)  # threads of agents may hang
