"""The leaderboard as page, CSV and JSON: every method, people and model judges apart, kept until the log changes."""

import csv
import html
import io
import json
import re
import threading

import numpy as np
import pytest
from agents_world import NOW, TestClient, client
from board_world import NAMES, fill

import interplay.record
from interplay import starter
from interplay.cli import main
from interplay.cli.options import suites_with
from interplay.explore import published
from interplay.explore.evaluation.runs import read_all
from interplay.judge import Judging, Rules
from interplay.judge.ratings.answers import comparisons, judgements
from interplay.judge.ratings.boards import BOARD_METHODS, COLUMNS, Boards, Track
from interplay.rank import bradley_terry, win_probability
from interplay.rank.answers_file import read_answers
from interplay.rank.methods import Log, rate
from interplay.rank.normal import Z95
from interplay.rank.trueskill import Rating
from interplay.store.judging.bans import ban, unban
from interplay.web.app import create_app
from interplay.web.plots import MAX_POINTS, history

TASKS = ("basalt/find_cave", "basalt/make_waterfall")


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """An archive with 600 answers of people and 80 of a model judge about 17 agents in two tasks."""
    archive = interplay.record.open(tmp_path_factory.mktemp("board"))
    fill(archive, tasks=TASKS, num_answers=600)
    fill(archive, tasks=TASKS, num_answers=80, num_judges=1, judge_kind="model", seed=1)
    yield archive
    archive.database.close()


def app_over(archive):
    return create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0), rules=Rules()))


@pytest.fixture(scope="module")
def visitor(full):
    """Somebody who reads the full board."""
    return client(app_over(full))


def board(visitor, **asked) -> dict:
    answer = visitor.get("/api/leaderboard", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("method", BOARD_METHODS)
@pytest.mark.parametrize("task", ["", TASKS[0]])
def test_every_method_ranks_everybody_and_says_how_sure_it_is(visitor, method, task):
    found = board(visitor, method=method, task=task)
    rows = found["rows"]
    assert {row["agent"] for row in rows} == set(NAMES)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert sum(row["num_answers"] for row in rows) == 2 * found["num_answers"]
    for row in rows[:-1]:
        assert row["low"] == pytest.approx(row["mu"] - Z95 * row["sigma"])
        assert 0 < row["above_next"] < 1
        assert (row["beats_next"] is None) == (method == "normalised")
    assert (rows[-1]["beats_next"], rows[-1]["above_next"]) == (None, None)
    assert {rows[0]["agent"], rows[1]["agent"]} & set(NAMES[:5])  # 1.6 logits above the average: not below half of them
    page = visitor.get("/leaderboard", params={"method": method, "task": task}).text
    assert page.count('<tr class="hue-') == len(NAMES)


def test_the_default_board_is_trueskill_of_the_judging_room(visitor, full):
    rows = board(visitor)["rows"]
    expected = Judging(full, rng=np.random.default_rng(0)).leaderboard()["rows"]
    assert [(row["agent"], row["mu"], row["sigma"]) for row in rows] == [
        (row["agent"], row["mu"], row["sigma"]) for row in expected
    ]
    first, second = (Rating(row["mu"], row["sigma"]) for row in rows[:2])
    assert rows[0]["beats_next"] == pytest.approx(win_probability(first, second))


def test_bradley_terry_on_the_board_is_the_fit_of_the_log(visitor, full):
    rows = board(visitor, method="bradley-terry")["rows"]
    from interplay.judge.ratings.ratings import comparison
    from interplay.store import judging as store

    with full.database.read() as session:
        log = Log.of([comparison(answer) for answer in store.answers(session)])
    fitted = dict(zip(log.agents, bradley_terry.fit(*log.counts()).log_strength, strict=True))
    for row in rows:
        assert row["mu"] == pytest.approx(fitted[row["agent"]])
    chance = 1 / (1 + np.exp(rows[1]["mu"] - rows[0]["mu"]))
    assert rows[0]["beats_next"] == pytest.approx(chance)


def test_the_normalised_score_has_mean_zero_where_everybody_was_judged_in_every_task(visitor):
    rows = board(visitor, method="normalised")["rows"]
    assert np.mean([row["mu"] for row in rows]) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("asked", [{}, {"method": "davidson"}, {"judges": "models"}, {"task": TASKS[1]}])
def test_csv_and_json_have_the_same_columns_and_values(visitor, asked):
    text = visitor.get("/leaderboard.csv", params=asked).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    for row, document in zip(rows, board(visitor, **asked)["rows"], strict=True):
        assert set(COLUMNS) <= set(document)
        assert row == {name: "" if document[name] is None else str(document[name]) for name in COLUMNS}


def test_model_judges_have_a_board_of_their_own_and_never_count(visitor, archive):
    people, models = board(visitor), board(visitor, judges="models")
    assert (people["num_answers"], models["num_answers"], models["num_judges"]) == (600, 80, 1)
    assert "Not people." in visitor.get("/leaderboard?judges=models").text
    assert "Not people." not in visitor.get("/leaderboard").text
    fill(archive, tasks=TASKS[:1], agents=("ada", "bob"), num_answers=5)
    assert "model judges" not in client(app_over(archive)).get("/leaderboard").text  # no tab that leads nowhere


def test_an_answer_a_ban_and_its_end_change_the_board_at_once(archive):
    app = app_over(archive)
    visitor = client(app)
    assert board(visitor)["rows"] == []
    fill(archive, tasks=TASKS[:1], agents=("ada", "bob", "cyd"), num_answers=9, num_judges=3)
    whole = board(visitor)
    assert whole["num_answers"] == 9
    with archive.database.write() as session:
        ban(session, judge="participant-1", reason="x", now=NOW)
    assert board(visitor, method="bradley-terry")["num_answers"] == board(visitor)["num_answers"] == 6
    assert max(track.num_answers[-1] for track in app.state.services.boards.tracks().values()) == 6
    with archive.database.write() as session:
        unban(session, judge="participant-1", now=NOW)
    assert board(visitor) == whole
    fresh = Boards(Judging(archive, rng=np.random.default_rng(0)))
    assert fresh.board()["rows"] == app.state.services.boards.board()["rows"]


def test_nothing_is_computed_twice_while_the_log_stays(full, monkeypatch):
    boards = Boards(Judging(full, rng=np.random.default_rng(0)))
    first = boards.board(None, "davidson")
    monkeypatch.setattr("interplay.judge.ratings.boards.rate", None)
    assert boards.board(None, "davidson") == first


def test_a_fit_keeps_neither_other_boards_nor_answers_waiting_and_is_made_once(full, monkeypatch):
    boards = Boards(Judging(full, rng=np.random.default_rng(0)))
    begun, go_on, times = threading.Event(), threading.Event(), []

    def slow(log, method):
        times.append(method)
        begun.set()
        assert go_on.wait(60)
        return rate(log, method)

    monkeypatch.setattr("interplay.judge.ratings.boards.rate", slow)
    found = []
    askers = [threading.Thread(target=lambda: found.append(boards.board(None, "davidson"))) for _ in range(2)]
    for asker in askers:
        asker.start()
    assert begun.wait(60)
    whole = boards.board(None, "trueskill")  # would wait for ever behind a lock
    with full.database.write() as session:
        ban(session, judge="participant-1", reason="x", now=NOW)
    assert boards.board(None, "trueskill")["num_answers"] < whole["num_answers"]
    go_on.set()
    for asker in askers:
        asker.join()
    assert times == ["davidson"]
    assert found[0]["rows"] == found[1]["rows"]
    now, then = boards.board(None, "davidson")["rows"], found[0]["rows"]
    assert sum(row["num_answers"] for row in now) < sum(row["num_answers"] for row in then)
    with full.database.write() as session:
        unban(session, judge="participant-1", now=NOW)


def test_a_fit_that_fails_is_tried_again(full, monkeypatch):
    boards = Boards(Judging(full, rng=np.random.default_rng(0)))
    with monkeypatch.context() as patch:
        patch.setattr("interplay.judge.ratings.boards.rate", lambda log, method: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            boards.board(None, "davidson")
    assert boards.board(None, "davidson")["rows"]


def test_page_and_command_line_show_the_same_rows_with_the_same_intervals(full, visitor, capsys):
    """Also of the normalised score: one place makes them."""
    with pytest.raises(SystemExit):
        main(["rank", "--normalised", "--data", str(full.root), "--json"])
    document = json.loads(capsys.readouterr().out)
    for rows, asked in ((document["leaderboard"], {}), (document["normalised"], {"method": "normalised"})):
        theirs = board(visitor, **asked)["rows"]
        names = ("rank", "group", "agent", "mu", "sigma", "low", "high", "score", "won", "drew", "lost", "above_next")
        assert [[row.get(name) for name in names] for row in rows] == [[row[name] for name in names] for row in theirs]


@pytest.mark.parametrize("num_answers", [0, 1, 2])
def test_boards_of_next_to_nothing_are_pages_too(archive, num_answers):
    fill(archive, tasks=TASKS[:1], agents=("ada", "bob"), num_answers=num_answers)
    visitor = client(app_over(archive))
    for method in BOARD_METHODS:
        page = visitor.get("/leaderboard", params={"method": method})
        assert page.status_code == 200
        assert ("No answers yet" in page.text) == (num_answers == 0)
    assert ("Rating history" in visitor.get("/leaderboard").text) == (num_answers > 1)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"method": "elo"}, "method: expected one of trueskill, "),
        ({"judges": "robots"}, "judges: expected people or models"),
    ],
)
def test_a_board_of_another_kind_is_refused_by_name(visitor, asked, says):
    for address in ("/api/leaderboard", "/leaderboard", "/leaderboard.csv"):
        answer = visitor.get(address, params=asked)
        assert answer.status_code == 422
        assert says in answer.text
    assert visitor.get("/api/leaderboard", params=asked).json()["error"] == "invalid"
    assert "did you mean" in visitor.get("/api/leaderboard", params={"task": "basalt/find_cav"}).json()["message"]


def test_names_are_text_on_the_page(archive):
    fill(archive, tasks=TASKS[:1], agents=("<b>ada</b>", "bob & cyd"), num_answers=4)
    page = client(app_over(archive)).get("/leaderboard").text
    assert "<b>ada" not in page
    assert "bob &amp; cyd" in page


# The plot


def test_a_track_is_drawn_from_its_first_answer_to_the_last_of_all():
    plot = history({"bob": Track([1, 2], [21.0, 20.0], [7.0, 6.5]), "ada": Track([1, 4], [29.0, 31.0], [7.0, 6.0])}, {"bob": 1})
    assert plot is not None
    assert plot["series"] == [{"name": "ada", "hue": 0}, {"name": "bob", "hue": 1}], "the highest rated first"
    assert plot["rows"][:2] == [(0, 1, 29.0, 13.72), (0, 4, 31.0, 11.76)]  # 1.96 * 7 and 1.96 * 6
    assert plot["end"] == 4
    assert history({"ada": Track([1, 4], [29.0, 31.0], [7.0, 6.0])}, {}, num_answers=80)["end"] == 80


def test_a_long_log_makes_a_small_plot():
    tracks = {str(number): Track(list(range(1, 20_001)), [25.0] * 20_000, [1.0] * 20_000) for number in range(17)}
    plot = history(tracks, {})
    assert plot is not None
    assert len(plot["rows"]) <= MAX_POINTS
    assert {(row[0], row[1]) for row in plot["rows"]} >= {(number, at) for number in range(17) for at in (1, 20_000)}


def test_an_agent_that_has_not_moved_has_no_plot():
    assert history({"ada": Track([3], [29.0], [7.0])}, {}, num_answers=9) is None
    assert history({"ada": Track([3], [29.0], [7.0]), "bob": Track([3, 5], [21.0, 20.0], [7.0, 6.5])}, {}) is not None


# Examples


def test_boards_show_examples_which_are_nowhere_else_until_a_button_hides_them(archive):
    starter.enter(archive)
    with TestClient(create_app(archive, suites=suites_with(None)), base_url="http://127.0.0.1") as visitor:
        for page in ("/leaderboard", "/leaderboard?task=atari/qbert&method=davidson", "/explore", "/leaderboard/explore"):
            assert "<strong>Examples.</strong>" in visitor.get(page).text, page
        assert '<a href="/agents/scripted">' in visitor.get("/leaderboard").text
        assert "0 answers · 0 judges" in visitor.get("/leaderboard").text
        assert "xamples" not in visitor.get("/leaderboard?task=overcooked/cramped_room").text, "of this task there are none"
        assert re.findall(r"oracle|scripted/\w+", visitor.get("/explore").text)[0] == "oracle"
        assert visitor.get("/api/leaderboard").json()["rows"] == []
        assert visitor.get("/leaderboard.csv").text.count("\n") == 1
        assert visitor.get("/explore/boards/paper-200").status_code == 404
        assert comparisons(archive.database) == judgements(archive.database) == []
        assert read_all(archive.root) == ({}, {})
        for page, text in (
            ("/leaderboard?task=atari/qbert&method=davidson", "No answers yet"),
            ("/explore", "No language model has played yet</h2>"),
            ("/leaderboard/explore", "No two models to compare"),
        ):
            (back,) = re.findall(r'name="next" value="(.*?)"', visitor.get(page).text)
            changed = visitor.post("/examples/hide", data={"next": html.unescape(back)}, follow_redirects=False)
            assert (changed.status_code, changed.headers["location"]) == (303, page)
            hidden = visitor.get(page).text
            assert text in hidden
            assert '<strong>Examples are hidden</strong> in this browser.</span> <button class="btn small-btn"' in hidden
            with TestClient(visitor.app, base_url="http://127.0.0.1") as other:
                assert "<strong>Examples.</strong>" in other.get(page).text, "of others nothing is hidden"
            assert "<strong>Examples.</strong>" in visitor.post("/examples/show", data={"next": page}).text
        assert visitor.post("/examples/show", data={"next": "//lab.example"}, follow_redirects=False).headers["location"] == (
            "/leaderboard"
        )
    (archive.root / starter.EXAMPLES).unlink()  # as `serve --empty` does
    assert starter.enter(archive) == 0
    assert not (archive.root / starter.EXAMPLES).exists(), "a later start does not bring them back"
    with TestClient(create_app(archive, suites=suites_with(None)), base_url="http://127.0.0.1") as visitor:
        assert "xamples" not in visitor.get("/leaderboard").text


def test_examples_give_way_to_real_answers(archive):
    starter.enter(archive)
    fill(archive, tasks=["atari/qbert"], num_answers=20)
    with TestClient(create_app(archive, suites=suites_with(None)), base_url="http://127.0.0.1") as visitor:
        for task in ("", "atari/qbert", "atari/breakout"):
            assert "Examples." not in visitor.get(f"/leaderboard?task={task}").text
        assert "<strong>Examples.</strong>" in visitor.get("/explore").text


def test_examples_are_of_what_is_shipped_now():
    shown = {(one.task, one.agent) for one in starter.episodes()}
    answers = read_answers(starter.ANSWERS)
    assert {(one.task, agent) for one in answers for agent in (one.left, one.right)} == shown
    document = json.loads(starter.RUNS.read_text())
    today = {one.task().content_hash for one in published.instances().values()}
    assert {*document["proofs"], *(one["task_hash"] for one in document["results"])} <= today
