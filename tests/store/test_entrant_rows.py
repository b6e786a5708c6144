"""Entrants and tokens in both databases: states, claims, who belongs to whom, and tokens of which only digests are kept."""

import hashlib
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa

import interplay.record
from interplay.envs import make
from interplay.errors import NotFoundError
from interplay.record import Owner, RecordedEpisode
from interplay.store import ApiToken, Database, Entrant, EpisodeRow, EpisodeSeat, TaskRow, entrants, judging
from interplay.store.episodes import agent_names
from interplay.store.locks import lock
from interplay.store.participants import add_participant
from interplay.store.tokens import (
    SCOPES,
    TokenExistsError,
    create_token,
    is_token_name,
    revoke_token,
    token_row,
    tokens,
)
from interplay.tasks import find

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TASK, OTHER = "atari/breakout", "atari/qbert"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request, tmp_path_factory):
    """A migrated database of either kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('agents')}/interplay.db"
    else:
        url = request.getfixturevalue("new_postgres_url")()
    database = Database.open(url)
    yield database
    database.close()


@pytest.fixture
def session(database):
    """A session that writes; nothing of it stays. One transaction does what many do elsewhere, so it takes all locks first."""
    with database.write() as session:
        lock(session, "episode", "g", "later", "other", "second")
        entrants.lock_name(session, "ada", "blue", "experts", "green")
        yield session
        session.rollback()


def states(session, name: str = "red") -> dict[str, str]:
    session.expire_all()
    return {agent.task: entrants.state(agent) for agent in entrants.entrants(session, name=name)}


def propose(session, name: str = "red", task: str = TASK, by: str | None = "team"):
    return entrants.propose(session, name=name, task=task, kind="PPO", description="d", proposed_by=by, now=NOW)


def test_an_agent_waits_is_declined_approved_withdrawn_and_restored(session):
    propose(session)
    assert states(session) == {TASK: "waiting"}
    assert entrants.decline(session, name="red", reason="Too dark.", now=NOW) == 1
    assert states(session) == {TASK: "declined"}
    assert entrants.entrants(session, name="red")[0].declined_because == "Too dark."
    assert entrants.decline(session, name="red", reason="Again.", now=NOW) == 0
    assert entrants.approve(session, name="red", now=NOW) == 1
    assert states(session) == {TASK: "approved"}
    assert entrants.entrants(session, name="red")[0].declined_because == ""
    assert entrants.decline(session, name="red", reason="Too late.", now=NOW) == 0
    assert entrants.withdraw(session, name="red", now=NOW) == 1
    assert entrants.approve(session, name="red", now=NOW) == 0
    assert states(session) == {TASK: "withdrawn"}
    assert entrants.restore(session, name="red") == 1
    assert states(session) == {TASK: "approved"}


def test_what_was_withdrawn_while_it_waited_comes_back_waiting(session):
    propose(session)
    entrants.withdraw(session, name="red", now=NOW)
    entrants.restore(session, name="red")
    assert states(session) == {TASK: "waiting"}


def test_each_task_is_decided_on_its_own(session):
    propose(session)
    propose(session, task=OTHER)
    assert entrants.approve(session, name="red", task=OTHER, now=NOW) == 1
    assert states(session) == {TASK: "waiting", OTHER: "approved"}
    assert entrants.approve(session, name="red", now=NOW) == 1


def test_an_agent_belongs_to_whoever_brought_it_first(session):
    entrants.lock_name(session, "random", "red")
    propose(session)
    admitted = entrants.admit(session, name="red", task=OTHER, kind="agent", now=NOW)
    assert admitted.proposed_by == "team"
    entrants.admit(session, name="random", task=TASK, kind="agent", now=NOW)
    assert propose(session, "random", OTHER).proposed_by is None


def test_proposing_again_changes_the_text_and_not_the_state(session):
    propose(session)
    entrants.approve(session, name="red", now=NOW)
    again = entrants.propose(session, name="red", task=TASK, kind="SAC", description="new", proposed_by="team", now=NOW)
    assert (again.kind, again.description) == ("SAC", "new")
    assert states(session) == {TASK: "approved"}


def test_names_are_taken_whatever_their_capitals(session):
    assert not entrants.is_name_taken(session, "red")
    propose(session, "Red")
    assert entrants.is_name_taken(session, "rED")


def test_waiting_agents_are_counted_by_name(session):
    propose(session)
    propose(session, task=OTHER)
    propose(session, "blue")
    propose(session, "green", by="other")
    assert entrants.num_waiting(session, "team") == 2
    entrants.approve(session, name="blue", now=NOW)
    assert entrants.num_waiting(session, "team") == 1


# Games of people

HELD_OUT, OTHER_SEED = 5, 6


def add_game(session, name: str = "g", *, seed: int = HELD_OUT, outcome: str = "terminated") -> tuple[str, int]:
    """Put a game of a new participant into the catalogue; returns its id and theirs."""
    session.merge(TaskRow(content_hash="h", task=TASK, definition={"held_out_seeds": [HELD_OUT]}, created_at=NOW))
    person = add_participant(session, f"key-{name}", NOW)
    session.add(
        EpisodeRow(
            id=name, task=TASK, task_hash="h", env="none", seed=seed, actor=f"participant-{person.id}",
            actor_kind="human", num_steps=9, duration_s=1.0, total_reward=1.0, terminated=True, truncated=False,
            outcome=outcome, frames="indexed", created_at=NOW, path="x", size_bytes=1, sha256="", participant_id=person.id,
        )
    )  # fmt: skip
    session.flush()
    return name, person.id


def add_second_person(session, episode: str) -> int:
    """Let another participant hold a second seat of a game; returns their id."""
    second = add_participant(session, "second", NOW).id
    who = {"actor": f"participant-{second}", "actor_kind": "human", "participant_id": second}
    row = session.get_one(EpisodeRow, episode)
    row.seats.append(EpisodeSeat(seat="right", num_steps=9, total_reward=0.0, position=1, **who))
    session.flush()
    return second


@pytest.fixture
def game(session):
    """`add_game` in the session of the test."""
    return partial(add_game, session)


def shown(session) -> set[tuple[str, str]]:
    """Entrant and episode, of all that judges may be shown."""
    return {(one.agent, one.episode_id) for one in judging.candidates(session, TASK, "h", [HELD_OUT])}


def agree(session, episode: str, participant: int, agreed: bool = True) -> bool:
    return entrants.agree(session, episode_id=episode, participant_id=participant, agreed=agreed, now=NOW)


def test_a_game_is_shown_once_its_player_agreed_and_no_more_when_they_take_it_back(session, game):
    episode, player = game()
    before = judging.candidates_state(session, TASK)
    assert not entrants.enter_people(session, episode, NOW)
    assert shown(session) == set()
    assert agree(session, episode, player)
    assert shown(session) == {("people", episode)}
    assert judging.candidate_versions(session, TASK) == ["h"]
    entered = judging.candidates_state(session, TASK)
    assert entered != before
    assert [one.has_people for one in judging.candidates_in(session, TASK, episode)] == [True]
    assert judging.games_of(session, player) == {episode}
    assert [(one.origin, one.kind) for one in entrants.entrants(session, name="people")] == [("people", "people")]
    assert not agree(session, episode, player, False)
    assert shown(session) == set()
    assert judging.candidates_state(session, TASK) != entered
    assert entrants.agreements(session, episode) == {player: False}


def test_a_person_may_agree_before_their_game_is_in_the_catalogue(session, game):
    player = add_participant(session, "early", NOW).id
    assert not agree(session, "later", player)
    game("later")
    row = session.get_one(EpisodeRow, "later")
    row.participant_id = row.seats[0].participant_id = player
    session.flush()
    assert entrants.enter_people(session, "later", NOW)
    assert shown(session) == {("people", "later")}


def test_nobody_agrees_for_another_player(session, game):
    episode, _ = game()
    _, stranger = game("other")
    assert not agree(session, episode, stranger)
    assert shown(session) == set()


@pytest.mark.parametrize("what", [{"seed": OTHER_SEED}, {"outcome": "left"}, {"outcome": "interrupted"}])
def test_a_game_that_cannot_be_compared_is_not_entered_though_its_player_agreed(session, game, what):
    episode, player = game(**what)
    assert not agree(session, episode, player)
    assert shown(session) == set()
    assert entrants.entrants(session, name="people") == []


def test_a_game_of_two_people_is_shown_once_both_agreed(session, game):
    episode, first = game()
    second = add_second_person(session, episode)
    assert not agree(session, episode, first)
    assert shown(session) == set()
    assert agree(session, episode, second)
    assert shown(session) == {("people", episode)}
    assert not agree(session, episode, first, False)
    assert shown(session) == set()
    assert entrants.episodes_of(session, "people", TASK) == []
    assert agree(session, episode, first)
    assert judging.games_of(session, first) == judging.games_of(session, second) == {episode}


@pytest.mark.parametrize("is_same_person", [False, True])
def test_two_yeses_at_once_are_both_kept(postgres_url, is_same_person):
    """Of both players, the game is entered; of one who clicked twice, there is no error."""
    database = Database.open(postgres_url)
    with database.write() as session:
        episode, first = add_game(session)
        second = first if is_same_person else add_second_person(session, episode)
    failed: list[Exception] = []

    def say_yes() -> None:
        try:
            with database.write() as session:
                agree(session, episode, second)
        except Exception as error:
            failed.append(error)

    other = threading.Thread(target=say_yes)
    with database.write() as session:
        agree(session, episode, first)
        other.start()
        other.join(timeout=0.5)  # it says yes before this yes can be seen
    other.join()
    assert failed == []
    with database.read() as session:
        assert shown(session) == {("people", episode)}
    database.close()


def test_a_yes_while_the_game_is_sealed_is_not_missed(postgres_url, tmp_path, monkeypatch):
    with closing(interplay.record.open(tmp_path, postgres_url)) as archive:
        with archive.database.write() as session:
            player = add_participant(session, "k", NOW).id
        task = find("atari/breakout")
        with closing(make(task)) as world:
            owners = {task.seats[0]: Owner(f"participant-{player}", "human", player)}
            recorder = archive.recorder(task, world, seed=task.held_out_seeds[0], owners=owners)
            played = RecordedEpisode(world, recorder)
            played.start(task.held_out_seeds[0])
            played.step({task.seats[0]: 0})
            with monkeypatch.context() as patch:
                patch.setattr(archive, "catalogue", lambda episode: None)
                episode = archive.seal(recorder.finish("quit"))

        def say_yes() -> None:
            with archive.database.write() as session:
                agree(session, episode.id, player)

        other = threading.Thread(target=say_yes)
        with archive.database.write() as session:
            archive.enter(session, episode)
            other.start()
            other.join(timeout=0.5)  # it says yes before the catalogue has the game
        other.join()
        with archive.database.read() as session:
            assert [row.id for row in entrants.episodes_of(session, "people", task.id)] == [episode.id]


def test_the_name_of_who_sat_in_another_seat_is_taken_and_listed(session, game):
    episode, _ = game()
    held = EpisodeSeat(seat="right", actor="Ada", actor_kind="agent", num_steps=9, total_reward=0.0, position=1)
    row = session.get_one(EpisodeRow, episode)
    row.seats.append(held)
    session.flush()
    assert entrants.is_name_taken(session, "ada")
    assert agent_names(session) == agent_names(session, with_waiting=True) == ["Ada"]


@pytest.mark.parametrize(("frames", "is_shown"), [("indexed", False), ("uploaded", True)])
def test_an_entrant_with_the_name_of_a_person_shows_their_videos_and_no_recording(session, game, frames, is_shown):
    episode, player = game()
    row = session.get_one(EpisodeRow, episode)
    row.frames = frames
    entrants.admit(session, name=row.actor, task=TASK, kind="human", now=NOW, origin="upload")
    assert shown(session) == ({(f"participant-{player}", episode)} if is_shown else set())


def test_an_agent_is_ranked_in_any_seat_and_a_person_beside_it_must_agree(session, game):
    episode, person = game()
    row = session.get_one(EpisodeRow, episode)
    row.seats.append(EpisodeSeat(seat="right", actor="ada", actor_kind="agent", num_steps=9, total_reward=0.0, position=1))
    entrants.admit(session, name="ada", task=TASK, kind="agent", now=NOW)
    assert shown(session) == set()
    before = judging.candidates_state(session, TASK)
    agree(session, episode, person)
    assert judging.candidates_state(session, TASK) != before
    found = judging.candidates(session, TASK, "h", [HELD_OUT])
    assert {(one.agent, one.episode_id, one.seat) for one in found} == {
        ("ada", episode, "right"),
        ("people", episode, "player"),
    }


def test_a_person_in_another_seat_is_entered_in_that_seat(session, game):
    episode, person = game()
    row = session.get_one(EpisodeRow, episode)
    row.actor, row.actor_kind, row.participant_id = "ada", "agent", None
    row.seats[0].position, row.seats[0].seat = 1, "right"
    row.seats.append(EpisodeSeat(seat="left", actor="ada", actor_kind="agent", num_steps=9, total_reward=0.0, position=0))
    assert agree(session, episode, person)
    assert [(one.agent, one.seat) for one in judging.candidates(session, TASK, "h", [HELD_OUT])] == [("people", "right")]


def test_people_that_the_operator_withdrew_stay_so(session, game):
    episode, player = game()
    agree(session, episode, player)
    entrants.withdraw(session, name="people", now=NOW)
    second, other = game("second")
    agree(session, second, other)
    assert shown(session) == set()
    entrants.restore(session, name="people")
    assert shown(session) == {("people", episode), ("people", second)}


def test_people_and_agents_never_share_a_name(session, game):
    episode, player = game()
    entrants.admit(session, name="people", task=OTHER, kind="agent", now=NOW)
    assert not agree(session, episode, player)
    with pytest.raises(entrants.EntrantError, match="'people' is the name of an agent on the leaderboard"):
        entrants.admit(session, name="people", task=TASK, kind="people", now=NOW, origin="people")
    entrants.admit(session, name="experts", task=TASK, kind="people", now=NOW, origin="people")
    with pytest.raises(entrants.EntrantError, match="'experts' is the name of people on the leaderboard"):
        entrants.admit(session, name="experts", task=OTHER, kind="agent", now=NOW)


# Tokens


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_is_known_by_its_digest_alone(session, scope):
    token = create_token(session, name=f"team-{scope}", scope=scope, now=NOW)
    row = token_row(session, token)
    assert row is not None
    assert (row.name, row.scope, row.digest) == (f"team-{scope}", scope, hashlib.sha256(token.encode()).hexdigest())
    stored = session.execute(sa.select(ApiToken.__table__)).all()
    assert not any(token in str(value) for record in stored for value in record)
    for guess in ("", token[:-1], token + "x", row.digest, "interplay-", "%", "_" * 50):
        assert token_row(session, guess) is None


def test_a_revoked_token_opens_nothing_and_keeps_its_name(session):
    token = create_token(session, name="team", scope="agents", now=NOW)
    assert revoke_token(session, name="team", now=NOW + timedelta(days=1))
    assert not revoke_token(session, name="team", now=NOW + timedelta(days=2))
    assert token_row(session, token) is None
    with pytest.raises(TokenExistsError, match="a token named 'team' exists or existed before; choose another name"):
        create_token(session, name="team", scope="agents", now=NOW)
    assert [(row.name, row.revoked_at) for row in tokens(session)] == [("team", NOW + timedelta(days=1))]


def test_mistakes_about_tokens_are_named(session):
    with pytest.raises(ValueError, match="scope must be one of agents, judge, read, got 'all'"):
        create_token(session, name="x", scope="all", now=NOW)  # type: ignore[arg-type]
    create_token(session, name="team-red", scope="read", now=NOW)
    with pytest.raises(NotFoundError, match="unknown token 'team-rad'; did you mean 'team-red'"):
        revoke_token(session, name="team-rad", now=NOW)


def test_a_token_may_judge_under_its_name_so_it_is_nobody_elses():
    assert is_token_name("team.red_2@lab")
    for name in ("", "operator", "participant-7", "model:x", "set/worker", "a b", "x" * 61):
        assert not is_token_name(name)


def test_only_approved_agents_count_as_judged(session):
    for name in ("red", "blue"):
        propose(session, name)
    assert judging.judged_tasks(session) == []
    for name in ("red", "blue"):
        entrants.approve(session, name=name, now=NOW)
    assert judging.judged_tasks(session) == [TASK]
    entrants.withdraw(session, name="red", now=NOW)
    assert judging.judged_tasks(session) == []
    assert session.scalar(sa.select(sa.func.count()).select_from(Entrant)) == 2


def test_a_seat_in_which_two_have_acted_ranks_neither(session, game):
    episode, person = game()
    row = session.get_one(EpisodeRow, episode)
    held = {"actor": "ada", "actor_kind": "agent", "total_reward": 0.0}
    row.seats.append(EpisodeSeat(seat="player", num_steps=4, position=1, **held))  # took over from the person
    row.seats.append(EpisodeSeat(seat="right", num_steps=9, position=2, **held))
    entrants.admit(session, name="ada", task=TASK, kind="agent", now=NOW)
    agree(session, episode, person)
    found = judging.candidates(session, TASK, "h", [HELD_OUT])
    assert {(one.agent, one.episode_id, one.seat) for one in found} == {("ada", episode, "right")}
    assert [one.seat for one in entrants.seats_of_agent(row, "ada")] == ["right"]
