"""Tokens, bans and the roster by themselves: what the pages and commands of judging call, with a clock that is told."""

import threading

import pytest
from judging_world import START, Clock

import interplay.record
from interplay import testing
from interplay.errors import NotFoundError
from interplay.judge.bans import Bans
from interplay.judge.entrants.api_tokens import ApiTokenError, ApiTokens
from interplay.judge.entrants.roster import MAX_WAITING, ProposalError, Roster, Viewer
from interplay.store import Match, entrants
from interplay.store.participants import judge_name
from interplay.store.tokens import TokenExistsError
from interplay.study.people import People
from interplay.tasks import find

TASK = "atari/breakout"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    archive = interplay.record.open(tmp_path / "data", database=url)
    yield archive.database
    archive.close()


def add_match(database, judge: str, *, is_answered: bool) -> None:
    """A match before a judge, with its answer or without."""
    task = find(TASK)
    with database.write() as session:
        left, right = (testing.add_episode(session, task, name, 1) for name in ("left", "right"))
        match = testing.match_values(left, right, judge, id=f"{judge}-{is_answered}")
        if is_answered:
            testing.add_answers(session, [(match, testing.answer_values(match))])
        else:
            session.add(Match(**match | {"answered_at": None}))


def test_a_token_is_made_once_found_and_revoked(database):
    clock = Clock()
    tokens = ApiTokens(database, clock)
    token = tokens.create("team-red", "agents")
    assert (tokens.find(token).name, tokens.find(token).created_at) == ("team-red", START)
    assert tokens.find(token + "x") is None
    with pytest.raises(TokenExistsError, match="a token named 'team-red' exists or existed before"):
        tokens.create("team-red", "read")
    with pytest.raises(ApiTokenError, match="there is no scope 'all'\nChoose one:  --scope agents"):
        tokens.create("team-blue", "all")
    with pytest.raises(ApiTokenError, match="a token cannot be named 'operator'"):
        tokens.create("operator", "read")
    clock.advance(60)
    assert tokens.revoke("team-red")
    assert not tokens.revoke("team-red"), "it was revoked before"
    with pytest.raises(NotFoundError, match="did you mean 'team-red'"):
        tokens.revoke("team-rad")
    assert tokens.find(token) is None
    assert [one.revoked_at for one in tokens.all()] == [clock.now]


def test_all_who_are_named_are_banned_or_nobody(database):
    clock = Clock()
    bans = Bans(database, clock)
    for name in ("ada", "bob"):
        add_match(database, name, is_answered=True)
    with pytest.raises(NotFoundError, match="did you mean 'bob'"):
        bans.ban(["ada", "bub"], "careless")
    assert bans.all() == []
    change = bans.ban(["ada"], "careless", listed=["bob", "A1B2"])
    assert (change.changed, change.unchanged, change.unseen) == ({"ada": 1, "bob": 1}, (), ("A1B2",))
    assert bans.ban(["ada"], "again").unchanged == ("ada",)
    assert [(one.ban.judge, one.ban.reason, one.worker, one.num_answers) for one in bans.all()] == [
        ("ada", "careless", "ada", 1),
        ("bob", "careless", "bob", 1),
    ]
    clock.advance(60)
    assert bans.unban(["ada"]).changed == {"ada": 1}
    assert [one.ban.judge for one in bans.all()] == ["bob"]
    assert [one.ban.lifted_at for one in bans.all(lifted=True)] == [clock.now, None]


def test_a_participant_is_made_once(database):
    people = People(database, Clock())
    assert people.find("key") is None
    number = people.find_or_add("key")
    assert people.find_or_add("key") == people.find("key") == number


def propose(roster, name, token="team-red", **changes):
    wanted = {"kind": "bc", "description": "", "reserved": {"random"}} | changes
    return roster.propose(name, [TASK], token=token, **wanted)


def test_an_agent_is_proposed_by_one_token_and_seen_by_others_once_it_is_approved(database):
    clock = Clock()
    roster = Roster(database, clock)
    red, blue = Viewer(token="team-red"), Viewer(token="team-blue")
    assert [(row.name, row.proposed_by) for row in propose(roster, "ada")] == [("ada", "team-red")]
    for name, token in (("ada", "team-blue"), ("Ada", "team-red"), ("RANDOM", "team-red")):
        with pytest.raises(ProposalError, match="is taken"):
            propose(roster, name, token)
    assert [row.description for row in propose(roster, "ada", description="better")] == ["better"]
    assert [roster.rows(who) != [] for who in (red, blue, Viewer(), Viewer(sees_all=True))] == [True, False, False, True]
    with pytest.raises(NotFoundError, match="unknown agent 'ada'"):
        roster.change("withdraw", "ada", viewer=blue)
    with pytest.raises(NotFoundError, match="unknown task of this agent 'atari/qbert'"):
        roster.change("approve", "ada", task="atari/qbert")
    assert roster.change("approve", "ada") == 1
    assert roster.change("approve", "ada") == 0, "it is approved already"
    assert roster.get("ada", blue)[0].approved_at == START
    with pytest.raises(NotFoundError, match=r"did you mean 'ada'.*\nLook in DIR"):
        roster.get("adda", blue, hint="Look in DIR")
    assert roster.rows(name="a\0b") == [], "not every text can be asked a database"


def test_one_of_two_who_propose_one_name_at_once_gets_it(database):
    refused: list[ProposalError] = []

    def propose_later() -> None:
        try:
            propose(Roster(database), "ada", "team-blue")
        except ProposalError as error:
            refused.append(error)

    other = threading.Thread(target=propose_later)
    with database.write() as session:
        entrants.lock_name(session, "ada")
        other.start()
        other.join(timeout=0.5)  # it asks before this name can be seen
        who = {"kind": "agent", "description": "", "proposed_by": "team-red", "now": START}
        entrants.propose(session, name="Ada", task=TASK, **who)
    other.join()
    assert len(refused) == 1
    assert [row.name for row in Roster(database).rows()] == ["Ada"]


def test_a_token_cannot_fill_the_waiting_room(database):
    roster = Roster(database)
    for number in range(MAX_WAITING):
        propose(roster, f"agent-{number}")
    with pytest.raises(ProposalError, match=f"{MAX_WAITING} of your agents wait for a moderator"):
        propose(roster, "one-more")
    assert propose(roster, "one-more", None), "the operator may"


def test_who_has_a_pair_before_them_is_known_for_an_hour(database):
    clock = Clock()
    roster, people = Roster(database, clock), People(database, clock)
    ada, bob = people.find_or_add("ada"), people.find_or_add("bob")
    add_match(database, judge_name(ada), is_answered=False)
    add_match(database, judge_name(bob), is_answered=True)
    assert roster.watched_by([ada, bob]) == {TASK}
    assert roster.watched_by([bob]) == roster.watched_by([]) == set()
    clock.advance(3601)
    assert roster.watched_by([ada]) == set()
