"""Every agent with every other: line-ups, real games that are played once, and what the tables say."""

import csv
import json

import numpy as np
import pytest

import interplay.record
from interplay.agents import AgentError
from interplay.agents.cross_play import cross_play, entrants, lineups
from interplay.cli import main
from interplay.errors import InterplayError, NotFoundError
from interplay.report.crossplay import PEOPLE, Game, crossplay_report, default_score, games_of
from interplay.report.write import html, write_report
from interplay.tasks import find

pytest.importorskip("multi_agent_ale_py")
INVADERS = find("atari-two/space_invaders_competitive")
KITCHEN = find("overcooked/cramped_room")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = interplay.record.open(tmp_path_factory.mktemp("crossplay"))
    yield archive
    archive.close()


def block(report, id: str):
    return next(one for one in report.blocks if one.id == id)


def game(first: str, second: str, *scores: float, seed: int = 1) -> Game:
    return Game({"first": first, "second": second}, dict(zip(("first", "second"), scores, strict=True)), seed)


def test_every_agent_sits_in_every_seat_with_every_other_and_once_with_itself():
    assert [tuple(one.values()) for one in lineups(("x", "y", "z"), ("a", "b"))] == [
        ("a", "a", "a"), ("a", "a", "b"), ("a", "b", "a"), ("a", "b", "b"),
        ("b", "a", "a"), ("b", "a", "b"), ("b", "b", "a"), ("b", "b", "b"),
    ]  # fmt: skip
    assert len(lineups(("first", "second"), ("a", "b", "c"))) == 9
    assert len(lineups(("x", "y", "z"), ("a", "b", "c"))) == 3 + 3 * 6, "never three different ones"


def test_games_are_played_in_both_orders_and_those_that_are_there_are_kept(archive):
    counts: list[tuple[int, int]] = []
    first = cross_play(archive, INVADERS, ["random", "noop"], [3], max_steps=40, report=lambda *done: counts.append(done))
    assert list(first) == ["random + random", "random + noop", "noop + random", "noop + noop"]
    assert counts == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    for lineup, (episode,) in first.items():
        assert " + ".join(held.actor for held in episode.seats) == lineup
        assert (episode.seed, episode.num_steps) == (3, 40)
    counts.clear()
    more = cross_play(archive, INVADERS, ["random", "noop"], [3, 4], max_steps=40, report=lambda *done: counts.append(done))
    assert counts[0] == (4, 8)
    assert all(more[lineup][0].id == episode.id for lineup, (episode,) in first.items())
    shorter = cross_play(archive, INVADERS, ["noop"], [3], max_steps=20)
    assert shorter["noop + noop"][0].num_steps == 20, "a longer game is not one of the shorter ones"


def test_the_command_writes_the_report_of_the_games_that_are_there(archive, capsys):
    line = "report crossplay atari-two/space_invaders_competitive --agents random,noop --seeds 3,4 --max-seconds 0.6667 --json"
    with pytest.raises(SystemExit) as end:
        main([*line.split(), "--data", str(archive.root)])
    assert end.value.code == 0
    said = json.loads(capsys.readouterr().out)
    assert said["facts"]["games"] == "8"
    tables = {one["id"]: one["rows"] for one in [*said["tables"], *said["figures"]]}
    assert [row["games"] for row in tables["scores"]] == [2, 2, 2, 2]
    assert (archive.root / "reports/crossplay/atari-two-space_invaders_competitive/report.pdf").is_file()


def test_scores_are_means_with_intervals_and_each_seat_has_a_matrix():
    games = [
        game("a", "a", 10, 20), game("a", "a", 14, 20, seed=2), game("a", "b", 4, 8), game("a", "b", 6, 8, seed=2),
        game("b", "a", 1, 3), game("b", "a", 1, 5, seed=2), game("b", "b", 0, 0),
    ]  # fmt: skip
    report = crossplay_report(KITCHEN, games, ["a", "b"], score="return", seeds=[1, 2])
    first, second = block(report, "matrix-first"), block(report, "matrix-second")
    assert [row["value"] for row in first.table] == [12, 5, 1, 0]
    assert [(row["row"], row["column"], row["value"]) for row in second.table] == [
        ("a", "a", 20), ("a", "b", 4), ("b", "a", 8), ("b", "b", 0),
    ]  # fmt: skip
    assert first.table[0]["low"] == pytest.approx(12 - 12.7062 * 2, abs=1e-3)  # Student's t of one degree of freedom
    rows = {row["agent"]: row for row in block(report, "with-others").records()}
    assert rows["a"]["with itself"] == 16
    assert rows["a"]["with others"] == pytest.approx(np.mean([4, 6, 3, 5]))
    assert rows["a"]["difference"] == pytest.approx(11.5)
    assert rows["a"]["others with it"] == pytest.approx(np.mean([8, 8, 1, 1]))
    assert rows["b"]["games with others"] == 4
    assert [row["with"] for row in block(report, "scores").records()] == ["itself", "", "", "itself"]
    assert "seeds 1, 2" in report.sections[0].paragraphs[0]
    page = html(report)
    assert "4.00" in page
    assert "Framed: an agent with itself" in page


def test_games_played_again_on_a_seed_add_no_certainty():
    games = [game("a", "a", 10, 20), game("a", "a", 14, 20, seed=2)]
    (once,), (again,) = (
        block(crossplay_report(KITCHEN, part, ["a"], score="return", seeds=[1, 2]), "scores").records()
        for part in (games, games * 9)
    )
    assert again == once | {"games": 18}
    assert once["first: from"] == pytest.approx(12 - 12.7062 * 2, abs=1e-3)
    assert once["second: mean"] == 20
    assert once["second: from"] is None, "equal scores do not say how much scores vary"


def test_names_from_anywhere_stay_names_in_page_and_tables(tmp_path):
    name = '=HYPERLINK("//x")<img src=x>$\\frac$'
    report = crossplay_report(KITCHEN, [game(name, name, 1, 2)], [name], score="return", seeds=[1])
    written = write_report(report, tmp_path)
    assert "<img" not in written.html.read_text()
    with (written.tables / "scores.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["in first"] == f"'{name}", "a spreadsheet takes it for a text"
    assert row["first: mean"] == "1.0"


def test_where_both_always_score_the_same_one_matrix_is_enough_and_people_stand_last():
    games = [game("a", "b", 5, 5), game("b", "a", 7, 7), game(PEOPLE, "a", 2, 2, seed=99)]
    report = crossplay_report(KITCHEN, games, ["a", "b"], score="return", seeds=[1])
    assert [one.id for one in report.blocks] == ["matrix-first", "scores", "with-others"]
    matrix = {(row["row"], row["column"]): row["value"] for row in block(report, "matrix-first").table}
    assert matrix[PEOPLE, "a"] == 2
    assert matrix["a", PEOPLE] is None
    assert matrix["a", "a"] is None
    assert "Games of people (1)" in " ".join(report.sections[0].paragraphs)


def test_a_score_may_be_a_statistic_and_must_be_there(archive):
    episodes = archive.episodes(task=INVADERS)
    assert default_score(episodes) == "return"
    (one, *_) = games_of(archive, episodes, "action_changes")
    measures = {(each.seat, each.name): each.value for each in archive.measures(episodes)[episodes[0].id]}
    assert one.scores == {seat: measures[seat, "action_changes"] for seat in INVADERS.seats}
    with pytest.raises(NotFoundError, match="action_changes"):
        games_of(archive, episodes, "action_change")


def test_what_cannot_be_played_is_refused(archive):
    with pytest.raises(AgentError, match=r"atari/breakout has one seat.*\n.*interplay play atari/breakout"):
        cross_play(archive, find("atari/breakout"), ["random"], [1])
    with pytest.raises(NotFoundError, match="did you mean 'random'"):
        cross_play(archive, INVADERS, ["randm"], [1])
    with pytest.raises(AgentError, match="two of these agents have the name 'random'"):
        cross_play(archive, INVADERS, ["random", "interplay.agents:RandomAgent"], [1])
    with pytest.raises(InterplayError, match="no games of overcooked/cramped_room"):
        crossplay_report(KITCHEN, [], ["a"], score="return", seeds=[1])
    assert entrants(INVADERS, archive) == ["scripted", "random"]
