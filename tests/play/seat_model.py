"""What should happen to the seats of games, written a second time: no sockets, workers or clocks, only who has which seat, who
acts there, and until when somebody is waited for. tests/play/test_seat_machine.py compares the server with it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

KEPT_S, UNTAKEN_S, IDLE_S, RESUME_S = 1000.0, 3000.0, 9000.0, 27000.0
"""How long a seat waits for a lost socket, for its first one, for a player who does nothing, and after a kill of the server."""
MAX_DEATHS, DEATHS_WITHIN_S = 3, 600.0
"""A game is over whose workers died more often in so long."""
NAMES = {"random": "random", "noop": "noop", "trial_agents:Raises": "raises"}
"""Agent -> its name in recordings."""
RESTORABLE = ("random", "noop")


@dataclass
class Seat:
    name: str
    person: str | None = None
    agent: str | None = None
    wheel: str | None = None
    connected: bool = False
    ready: bool = False
    away: bool = False
    restored: bool = False
    has_come: bool = False
    deadline: float | None = None

    @property
    def is_open(self) -> bool:
        return self.person is None and self.agent is None

    @property
    def is_playing(self) -> bool:
        return self.person is not None and self.connected and not self.away

    @property
    def acted_by(self) -> str | None:
        return self.person if self.agent is None else NAMES[self.agent]


@dataclass
class Game:
    task: str
    partner: str | None
    seats: list[Seat]
    state: str = "waiting"
    outcome: str | None = None
    deaths: list[float] = field(default_factory=list)
    """When its workers died, since the server was started."""
    restoring: float | None = None
    owners: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """Seat -> who acts there from which step on, since it began."""
    sat: dict[str, str] = field(default_factory=dict)
    """Seat -> who sat there when it began."""

    @property
    def is_live(self) -> bool:
        return self.state != "over"

    @property
    def people(self) -> list[Seat]:
        return [seat for seat in self.seats if seat.person is not None]

    @property
    def clock_is_on(self) -> bool:
        return self.state == "begun" and any(s.is_playing for s in self.seats) and not any(s.restored for s in self.seats)

    def acts(self, seat: str, owner: str, step: int) -> None:
        """Somebody acts from this step on."""
        kept = [one for one in self.owners[seat] if one[0] < step]
        if not kept or kept[-1][1] != owner:
            kept.append((step, owner))
        self.owners[seat] = kept

    def goes_back(self, step: int) -> None:
        """The world was rebuilt as it was after so many steps."""
        for seat in self.seats:
            self.acts(seat.name, seat.acted_by or "", step)

    def owner_at(self, seat: str, step: int) -> str:
        return next(owner for since, owner in reversed(self.owners[seat]) if since <= step)


class Model:
    def __init__(self) -> None:
        self.games: list[Game] = []
        self.now = 0.0

    @property
    def live(self) -> list[Game]:
        return [game for game in self.games if game.is_live]

    def place(self, person: str) -> tuple[Game, Seat] | None:
        """Where somebody has a seat; None once it is over for them."""
        return next(((game, seat) for game in self.live for seat in game.seats if seat.person == person), None)

    # What people do

    def join(
        self, person: str, task: str, names: list[str], stand_in: str | None, partner: str | None, wheel: str | None
    ) -> None:
        waiting = [game for game in self.live if game.task == task and game.state == "waiting"]
        waiting = [one for one in waiting if partner is None and any(seat.is_open for seat in one.seats)]
        game = min(waiting, key=lambda one: not any(seat.connected for seat in one.seats), default=None)
        if game is None:
            game = Game(task, stand_in, [Seat(name) for name in names])
            self.games.append(game)
            for seat in game.seats[1:]:
                seat.agent = partner
        seat = next(seat for seat in game.seats if seat.is_open)
        seat.person, seat.agent, seat.wheel, seat.deadline = person, wheel, wheel, self.now + UNTAKEN_S

    def come(self, game: Game, seat: Seat) -> None:
        seat.has_come = True
        if game.state == "held":
            game.state, game.restoring = "begun", self.now + KEPT_S
            for one in game.seats:
                one.away = one.person is not None
                one.restored = one.person is not None and one.agent is None
        seat.connected = True
        self._look_away(game, seat)
        seat.deadline = self.now + IDLE_S

    def lose(self, game: Game, seat: Seat) -> None:
        self._look_away(game, seat)
        seat.connected = False
        seat.deadline = self.now + KEPT_S
        self._lost_socket(game, seat)

    def start(self, game: Game, seat: Seat) -> None:
        if game.state == "waiting":
            seat.ready = True
            self._begin(game)
        else:
            seat.deadline, seat.away, seat.restored = None, False, False
            if seat.wheel is None:
                seat.agent = None

    def pause(self, game: Game, seat: Seat) -> None:
        if game.state == "begun" and not seat.away:
            self._look_away(game, seat)
            seat.deadline = self.now + IDLE_S

    def quit(self, game: Game, seat: Seat) -> None:
        if game.state == "waiting":
            self._free(game, seat)
        else:
            self._gone(game, seat, "quit")

    def choose(self, game: Game, seat: Seat) -> None:
        others = [one for one in game.seats if one is not seat]
        missing = [one for one in others if one.is_open or (seat.ready and one.person is not None and not one.ready)]
        if game.state == "waiting" and game.partner is not None:
            for one in missing:
                game.seats[game.seats.index(one)] = Seat(one.name, agent=game.partner)
            self._begin(game)

    def turn_over(self, game: Game, seat: Seat, who: str) -> None:
        if seat.wheel is not None:
            seat.agent = None if who == "me" else seat.agent or seat.wheel

    # What happens to them

    def skip(self, seconds: float) -> None:
        """So much time passes, in which whoever is waited for too long is given up, one after the other."""
        until = self.now + seconds
        while (due := min(self._deadlines(), key=lambda one: one[0], default=None)) is not None and due[0] <= until:
            self.now = due[0]
            due[1]()
        self.now = until

    def _deadlines(self) -> Iterator[tuple[float, Callable[[], None]]]:
        for game in self.live:
            if game.restoring is not None:
                yield game.restoring, lambda game=game: self._wait_no_longer(game)
            for seat in game.seats:
                if seat.deadline is not None:
                    yield seat.deadline, lambda game=game, seat=seat: self._give_up(game, seat)

    @property
    def next_deadlines(self) -> list[float]:
        return sorted(at for at, _ in self._deadlines())

    def lost_agent(self, game: Game, seat: Seat) -> None:
        """The agent in a seat has failed."""
        if game.state == "waiting" and seat.person is None:
            seat.agent, seat.ready = None, False
        elif seat.connected:
            seat.agent = seat.wheel = None
        else:
            seat.agent = "noop"

    def worker_died(self, game: Game) -> None:
        game.deaths.append(self.now)
        if sum(self.now - at < DEATHS_WITHIN_S for at in game.deaths) > MAX_DEATHS:
            self._over(game, "interrupted")

    def server_died(self, num_steps: dict[int, int]) -> None:
        """It was killed and started again; `id(game)` -> how many of its steps were on disk."""
        for game in self.live:
            if game.state == "waiting":
                self._over(game, "lost")
                continue
            recorded = num_steps[id(game)]
            for seat in game.seats:
                last = game.owner_at(seat.name, recorded - 1) if recorded else game.sat[seat.name]
                seat.agent = last if last in RESTORABLE else None
                if seat.person is None and seat.agent is None:
                    seat.agent = None if last in NAMES.values() else game.partner
                    if seat.agent is None:
                        self._over(game, "interrupted")
                seat.wheel, seat.deadline = None, None
                seat.connected = seat.away = seat.restored = False
                if seat.person is not None:
                    seat.deadline = self.now + RESUME_S
            if game.is_live:
                game.state, game.deaths, game.restoring = "held", [], None

    # Rules

    def _others(self, game: Game, seat: Seat) -> bool:
        return any(one.person is not None for one in game.seats if one is not seat)

    def _begin(self, game: Game) -> None:
        if all(seat.agent is not None if seat.person is None else seat.ready for seat in game.seats):
            game.state = "begun"
            for seat in game.seats:
                seat.deadline = None
                game.owners[seat.name] = [(0, seat.acted_by or "")]
                game.sat[seat.name] = seat.person or seat.acted_by or ""

    def _look_away(self, game: Game, seat: Seat) -> None:
        if game.state == "waiting":
            seat.ready = False
        elif not seat.away:
            if not game.clock_is_on:
                seat.restored = any(one.restored for one in game.seats)
            seat.away = True

    def _lost_socket(self, game: Game, seat: Seat) -> None:
        agent = seat.wheel or game.partner
        if game.state == "begun" and seat.person is not None and agent is not None and self._others(game, seat):
            seat.agent, seat.restored = seat.agent or agent, False

    def _gone(self, game: Game, seat: Seat, outcome: str) -> None:
        agent = seat.wheel or game.partner
        if agent is None or not self._others(game, seat):
            self._over(game, outcome)
        else:
            seat.agent, seat.person = seat.agent or agent, None
            seat.connected = seat.restored = False
            seat.deadline = None

    def _free(self, game: Game, seat: Seat) -> None:
        game.seats[game.seats.index(seat)] = Seat(seat.name)
        if not game.people:
            self._over(game, "nobody")

    def _give_up(self, game: Game, seat: Seat) -> None:
        if game.state == "waiting":
            self._free(game, seat)
        elif game.state == "held":
            self._over(game, "interrupted")
        else:
            self._gone(game, seat, "left")

    def _wait_no_longer(self, game: Game) -> None:
        game.restoring = None
        for seat in game.seats:
            if seat.connected:
                seat.restored = False
            else:
                self._lost_socket(game, seat)

    def _over(self, game: Game, outcome: str) -> None:
        game.state, game.outcome, game.restoring = "over", outcome, None
        for seat in game.seats:
            seat.deadline = None
