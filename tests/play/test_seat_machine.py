"""Anybody does anything at any time, and the seats stay right: random moves against the real server and a model beside it.

The suite makes a hundred moves. `INTERPLAY_SEAT_MOVES=10000 pytest tests/play/test_seat_machine.py` makes so many.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import seat_model
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from test_partners import Page
from trial_crews import crews_text

import interplay.record
from interplay.play.connections import wire
from interplay.play.games.for_study import ForStudy
from interplay.play.games.game import Game
from interplay.play.games.interfaces import BEGUN, State
from interplay.play.games.seat import Seat
from interplay.play.server import PlayServer
from interplay.play.workers.channel import Acting, AgentLost, Opened, Slow
from interplay.play.workers.pool import QUICK_DEATH_S, WorkerLink
from interplay.record import Owner, journal
from interplay.store import PlaySession
from interplay.tasks import parse_suite

pytest.importorskip("pettingzoo")

MOVES_OF_EXAMPLE = 40
NUM_EXAMPLES = 8
NUM_MOVES = int(os.environ.get("INTERPLAY_SEAT_MOVES", "0"))
"""At least so many, of which each did something; without it, those of `NUM_EXAMPLES`."""
WITHIN_S = float(os.environ.get("WITHIN_S", "120"))
STUDY = "crew/pair of a study"
TASKS = {"crew/two": "random", "crew/pair": None, "crew/three": "random", STUDY: "noop"}
"""Task -> who acts there for a person who is gone."""
STUDIES = {STUDY: ("crew/pair", ForStudy("orders", fallback="noop", wait_s=0.0))}
"""Of these tasks: which one it is, and what a study says about it."""
MAX_PEOPLE = 7


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward: all that waits for a time that is past is done."""

    skipped_s = 0.0

    def time(self) -> float:
        return super().time() + self.skipped_s


class Visitor(Page):
    """Stands where a player's socket does; does nothing by itself. When it is closed the server hears of it, as of a socket."""

    def __init__(self, game: Game, seat: Seat) -> None:
        super().__init__(game, seat, resumes=False)
        self.is_closed = False

    def close(self, code: int, reason: str = "") -> None:
        if not self.is_closed:
            self.is_closed = True
            asyncio.get_running_loop().call_soon(self.game.detach, self.seat, self)  # type: ignore[arg-type]

    @property
    def is_over(self) -> bool:
        return bool(self.said("ended") or self.said("error"))


class Host:
    """The real server in this process, on one data folder; it can be killed and started again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.loop = SkippingLoop()
        self.loop.run_until_complete(self.start())
        self.num_moves = self.num_kills = self.num_restarts = 0
        self.failure: BaseException | None = None

    async def start(self) -> None:
        self.archive = interplay.record.open(self.root)
        self.play = PlayServer(
            self.archive,
            secret=b"s" * 32,
            num_workers=2,
            suites=[parse_suite(crews_text())],
            partners={task: agent or "none" for task, agent in TASKS.items() if task not in STUDIES},
            untaken_s=seat_model.UNTAKEN_S,
            seat_kept_s=seat_model.KEPT_S,
            idle_s=seat_model.IDLE_S,
            resume_s=seat_model.RESUME_S,
            partner_after_s=0.0,
        )
        await self.play.start()
        assert self.play._recovery is not None
        await self.play._recovery

    async def kill(self) -> None:
        """As `kill -9` of the server: nothing of it acts any more, and its workers end when they notice."""
        play = self.play
        play._stopping = play.pool.stopping = True
        assert play.pool._watching is not None
        for task in (play.pool._watching, *play.pool._respawning):
            task.cancel()
        for game in play.games:
            game.stop_timers()
            assert not game.pending
        processes = [link.process for link in play.pool.links]
        for process in processes:
            process.kill()
        await play._sealer.stop()
        await play._decider.stop()
        await asyncio.to_thread(play.films.close)
        await asyncio.to_thread(play._notes.shutdown)
        for process in processes:
            await asyncio.to_thread(process.wait, 60)
        for link in play.pool.links:
            link.close()
        self.archive.close()

    def stop(self) -> None:
        self.loop.run_until_complete(self.play.stop())
        self.archive.close()
        assert not list((self.root / "journal").glob("*.arrows"))
        left = [task for task in asyncio.all_tasks(self.loop) if not task.done()]
        assert not left, left
        self.loop.close()


async def until(is_so: Callable[[], Any], what: Callable[[], Any]) -> None:
    """The clock of the loop may be put forward meanwhile: count in moments."""
    for _ in range(round(WITHIN_S / 0.002)):
        if is_so():
            return
        await asyncio.sleep(0.002)
    raise AssertionError(what())


def move(act: Callable[..., None]) -> Callable[..., None]:
    """Keep the first thing that went wrong, and what was done before: if hypothesis tries again, the server is another one."""

    @functools.wraps(act)
    def noted(self: Seats, **drawn: Any) -> None:
        if drawn or act.__name__ == "time_passes":
            self.moves.append(f"{act.__name__} {drawn}")
        try:
            act(self, **drawn)
        except BaseException as error:  # a test that takes too long, too
            if self.host.failure is None:
                error.add_note("after:\n" + "\n".join(self.moves))
                self.host.failure = error
                print(f"{error}\n{error.__notes__[-1]}", flush=True)  # before what is left of it is tried in vain
            raise

    return noted


class Seats(RuleBasedStateMachine):
    host: Host

    def __init__(self) -> None:
        super().__init__()
        self.model = seat_model.Model()
        self.model.now = self.host.loop.time()
        self.sessions: dict[str, str] = {}
        self.pages: dict[str, Visitor] = {}
        self.games: dict[int, Game] = {}
        """`id` of a game of the model -> the real one."""
        self.parted: set[str] = set()
        self.checked: set[int] = set()
        self.slow: set[int] = set()
        """Games that a busy machine made slow: they move at any time, and hours may pass meanwhile here."""
        self.names = iter(range(1000))
        self.moves: list[str] = []

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        self.model.now = self.host.loop.time()
        return self.host.loop.run_until_complete(work)

    # What is looked at

    @property
    def play(self) -> PlayServer:
        return self.host.play

    def real_seat(self, person: str) -> tuple[Game, Seat]:
        place = self.play._places[self.sessions[person]]
        return place.game, place.seat

    def welcomed(self) -> list[str]:
        return [one for one, page in sorted(self.pages.items()) if self.model.place(one) and page.seat.connection is page]

    def people(self) -> list[str]:
        return [one for one in sorted(self.sessions) if self.model.place(one)]

    def pick(self, people: list[str], number: int) -> str | None:
        """One of them, or nobody: then nothing happens. What is drawn must not depend on how fast the machine is."""
        return people[number % len(people)] if people else None

    def listen(self, mine: seat_model.Game, game: Game) -> None:
        """Note what the worker says of who acts: the model must agree with it, and the recording with both."""
        on_event = game.on_event

        def heard(index: int, event: Any) -> None:
            if isinstance(event, Acting) and mine.state == "begun":
                mine.acts(mine.seats[index].name, event.owner, event.step)
            elif isinstance(event, Opened) and mine.state == "begun":  # it goes on from what was on disk
                mine.goes_back(self.num_recorded(game))
            elif isinstance(event, Slow):
                self.slow.add(id(mine))
            elif isinstance(event, AgentLost) and mine.is_live:
                self.model.lost_agent(mine, mine.seats[index])
            on_event(index, event)

        on_orphaned = game.on_orphaned

        def orphaned() -> None:
            """Its worker was killed by a move; or on a busy machine by the pool, because it stood still."""
            if mine.is_live:
                self.model.worker_died(mine)
            on_orphaned()

        game.on_event = heard  # type: ignore[method-assign]
        game.on_orphaned = orphaned  # type: ignore[method-assign]
        self.games[id(mine)] = game

    def num_recorded(self, game: Game) -> int:
        """Steps on disk."""
        paths = self.paths_of(game)
        return journal.Journal(paths).table(["step"]).num_rows - 1 if paths else 0

    def paths_of(self, game: Game) -> list[Path]:
        """Its journal, once something is in it."""
        paths = journal.segments(self.host.root / "journal", game.episode_id)
        return paths if journal.holds_observations(paths) else []

    def differences(self) -> list[str]:
        """Where the server is not, or not yet, as the model says."""
        found = []
        for mine in self.model.games:
            game = self.games[id(mine)]
            states = {
                "waiting": (State.EMPTY, State.WAITING),
                "held": (State.HELD,),
                "over": (State.ENDED,),
                "begun": (State.PLAYING,) if mine.clock_is_on else (State.PAUSED,),
            }[mine.state]
            if mine.outcome == "lost":
                continue
            if game.state not in states:
                words = [seat.last_words for seat in game.seats]
                found.append(f"{game.task.id} {game.number}: is {game.state}, expected {states}; {words}")
                continue
            if not mine.is_live:
                found += [f"{game.number}: work is under way"] if game.pending else []
                found += [f"{game.number}: has a worker"] if game.hosting.link is not None else []
                continue
            if (mine.state == "begun" or game.state is State.WAITING) and not game.is_opened:
                found.append(f"{game.number}: is not opened")
            if mine.state == "begun" and not self.paths_of(game):
                found.append(f"{game.number}: has no journal")
            for one, seat in zip(mine.seats, game.seats, strict=True):
                person = next((name for name, session in self.sessions.items() if session == seat.session), None)
                is_there = {
                    "person": person if seat.has_person else None,
                    "agent": seat.agent,
                    "connected": seat.connection is not None,
                    "welcomed": seat.is_welcomed,
                    "waits": seat._timer is not None
                    or (seat.has_person and not seat.has_come and game.state is not State.HELD),
                }
                should_be = {
                    "person": one.person,
                    "agent": one.agent,
                    "connected": one.connected,
                    "welcomed": one.connected,
                    "waits": one.deadline is not None,
                }
                if mine.state == "waiting":
                    is_there["ready"] = seat.is_ready
                    is_seated = one.agent is not None and game.state is State.WAITING
                    should_be["ready"] = one.ready if one.person is not None else is_seated
                elif mine.state == "begun":
                    is_there |= {"acts": seat.acted_by, "restored": seat.is_restored}
                    should_be |= {"acts": one.acted_by, "restored": one.restored}
                    if mine.owners[one.name][-1][1] != one.acted_by:
                        found.append(
                            f"{game.number}/{one.name}: the worker says {mine.owners[one.name]}, expected {one.acted_by}"
                        )
                if one.person is not None:
                    is_there["away"], should_be["away"] = seat.is_away, one.away
                if is_there != should_be:
                    found.append(f"{game.number}/{one.name}: is {is_there}, expected {should_be}")
        return found

    def settle(self) -> None:
        """Wait until the server is as the model says, then look closer."""

        async def settled() -> None:
            await until(lambda: not self.differences(), lambda: "\n".join(self.differences()))

        self.host.loop.run_until_complete(settled())
        for mine in self.model.games:
            if not mine.is_live and id(mine) not in self.checked:
                self.checked.add(id(mine))
                self.check_recording(mine, self.games[id(mine)])
        for person, page in self.pages.items():
            if self.model.place(person) is None and person not in self.parted:
                assert page.is_over or page.is_closed, f"{person} was not told that it is over"

    def check_recording(self, mine: seat_model.Game, game: Game) -> None:
        if mine.outcome == "lost":
            return
        found = [one for one in self.play.archive.episodes() if one.id == game.episode_id]
        assert not journal.segments(self.play.archive.journal_folder, game.episode_id)
        if not mine.owners or not found:
            assert not found
            return
        (episode,) = found
        verdict = interplay.record.verify(episode)
        assert verdict.equal, verdict
        assert episode.outcome == mine.outcome or (episode.outcome == "interrupted" and id(mine) in self.slow)
        steps = episode.steps()
        for seat in mine.seats:
            names = steps.column(f"owner.{seat.name}").to_pylist()[:-1]
            for step, name in enumerate(names):
                owner = mine.owner_at(seat.name, step)
                # An agent that failed is replaced where it stands; what acts from then on is told a moment later.
                assert name == owner or (name, owner) == ("noop", "raises"), (game.number, seat.name, step, name, mine.owners)

    # What people do

    @rule(
        task=st.sampled_from(sorted(TASKS)),
        partner=st.sampled_from([None, None, None, "random", "trial_agents:Raises"]),
        wheel=st.sampled_from([None, None, None, "random"]),
        comes=st.booleans(),
    )
    @move
    def join(self, task: str, partner: str | None, wheel: str | None, comes: bool) -> None:
        person = self.ask_for_a_seat(task, partner, wheel)
        if comes:
            self.come(person)
        self.settle()

    @rule(
        task=st.sampled_from(sorted(TASKS)),
        wheels=st.lists(st.sampled_from([None, None, "random"]), min_size=3, max_size=3),
        num_steps=st.integers(0, 9),
        is_killed=st.sampled_from([False, False, False, True]),
    )
    @move
    def meet(self, task: str, wheels: list[str | None], num_steps: int, is_killed: bool) -> None:
        """So many join that a game begins, and play a few steps; their worker may be killed in the moment of the first."""
        people = []
        while not people or any(seat.is_open for seat in (self.model.place(people[-1]) or pytest.fail("no place"))[0].seats):
            person = self.ask_for_a_seat(task, None, wheels[len(people) % 3])
            if person is None:
                return
            people.append(person)
        for seat in (self.model.place(people[-1]) or pytest.fail("no place"))[0].people:
            self.come(seat.person)
        self.settle()
        for seat in (self.model.place(people[-1]) or pytest.fail("no place"))[0].people:
            self.do(seat.person, "start")
        if is_killed:
            self.kill(self.real_seat(people[-1])[0].hosting.link)
        self.settle()
        self.see(num_steps)

    def ask_for_a_seat(self, task: str, partner: str | None, wheel: str | None) -> str | None:
        """Somebody new does; returns who, or None where there are too many already."""
        if len(self.people()) >= MAX_PEOPLE:
            return None
        person = f"p{next(self.names)}"
        name, study = STUDIES.get(task, (task, None))
        partner = partner if study is None else None
        wanted = {"actor": person, "countdown_s": 0, "partner": partner, "wheel": wheel, "study": study}

        async def ask() -> None:
            grant = await asyncio.to_thread(self.play.create_session, name, **wanted)
            self.sessions[person] = grant.session
            self.host.num_moves += 1
            await asyncio.sleep(0)

        self.run(ask())
        game, seat = self.real_seat(person)
        self.model.join(person, task, list(game.task.seats), TASKS[task], partner, wheel)
        mine, one = self.model.place(person) or pytest.fail("no place")
        if id(mine) not in self.games:
            assert game not in self.games.values()
            self.listen(mine, game)
        assert (self.games[id(mine)], game.seats[mine.seats.index(one)]) == (game, seat), "a seat of another game"
        return person

    def come(self, person: str | None) -> None:
        """A socket for a seat: the first, one more beside it, or again after one was lost."""
        if person is None:
            return

        async def take() -> None:
            game, seat = self.real_seat(person)
            self.host.num_moves += 1
            self.moves.append(f"  {person} comes")
            self.pages[person] = Visitor(game, seat)
            game.attach(seat, self.pages[person])  # type: ignore[arg-type]

        self.run(take())
        place = self.model.place(person)
        if place is None:
            assert self.pages[person].is_over
        else:
            self.model.come(*place)

    @rule(number=st.integers(0, 99))
    @move
    def open_a_page(self, number: int) -> None:
        self.come(self.pick(self.people(), number))
        self.settle()

    @rule(number=st.integers(0, 99))
    @move
    def open_a_page_of_a_game_that_is_over(self, number: int) -> None:
        self.settle()
        over = [one for one in self.sessions if self.model.place(one) is None and self.sessions[one] in self.play._places]
        self.come(self.pick(over, number))

    @rule(number=st.integers(0, 99), reloads=st.booleans(), waits=st.booleans())
    @move
    def lose_the_page(self, number: int, reloads: bool, waits: bool) -> None:
        person = self.pick(self.welcomed(), number)
        self.do(person, "lose")
        if reloads:
            self.come(person)
        if waits or reloads:
            self.settle()

    def do(self, person: str | None, deed: str, **fields: Any) -> None:
        """Somebody does something, on the server and in the model."""
        if person is None:
            return
        self.host.num_moves += 1
        self.moves.append(f"  {person} {deed} {fields}")
        page, place = self.pages[person], self.model.place(person)
        assert place is not None

        async def act() -> None:
            if deed == "lose":
                page.is_closed = True
                page.game.detach(page.seat, page)  # type: ignore[arg-type]
            else:
                page.game.on_command(page.seat, wire.ClientCommand(deed, **fields))

        self.run(act())
        match deed:
            case "lose":
                self.model.lose(*place)
            case "start" | "resume":
                self.model.start(*place)
            case "pause":
                self.model.pause(*place)
            case "quit":
                self.model.quit(*place)
            case "partner":
                self.model.choose(*place)
            case "wheel":
                self.model.turn_over(*place, fields["who"])

    @rule(number=st.integers(0, 99))
    @move
    def all_of_a_game_start(self, number: int) -> None:
        place = self.model.place(self.pick(self.welcomed(), number) or "")
        if place is None:
            return
        mine, _ = place
        for other in [seat.person for seat in mine.people if seat.person in self.welcomed()]:
            self.do(other, "start")
        self.settle()

    @rule(
        number=st.integers(0, 99),
        deeds=st.lists(
            st.sampled_from(["start", "resume", "pause", "wheel me", "wheel agent", "partner"]), min_size=1, max_size=3
        ),
    )
    @move
    def press(self, number: int, deeds: list[str]) -> None:
        person = self.pick(self.welcomed(), number) or ""
        for deed in deeds:
            kind, _, who = deed.partition(" ")
            if self.model.place(person) is not None and self.has_opened(person):
                self.do(person, kind, **({"who": who} if who else {}))
            if deed == "partner":
                self.settle()  # agents sit down in a moment; only then the game begins
        self.settle()

    def has_opened(self, person: str) -> bool:
        """Pages say nothing before they are welcome."""
        return self.pages[person].seat.is_welcomed

    @rule(number=st.integers(0, 99), waits=st.booleans(), is_killed=st.sampled_from([False] * 5 + [True]))
    @move
    def quit(self, number: int, waits: bool, is_killed: bool) -> None:
        """Somebody does; their worker may be killed before it has read that."""
        person = self.pick(self.welcomed(), number)
        link = self.real_seat(person)[0].hosting.link if person is not None and is_killed else None
        if link is not None:
            os.kill(link.process.pid, signal.SIGSTOP)
        self.do(person, "quit")
        self.kill(link)
        if waits:
            self.settle()

    @rule(number=st.integers(1, 12))
    @move
    def play_on(self, number: int) -> None:
        self.settle()
        self.see(number)

    def see(self, num_steps: int) -> None:
        """Every game that runs makes so many steps."""
        playing = [mine for mine in self.model.live if mine.clock_is_on]
        self.host.num_moves += bool(playing)

        async def see() -> None:
            for mine in playing:
                page = next(self.pages[seat.person] for seat in mine.people if seat.is_playing and seat.person)
                goal = page.step + num_steps
                await until(
                    lambda page=page, goal=goal, mine=mine: page.step >= goal or page.is_over,
                    lambda page=page: f"{page.game.number} stands at step {page.step}",
                )

        self.run(see())

    # What happens to them

    @rule()
    @move
    def time_passes(self) -> None:
        """Until the next who is waited for is given up, and not so long that it matters when exactly others are."""
        self.settle()
        due = self.model.next_deadlines
        if not due:
            return
        self.host.num_moves += 1
        self.model.now = self.host.loop.time()
        end = due[0] + 5.0
        while any(abs(at - end) < 5.0 for at in due[1:]):
            end += 5.0
        seconds = end - self.model.now
        self.model.skip(seconds)

        async def skip() -> None:
            self.host.loop.skipped_s += seconds
            await asyncio.sleep(0)

        self.host.loop.run_until_complete(skip())
        self.settle()

    @rule(number=st.integers(0, 15))
    @move
    def kill_a_worker(self, number: int) -> None:
        if number >= 6:
            return
        self.settle()
        held = [link for link in self.play.pool.links if link.games]
        if not held:
            return
        self.kill(held[number % len(held)])
        self.settle()

    def kill(self, link: WorkerLink | None) -> None:
        if link is None:
            return
        games = list(link.games.values())

        link.born_at -= QUICK_DEATH_S  # else the next one starts later and later

        async def die() -> None:
            os.kill(link.process.pid, signal.SIGKILL)
            await until(
                lambda: all(len(mine.deaths) > num or not mine.is_live for mine, num in held),
                lambda: f"games were not told: {[mine for mine, _ in held]}",
            )

        held = [(mine, len(mine.deaths)) for mine in self.model.live if self.games[id(mine)] in games]
        self.run(die())
        self.host.num_kills += 1
        self.host.num_moves += 1

    @rule(number=st.integers(0, 15))
    @move
    def kill_the_server(self, number: int) -> None:
        if number >= 3:
            return
        self.settle()
        self.run(self.host.kill())
        begun = [mine for mine in self.model.live if mine.state in ("begun", "held")]
        num_steps = {id(mine): self.num_recorded(self.games[id(mine)]) for mine in begun}
        self.host.num_restarts += 1
        self.host.num_moves += 1
        self.parted |= {person for person in self.sessions if self.model.place(person) is None}
        self.run(self.host.start())
        self.model.server_died(num_steps)
        for mine in self.model.games:
            if mine.state == "held":
                person = next(seat.person for seat in mine.people)
                self.listen(mine, self.real_seat(person or "")[0])
            elif id(mine) not in self.checked:
                self.checked.add(id(mine))
                self.check_recording(mine, self.games[id(mine)])
                self.parted |= set(self.sessions) - set(self.people())
        self.checked |= {id(mine) for mine in self.model.games if not mine.is_live}
        self.model.games = [mine for mine in self.model.games if mine.is_live]
        self.pages.clear()
        self.settle()

    # What is always so

    @invariant()
    @move
    def everything_is_in_its_place(self) -> None:
        play = self.play
        seats = [place.seat for place in play._places.values()]
        assert len(set(map(id, seats))) == len(seats), "two sessions have one seat"
        for session, (game, seat) in play._places.items():
            assert seat.session == session
            assert seat is game.seats[seat.index] or seat.last_words is not None, "a seat of no game"
        for game in play.games:
            if game.open_seat is not None:
                assert any(one.has_person for one in game.seats), "a game without people waits for some"
            if game.state is State.ENDED:
                assert all(seat._timer is None for seat in game.seats)
        linked = [game for link in play.pool.links for game in link.games.values()]
        assert len(set(map(id, linked))) == len(linked), "a game has two workers"
        assert not [game for game in linked if game.state is State.ENDED], "a worker keeps a game that is over"  # type: ignore[attr-defined]

    @move
    def teardown(self) -> None:
        """Everybody goes, and nothing is left."""
        self.settle()
        for mine in list(self.model.live):
            for seat in mine.people:
                if mine.is_live and seat.person is not None:
                    if not seat.connected:
                        self.come(seat.person)
                        self.settle()
                    if mine.is_live:
                        self.do(seat.person, "quit")
                        self.settle()
        assert not self.model.live

        async def empty() -> None:
            self.host.loop.skipped_s += 2 * seat_model.KEPT_S + seat_model.UNTAKEN_S
            await until(lambda: not self.play._places, lambda: f"seats are left: {self.play._places}")
            await until(
                lambda: all(link.statistics is not None and link.statistics.num_games == 0 for link in self.play.pool.links),
                lambda: f"workers keep worlds: {[link.statistics for link in self.play.pool.links]}",
            )
            assert not any(link.games for link in self.play.pool.links)

            def rows() -> list[str]:
                with self.play.archive.database.read() as database:
                    return [row.id for row in database.query(PlaySession) if row.state not in ("ended", "interrupted")]

            await until(lambda: not rows(), lambda: f"sessions are open: {rows()}")

        self.run(empty())


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One server, and those that follow it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        made = Seats.host = Host(tmp_path_factory.mktemp("seats"))
        yield made
        if made.failure is None:
            made.stop()
        else:
            made.loop.run_until_complete(made.kill())


def test_after_a_kill_nobody_waits_long_for_who_does_not_come_back_nor_at_all_for_whom_an_agent_had_replaced(
    host: Host,
) -> None:
    """Their study names the agent: of the task nobody would act."""
    moves = Seats()
    moves.meet(task=STUDY, wheels=[None] * 3, num_steps=3, is_killed=False)
    (mine,) = moves.model.live
    moves.kill_the_server(number=0)
    moves.come("p1")
    moves.do("p1", "start")
    moves.settle()
    assert not mine.clock_is_on, "p0 was there, and may come back"
    moves.time_passes()
    assert mine.clock_is_on
    moves.see(3)
    moves.come("p0")
    moves.do("p0", "start")
    moves.settle()
    moves.see(3)
    moves.do("p0", "lose")
    moves.settle()
    moves.see(150)  # a step is on disk a second later
    moves.kill_the_server(number=0)
    moves.come("p1")
    moves.do("p1", "start")
    moves.settle()
    assert mine.clock_is_on
    moves.see(3)
    moves.teardown()
    assert [owner for _, owner in mine.owners["a"]][-3:] == ["noop", "p0", "noop"]


def test_who_is_given_up_while_a_world_is_rebuilt_and_is_back_before_it_leaves_the_others_waited_for(host: Host) -> None:
    moves = Seats()
    moves.meet(task="crew/pair", wheels=[None] * 3, num_steps=3, is_killed=False)
    moves.kill_the_server(number=0)
    pids = [link.process.pid for link in moves.play.pool.links]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    moves.come("p0")
    game, seat = moves.real_seat("p0")

    async def is_given_up() -> None:
        await until(lambda: game.hosting.link is not None, lambda: game.state)
        game.end("left", seat)

    moves.run(is_given_up())
    moves.come("p0")
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    moves.settle()
    moves.do("p0", "start")
    while moves.model.live:  # p1 is waited for, and only so long
        moves.time_passes()
    moves.teardown()


def test_an_agent_goes_with_whoever_brought_it_also_before_it_has_sat_down(host: Host) -> None:
    moves = Seats()
    moves.join(task="crew/two", partner=None, wheel=None, comes=True)
    moves.do("p0", "start")
    for sits in (True, False):
        guest = moves.ask_for_a_seat("crew/two", None, "random")
        moves.come(guest)
        if sits:
            moves.settle()
        moves.do(guest, "quit")
        moves.settle()
    moves.join(task="crew/two", partner=None, wheel=None, comes=True)
    moves.do("p3", "start")
    moves.settle()
    moves.see(3)
    (mine,) = moves.model.live
    assert [seat.acted_by for seat in mine.seats] == ["p0", "p3"]
    moves.teardown()  # compares with who acts in the recording


def test_the_agent_of_who_joins_a_game_whose_world_is_there_acts(host: Host) -> None:
    moves = Seats()
    moves.join(task="crew/two", partner=None, wheel=None, comes=True)
    moves.join(task="crew/two", partner=None, wheel="random", comes=True)
    moves.all_of_a_game_start(number=0)
    (mine,) = moves.model.live
    assert [seat.acted_by for seat in mine.seats] == ["p0", "random"]
    moves.see(3)
    moves.teardown()


def test_who_does_not_come_back_after_a_kill_is_waited_for_no_longer_and_the_others_play_on(host: Host) -> None:
    moves = Seats()
    moves.meet(task=STUDY, wheels=[None] * 3, num_steps=3, is_killed=False)
    (mine,) = moves.model.live
    moves.kill_the_server(number=0)
    moves.come("p1")
    moves.do("p1", "start")
    for _ in range(2):  # first an agent acts for p0, then p0 is given up
        moves.time_passes()
    assert (mine.seats[0].person, mine.seats[0].acted_by, mine.clock_is_on) == (None, "noop", True)
    moves.see(3)
    moves.teardown()


def test_who_is_dismissed_before_they_are_back_after_a_kill_leaves_the_game_to_the_others(host: Host) -> None:
    moves = Seats()
    moves.meet(task=STUDY, wheels=[None] * 3, num_steps=3, is_killed=False)
    (mine,) = moves.model.live
    moves.kill_the_server(number=0)
    moves.come("p1")
    moves.do("p1", "start")
    moves.settle()
    game, seat = moves.real_seat("p0")
    seat.owner = Owner("p0", "human", 7)

    async def is_dismissed() -> None:
        moves.play.dismiss(7)
        await until(lambda: seat.is_gone, lambda: game.state)

    moves.run(is_dismissed())
    assert game.state in BEGUN
    moves.model._give_up(mine, mine.seats[0])
    moves.see(3)
    moves.teardown()
    assert mine.owners["a"][-1][1] == "noop"


def test_who_quits_in_the_moment_in_which_the_worker_dies_has_quit(host: Host) -> None:
    moves = Seats()
    moves.meet(task="crew/pair", wheels=[None] * 3, num_steps=3, is_killed=False)
    (mine,) = moves.model.live
    while moves.num_recorded(moves.games[id(mine)]) <= 0:
        moves.see(5)
    moves.quit(number=1, waits=True, is_killed=True)  # looks into the recording
    (ended,) = moves.pages["p0"].said("ended")
    assert (mine.outcome, ended["outcome"], ended["by"]) == ("quit", "quit", mine.seats[1].name)
    (episode,) = [one for one in host.archive.episodes() if one.id == ended["episode"]]
    assert (ended["num_steps"], ended["total_reward"]) == (episode.num_steps, episode.total_reward)
    moves.teardown()


def test_a_long_game_survives_workers_that_die_now_and_then_and_not_one_after_the_other(host: Host) -> None:
    moves = Seats()
    moves.meet(task="crew/pair", wheels=[None] * 3, num_steps=1, is_killed=False)
    (mine,) = moves.model.live
    for num_deaths in (1, seat_model.MAX_DEATHS + 1):
        host.loop.skipped_s += seat_model.DEATHS_WITHIN_S
        for _ in range(num_deaths):
            assert mine.is_live
            moves.kill(moves.real_seat("p0")[0].hosting.link)
            moves.settle()
            moves.see(1)
    assert mine.outcome == "interrupted"
    moves.teardown()


@pytest.mark.fuzz
@pytest.mark.timeout(1200 + NUM_MOVES)  # some ten moves a second, on a machine that does nothing else
def test_whatever_people_and_processes_do_seats_and_recordings_stay_right(host: Host) -> None:
    machine_settings = settings(
        max_examples=NUM_EXAMPLES,
        stateful_step_count=MOVES_OF_EXAMPLE,
        deadline=None,
        database=None,
        derandomize=not NUM_MOVES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),  # type: ignore[arg-type]
        report_multiple_bugs=False,
    )
    try:
        run_state_machine_as_test(Seats, settings=machine_settings)
        while host.num_moves < NUM_MOVES:
            run_state_machine_as_test(Seats, settings=machine_settings)
            print(f"{host.num_moves} moves", flush=True)
    except BaseException as error:
        raise (host.failure or error) from None
    finally:
        print(f"{host.num_moves} moves, {host.num_kills} workers and {host.num_restarts} servers killed")
