"""A game has one holder, whatever servers do and however late they learn it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import delete, select, update

from interplay.store import Database, EpisodeRow, PlaySession, games
from interplay.store.games import Lease, Part
from interplay.store.models import GameRow, JournalPart, NodeRow
from interplay.tasks import find
from interplay.testing import add_task, episode_values

NODES = ("a", "b", "c")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BREAKOUT = find("atari/breakout")


class Servers(RuleBasedStateMachine):
    """Three servers that beat, stand still, take, move and seal. What each believes it holds may be long untrue."""

    database: Database
    num_games = 0
    played = Bundle("played")

    def __init__(self) -> None:
        super().__init__()
        with self.database.write() as session:
            for table in (GameRow, NodeRow, PlaySession):
                session.execute(delete(table))
            for node in NODES:
                games.join(session, node, cluster="one", version="1")
            games.join(session, "stranger", cluster="two", version="1")
        self.believed: dict[str, dict[str, int]] = {node: {} for node in NODES}
        self.epochs: dict[str, int] = {}
        self.sealed: set[str] = set()

    def holders(self) -> dict[str, Lease]:
        with self.database.read() as session:
            return games.holders(session, list(self.epochs))

    @rule(target=played, node=st.sampled_from(NODES))
    def grant(self, node: str) -> str:
        type(self).num_games += 1
        episode = f"episode-{self.num_games}"
        with self.database.write() as session:
            games.grant(session, episode, node, lobby="here", seed=1, invitation=episode, is_open=False)
            row = {"id": episode, "task": BREAKOUT.id, "task_hash": BREAKOUT.content_hash, "seed": 1, "actor": "ada"}
            session.add(PlaySession(**row, created_at=LONG_AGO, actor_kind="human", node=node, game=episode))
        self.believed[node][episode] = self.epochs[episode] = 1
        return episode

    @rule(node=st.sampled_from(NODES))
    def stand_still(self, node: str) -> None:
        with self.database.write() as session:
            session.execute(update(NodeRow).where(NodeRow.node == node).values(seen_at=LONG_AGO))

    @rule(node=st.sampled_from(NODES))
    def beat(self, node: str) -> None:
        """It renews its row, and learns what it holds."""
        with self.database.write() as session:
            games.beat(session, node)
            self.believed[node] = games.held(session, node)
        assert self.believed[node] == {one: held.epoch for one, held in self.holders().items() if held.node == node}

    @rule(node=st.sampled_from(NODES), most=st.integers(0, 3))
    def take(self, node: str, most: int) -> None:
        before = self.holders()
        with self.database.write() as session:
            alive = {one.node for one in games.nodes(session) if one.is_alive}
            taken = games.take(session, node, cluster="one", most=most)
        gone = {one for one, held in before.items() if held.node not in alive and held.node != node}
        assert taken.keys() <= gone
        assert bool(taken) == bool(gone and most)
        assert len(taken) <= most
        self.believed[node] |= taken

    @rule(episode=played, node=st.sampled_from(NODES), to=st.sampled_from(NODES))
    def move(self, episode: str, node: str, to: str) -> None:
        epoch = self.believed[node].get(episode)
        if epoch is None or to == node:
            return
        held = self.holders().get(episode) == (node, epoch)
        with self.database.write() as session:
            assert games.move(session, episode, Lease(node, epoch), to) == held

    @rule(node=st.sampled_from(NODES))
    def start_again(self, node: str) -> None:
        with self.database.write() as session:
            games.join(session, node, cluster="one", version="2")
            self.believed[node] = games.hold_again(session, node)

    @rule(episode=played, node=st.sampled_from(NODES))
    def seal(self, episode: str, node: str) -> None:
        """Only who holds the game may seal it, and only once."""
        epoch = self.believed[node].get(episode)
        if epoch is None or (episode in self.sealed and not self.database.is_shared):
            return
        held = self.holders().get(episode) == (node, epoch)
        with self.database.write() as session:
            may = games.may_seal(session, episode, Lease(node, epoch))
            assert may == held, "sealed by a server that does not hold it, or twice"
            if may:
                add_task(session, BREAKOUT)
                session.add(EpisodeRow(**episode_values(BREAKOUT, "ada", 1, id=episode)))
                games.end(session, [episode])
                self.sealed.add(episode)

    @rule(episode=played, node=st.sampled_from(NODES))
    def mirror(self, episode: str, node: str) -> None:
        epoch = self.believed[node].get(episode)
        if epoch is None or not self.database.is_shared:
            return
        held = self.holders().get(episode) == (node, epoch)
        with self.database.write() as session:
            before = len(list(games.mirrored(session, episode)))
            start = 10 * before + 1000 * NODES.index(node) + 10_000 * epoch
            games.mirror(session, node, [Part(episode, epoch, 0, start, b"0123456789")])
            assert len(list(games.mirrored(session, episode))) == before + held

    @invariant()
    def there_is_one_holder_by_epoch(self) -> None:
        holders = self.holders()
        assert holders.keys() == self.epochs.keys() - self.sealed
        for episode, held in holders.items():
            assert held.epoch >= self.epochs[episode]
            self.epochs[episode] = held.epoch
            who = [node for node in NODES if self.believed[node].get(episode) == held.epoch]
            assert set(who) <= {held.node}, "two servers believe in the same epoch"
        with self.database.read() as session:
            sessions = dict(session.execute(select(PlaySession.game, PlaySession.node)).all())
            assert {one: sessions[one] for one in holders} == {one: held.node for one, held in holders.items()}
            parts = session.scalars(select(JournalPart.episode)).all()
            assert set(parts) <= holders.keys(), "a mirror of a game that is over"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    url = f"sqlite:///{tmp_path}/interplay.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = Database.open(url)
    yield opened
    opened.close()


def test_a_game_has_one_holder_whatever_servers_do(database) -> None:
    machine = type("Servers", (Servers,), {"database": database})
    run_state_machine_as_test(machine, settings=settings(max_examples=40, stateful_step_count=30, deadline=None))


def entered(session, episode: str, node: str, **changes) -> None:
    columns = {"lobby": "here", "seed": 1, "invitation": f"to {episode}", "is_open": True} | changes
    games.grant(session, episode, node, **columns)


def test_a_player_is_sent_to_where_others_wait_or_there_is_room(database) -> None:
    with database.write() as session:
        for node in ("a", "b", "drained", "gone"):
            games.join(session, node, cluster="one", version="1")
        games.join(session, "stranger", cluster="two", version="1")
        assert games.drain(session, "drained")
        assert not games.drain(session, "nobody")
        session.execute(update(NodeRow).where(NodeRow.node == "gone").values(seen_at=LONG_AGO))
        for node in ("drained", "gone", "stranger", "b"):
            entered(session, f"of {node}", node)
        entered(session, "full", "a", is_open=False)
        entered(session, "another", "a", lobby="there")
        session.flush()

        def waiting(*, seed: int | None = None, but: tuple[str, ...] = ()) -> str | None:
            return games.waiting_at(session, lobby="here", seed=seed, cluster="one", but=but)

        assert waiting() == waiting(seed=1) == "drained", "who waits there is not left alone"
        games.note_open(session, "of drained", "drained", is_open=False)
        assert waiting() == waiting(seed=1) == "b"
        assert waiting(seed=2) is waiting(but=("b",)) is None
        games.note_open(session, "of b", "a", is_open=False)  # not its game
        assert waiting() == "b"
        games.note_open(session, "of b", "b", is_open=False)
        assert waiting() is None
        assert games.invited_to(session, "to of b", cluster="one") == "b"
        assert games.invited_to(session, "to of stranger", cluster="one") is None
        assert games.least_busy(session, cluster="one", but=()) == "b"
        assert games.least_busy(session, cluster="one", but=("b",)) == "a"
        assert games.least_busy(session, cluster="one", but=("a", "b")) is None
        found = {
            one.node: (one.num_games, one.is_draining, one.is_alive) for one in games.nodes(session) if one.cluster == "one"
        }
        assert found == {"a": (2, False, True), "b": (1, False, True), "drained": (1, True, True), "gone": (1, False, False)}


def test_a_game_is_over_with_the_last_session_of_its_players(database) -> None:
    row = {"task": BREAKOUT.id, "task_hash": BREAKOUT.content_hash, "seed": 1, "actor": "ada", "actor_kind": "human"}
    with database.write() as session:
        games.join(session, "a", cluster="one", version="1")
        entered(session, "game", "a")
        for name in ("left", "right"):
            session.add(PlaySession(**row, id=name, created_at=LONG_AGO + timedelta(days=1), node="a", game="game"))

    def is_held_after(end: Callable[[PlaySession], bool]) -> bool:
        with database.write() as session:
            for one in session.query(PlaySession):
                one.state = "ended" if end(one) else one.state
            session.flush()
            games.end_without_players(session, ["left", "right"])
            return games.held(session, "a") == {"game": 1}

    assert is_held_after(lambda one: one.id == "left")
    assert not is_held_after(lambda one: True)
