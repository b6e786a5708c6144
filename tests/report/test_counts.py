"""`interplay report bedd --counts`: the paper's numbers from integer counts, and files that are no counts."""

import json

import pytest

from bench.synthetic_bedd import AGENT_SENTIMENT, TASK_SENTIMENT
from interplay.cli import main
from interplay.errors import InterplayError
from interplay.report.bedd.paper import published
from interplay.report.bedd.reasons import counts_report

GIVEN = {
    "task_sentiment": {name: list(row) for name, row in TASK_SENTIMENT.items()},
    "agent_sentiment": {name: list(row) for name, row in AGENT_SENTIMENT.items()},
}


def saved(tmp_path, document):
    path = tmp_path / "counts.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_the_counts_give_every_published_number(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--counts", str(saved(tmp_path, GIVEN)), "--json"])
    assert not stop.value.code
    document = json.loads(capsys.readouterr().out)
    assert document["comparison_points"] == 27_905
    overall = document["task_sentiment"]["chi_square"]
    assert (round(overall["statistic"], 2), overall["df"]) == (132.21, 6)
    assert overall["p"] < 0.001
    assert document["agent_sentiment"]["chi_square"]["df"] == 10
    for group, num_pairs in (("task_sentiment", 6), ("agent_sentiment", 15)):
        ours = {frozenset((pair["a"], pair["b"])): pair for pair in document[group]["pairs"]}
        theirs = {frozenset((pair["a"], pair["b"])): pair for pair in published(group, "pairs")}
        assert len(ours) == len(theirs) == num_pairs
        for pair, known in theirs.items():
            assert f"{ours[pair]['statistic']:.2f}" == f"{known['statistic']:.2f}", pair
            assert ours[pair]["significant"] == known["significant"], pair
            assert ours[pair]["p"] == pytest.approx(known["p"], rel=0.1 if known["p"] < 0.01 else 0.02), pair


def test_people_get_tables_with_the_paper_s_numbers(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--counts", str(saved(tmp_path, GIVEN))])
    assert not stop.value.code
    text = capsys.readouterr().out
    assert "sentiment by tasks: X²(6, N = 3,049) = 132.21" in text
    assert "27,905 comparison points" in text
    assert "GoUp – UniTeam" in text or "UniTeam" in text


def test_tasks_are_understood_by_id_by_short_name_and_by_environment(tmp_path):
    names = ["basalt/find_cave", "MineRLBasaltMakeWaterfall-v0", "CreateVillageAnimalPen", "basalt/build_village_house"]
    renamed = dict(zip(names, TASK_SENTIMENT.values(), strict=True))
    assert counts_report(saved(tmp_path, GIVEN | {"task_sentiment": renamed})).comparison_points == 27_905


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("{", "cannot be read as JSON"),
        ([], "holds a list, expected an object"),
        ({}, "misses task_sentiment and agent_sentiment; it has nothing"),
        ({"task_sentiment": GIVEN["task_sentiment"]}, "misses agent_sentiment; it has ['task_sentiment']"),
        (GIVEN | {"agent_sentiment": [1, 2]}, "agent_sentiment is a list, expected an object"),
        (GIVEN | {"agent_sentiment": {"Random": [1, 2, 3]}}, "names 1 group; a comparison needs two or more"),
        (GIVEN | {"agent_sentiment": {"A": [1, 2], "B": [1, 2, 3]}}, "A has 2 numbers, expected three counts"),
        (GIVEN | {"agent_sentiment": {"A": [1, -2, 3], "B": [1, 2, 3]}}, "A holds -2, expected three counts"),
        (GIVEN | {"agent_sentiment": {"A": [0, 0, 0], "B": [1, 2, 3]}}, "A has no answers at all ([0, 0, 0])"),
        (GIVEN | {"agent_sentiment": {"A": [0.5, 0.2, 0.3], "B": [1, 2, 3]}}, "A holds 0.5, expected three counts"),
        (GIVEN | {"agent_sentiment": {"A": [True, 2, 3], "B": [1, 2, 3]}}, "A holds True, expected three counts"),
        (GIVEN | {"agent_sentiment": {"A": None, "B": [1, 2, 3]}}, "A is null, expected three counts"),
        (GIVEN | {"agent_sentiment": {"A": [1, 0, 0], "B": [2, 0, 0]}}, "all answers are of one sentiment"),
        (GIVEN | {"task_sentiment": {"FindCav": [1, 2, 3], "MakeWaterfall": [3, 2, 1]}}, "did you mean 'FindCave'?"),
    ],
)
def test_a_file_that_is_no_counts_is_refused_with_what_was_expected(tmp_path, document, text):
    with pytest.raises(InterplayError) as error:
        counts_report(saved(tmp_path, document))
    assert text in str(error.value)


def test_a_missing_file_of_counts_shows_what_one_looks_like(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--counts", str(tmp_path / "none.json")])
    assert stop.value.code == 1
    assert 'task_sentiment": {"FindCave": [575, 48, 99], ...}' in capsys.readouterr().err


def test_counts_go_with_no_other_source(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--counts", str(saved(tmp_path, GIVEN)), "--agents", "Random"])
    assert stop.value.code == 2
    assert "cannot be used with --counts" in " ".join(capsys.readouterr().err.split())


def test_the_help_lists_reports(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "--help"])
    assert not stop.value.code
    assert "bedd" in capsys.readouterr().out
