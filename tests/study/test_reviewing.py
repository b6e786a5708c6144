"""Studies of reviews: what their file may say, who reviews what next, and what is kept."""

import json
import re
import secrets
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import interplay.record
from interplay.cli import _run
from interplay.store import Database
from interplay.store.participants import add_participant
from interplay.study import Arrival, StudyError
from interplay.study.definition import Study, load_study, parse_study
from interplay.study.enrolment import next_step
from interplay.study.errors import FormError
from interplay.study.review.part import QUESTIONS
from interplay.study.review.reviews import VERDICT, Reviews, lacking, next_instance
from interplay.study.studies import Studies
from interplay.web.app import create_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient

STUDY = """
[study]
id = "sound"
title = "Review of tasks"
summary = "Say whether tasks are sound."
kind = "review"
minutes = 5
instructions = "Look at each task."
[review]
instances = ["made", "one_more.json"]
third = true
[channels.open]
"""
NO = dict.fromkeys((*QUESTIONS, VERDICT), "no")
YES = dict.fromkeys((*QUESTIONS, VERDICT), "yes")


@pytest.fixture
def study(tmp_path) -> Study:
    """A study of three instances, of which it needs nothing but names and goals."""
    (tmp_path / "made").mkdir()
    for path in ("made/a.json", "made/b.json", "one_more.json"):
        (tmp_path / path).write_text(json.dumps({"name": path[:-5].rpartition("/")[2], "task_text": "Do it."}))
    (tmp_path / "study.toml").write_text(STUDY)
    return load_study(tmp_path / "study.toml")


def enrolled(database: Database, studies: Studies, study: Study):
    """Somebody new who takes part."""
    with database.write() as session:
        visitor = add_participant(session, secrets.token_hex(8), datetime.now(UTC)).id
    return studies.enrolment(studies.enrol(study, Arrival("open"), visitor).enrolment)


def test_instances_are_taken_in_whole_and_the_study_stays_the_same_without_its_files(study):
    assert list(study.review.instances) == ["a", "b", "one_more"]
    assert study.review.third
    assert study.review.raters == 2
    again = Study.from_json(json.loads(json.dumps(study.to_json())))
    assert again.review == study.review
    assert again.content_hash == study.content_hash


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('["made", "one_more.json"]', '["nothing_there.json"]', "no such file"),
        ('["made", "one_more.json"]', '["made", "made"]', "name of another instance"),
        ('["made", "one_more.json"]', '["empty"]', "holds no .json file"),
        ('["made", "one_more.json"]', '["broken.json"]', "not valid JSON"),
        ('["made", "one_more.json"]', "[]", "name 1 to 1000"),
        ("minutes = 5", "minutes = 5\nanswers = 4", r"study\.answers: is 4, and there are only 3 instances"),
        ("third = true", "raters = 0", "must lie between 1 and 20"),
        ("third = true", "thrid = true", "did you mean 'third'"),
        ("[channels.open]", "[judging]\ntasks = []\n[channels.open]", "has no use in a study of reviews"),
        ("[review]\n", "[review_]\n", "review: is missing"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(study, tmp_path, old, new, error):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(StudyError, match=error):
        parse_study(STUDY.replace(old, new), folder=tmp_path)


def test_what_others_have_begun_goes_first_nobody_sees_one_twice_and_a_tie_asks_for_a_third():
    assert [
        lacking(said, raters=2, third=True) for said in ([], [True], [True, True], [True, False], [True, False, False])
    ] == [2, 1, 0, 1, 0]
    assert lacking([True, False], raters=2, third=False) == 0

    def chosen(verdicts, mine=(), held=(), third=False):
        return next_instance("abc", verdicts, mine, Counter(held), raters=2, third=third, rng=np.random.default_rng(0))

    assert chosen({"b": [True]}) == "b"
    assert chosen({"b": [True]}, mine={"b"}) in "ac"
    assert chosen({"b": [True]}, held=["b"]) in "ac", "somebody has it before them"
    done = {name: [True, True] for name in "abc"}
    assert chosen(done) is None
    assert chosen(done | {"c": [True, False]}) is None
    assert chosen(done | {"c": [True, False]}, third=True) == "c"
    firsts = {
        next_instance("abcdefgh", {}, (), Counter(), raters=2, third=False, rng=np.random.default_rng(n)) for n in range(40)
    }
    assert len(firsts) > 3, "each person has an order of their own"


def test_people_review_change_their_mind_and_go_and_nothing_that_they_said_is_lost(study, tmp_path):
    database = Database.open(f"sqlite:///{tmp_path}/interplay.db")
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    studies = Studies(database, lambda: now[0])
    reviews = Reviews(database, studies, lambda: now[0])
    studies.open(study)

    first, second, third = (enrolled(database, studies, study) for _ in range(3))
    served = reviews.serve(first)
    assert served.place == 1
    assert reviews.serve(first) == served, "a page that is loaded again shows the same"
    with pytest.raises(FormError, match=r"\(6 are open\): Can it be done"):
        reviews.answer(first, 1, {})
    with pytest.raises(FormError, match="your verdict"):
        reviews.answer(first, 1, {**YES, VERDICT: "maybe"})
    with pytest.raises(FormError, match="was not shown to you"):
        reviews.answer(first, 2, YES)
    now[0] += timedelta(seconds=30)
    reviews.answer(first, 1, {**YES, "why": " It works. ", "played": "1"})
    reviews.answer(first, 1, NO)
    assert reviews.get(first, 1).is_valid is False
    for place in (2, 3):
        assert reviews.serve(first).place == place
        reviews.answer(first, place, YES)
    assert reviews.serve(first) is None
    assert next_step(studies.facts(first)) == "end"
    for place in (1, 2, 3):
        reviews.serve(second)
        reviews.answer(second, place, YES)
    split = reviews.serve(third)
    assert split.document == served.document, "the two disagree about the first one's first"
    said = reviews.of_study("sound")
    assert len(said) == 6
    assert sum(one.is_valid for one in said) == 5
    own = next(one for one in said if one.instance == served.document["name"] and one.reviewer == said[0].reviewer)
    assert (own.is_valid, own.why, own.has_played) == (False, "", False)
    assert studies.finish_if_due(first, studies.facts(first)).outcome == "done"
    database.close()


def test_one_who_goes_away_holds_an_instance_for_an_hour(study, tmp_path):
    database = Database.open(f"sqlite:///{tmp_path}/interplay.db")
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    studies = Studies(database, lambda: now[0])
    reviews = Reviews(database, studies, lambda: now[0])
    one = study.to_json()
    one["review"] = {"instances": one["review"]["instances"][:1], "raters": 1}
    alone = Study.from_json(one)
    studies.open(alone)
    first, second = (enrolled(database, studies, alone) for _ in range(2))
    assert reviews.serve(first) is not None
    assert reviews.serve(second) is None
    now[0] += timedelta(hours=2)
    assert reviews.serve(second) is not None
    database.close()


def test_a_proof_that_is_recorded_afterwards_in_the_data_folder_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    document = {
        "schema": 1, "name": "planks", "selected_tasks": ["mine oak_log"], "atomic_tasks_ordered": ["mine oak_log"],
        "reasoning_graph": {"nodes": ["mine oak_log"], "edges": []}, "task_text": "Carry a log of oak.",
        "milestones": [
            {"task": "mine oak_log", "milestone_id": "log", "description": "It is carried.",
             "rules": [{"type": "inventory_has", "params": {"item": "oak_log", "min_count": 1}}]}
        ],
        "commands": ["/fill ~0 ~0 ~4 ~0 ~2 ~4 oak_log", "/give @p stone_axe"],
    }  # fmt: skip
    for name in ("planks.json", "copy.json"):
        Path(name).write_text(json.dumps(document))
    Path("study.toml").write_text(STUDY.replace('["made", "one_more.json"]', '["copy.json"]'))
    opened = ["study", "open", "study.toml", "--contact", "ada@lab.example", "--data", "data"]
    assert _run(opened) == 0
    note = re.search(
        r"no proof is recorded here of 1 instance, such as planks. Make it:  interplay (.*)", capsys.readouterr().out
    )
    assert _run(note[1].replace("FILE", "planks.json").split()) == 0, "the remedy as it is printed"
    capsys.readouterr()
    assert _run(opened) == 0
    assert "no proof" not in capsys.readouterr().out
    archive = interplay.record.open("data")
    with TestClient(create_app(archive)) as client:
        version = Studies(archive.database).get("sound").study.content_hash
        page = client.post("/studies/sound/begin", data={"version": version, "decision": "begin"})
        assert "planks" in page.text or "Carry a log" in page.text, page.text
        assert "There is no recorded proof" not in page.text
        film = client.get(f"/studies/sound/review/1/proof.mp4?{page.url.query.decode()}")
        assert film.status_code in (200, 202), film.text
    archive.close()
