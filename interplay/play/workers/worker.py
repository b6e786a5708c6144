"""An environment worker: a process that holds many episodes and steps each when it is due. `main` is started by `workers.pool`.

One thread makes the steps. It sleeps in `select` with a timeout of microseconds and reads the channel to the web process when
it wakes, so an input that arrives is in place before its step. A second thread does slow work: it builds worlds (an emulator
takes a tenth of a second), and it opens and closes journals, which waits for the disk. When the web process ends, the worker
writes its journals to disk and ends.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import logging
import os
import queue
import select
import socket
import statistics
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

import interplay.record
from interplay.envs import NotInstalledError, PlayableEnv
from interplay.envs.backends import LOADING_NICENESS
from interplay.play import tables
from interplay.play.partners.asking import Helper, HelperDriver
from interplay.play.partners.driving import Driver, InsideDriver, reason_of
from interplay.play.partners.roster import acts_inside
from interplay.play.workers import channel, processes
from interplay.play.workers.channel import ToWorker, Unpacker, decode_command, pack_event, unpack_input
from interplay.play.workers.clock import SLOTS, Lateness, now_us
from interplay.play.workers.live import NUM_TIMED_STEPS, LiveEpisode
from interplay.play.workers.live_seat import LiveSeat
from interplay.play.workers.spare_time import SpareTime
from interplay.play.workers.worlds import Worlds
from interplay.statistics import StatisticSpec
from interplay.tasks import Task

SLOW_STEP_MS, LONG_STEP_MS = 8.0, 16.0
SLOW_SHARE = 0.25
"""A world gets a worker to itself if its median step takes long and also needs this share of a core at its rate, or if the step
is so long that other games would lose a frame."""
STATISTICS_EVERY_S = 0.5
LEAVE_TIMEOUT_S = 5.0
"""How long a worker that ends waits for its second thread."""
_READ_AFTER_US = 5_000
"""Messages of players wait for the next step if it is due within this time: they are read before it, without a wake-up."""
_SNAPSHOTS_APART = 61
"""Number of steps between the snapshots of one game and those of the next."""
_MAX_BACKLOG_BYTES = 1 << 20
"""Frames are skipped when this many bytes wait to be sent to the web process."""

log = logging.getLogger("interplay.play.workers.worker")


class Worker:
    """The loop of the process."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        channel.setblocking(False)
        self._unpacker = Unpacker()
        self._out: list[bytes] = []
        self._backlog = b""
        self._episodes: dict[int, LiveEpisode] = {}
        self._due: list[tuple[int, int]] = []
        self._cancelled: set[int] = set()
        self._opening: set[int] = set()
        self._worlds = Worlds(lambda share: self._hand_over(lambda: self._say_preparing(share)))
        self._archive: interplay.record.Archive | None = None
        self._agents = Helper("")
        self._offset = 0.0
        self._lateness = Lateness()
        self._num_steps = 0
        self._open = True
        self._stopping = False
        self._jobs: queue.SimpleQueue[tuple[int, Callable[[], Callable[[], None]]] | None] = queue.SimpleQueue()
        self._built: deque[Callable[[], None]] = deque()
        self._spare = SpareTime(self._episodes, self._guard)
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._helper = threading.Thread(target=self._do_jobs, name="jobs", daemon=True)
        self._helper.start()

    def run(self) -> None:
        report_at = now_us()
        while self._open and not (self._stopping and not self._episodes):
            begun = now = now_us()
            # Not what becomes due meanwhile: where a step takes longer than its frame interval, nobody would ever be read.
            while self._due and self._due[0][0] <= begun:
                due, number = heapq.heappop(self._due)
                episode = self._episodes.get(number)
                if episode is not None and episode.driving.awaits_agents:
                    self._agents.read()  # the answer may have come while other games made their steps
                    episode = self._episodes.get(number)
                if episode is not None and episode.running and episode.clock.due_us == due:
                    self._tick(episode, now)
                    now = now_us()
            if now >= report_at:
                self._agents.watch(now)
                self._schedule_turns()
                self._report()
                report_at = now + round(STATISTICS_EVERY_S * 1e6)
            self._flush()
            self._agents.connect(now)
            next_us = min(self._due[0][0] if self._due else report_at, report_at)
            self._spare.write_journals(next_us)
            sent = len(self._backlog) <= _MAX_BACKLOG_BYTES and self._spare.send_owed(next_us)
            sent = sent or (not self._backlog and self._spare.send_watched(next_us))
            wait_us = 0 if sent else next_us - now_us()
            is_soon = wait_us < _READ_AFTER_US
            readable, writable, _ = select.select(
                [*([] if is_soon else [self._channel]), self._wake, *self._agents.readable],
                [*([self._channel] if self._backlog else []), *self._agents.writable],
                [],
                max(wait_us, 0) / 1e6,
            )
            if writable:
                self._agents.flush()
            if any(one in readable for one in self._agents.readable):
                self._agents.read()
                self._schedule_turns()
            if self._wake in readable:
                os.eventfd_read(self._wake)
                while self._built:
                    self._built.popleft()()
            if is_soon or self._channel in readable:
                self._read()
        self._leave()

    def _tick(self, episode: LiveEpisode, now_us: int) -> None:
        try:
            late_us = episode.tick(now_us, skip=len(self._backlog) > _MAX_BACKLOG_BYTES)
        except Exception as error:
            self._fail(episode.number, error)
            return
        self._lateness.add(late_us)
        self._num_steps += 1
        if episode.outcome is not None:
            self._finish(episode, episode.outcome)
            return
        self._schedule(episode)
        if episode.step == NUM_TIMED_STEPS:
            # A quarter of the steps: some draw what is drawn only once, or come while the machine is busy.
            step_ms = statistics.quantiles(episode.step_costs_us, n=4)[0] / 1000
            is_much = step_ms / 1000 * episode.env.task.frame_rate_hz > SLOW_SHARE
            if step_ms > LONG_STEP_MS or (step_ms > SLOW_STEP_MS and is_much):
                movable = episode.env.deterministic
                self._event(episode.number, channel.Slow(round(step_ms, 2), movable))

    def _schedule_turns(self) -> None:
        """Schedule again the worlds that wait for their players, since an agent may have decided, or failed."""
        for episode in self._episodes.values():
            if episode.takes_turns and episode.running:
                self._schedule(episode)

    def _schedule(self, episode: LiveEpisode) -> None:
        """Put the next step of an episode into the schedule. An episode that waits for its players costs nothing meanwhile."""
        due_us = episode.due_us(now_us()) if episode.takes_turns else episode.clock.due_us
        if due_us is not None:
            heapq.heappush(self._due, (due_us, episode.number))

    def _read(self) -> None:
        try:
            data = self._channel.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._open = False
            return
        for number, index, kind, payload in self._unpacker.feed(data):
            if kind not in (ToWorker.INPUT, ToWorker.TRACED_INPUT):
                self._spare.owing.add(number)  # perhaps
            if kind == ToWorker.COMMAND:
                self._command(number, index, decode_command(payload))
                continue
            episode = self._episodes.get(number)
            if episode is None:
                continue
            seat = episode.seats[index]
            if kind in (ToWorker.INPUT, ToWorker.TRACED_INPUT):
                episode.input(seat, unpack_input(payload), is_traced=kind == ToWorker.TRACED_INPUT)
                if episode.takes_turns and episode.running:
                    self._guard(number, partial(episode.catch_up, seat, now_us()))
                    self._schedule(episode)
            elif kind == ToWorker.HOLD:
                seat.hold()
            elif kind == ToWorker.GO:
                seat.go(key=payload == b"\x01")
            elif kind == ToWorker.KEY:
                self._guard(number, partial(episode.show, seat, now_us()))

    def _command(self, number: int, index: int, command: channel.WorkerCommand) -> None:
        episode = self._episodes.get(number)
        match command:
            case channel.Configure():
                self._archive = interplay.record.open(Path(command.data), database=command.database)
                self._archive.statistics = tuple(map(StatisticSpec.from_json, command.statistics))
                self._agents = Helper(command.agents)
                self._take_place(command.place, command.num_workers)
                gc.collect()
                gc.freeze()  # what is loaded now stays: collections need not look at it again
            case channel.Prepare():
                threading.Thread(target=self._make_ready, args=(command,), name="prepare", daemon=True).start()
            case channel.Open():
                self._opening.add(number)
                self._jobs.put((number, partial(self._build, number, command)))
            case channel.GoOn():
                self._opening.add(number)
                self._jobs.put((number, partial(self._rebuild, number, command)))
            case channel.Stop():
                self._stopping = True
                for live in self._episodes.values():
                    self._finish(live, "interrupted")
            case channel.Close() if episode is None:
                self._cancelled.add(number)
            case _ if episode is not None:
                self._tell(episode, number, index, command)

    def _tell(self, episode: LiveEpisode, number: int, index: int, command: channel.WorkerCommand) -> None:
        match command:
            case channel.Welcome(is_shown):
                seat = episode.seats[index]
                self._event(number, seat.welcome(episode.step, episode.tables), seat=index)
                if is_shown:
                    self._guard(number, partial(episode.show, seat, now_us()))
            case channel.Watch(is_watched):
                self._spare.watched.add(number)
                episode.seats[index].watch(episode.step, is_watched=is_watched)
            case channel.Start() if episode.recorder is None:
                episode.wanted = True
                self._jobs.put((number, partial(self._open_journal, episode, command)))
            case channel.Start():
                episode.wanted = True
                self._guard(number, partial(self._start, episode))
            case channel.Pause():
                self._guard(number, partial(episode.pause, now_us()))
            case channel.Away():
                episode.seats[index].let_go()
            case channel.Back():
                self._guard(number, partial(episode.look_again, episode.seats[index], now_us()))
            case channel.DrawnBy(here, gui_width, gui_height):
                gui_size = (gui_width, gui_height) if here else None
                self._guard(number, partial(episode.draw_by, episode.seats[index], gui_size, now_us()))
            case channel.AgentActs():
                self._let_agent(episode, episode.seats[index], command)
            case channel.PersonActs(owner):
                self._guard(number, partial(episode.let_person, episode.seats[index], owner))
            case channel.Land(parts):
                episode.seats[index].owe_land(parts, now_us())
            case channel.Painted(painted):
                episode.seats[index].painted = painted
            case channel.Options(options):
                episode.seats[index].options = options
            case channel.Finish(outcome):
                self._finish(episode, outcome)
            case channel.Release() if not episode.closing:
                self._guard(number, partial(self._release, episode))
            case channel.Close():
                self._drop(number, reusable=True)

    def _take_place(self, place: int, num_workers: int) -> None:
        """Step at other moments than the other workers, and on a core of its own if there is one core for each worker.

        A scheduler lets two workers share a core for milliseconds while another core is idle. This would make the frames of all
        their players late.
        """
        self._offset = place / num_workers
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) == num_workers > 1:
            os.sched_setaffinity(0, {cores[place]})

    def _start(self, episode: LiveEpisode) -> None:
        if episode.running or episode.closing or not episode.wanted:
            return
        taken = [other.slot for other in self._episodes.values() if other.running]
        episode.slot = min(range(SLOTS), key=taken.count)
        episode.start(now_us(), phase=(episode.slot + self._offset) / SLOTS)
        self._schedule(episode)

    def _let_agent(self, episode: LiveEpisode, seat: LiveSeat, command: channel.AgentActs) -> None:
        """Let an agent act for a seat. If the agent cannot play, the game continues without it."""
        try:
            if acts_inside(command.agent):
                driver: Driver = InsideDriver(
                    command.agent, episode.env, seat.name, episode.info, step=episode.step, seed=command.seed
                )
                episode.let_agent(seat, driver)
                self._schedule_turns()
            else:
                self._let_begin(episode, seat, command)
        except Exception as error:
            self._refuse_agent(episode, seat, command.agent, error)

    def _let_begin(self, episode: LiveEpisode, seat: LiveSeat, command: channel.AgentActs) -> None:
        def sit(driver: HelperDriver) -> None:
            try:
                driver.sit(episode.info, episode.step, (episode.clock.due_us if episode.running else None) or 0)
                episode.let_agent(seat, driver)
            except Exception as error:
                fail(driver, error)

        def fail(driver: HelperDriver, error: Exception) -> None:
            if episode.driving.is_expected(seat.name, driver):
                episode.driving.forget(seat.name)
                self._refuse_agent(episode, seat, driver.agent, error)

        key = (episode.number, seat.index)
        driver = HelperDriver(
            self._agents, key, command.agent, episode.env, seat.name, seed=command.seed, on_begun=sit, on_failed=fail
        )
        episode.driving.expect(seat.name, driver)
        self._agents.add(driver)

    def _refuse_agent(self, episode: LiveEpisode, seat: LiveSeat, agent: str, error: Exception) -> None:
        log.error(
            "game %d: agent %r cannot take seat %s",
            episode.number,
            agent,
            seat.name,
            exc_info=error,
            extra={"game": episode.number},
        )
        self._event(episode.number, channel.AgentLost(agent, reason_of(error)), seat=seat.index)

    def _guard(self, number: int, act: Callable[[], None]) -> None:
        """Do something for one game; if it fails, only that game ends."""
        try:
            act()
        except Exception as error:
            self._fail(number, error)

    def _finish(self, episode: LiveEpisode, outcome: str) -> None:
        if episode.closing:
            return
        episode.closing = True
        episode.running = False
        if episode.recorder is not None:
            for seat in episode.seats:
                episode.send_hud(seat)
        self._jobs.put((episode.number, partial(self._close_journal, episode, outcome)))

    def _close_journal(self, episode: LiveEpisode, outcome: str) -> Callable[[], None]:
        try:
            event = episode.finish(outcome)
        except Exception as error:
            return self._close_failed(episode, error)

        def finished() -> None:
            self._event(episode.number, event)
            self._drop(episode.number, reusable=True)

        return finished

    def _release(self, episode: LiveEpisode) -> None:
        episode.abandon()
        self._event(episode.number, channel.Released())
        self._drop(episode.number, reusable=False)

    def _fail(self, number: int, error: Exception) -> None:
        """End one game after an error. Its recording stays; the second thread closes it."""
        episode = self._episodes.get(number)
        if episode is None or episode.recorder is None:
            self._failed(number, error)
            return
        if episode.closing:
            return
        episode.closing = True
        episode.running = False
        self._jobs.put((number, partial(self._close_failed, episode, error)))

    def _close_failed(self, episode: LiveEpisode, error: Exception) -> Callable[[], None]:
        """End the journal of an episode that failed, if the journal can still be written."""
        assert episode.recorder is not None
        try:
            episode.recorder.finish("interrupted")
        except Exception:
            log.exception("game %d: its journal could not be ended", episode.number, extra={"game": episode.number})
            with contextlib.suppress(Exception):
                episode.recorder.abandon()
        return partial(self._failed, episode.number, error)

    def _failed(self, number: int, error: Exception) -> None:
        """Report a failure. The log has the whole error. Players see no folders and no code: if somebody's environment fails,
        they are told only the class of the error."""
        episode = self._episodes.get(number)
        if episode is None:
            log.error("game %d could not be opened", number, exc_info=error, extra={"game": number})
        else:
            log.error(
                "game %d, task %s, step %d", number, episode.env.task.id, episode.step, exc_info=error, extra={"game": number}
            )
        what = type(error.__cause__ or error).__name__
        code, message = "world_failed", f"the game's world had an error ({what}) and stopped; the server's log says more"
        if isinstance(error, NotInstalledError):
            code, message = "not_installed", f"this game cannot start: {error}"
        elif isinstance(error, interplay.record.RecordingError):
            code, message = "recording_failed", "your play could no longer be recorded"
            if "the disk is full" in str(error):
                message += ": the disk of the server is full"
        self._event(number, channel.Failed(code, message))
        self._drop(number, reusable=False)

    def _drop(self, number: int, *, reusable: bool) -> None:
        self._opening.discard(number)
        episode = self._episodes.pop(number, None)
        if episode is None:
            return
        episode.driving.close()
        if not (reusable and self._worlds.take_back(episode.env)):
            try:
                episode.env.close()
            except Exception:
                log.exception("game %d: closing its world failed", number, extra={"game": number})

    # The second thread: everything below it runs beside the ticks, and hands over by `_built`.

    def _do_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            number, work = job
            try:
                done = work()
            except Exception as error:
                done = partial(self._fail, number, error)
            self._hand_over(done)

    def _build(self, number: int, command: channel.Open) -> Callable[[], None]:
        env, start = self._worlds.new(Task.from_json(command.task), command.seed, for_people=command.for_people)
        live = LiveEpisode(number, env, start=start, send=self._out.append, tables=self._tables_of(env))
        self._worlds.load_soon(env.task)
        return partial(self._opened, live)

    def _tables_of(self, env: PlayableEnv) -> str | None:
        """Return the name of the file with which browsers can draw this world; write the file if it does not exist, and make
        the world ready. Return None for a world that browsers cannot draw."""
        assert self._archive is not None
        drawn = env.scene_tables()
        if drawn is None:
            return None
        env.get_ready()
        return tables.keep(self._archive.root, drawn)

    def _make_ready(self, command: channel.Prepare) -> None:
        """Make the world of a game that will probably be asked for soon, in a thread of low priority."""
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOADING_NICENESS)  # of this thread alone
        task, seed = Task.from_json(command.task), command.seed
        try:
            self._worlds.make_ready(task, seed)
        except Exception:
            log.exception("no world of %s could be made ready", task.id)
            return
        self._hand_over(lambda: self._event(0, channel.Ready(task.content_hash, seed)))

    def _say_preparing(self, share: float) -> None:
        for number in self._opening:
            self._event(number, channel.Preparing(share))

    def _hand_over(self, act: Callable[[], None]) -> None:
        """Let the first thread call `act`. This is called from another thread."""
        self._built.append(act)
        os.eventfd_write(self._wake, 1)

    def _open_journal(self, episode: LiveEpisode, command: channel.Start) -> Callable[[], None]:
        """Begin a recording. Then the clock starts, unless the players have paused meanwhile."""
        if episode.recorder is None:
            assert self._archive is not None
            recorder = self._archive.recorder(
                episode.env.task,
                episode.env,
                seed=command.seed,
                owners=command.owners,
                session_id=command.session,
                episode_id=command.episode,
            )
            recorder.snapshots_at = _SNAPSHOTS_APART * episode.number  # by turns, also of games that begin together
            episode.open_journal(recorder)

        def start() -> None:
            episode.driving.sit({seat: owner.name for seat, owner in command.owners.items()})
            self._start(episode)

        return lambda: self._guard(episode.number, start)

    def _rebuild(self, number: int, command: channel.GoOn) -> Callable[[], None]:
        assert self._archive is not None
        self._worlds.prepare(Task.from_json(command.task))
        env, recorder, state = interplay.record.resume(self._archive, command.episode)
        live = LiveEpisode(number, env, start=None, send=self._out.append, tables=self._tables_of(env))
        live.driving.sit(command.owners)
        recorder.snapshots_at = _SNAPSHOTS_APART * number
        live.go_on_from(recorder, state)
        return partial(self._opened, live)

    def _opened(self, live: LiveEpisode) -> None:
        self._opening.discard(live.number)
        if self._stopping:
            live.abandon()
            return
        self._episodes[live.number] = live
        gc.collect(1)
        gc.freeze()  # a world's many objects are freed by their reference counts: collections need not look at them
        if live.number in self._cancelled:
            self._cancelled.discard(live.number)
            if live.recorder is None:
                self._drop(live.number, reusable=True)
            else:
                self._finish(live, "left")
            return
        if live.outcome is not None:
            self._finish(live, live.outcome)
            return
        self._event(live.number, channel.Opened())

    def _event(self, number: int, event: channel.WorkerEvent, *, seat: int = 0) -> None:
        self._out.append(pack_event(number, event, seat=seat))

    def _report(self) -> None:
        counts = {str(index): count for index, count in enumerate(self._lateness.counts) if count}
        episodes = self._episodes.values()
        report = channel.Statistics(
            num_steps=self._num_steps,
            num_games=len(self._episodes) + len(self._opening),
            num_running=sum(episode.running for episode in episodes),
            num_stalls=sum(episode.clock.num_stalls for episode in episodes),
            late_0_1ms=counts,
            cpu_s=round(time.process_time(), 3),
            num_decisions=self._agents.num_decisions,
            num_late=self._agents.num_late,
        )
        self._event(0, report)

    def _flush(self) -> None:
        """Write the waiting messages, as many as the channel takes."""
        if self._out:
            data = b"".join(self._out) if not self._backlog else b"".join((self._backlog, *self._out))
            self._out.clear()
        elif self._backlog:
            data = self._backlog
        else:
            return
        try:
            sent = self._channel.send(data)
        except BlockingIOError:
            sent = 0
        except ConnectionError:
            self._open = False
            sent = len(data)
        self._backlog = data[sent:]

    def _leave(self) -> None:
        """Write every recorded step to disk and send every event, then end."""
        self._jobs.put(None)
        self._helper.join(LEAVE_TIMEOUT_S)  # a journal it is closing keeps how its episode ended
        self._stopping = True  # what it has opened is not played
        while self._built:
            self._built.popleft()()
        for episode in self._episodes.values():
            try:
                if not episode.closing:
                    episode.abandon()
            except Exception as error:  # the journals of the other games are written all the same
                log.error("game %d: %s", episode.number, error, extra={"game": episode.number})
        self._channel.setblocking(True)
        self._channel.settimeout(5.0)
        with contextlib.suppress(OSError):
            self._channel.sendall(self._backlog + b"".join(self._out))
        self._channel.close()


def main(descriptor: int) -> None:
    channel = processes.enter(descriptor, "worker")
    sys.setswitchinterval(0.0005)  # the second thread must not keep a due step waiting
    Worker(channel).run()
    logging.shutdown()
    os._exit(0)  # everything is on disk; taking hundreds of emulators apart one by one helps nobody
