"""`interplay judge quiz`: what people type, and what a program gets."""

import json
from xml.etree import ElementTree

import pytest

from interplay.cli import main


@pytest.fixture
def quiz(capsys, tmp_path, monkeypatch):
    """Runs a command in an empty folder; returns its exit status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stopped:
            main(["judge", "quiz", *arguments])
        output = capsys.readouterr()
        return int(stopped.value.code or 0), output.out, output.err

    return run


def test_quizzes_that_ship_are_listed(quiz):
    status, out, _ = quiz("show", "--json")
    assert status == 0
    assert [(one["id"], one["num_boxes"], one["pass_share"]) for one in json.loads(out)] == [
        ("atari", 22, 0.65),
        ("inside_out", 11, 0.85),
        ("minecraft", 50, 0.65),
        ("outside_in", 11, 0.85),
        ("row_by_row", 10, 0.85),
    ]
    assert "minecraft" in quiz("show")[1]


def test_showing_a_quiz_hides_its_key_unless_it_is_asked_for(quiz):
    assert "[x]" not in quiz("show", "minecraft", "--seed", "1")[1]
    assert "[x]" in quiz("show", "minecraft", "--seed", "1", "--key")[1]
    assert "key" not in json.loads(quiz("show", "minecraft", "--json")[1])
    assert set(json.loads(quiz("show", "minecraft", "--key", "--json")[1])["key"]) >= {"bed", "pen"}


def test_a_quiz_of_ones_own_begins_with_one_that_ships(quiz, tmp_path):
    assert quiz("export", "minecraft", "--format", "toml", "--out", "mine")[0] == 0
    status, out, _ = quiz("check", "mine/minecraft.toml")
    assert (status, out.splitlines()[0]) == (
        0,
        "mine/minecraft.toml is in order: 10 questions, 50 boxes, passed at 65%.",
    )
    (tmp_path / "mine" / "desert_village.jpg").unlink()
    status, _, err = quiz("check", "mine/minecraft.toml")
    assert status == 1
    assert "question 'village'.picture: there is no file" in err
    assert "Traceback" not in err


def test_text_is_written_with_a_key_beside_it(quiz, tmp_path):
    document = json.loads(quiz("export", "atari", "--seed", "3", "--json")[1])
    assert document == {"quiz": "atari", "seed": 3, "files": ["quiz/atari.txt", "quiz/atari-key.txt"]}
    assert "[x]" not in (tmp_path / "quiz" / "atari.txt").read_text()
    assert "[x]" in (tmp_path / "quiz" / "atari-key.txt").read_text()


def test_xml_is_written_for_mechanical_turk_and_the_same_seed_writes_the_same(quiz, tmp_path):
    command = ("export", "minecraft", "--format", "mturk", "--picture-base", "https://lab.example/quiz", "--seed", "5")
    assert quiz(*command)[0] == quiz(*command, "--out", "again")[0] == 0
    for name in ("minecraft-questions.xml", "minecraft-answers.xml", "desert_village.jpg"):
        assert (tmp_path / "quiz" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert ElementTree.parse(tmp_path / "quiz" / "minecraft-questions.xml").getroot().tag.endswith("QuestionForm")
    status, _, err = quiz("export", "minecraft", "--format", "mturk")
    assert status == 1
    assert "--picture-base https://lab.example/quiz" in err


def test_answers_are_scored_by_the_text_of_their_boxes(quiz, tmp_path):
    key = json.loads(quiz("show", "atari", "--key", "--json")[1])["key"]
    (tmp_path / "one.json").write_text(json.dumps({**key, "breakout": ["Points come from bricks that the ball hits"]}))
    document = json.loads(quiz("score", "atari", "one.json", "--json")[1])
    assert document["results"][0] == {
        "worker": "",
        "num_right": 21,
        "num_boxes": 22,
        "share": pytest.approx(21 / 22),
        "passed": True,
        "by_question": {
            "breakout": [3, 4],
            "space_invaders": [5, 5],
            "riverraid": [5, 5],
            "qbert": [4, 4],
            "montezuma": [4, 4],
        },
    }
    people = [{"worker": "ada", "answers": key}, {"worker": "bob", "answers": {name: [] for name in key}}]
    (tmp_path / "all.json").write_text(json.dumps(people))
    lines = quiz("score", "atari", "all.json")[1].splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["yes", "no"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON: maximum recursion depth exceeded"),
        ("{}", "question 'breakout' is not answered"),
        ("3", "answers must be an object"),
        ('[{"worker": "ada"}]', "entry 0 must be"),
        ('[{"worker": "ada", "answers": {"breakout": ["Nothing"]}}]', "ada: question 'breakout' has no option 'Nothing'"),
    ],
)
def test_answers_that_cannot_be_scored_are_refused(quiz, tmp_path, content, message):
    if content is not None:
        (tmp_path / "answers.json").write_text(content)
    status, out, err = quiz("score", "atari", "answers.json")
    assert (status, out) == (1, "")
    assert message in err


def test_a_mistyped_quiz_gets_the_nearest(quiz):
    assert "did you mean 'minecraft'" in quiz("show", "minecraf")[2]


def test_a_folder_that_cannot_be_written_is_refused_in_words(quiz, tmp_path):
    (tmp_path / "taken").write_text("a file")
    status, _, err = quiz("export", "minecraft", "--format", "toml", "--out", "taken/x")
    assert status == 1
    assert "cannot write to taken/x: Not a directory" in err
    assert "Traceback" not in err
