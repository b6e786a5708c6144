"""Classes: codes, nicknames, who is let in, what is kept and for how long."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from played_games import add_game

import interplay.record
from interplay.cli import _run
from interplay.errors import NotFoundError
from interplay.store import EpisodeRow
from interplay.store.episodes import EpisodeQuery, find_episodes
from interplay.store.participants import add_participant
from interplay.study.classes import ClassError, Classes
from interplay.study.classes.codes import LETTERS, alike, new_nickname, read_code, read_nickname, shown_code
from interplay.study.classes.pupils import best_games, table_csv
from interplay.tasks import find

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BREAKOUT = find("atari/breakout")
PONG = find("together/cooperative_pong")


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def archive(tmp_path):
    archive = interplay.record.open(tmp_path)
    yield archive
    archive.close()


@pytest.fixture
def classes(archive, clock):
    return Classes(archive.database, clock, np.random.default_rng(0))


def test_a_code_has_no_vowels_and_no_letters_that_look_alike():
    assert not set(LETTERS) & set("AEIOU0O1IL2Z5S8B")
    assert len(set(LETTERS)) == len(LETTERS) >= 18


def test_a_code_is_read_however_it_is_typed():
    for typed in ["RT39CH", "rt3-9ch", " r t 3 9 c h ", "RT3 – 9CH", "RT3_9CH"]:
        assert read_code(typed) == "RT39CH"
        assert read_code(shown_code("RT39CH")) == "RT39CH"


def test_what_cannot_be_a_code_is_none():
    for typed in ["", "RT39C", "RT39CHH", "RT39CO", "'; drop", "R" * 10_000]:
        assert read_code(typed) is None


def test_a_nickname_that_cannot_be_is_refused_in_words():
    for typed, said in [
        ("", "choose"),
        ("x" * 21, "at most 20"),
        *((one, "letters") for one in ("<b>x</b>", "a\u202eb", "#3", "a/b", "=1+1", "\u0300a", "a" + "\u0301" * 9)),
    ]:
        with pytest.raises(ClassError, match=said):
            read_nickname(typed)


NAMES = ["Ünal 7", "小猫", "O'Hara", "हिन्दी", "น้ำ"]


def test_nicknames_in_any_script_are_taken_and_offered_ones_are_free():
    assert [read_nickname(one) for one in NAMES] == NAMES
    rng, taken = np.random.default_rng(0), []
    for _ in range(200):
        taken.append(new_nickname(taken, rng))
    assert len({alike(one) for one in taken}) == 200
    assert all(read_nickname(one) == one for one in taken)


def test_pupils_join_under_different_nicknames_until_the_class_ends(classes, clock):
    made = classes.open(" Class  9b ", ["atari/breakout"], hours=1)
    assert made.title == "Class 9b"
    assert made.is_open(clock.now)
    ada = classes.join(made.shown_code.lower(), "Ada Cat")
    given = classes.join(made.code, "").pupil
    assert given.nickname != "Ada Cat"
    with pytest.raises(ClassError, match="has this nickname already"):
        classes.join(made.code, "adacat")
    assert classes.of(ada.pupil.participant) == (made, ada.pupil)
    assert [one.nickname for one in classes.pupils(made)] == ["Ada Cat", given.nickname]
    assert classes.of(None) is None
    assert classes.of(10**6) is None
    clock.now += timedelta(hours=1)
    with pytest.raises(ClassError, match="has ended"):
        classes.join(made.code, "Late")
    with pytest.raises(NotFoundError, match="letter by letter"):
        classes.join("RT39CH" if made.code != "RT39CH" else "CH39RT", "x")


def test_two_classes_may_have_the_same_nickname_and_are_different_people(classes):
    one, other = (classes.open(title, ["atari/breakout"]) for title in ("a", "b"))
    first, second = (classes.join(made.code, "Ada").pupil for made in (one, other))
    assert first.participant != second.participant
    assert classes.of(first.participant)[0] == one
    assert classes.of(second.participant)[0] == other


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": " "}, "1 to 80"),
        ({"tasks": []}, "1 to 12"),
        ({"hours": 0}, "hours"),
        ({"hours": float("nan")}, "hours"),
        ({"keep_days": 400}, "365"),
    ],
)
def test_settings_of_a_class_that_cannot_be_are_refused_in_words(classes, change, said):
    with pytest.raises(ClassError, match=said):
        classes.open(**({"title": "9b", "tasks": ["atari/breakout"]} | change))


def test_the_teacher_sees_games_alone_and_together_and_the_best_of_each_task(classes, archive, clock):
    made = classes.open("9b", ["atari/breakout", "together/cooperative_pong"])
    ada, bo, cy = (classes.join(made.code, name).pupil.participant for name in ("Ada", "Bo", "Cy"))
    with archive.database.write() as session:
        stranger = add_participant(session, "k", START).id
        for minute, (person, score) in enumerate([(ada, 3), (ada, 7), (bo, 7), (stranger, 99)]):
            add_game(session, BREAKOUT, {person: score}, at=START + timedelta(minutes=minute), duration_s=30)
        add_game(session, PONG, {ada: 2, bo: 4}, at=START + timedelta(minutes=9), duration_s=60)
    pupils = classes.pupils(made)
    assert [(one.nickname, len(one.games), one.played_s) for one in pupils] == [("Ada", 3, 120), ("Bo", 2, 90), ("Cy", 0, 0)]
    assert [(one.nickname, game.score) for one, game in best_games(pupils, BREAKOUT.id)] == [("Ada", 7), ("Bo", 7)]
    assert [game.seats for game in pupils[1].games] == [1, 2]
    assert pupils[2].participant == cy
    assert pupils[2].best(BREAKOUT.id) is None
    rows = list(csv.DictReader(io.StringIO(table_csv(pupils, {BREAKOUT.id: "Breakout"}, [PONG.id]))))
    assert [(one["pupil"], one["title"], one["score"], one["players"]) for one in rows] == [
        ("Ada", "Breakout", "3", "1"),
        ("Ada", "Breakout", "7", "1"),
        ("Ada", PONG.id, "", "2"),
        ("Bo", "Breakout", "7", "1"),
        ("Bo", PONG.id, "", "2"),
        ("Cy", "", "", ""),
    ]


def test_a_game_of_a_class_is_released_only_if_every_pupil_in_it_said_so(classes, archive):
    asked = classes.open("asked", [PONG.id], asks_release=True)
    silent = classes.open("silent", [PONG.id])
    yes, also, no = (classes.join(asked.code, name, release_ticked=name != "No").pupil.participant for name in ("A", "B", "No"))
    never = classes.join(silent.code, "N", release_ticked=True).pupil.participant
    with archive.database.write() as session:
        together = add_game(session, PONG, {yes: 1, also: 1}, id="together")
        for name, people in (("mixed", {yes: 1, no: 1}), ("silent", {never: 1, yes: 1})):
            add_game(session, PONG, people, id=name)
        assert [row.id for row in find_episodes(session, EpisodeQuery(released=True))] == [together]


def test_nicknames_are_erased_when_that_was_said_and_games_stay(classes, archive, clock):
    made = classes.open("9b", ["atari/breakout"], hours=2, keep_days=7)
    ada = classes.join(made.code, "Ada").pupil.participant
    with archive.database.write() as session:
        add_game(session, BREAKOUT, {ada: 5})
    with pytest.raises(ClassError, match="is open"):
        classes.forget(made.code)
    clock.now += timedelta(hours=2, days=7, seconds=-1)
    classes.forget_due()
    assert [one.nickname for one in classes.pupils(made)] == ["Ada"]
    clock.now += timedelta(seconds=1)
    classes.forget_due()
    [pupil] = classes.pupils(made)
    assert (pupil.nickname, len(pupil.games)) == ("#1", 1)
    assert classes.get(made.code).forgotten_at == clock.now
    assert classes.forget(made.code) == 0
    with archive.database.read() as session:
        assert session.query(EpisodeRow).count() == 1


def test_a_teacher_replaces_a_nickname_and_the_pupil_stays_who_they_are(classes):
    made, other = (classes.open(title, ["atari/breakout"]) for title in ("a", "b"))
    rude = classes.join(made.code, "Rude").pupil.participant
    nickname = classes.rename(made.code, rude)
    assert nickname != "Rude"
    assert classes.of(rude)[1].nickname == nickname
    assert classes.rename(other.code, rude) is None
    classes.close(made.code)
    classes.forget(made.code)
    assert classes.rename(made.code, rude) is None


def test_a_closed_class_keeps_its_time_and_forgets_earlier(classes, clock):
    made = classes.open("9b", ["atari/breakout"], hours=10, keep_days=1)
    clock.now += timedelta(hours=1)
    first = classes.close(made.code)
    clock.now += timedelta(hours=1)
    assert classes.close(made.code).closed_at == first.closed_at == START + timedelta(hours=1)
    assert first.forgets_at == START + timedelta(days=1, hours=1)
    assert not first.is_open(clock.now)


def test_a_class_is_made_listed_shown_closed_and_forgotten_by_command(tmp_path, capsys):
    def run(*line: str) -> str:
        assert _run(["study", "class", *line, "--data", str(tmp_path / "d")]) == 0
        return capsys.readouterr().out

    said = run("open", "Class 9b", "--task", "atari/breakout", "--address", "https://lab.example")
    code = re.search(r"Its code is  (\S+)", said)[1]
    assert f"https://lab.example/join/{code}" in said
    assert f"https://lab.example/classes/{read_code(code)}?key=" in said
    assert code in run("list")
    assert "Nobody has joined" in run("show", code)
    assert run("show", code, "--csv").startswith("pupil,task,title")
    assert "is closed" in run("close", code.lower())
    assert "0 nicknames erased" in run("forget", code)


def test_a_command_for_a_task_that_cannot_be_played_says_so(tmp_path, capsys):
    assert _run(["study", "class", "open", "x", "--task", "atari/breakot", "--data", str(tmp_path)]) == 2
    assert "did you mean 'atari/breakout'" in capsys.readouterr().err
    assert _run(["study", "class", "show", "RT39CH", "--data", str(tmp_path)]) != 0
