"""The report on benchmarks of learning: the paper's tables proved by each other, and numbers that are those of the results."""

import pytest

from interplay.learn.benchmark.results import Results, Run, Scale
from interplay.learn.benchmark.scores import iqm
from interplay.report.offline import disagreements, offline_report, recomputed


@pytest.fixture
def results():
    tasks = {"a/one": Scale(10, 110, "given", "given"), "a/two": Scale(0, 1, "given", "given")}
    returns = {("bc", "a/one"): (20, 30), ("bc", "a/two"): (0.1, 0.2), ("iql", "a/one"): (60, 80), ("iql", "a/two"): (0.5, 0.9)}
    runs = [
        Run(name, task, seed, f"{name}-{task[-3:]}-{seed}", (value - 1.0, value + 1.0))
        for (name, task), values in returns.items()
        for seed, value in enumerate(values, 1)
    ]
    return Results(
        "two",
        "Two tasks",
        ("bc", "iql"),
        (1, 2),
        tasks,
        {"a/one": (1, 2), "a/two": (1, 2)},
        {"a/one": 5, "a/two": 6},
        tuple(runs),
    )


def test_65_of_the_papers_66_scores_follow_from_its_returns_and_the_other_is_named():
    assert sum(len(row) for _, row in recomputed()) == 66
    (wrong,) = disagreements()
    assert (wrong.task, wrong.algorithm, wrong.printed) == ("Space Invaders, inside out", "BC", 41.67)
    assert round(wrong.recomputed, 2) == 40.92


def test_numbers_of_the_report_are_those_of_the_results(results):
    report = offline_report([results])
    tables = {block.id: block.to_json()["rows"] for block in report.blocks}
    returns = {(row["task"], row["algorithm"]): row for row in tables["two-returns"]}
    assert returns["a/one", "iql"]["mean return"] == 70
    assert returns["a/one", "iql"]["score"] == pytest.approx(0.6)
    assert returns["a/two", "bc"]["seed 2"] == pytest.approx(0.2)
    best = tables["two-aggregates"][0]
    assert best["algorithm"] == "iql"
    assert best["IQM"] == pytest.approx(float(iqm(results.matrices()["iql"])))
    assert [row["probability"] for row in tables["two-improvement"] if row["algorithm"] == "iql"] == [1.0]
    assert "too narrow" in " ".join(report.sections[0].paragraphs)


def test_a_missing_run_leaves_its_task_out_and_a_failed_one_is_told(results):
    first = Run("bc", "a/one", 1, "bc-one-1", None, "its loss is no number\nlower the learning rate")
    partly = Results(**{**vars(results), "runs": (first, *results.runs[1:])})
    report = offline_report([partly])
    assert dict(report.facts)["missing runs"] == "1"
    assert "leave out tasks in which a run is missing: a/one" in " ".join(report.sections[0].paragraphs)
    (failed,) = [block for block in report.blocks if block.id == "two-failed"]
    assert failed.to_json()["rows"][0]["why"] == "its loss is no number"


def test_without_any_benchmark_the_report_is_about_the_paper():
    assert [section.id for section in offline_report([]).sections] == ["paper"]
