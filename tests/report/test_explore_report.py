"""The report on making and reviewing instances: what was planted stands in its tables, and it reads what rooms wrote."""

import itertools
import json
from datetime import UTC, datetime

import pytest

from interplay.errors import InterplayError, NotFoundError
from interplay.explore.instance import parse
from interplay.report.explore import Played, Reviewed, explore_report
from interplay.report.explore_reading import makings, reviewed, verdicts
from interplay.store import Database
from interplay.store.participants import add_participant
from interplay.study import Arrival
from interplay.study.definition import parse_study
from interplay.study.review.part import QUESTIONS
from interplay.study.review.reviews import VERDICT, Review, Reviews
from interplay.study.studies import Studies


def instance(name: str, mode: str, pair: str, hops: int = 2) -> dict:
    tasks = [f"mine thing_{n}" for n in range(hops)]
    edges = [{"from": first, "to": then, "reason": "r"} for first, then in itertools.pairwise(tasks)]
    return {
        "schema": 1,
        "name": name,
        "selected_tasks": tasks,
        "reasoning_graph": {"nodes": tasks, "edges": edges},
        "milestones": [],
        "task_text": "Do it.",
        "atomic_tasks_ordered": tasks,
        "commands": [],
        "source": {"made": {"mode": mode, "pair": pair}},
        "proofs": [{"hops": {"depth": hops}, "ticks": 200 * hops}],
    }


def reviews_of(name: str, *valid: bool) -> tuple[Review, ...]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return tuple(
        Review(name, f"person {n}", "v", dict.fromkeys(QUESTIONS, one), one, "", True, 9.0, now) for n, one in enumerate(valid)
    )


def rows(report, table: str) -> list[dict]:
    return next(block for block in report.blocks if block.id == table).records()


def test_planted_shares_pairs_and_agreement_stand_in_the_tables():
    # 14 pairs: multi valid and single not in 9, the other way round in 2, both in 3; the gate refused single in 1 of the 9.
    found, made = [], []
    for n in range(14):
        says = (True, False) if n < 9 else (False, True) if n < 11 else (True, True)
        for mode, valid in zip(("multi", "single"), says, strict=True):
            is_refused = mode == "single" and n == 0
            name = f"{mode}{n}"
            made.append(
                {
                    "mode": mode,
                    "passed": not is_refused,
                    "first_reasons": ["x"] if n == 1 else [],
                    "source": {"made": {"pair": f"p{n}"}},
                }
            )
            if not is_refused:
                found.append(Reviewed(parse(instance(name, mode, f"p{n}", 2 + n % 2)), reviews_of(name, valid, valid)))
    found.append(Reviewed(parse(instance("split", "planner", "")), reviews_of("split", True, False)))
    runs = [Played("m", 2, 1, n < 3, ("mine thing_0",), "up to 10 s") for n in range(4)]
    runs += [Played("m", 3, 2, False, ("brew potion",), "10 to 20 s")]
    filtered = {"mine thing_0": "kept", "brew potion": "dropped", "mine sand": "waiting"}
    report = explore_report(verdicts=filtered, makings=made, reviewed=found, runs=runs, rules=["Two reviewers."])
    assert dict(report.facts) | {"people": "2"} == dict(report.facts)
    assert rows(report, "filter")[-1] == {
        "verb": "all",
        "before the filter": 3,
        "kept": 1,
        "dropped": 1,
        "waiting for people": 1,
    }
    assert [(one["instances"], one["runs"], one["done"]) for one in rows(report, "filter_runs")] == [
        ("every task kept", 4, 3),
        ("some task dropped", 1, 0),
    ]
    gate = {one["mode"]: one for one in rows(report, "gate")}
    assert (gate["multi"]["passed at once"], gate["multi"]["passed after repair"], gate["single"]["refused"]) == (13, 1, 1)
    ablation = {one["mode"]: one for one in rows(report, "ablation")}
    assert (ablation["multi"]["valid"], ablation["single"]["valid"], ablation["single"]["reviewed"]) == (12, 5, 13)
    assert ablation["single"]["share valid of these"] == pytest.approx(5 / 14)
    assert (ablation["planner"]["undecided"], ablation["planner"]["share valid"]) == (1, 0)
    (tested,) = rows(report, "paired")
    assert (tested["modes"], tested["first only"], tested["second only"], tested["both valid"]) == ("multi, single", 9, 2, 3)
    assert tested["p"] == pytest.approx(2 * (1 + 11 + 55) / 2**11)
    verdict = rows(report, "agreement")[0]
    assert (verdict["instances"], verdict["all yes"], verdict["all no"], verdict["split"]) == (28, 17, 10, 1)
    assert verdict["pairs alike"] == pytest.approx(27 / 28)
    assert verdict["low"] <= verdict["kappa"] <= verdict["high"]
    by_hops = {(one["mode"], one["hops"]): one["reviewed"] for one in rows(report, "valid_hops")}
    assert by_hops == {("multi", 2): 7, ("multi", 3): 7, ("single", 2): 6, ("single", 3): 7, ("planner", 2): 1}
    assert [one["prerequisites"] for one in rows(report, "runs_prerequisites")] == [1, 2]
    told = [(one["length of the proof"], one["runs"], one["done"]) for one in rows(report, "runs_length")]
    assert told == [("up to 10 s", 4, 3), ("10 to 20 s", 1, 0)]
    assert [one["length of the proof"] for one in rows(report, "valid_length")][:2] == ["10 to 20 s", "20 to 40 s"]
    json.dumps(report.to_json(), allow_nan=False)


def test_an_empty_data_folder_makes_a_report_without_rows():
    report = explore_report()
    assert rows(report, "ablation") == []
    assert "interplay explore filter" in report.sections[0].paragraphs[0]
    assert rows(report, "agreement")[0]["kappa"] is None


def test_reviews_and_makings_are_read_from_where_they_are_kept(tmp_path):
    text = """
[study]
id = "sound"
title = "t"
summary = "s"
kind = "review"
minutes = 5
instructions = "i"
[review]
instances = ["one.json"]
[channels.open]
"""
    (tmp_path / "one.json").write_text(json.dumps(instance("one", "multi", "p")))
    database = Database.open(f"sqlite:///{tmp_path}/interplay.db")
    studies = Studies(database)
    study = parse_study(text, folder=tmp_path)
    studies.open(study)
    studies.open(
        parse_study(
            text.replace('"review"', '"comparisons"')
            .replace('"sound"', '"other"')
            .replace('[review]\ninstances = ["one.json"]\n', "")
        )
    )
    with database.write() as session:
        person = add_participant(session, "key", datetime.now(UTC)).id
    enrolment = studies.enrolment(studies.enrol(study, Arrival("open"), person).enrolment)
    Reviews(database, studies).serve(enrolment)
    Reviews(database, studies).answer(enrolment, 1, dict.fromkeys((*QUESTIONS, VERDICT), "yes"))
    found, rules = reviewed(database, None)
    assert [(one.instance.name, one.mode, one.verdict, one.depth) for one in found] == [("one", "multi", True, 2)]
    assert rules == ["Study sound: 2 reviewers for each instance, and no other where they disagree; fixed before it opened."]
    again = parse_study(text.replace('"sound"', '"again"'), folder=tmp_path)
    studies.open(again)
    second = studies.enrolment(studies.enrol(again, Arrival("open"), person).enrolment)
    Reviews(database, studies).serve(second)
    Reviews(database, studies).answer(second, 1, dict.fromkeys((*QUESTIONS, VERDICT), "no"))
    shared = r"reviews of the same instances: one \(1 instance\) in again, sound\nName one with --study"
    with pytest.raises(InterplayError, match=shared):
        reviewed(database, None)
    assert [len(one.reviews) for one in reviewed(database, ["again"])[0]] == [1]
    (both,), (*_, rule) = reviewed(database, ["sound", "again"])
    assert (len(both.reviews), rule) == (2, "Reviews of several studies count together: one (1 instance) in again, sound.")
    with pytest.raises(InterplayError, match="other is not a study of reviews"):
        reviewed(database, ["other"])
    with pytest.raises(NotFoundError):
        reviewed(database, ["sond"])
    database.close()
    folder = tmp_path / "explore" / "make" / "makings"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text('{"mode": "multi"}')
    (folder / "b.json").write_text('{"torn')
    assert makings(tmp_path) == [{"mode": "multi"}]
    (tmp_path / "votes.json").write_text(json.dumps({"mine a": {"verdict": "No"}, "mine b": {"verdict": None}}))
    assert verdicts(tmp_path, tmp_path / "votes.json") == {"mine a": "kept", "mine b": "waiting"}
    assert verdicts(tmp_path) == {}
    with pytest.raises(InterplayError, match="cannot be read as the filter's votes"):
        verdicts(tmp_path, tmp_path / "one.json")
