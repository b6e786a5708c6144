"""The raffle of a study whose link goes out by e-mail: addresses apart from games, the draw, and erasing them."""

import json
import secrets
from datetime import timedelta

import pytest
from play_world import STUDY, PlayWorld

from interplay.cli import _run
from interplay.store import Enrolment, RaffleEntry
from interplay.study import Arrival, StudyError
from interplay.study.definition import parse_study
from interplay.study.money.raffle import AddressError, RaffleEntries, draw, read_address
from interplay.study.people import People

RAFFLE = STUDY.replace('[channels.prolific]\ncodes = { done = "DONE1" }', "[channels.email]\n[raffle]\nwinners = 2\nprize = 25")


@pytest.fixture
def world(archive):
    return PlayWorld(archive, RAFFLE)


@pytest.fixture
def entries(archive, world):
    return RaffleEntries(archive.database, world.studies)


def come(world) -> Enrolment:
    """Somebody new opens the link and agrees."""
    visitor = People(world.database).find_or_add(secrets.token_hex(8))
    return world.again(world.studies.enrol(world.study, Arrival("email"), visitor).enrolment)


def done(world) -> Enrolment:
    """Somebody came by the link, played long enough and finished."""
    enrolment = come(world)
    world.visits.give(enrolment)
    world.play(enrolment, {"inside_out.good": 1, "inside_out.all": 2}, seconds=301)
    return world.finish(enrolment)


def test_a_study_by_email_needs_a_raffle_and_no_other_channel_beside_it():
    assert parse_study(RAFFLE).channels["email"].name == "email"
    with pytest.raises(StudyError, match="needs a raffle"):
        parse_study(RAFFLE.replace("[raffle]\nwinners = 2\nprize = 25", ""))
    with pytest.raises(StudyError, match="does not work with prolific"):
        parse_study(RAFFLE + '[channels.prolific]\ncodes = { done = "DONE1" }')
    with pytest.raises(StudyError, match="does not work with open"):  # one link cannot say which of the two it is
        parse_study(RAFFLE + "[channels.open]")


def test_addresses_are_read():
    for typed in ["ada@lab.example", " Ada.B+x@Lab.Example ", "a@b.co", "ü@lab.example", "straße@lab.example"]:
        assert read_address(typed) == typed.strip().lower()


def test_what_is_no_address_is_refused_in_words():
    for typed in [
        "",
        "ada",
        "ada@lab",
        "a b@lab.example",
        "<a@lab.example>",
        "a@lab.example, b@lab.example",
        "a@-x.org",
        f"{'a' * 260}@lab.example",
        "a@lab.example\nbcc: b@c.de",
        "a\x1b@lab.example",
    ]:
        with pytest.raises(AddressError, match="an address looks like"):
            read_address(typed)


def test_only_who_is_done_enters_and_once_and_nothing_says_with_which_address(world, entries, archive):
    early = come(world)
    assert not entries.may_enter(early)
    with pytest.raises(AddressError, match="already"):
        entries.enter(early, "early@lab.example")
    one, two = done(world), done(world)
    entries.enter(one, "ada@lab.example")
    with pytest.raises(AddressError, match="already"):
        entries.enter(world.again(one), "again@lab.example")
    entries.enter(two, "ADA@lab.example")  # the same person, twice in the study: one entry
    with archive.database.read() as session:
        [entry] = session.query(RaffleEntry).all()
        assert set(RaffleEntry.__table__.columns.keys()) == {"id", "study", "address", "seed", "has_won"}
        assert entry.id not in (one.id, two.id)
        assert entry.address == "ada@lab.example"
        table = session.connection().exec_driver_sql("SELECT sql FROM sqlite_master WHERE name = 'raffle_entries'").scalar()
        assert "WITHOUT ROWID" in table  # a number in order of coming would say whose it is


def test_a_raffle_is_drawn_once_after_the_study_and_then_the_addresses_are_erased(world, entries):
    addresses = [f"p{number}@lab.example" for number in range(5)]
    for address in addresses:
        entries.enter(done(world), address)
    with pytest.raises(StudyError, match="is open"):
        entries.draw("orders")
    late = done(world)
    world.studies.close("orders")
    with pytest.raises(StudyError, match="not drawn yet"):
        entries.forget("orders")
    drawn = entries.draw("orders", seed=7)
    assert drawn.is_new
    assert len(drawn.winners) == 2
    assert {address for _, address in drawn.winners} <= set(addresses)
    assert [one.entry for one in draw(drawn.entries, 2, 7)[0]] == [entry for entry, _ in drawn.winners]
    assert not entries.may_enter(late)
    with pytest.raises(AddressError, match="draw is over"):
        entries.enter(late, "late@lab.example")
    world.studies.open(parse_study(RAFFLE.replace("winners = 2", "winners = 3")))
    world.studies.close("orders")
    world.now += timedelta(days=1)
    again = entries.draw("orders")
    assert (again.seed, again.winners, again.is_new) == (7, drawn.winners, False)
    with pytest.raises(StudyError, match="with the seed 7"):
        entries.draw("orders", seed=8)
    assert entries.forget("orders") == 5
    assert entries.forget("orders") == 0
    assert entries.draw("orders").winners == tuple((entry, None) for entry, _ in drawn.winners)


def test_the_command_draws_among_addresses_and_erases_them(world, entries, archive, capsys):
    place = ["--data", str(archive.root)]
    entries.enter(done(world), "ada@lab.example")
    assert _run(["study", "close", "orders", *place]) == 0
    assert "Draw the winners:  interplay study raffle orders" in capsys.readouterr().out
    assert _run(["study", "raffle", "orders", "--forget", *place]) == 1
    assert "Draw first" in capsys.readouterr().err
    assert _run(["study", "raffle", "orders", "--seed", "3", *place]) == 0
    assert "ada@lab.example" in (said := capsys.readouterr().out)
    assert "--forget" in said
    assert _run(["study", "raffle", "orders", "--forget", *place]) == 0
    assert "1 address erased" in capsys.readouterr().out
    assert _run(["study", "raffle", "orders", "--json", *place]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["winners"][0]["address"] is None
    assert document["seed"] == 3
