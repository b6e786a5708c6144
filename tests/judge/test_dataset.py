"""The published data set: what counts comes in whole and goes out equal, what does not is named row by row."""

import csv
import json
import signal
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
import warm_process
from judging_world import AT_ONCE, form, num_answers
from meeting import meet
from published_rows import FIND_CAVE, row, rows, synthetic_answers
from video_files import write_agent, write_video

import interplay.record
from interplay import testing
from interplay.cli import main
from interplay.errors import NotFoundError
from interplay.judge import Judging
from interplay.judge.bans import BanFileError
from interplay.judge.entrants.uploads import UploadError, add_agent
from interplay.judge.published import DatasetError, Selection, export_answers, flat_table, import_answers, open_pseudonyms
from interplay.judge.published.dataset_export import Tasks
from interplay.rank import Comparison, TaskStandings
from interplay.store import entrants as entrant_store
from interplay.store import judging as store
from interplay.store.judging import bans as ban_store
from interplay.store.judging.verdicts import full_answers
from interplay.store.uploads import exported
from interplay.tasks import find

ALL = Selection(name="bedd", include_banned=True)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory) -> tuple:
    """The set of 3,049 answers as a file, and as it is."""
    items = synthetic_answers(0)
    path = tmp_path_factory.mktemp("published") / "human_answers.json"
    path.write_text(json.dumps(items))
    return path, items


@pytest.fixture(scope="module")
def synthetic_archive(synthetic, tmp_path_factory):
    """A data folder that holds it, and the report of its import."""
    archive = interplay.record.open(tmp_path_factory.mktemp("imported") / "data")
    yield archive, import_answers(archive, synthetic[0])
    archive.close()


@pytest.fixture
def write(tmp_path):
    """Writes rows to a file."""

    def write(items, name="answers.json"):
        path = tmp_path / name
        path.write_text(json.dumps(items))
        return path

    return write


def items_of(archive, selection=ALL) -> list:
    with archive.database.read() as session:
        return export_answers(session, selection)


def answers_of(archive) -> list:
    with archive.database.read() as session:
        return list(exported(session))


def test_the_set_of_3049_answers_comes_in_whole_and_goes_out_equal(synthetic, synthetic_archive):
    path, items = synthetic
    archive, report = synthetic_archive
    assert (report["num_rows"], report["num_imported"], report["num_dropped"]) == (3049, 3049, 0)
    assert items_of(archive) == items
    # The counts of the paper, tables 2 and 5: answers, words and hours per task; comparison points over all.
    counts = {name: (facts["num_answers"], facts["num_words"]) for name, facts in report["tasks"].items()}
    assert counts == {
        "basalt/find_cave": (722, 27_948),
        "basalt/make_waterfall": (682, 26_437),
        "basalt/create_village_animal_pen": (914, 32_768),
        "basalt/build_village_house": (731, 26_917),
    }
    assert report["num_points"] == 27_905
    assert (report["num_workers"], len(report["agents"])) == (65, 17)
    assert report["tasks"]["basalt/find_cave"]["mean_duration_s"] == pytest.approx(300.47, abs=0.01)
    assert sum(facts["total_hours"] for facts in report["tasks"].values()) == pytest.approx(273.65, abs=0.01)
    assert report["notes"] == []
    assert report["order"] == "reverse order of the file, which is newest first"
    assert json.loads((archive.root / "imports" / "bedd-report.json").read_text()) == report
    # Again adds nothing.
    assert import_answers(archive, path)["num_there_already"] == 3049
    assert num_answers(archive) == 3049
    assert len(archive.episodes(with_uploads=True)) == len(
        {(one["agent_name"], item["task"], one["seed"]) for item in items for one in item["episodes"]}
    )


def test_imported_answers_rate_as_the_file_replayed_backwards(synthetic, synthetic_archive):
    items, archive = synthetic[1], synthetic_archive[0]
    names = {"FindCave": "find_cave", "MakeWaterfall": "make_waterfall"}
    names |= {"CreateVillageAnimalPen": "create_village_animal_pen", "BuildVillageHouse": "build_village_house"}
    expected = TaskStandings()
    for item in reversed(items):
        left, right = (episode["agent_name"] for episode in item["episodes"])
        outcome = {"p1": "left", "p2": "right", "draw": "draw"}[item["result"]["eval_metadata"]["win_player"]]
        expected.add(Comparison(left, right, outcome, f"basalt/{names[item['task']]}", "", None))
    board = Judging(archive, rng=np.random.default_rng(0)).leaderboard()["rows"]
    assert [(one["agent"], one["mu"]) for one in board] == [(one.agent, one.mu) for one in expected.overall.leaderboard()]
    assert len(board) == 17
    assert {one["agent"]: one["kind"] for one in board if one["kind"] != "agent"} == {
        "Human1": "human",
        "Human2": "human",
        "Random": "random",
        "BC-Baseline": "bc",
    }


def test_answers_keep_what_the_judge_said_in_our_words(archive, write):
    import_answers(archive, write(rows(1)))
    with archive.database.read() as session:
        (answer,) = full_answers(session)
    direct = [question.id for question in FIND_CAVE.questions if question.kind == "direct"]
    comparisons = [question.id for question in FIND_CAVE.questions if question.kind == "comparative"]
    choices = ["left", "right", "draw", "na", "left", "right", "draw"]
    assert answer.responses == {direct[0]: {"left": True, "right": False}} | dict(zip(comparisons, choices, strict=True))
    assert (answer.left, answer.right, answer.outcome, answer.judge) == ("GoUp", "Random", "left", "bedd/A1B2C3D4")
    assert answer.reason.startswith("Reason 0: the first player")
    assert (answer.duration_s, answer.created_at.isoformat()) == (120.0, "2022-11-21T09:02:00+00:00")
    assert answer.viewing["published_events"][0]["type"] == "play"


def changed(path: str, value, number: int = 1) -> dict:
    """A row with something else at a place, `a.b.0`; `...` removes it."""
    item = row(number)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = item
    for part in way:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return item


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (changed("task", "FindCaves"), "is about an unknown task 'FindCaves'"),
        (changed("episodes.1.task", "MakeWaterfall"), "is about FindCave and shows a video of MakeWaterfall"),
        (changed("episodes.1.agent_name", "GoUp"), "compares GoUp with itself"),
        (changed("episodes.1.agent_name", ""), "has an agent with the invalid name ''"),
        (changed("episodes.1.agent_name", "participant-3"), "has an agent with the invalid name 'participant-3'"),
        (changed("episodes.1.seed", "7"), f"compares seed {FIND_CAVE.held_out_seeds[0]} with seed 7"),
        (changed("episodes.1.seed", "north"), "has a seed that is not a number: 'north'"),
        (changed("episodes.1.hash", f"video-GoUp-{FIND_CAVE.held_out_seeds[0]}"), "shows the same video twice"),
        (changed("episodes.1", ...), "has 1 episodes, but 2 are compared"),
        (changed("episodes", None), "has no list of episodes"),
        (changed("result.eval_metadata.win_player", "p3"), "has an unknown outcome 'p3'"),
        (changed("result.eval_metadata.win_player", "p2"), "contradicts itself: win_player is p2, ranks put p1 first"),
        (changed("result.eval_metadata.win_player", "draw"), "contradicts itself: win_player is draw, is_draw is false"),
        (changed("result.is_draw", True), "contradicts itself: win_player is p1, is_draw is true"),
        (changed("result.ranks", [0, 0]), "contradicts itself: win_player is p1, ranks are equal"),
        (changed("result.ranks", ["x", "y"]), "ranks videos that are not the videos of the match"),
        (changed("result.ranks", ["x"]), "does not rank two videos"),
        (changed("result.eval_metadata.end_time", 1), "has an impossible end_time: 1970-01-01"),
        (changed("result.eval_metadata.end_time", "soon"), "has an invalid end_time: 'soon' is not a time"),
        (changed("result.eval_metadata.end_time", 1669021700000), "ends 100 s before it begins"),
        (changed("created_at", "yesterday"), "has an invalid created_at: 'yesterday' is not a time"),
        (changed("created_at", "2922-11-21T09:00:00"), "has an impossible created_at: 2922-11-21"),
        (changed("hash", "match-0"), "is the same match as row 2"),
        (changed("result", ...), "has no result"),
        (changed("worker_id", "") | {"result": {"eval_metadata": {"win_player": "p1"}}}, "does not say who judged"),
        (changed("something_new", "a\0b"), "holds a zero byte"),
        (changed("something_new", "\ud800"), "holds numbers or characters that JSON cannot hold"),
        ("nonsense", "is not an object but str"),
    ],
)
def test_a_row_that_cannot_count_is_dropped_with_its_reason(archive, write, item, reason):
    report = import_answers(archive, write([item, row(0)]))
    assert [(one["row"], one["reason"]) for one in report["dropped"]] == [(1, reason)]
    assert (report["num_imported"], num_answers(archive)) == (1, 1)


def without_optional_fields() -> dict:
    return {
        "worker_id": "W",
        "task": "MineRLBasaltFindCave-v0",
        "episodes": [{"agent_name": "GoUp", "seed": 14169}, {"agent_name": "Random", "seed": 14169}],
        "result": {"eval_metadata": {"win_player": "p2"}},
        "created_at": "2022-11-21 09:00:00+01:00",
    }


@pytest.mark.parametrize(
    ("item", "outcome"),
    [
        (changed("task", "MineRLBasaltFindCave-v0"), "left"),
        (changed("task", "find_cave"), "left"),
        (changed("task", "basalt/find_cave"), "left"),
        (changed("result.eval_metadata", json.dumps(row(1)["result"]["eval_metadata"])), "left"),
        (changed("result.eval_metadata.win_player", ...), "left"),
        (changed("result.ranks", json.dumps(row(1)["result"]["ranks"])), "left"),
        (changed("result.ranks", [0, 1]), "left"),
        (changed("result.ranks", ...), "left"),
        (changed("result.eval_metadata.start_time", ...), "left"),
        (changed("created_at", 1669024800), "left"),
        (changed("result.eval_metadata.responses", ...), "left"),
        (row(1, winner="draw"), "draw"),
        (row(1, winner="p2"), "right"),
        (row(1, seed=5), "left"),
        (without_optional_fields(), "right"),
    ],
)
def test_what_can_be_understood_is_taken_and_goes_out_equal(archive, write, item, outcome):
    report = import_answers(archive, write([item]))
    assert report["dropped"] == []
    assert [answer.outcome for answer in answers_of(archive)] == [outcome]
    assert items_of(archive) == [item]


def test_questions_are_told_by_their_place_and_where_some_are_missing_by_their_wording(archive, write):
    items = rows(4)
    short, turned = (item["result"]["eval_metadata"]["responses"] for item in items[:2])
    short["comparisons"] = [short["comparisons"][4], short["comparisons"][1]]
    turned["comparisons"].reverse()  # the same sentences in another order
    report = import_answers(archive, write(items))
    oldest, _, middle, newest = (answer.responses for answer in answers_of(archive))
    ids = [question.id for question in FIND_CAVE.questions if question.kind == "comparative"]
    assert newest == {name: oldest[name] for name in ("found", ids[1], ids[4])}
    assert middle == oldest
    assert report["notes"][0]["note"] == "2 comparative answers, but the form has 7"
    assert report["tasks"]["basalt/find_cave"]["questions"]["comparative"] == {"asked": 7, "found": {"2": 1, "7": 3}}
    assert items_of(archive) == items


def test_an_overall_question_among_the_comparisons_is_no_eighth_comparison(archive, write):
    item = row(1)
    item["result"]["eval_metadata"]["responses"]["comparisons"].append({"question": "Who is better?", "answer": "p1"})
    report = import_answers(archive, write([item, row(0)]))
    assert len(answers_of(archive)[1].responses) == 8
    assert report["notes"][0]["note"] == "the overall question is also among the comparisons"


def test_unanswered_questions_are_noted(archive, write):
    item = row(1)
    responses = item["result"]["eval_metadata"]["responses"]
    responses["comparisons"][0]["answer"] = ""
    responses["comparisons"][1]["answer"] = "both"
    responses["direct_question"][0]["player_2"] = None
    responses["justificationText"] = "  "
    report = import_answers(archive, write([item]))
    (answer,) = answers_of(archive)
    assert (answer.responses["faster"], answer.responses["movement"]) == ("na", "na")
    assert answer.responses["found"] == {"left": True, "right": False}
    assert {one["note"]: one["rows"] for one in report["notes"]} == {
        "a direct question without an answer, counted as no": [1],
        "a comparison without an answer, counted as n/a": [1],
        "a comparison with an unknown answer, counted as n/a": [1],
        "no reason": [1],
    }
    assert items_of(archive) == [item]


def test_a_file_that_is_not_newest_first_is_sorted_and_still_goes_out_in_its_order(archive, write):
    items = rows(5)
    items = [items[2], items[0], items[4], items[1], items[3]]
    report = import_answers(archive, write(items))
    assert report["order"] == "by the time of the answer; the file is not newest first"
    times = [answer.created_at for answer in answers_of(archive)]
    assert times == sorted(times)
    assert items_of(archive) == items


def test_a_newer_version_of_a_file_adds_its_new_rows_only(archive, write):
    items = rows(6)
    import_answers(archive, write(items[3:]))
    report = import_answers(archive, write(items))
    assert (report["num_imported"], report["num_there_already"]) == (3, 3)
    assert items_of(archive) == items


def test_a_row_that_was_changed_since_is_refused_because_answers_are_never_changed(archive, write):
    items = rows(2)
    import_answers(archive, write(items))
    items[0]["something_new"] = "else"
    report = import_answers(archive, write(items))
    assert report["dropped"] == [
        {
            "row": 1,
            "hash": "match-1",
            "reason": "was imported before with another content, and answers are never changed; use another --name",
        }
    ]
    assert num_answers(archive) == 2
    import_answers(archive, write(items), name="second")
    assert items_of(archive, Selection(name="second")) == items


def test_a_set_that_two_servers_import_at_once_comes_in_once(here, there, write):
    items = rows(6)
    import_answers(here, write(items[3:]))
    path = write(items)
    reports = meet(here.database, lambda: import_answers(here, path), lambda: import_answers(there, path))
    assert [(one["num_imported"], one["num_there_already"]) for one in reports] == [(3, 3), (0, 6)]


def test_banned_workers_are_kept_and_do_not_count(archive, write):
    items = [row(2, worker="BAD"), row(1, worker="GOOD"), row(0, worker="BAD")]
    path, banned = write(items), write([{"worker_id": "BAD"}, {"workerId": "NOBODY"}], "banned.json")
    report = import_answers(archive, path, banned=banned)
    assert (report["num_workers_banned"], report["num_answers_banned"]) == (1, 2)
    assert report["banned_without_answers"] == ["NOBODY"]
    assert items_of(archive, Selection(name="bedd")) == [items[1]]
    assert items_of(archive) == items
    judging = Judging(archive, rng=np.random.default_rng(0))
    assert judging.leaderboard()["num_answers"] == 1
    # Lifting a ban is a decision of this place; importing again does not take it back.
    with archive.database.write() as session:
        ban_store.unban(session, judge="bedd/BAD", now=answers_of(archive)[0].created_at)
    assert import_answers(archive, path, banned=banned)["num_new_bans"] == 0
    assert items_of(archive, Selection(name="bedd")) == items


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file\nGive the JSON file of the answers"),
        ("[{", "is not JSON: .*\nUnpack it if it is an archive"),
        ('{"a": 1}', "is not a list of answers but an object\nThe published file is one JSON list"),
        ('[{"a": 1}]', "none of its 1 rows is an answer in the published format; row 1 has no result\ndocs/dataset"),
    ],
)
def test_a_file_of_something_else_is_refused(archive, tmp_path, text, message):
    path = tmp_path / "answers.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DatasetError, match=message):
        import_answers(archive, path)


@pytest.mark.parametrize("banned", [{"workerId": "A"}, [{"worker": "A"}], [7]])
def test_a_list_of_banned_workers_that_cannot_be_read_stops_the_import(archive, write, banned):
    with pytest.raises(BanFileError, match=r"is not a list\n|entry 1 has no text under 'workerId'"):
        import_answers(archive, write(rows(1)), banned=write(banned, "banned.json"))
    assert num_answers(archive) == 0


def test_a_name_that_cannot_be_is_refused(archive, write):
    with pytest.raises(DatasetError, match="'My set' cannot be the name of a set\nUse up to 40 lower-case letters"):
        import_answers(archive, write(rows(1)), name="My set")


def test_a_new_agent_is_judged_against_the_agents_of_the_set_where_there_are_videos(archive, write, tmp_path):
    seeds = FIND_CAVE.held_out_seeds
    items = [row(number, seed=seed) for number, seed in reversed(list(enumerate(seeds)))]
    for number, agent in enumerate(("goup", "Random", "Stranger")):  # capitals of folders do not matter
        write_agent(tmp_path / "videos" / agent, first_shade=20 * number)
    report = import_answers(archive, write(items), videos=tmp_path / "videos")
    assert report["num_videos"] == 12
    assert report["video_notes"] == [
        "Stranger is not an agent in the answers and is ignored (add it with:  interplay judge add-agent)"
    ]
    add_agent(archive, "Mine", write_agent(tmp_path / "Mine", first_shade=70))
    judging = Judging(archive, rng=np.random.default_rng(0))
    seen = set()
    for number in range(8):
        match = judging.serve(f"participant-{number}", "basalt/find_cave")
        with archive.database.read() as session:
            found = store.match_by_id(session, match.id)
            assert found.seed in seeds[:3]
            seen |= {found.left_agent, found.right_agent}
    assert seen == {"GoUp", "Random", "Mine"}
    # An imported match shows its videos under the same episodes.
    answer = answers_of(archive)[0]
    assert archive.video_path(answer.left_episode_id).exists()


def test_an_agent_that_was_here_is_named_because_the_published_one_becomes_the_same(archive, write, tmp_path, capsys):
    add_agent(archive, "GoUp", write_agent(tmp_path / "GoUp", first_shade=70))
    add_agent(archive, "Mine", write_agent(tmp_path / "Mine", first_shade=20))
    path = write(rows(2))
    write_agent(tmp_path / "videos" / "Random")
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "import", str(path), "--videos", str(tmp_path / "videos"), "--data", str(archive.root)])
    text = capsys.readouterr().out
    assert "joined: GoUp\n  note: these agents were here already; the published agent and the earlier agent of the same" in text
    assert "import the file into a folder of its own, with --data OTHER" in text
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "import", str(path), "--data", str(archive.root), "--json"])
    again = json.loads(capsys.readouterr().out)
    assert again["joined_agents"] == ["GoUp"]  # importing again does not hide it, and what came with the set is not a stranger
    assert "are now one agent" in again["joined_note"]
    # Another set about the same agents joins them all.
    assert import_answers(archive, path, name="other")["joined_agents"] == ["GoUp", "Random"]


def test_agents_that_come_with_a_set_are_joined_with_nobody(archive, write):
    path = write(rows(2))
    for _ in range(2):
        report = import_answers(archive, path)
        assert (report["joined_agents"], report["joined_note"]) == ([], "")


def test_videos_that_come_later_fill_the_episodes_that_are_there(archive, write, tmp_path):
    path = write(rows(2))
    import_answers(archive, path)
    before = {episode.id for episode in archive.episodes(with_uploads=True)}
    write_video(tmp_path / "videos" / "GoUp" / "FindCave" / f"seed_{FIND_CAVE.held_out_seeds[0]}.mp4")
    write_video(tmp_path / "videos" / "Random" / "FindCave" / f"seed_{FIND_CAVE.held_out_seeds[0]}.mp4", shade=9)
    report = import_answers(archive, path, videos=tmp_path / "videos")
    assert (report["num_imported"], report["num_videos"]) == (0, 2)
    episodes = archive.episodes(with_uploads=True)
    assert {episode.id for episode in episodes} == before
    assert all(interplay.record.verify(episode).equal and episode.sha256 for episode in episodes)
    assert all(archive.video_path(name).exists() for name in before)


def test_a_broken_video_stops_the_whole_import(archive, write, tmp_path):
    broken = tmp_path / "videos" / "GoUp" / "FindCave" / f"seed_{FIND_CAVE.held_out_seeds[0]}.mp4"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"")
    with pytest.raises(UploadError, match="is damaged: the file is empty"):
        import_answers(archive, write(rows(1)), videos=tmp_path / "videos")
    assert num_answers(archive) == 0
    assert archive.episodes(with_uploads=True) == []
    (tmp_path / "empty").mkdir()
    with pytest.raises(UploadError, match="has no folder of an agent in the answers\nThe agents: GoUp, Random"):
        import_answers(archive, write(rows(1)), videos=tmp_path / "empty")


KILLED = """
import os, signal, sys
from pathlib import Path
import interplay.record
from interplay.judge.published import dataset_import
from interplay.judge.entrants.video_staging import Placement
place = sys.argv[4]
inner = dataset_import.store.insert_rows
def insert_rows(session, model, rows):
    if place == model.__tablename__:
        inner(session, model, rows[: len(rows) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    inner(session, model, rows)
dataset_import.store.insert_rows = insert_rows
if place == "finish":
    Placement.finish = lambda self, archive: os.kill(os.getpid(), signal.SIGKILL)
videos = Path(sys.argv[3]) if sys.argv[3] else None
dataset_import.import_answers(interplay.record.open(sys.argv[1]), Path(sys.argv[2]), videos=videos)
"""


@pytest.mark.parametrize("place", ["episodes", "matches", "answers"])
def test_who_is_killed_in_the_middle_of_an_import_leaves_nothing_and_tries_again(write, tmp_path, place):
    data, path = tmp_path / "data", write(rows(40))
    result = warm_process.run(["-c", KILLED, str(data), str(path), "", place])
    assert result.returncode == -signal.SIGKILL, result.stderr
    archive = interplay.record.open(data)
    try:
        with archive.database.read() as session:
            assert not entrant_store.entrants(session)
        assert (num_answers(archive), archive.episodes(with_uploads=True)) == (0, [])
        assert not (data / "imports").exists()
        assert import_answers(archive, path)["num_imported"] == 40
        assert items_of(archive) == rows(40)
    finally:
        archive.close()


def test_who_is_killed_before_late_videos_are_in_place_gets_them_by_trying_again(write, tmp_path):
    data, path, videos = tmp_path / "data", write(rows(2)), tmp_path / "videos"
    for shade, agent in enumerate(("GoUp", "Random")):
        write_video(videos / agent / "FindCave" / f"seed_{FIND_CAVE.held_out_seeds[0]}.mp4", shade=shade)
    archive = interplay.record.open(data)
    try:
        import_answers(archive, path)
        result = warm_process.run(["-c", KILLED, str(data), str(path), str(videos), "finish"])
        assert result.returncode == -signal.SIGKILL, result.stderr
        assert len(archive.repair().missing) == 2
        import_answers(archive, path, videos=videos)
        assert archive.repair().missing == []
        assert all(interplay.record.verify(episode).equal for episode in archive.episodes(with_uploads=True))
    finally:
        archive.close()


def test_an_anonymised_export_names_nobody_and_calls_the_same_judge_the_same(archive, write):
    items = [row(3, worker="AXYZ123456789"), row(2, worker="B7"), row(1, worker="AXYZ123456789")]
    items[0]["result"]["eval_metadata"]["turkSubmitTo"] = "https://example.org/?worker=AXYZ123456789"
    items[2]["extra"] = {"AXYZ123456789": {"of AXYZ123456789": 1}}
    items[1]["result"]["eval_metadata"] |= {"B7": "kept by key"}
    items[1]["result"]["eval_metadata"] = json.dumps(items[1]["result"]["eval_metadata"])
    import_answers(archive, write(items))
    selection = Selection(name="bedd", pseudonyms=open_pseudonyms(archive.root))
    found = items_of(archive, selection)
    text = json.dumps(found)
    assert "AXYZ123456789" not in text
    assert "B7" not in [item["worker_id"] for item in found]
    assert '\\"B7\\"' not in text
    assert "assignment-" not in text
    assert next(item["worker_id"] for item in found) == [item["worker_id"] for item in found][2] != found[1]["worker_id"]
    assert items_of(archive, Selection(name="bedd", pseudonyms=open_pseudonyms(archive.root))) == found
    assert (archive.root / "imports" / "pseudonyms.key").stat().st_mode & 0o077 == 0
    with archive.database.read() as session:
        judges = flat_table(session, selection).column("judge").to_pylist()
    assert set(judges) == {item["worker_id"] for item in found}


def test_people_who_played_have_pseudonyms_too_and_the_same_as_in_data_sets(archive):
    """Participant 7 is ranked by name: a table and a list of answers call them as data sets do."""
    task = find("atari/breakout")
    with archive.database.write() as session:
        sides = [testing.add_episode(session, task, actor, 1) for actor in ("participant-7", "random")]
        match = testing.match_values(*sides, "participant-8")
        testing.add_answers(session, [(match, testing.answer_values(match))])
    pseudonyms = open_pseudonyms(archive.root)
    selection = Selection(pseudonyms=pseudonyms)
    (item,) = items_of(archive, selection)
    assert [one["agent_name"] for one in item["episodes"]] == [pseudonyms.player("participant-7"), "random"]
    with archive.database.read() as session:
        assert flat_table(session, selection).column("left_agent").to_pylist() == [pseudonyms.player("participant-7")]
    assert pseudonyms("participant-7").removeprefix("judge-") == pseudonyms.player("participant-7").removeprefix("person-")


def test_our_own_answers_go_out_in_the_published_format_and_come_in_elsewhere(archive, clock, tmp_path):
    for number, name in enumerate(("GoUp", "UniTeam", "Mine")):
        add_agent(archive, name, write_agent(tmp_path / name, first_shade=20 * number))
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock)
    outcomes = ["left", "right", "draw", "left", "right", "right"]
    for number, outcome in enumerate(outcomes):
        match = judging.serve(f"participant-{number % 2}")
        clock.advance(90)
        judging.answer(match.id, f"participant-{number % 2}", **form(match.task, outcome))
        clock.advance(1)
    items = items_of(archive, Selection())
    path = tmp_path / "ours.json"
    path.write_text(json.dumps(items))
    other = interplay.record.open(tmp_path / "other")
    try:
        report = import_answers(other, path, name="ours")
        assert (report["num_imported"], report["dropped"], report["notes"]) == (6, [], [])
        assert items_of(other, Selection(name="ours")) == items
        with archive.database.read() as here, other.database.read() as there:
            for ours, theirs in zip(full_answers(here), full_answers(there), strict=True):
                assert theirs.responses == ours.responses
                assert theirs.judge == f"ours/{ours.judge}"
                assert (theirs.task, theirs.left, theirs.right, theirs.outcome, theirs.reason, theirs.created_at) == (
                    (ours.task, ours.left, ours.right, ours.outcome, ours.reason, ours.created_at)
                )
                assert theirs.duration_s == pytest.approx(ours.duration_s, abs=0.001)
        assert [item["result"]["eval_metadata"]["win_player"] for item in reversed(items)] == [
            {"left": "p1", "right": "p2", "draw": "draw"}[outcome] for outcome in outcomes
        ]
    finally:
        other.close()


WATCHED = {
    "events": [
        {"t": 1.5, "event": "play", "at": 0, "speed": 1},
        {"t": 9, "event": "first-quarter", "at": 5.1},
        {"t": 10, "event": "pause", "at": 6},
        {"t": 12.25, "event": "play", "at": 6, "speed": 2},
        {"t": -1, "event": "play"}, {"t": 1e300, "event": "play"}, {"t": "2", "event": "play"}, {"event": "play"},
        {"t": True, "event": "play"}, {"t": 10**400, "event": "play"}, {"t": 3, "event": ["play"]}, "play", None,
    ],
    "num_events": 4, "played_s": 9.5, "left": {"length_s": 20, "watched_s": 8.5}, "right": {"watched_s": "all"},
}  # fmt: skip


def test_what_a_judge_watched_goes_out_as_the_published_events_and_as_columns(archive, clock, tmp_path):
    for number, name in enumerate(("GoUp", "UniTeam")):
        add_agent(archive, name, write_agent(tmp_path / name, first_shade=20 * number))
    judging = Judging(archive, rules=AT_ONCE, rng=np.random.default_rng(0), clock=clock)  # any report, also a strange one
    for viewing in (WATCHED, {"events": "none", "left": 3}, None):
        match = judging.serve("participant-1")
        clock.advance(90)
        judging.answer(match.id, "participant-1", **form(match.task) | {"viewing": viewing})
    plain, odd, full = (item["result"]["eval_metadata"] for item in items_of(archive, Selection()))
    left, right = (f"{one['hash']}.mp4" for one in items_of(archive, Selection())[-1]["episodes"])
    start = full["start_time"]
    assert [(one["type"], one["time"] - start, one["player_id"], one["source"]) for one in full["VIDEO_EVENTS"]] == [
        (kind, time, player, source)
        for kind, time in (
            ("play", 1500), ("tracking:firstplay", 1500), ("tracking:first-quarter", 9000), ("play", 12250),
        )
        for player, source in (("player_1", left), ("player_2", right))
    ]  # fmt: skip
    assert plain["VIDEO_EVENTS"] == odd["VIDEO_EVENTS"] == []
    assert full["viewing"] == WATCHED
    with archive.database.read() as session:
        table = flat_table(session, Selection())
    assert [table.column(name).to_pylist() for name in ("played_s", "left_watched_s", "num_viewing_events")] == [
        [9.5, None, None], [8.5, None, None], [4, None, None],
    ]  # fmt: skip
    assert table.column("right_watched_s").to_pylist() == [None, None, None]


def test_exports_of_nothing_and_of_an_unknown_set_are_refused(archive, write):
    with pytest.raises(DatasetError, match="there are no such answers to write\nImport some with `interplay judge import`"):
        items_of(archive, Selection())
    import_answers(archive, write(rows(1)))
    with pytest.raises(NotFoundError, match="unknown imported set 'bed'; did you mean 'bedd'"):
        items_of(archive, Selection(name="bed"))


def test_the_table_has_a_row_for_each_answer_and_a_column_for_each_factor(synthetic, synthetic_archive, tmp_path, capsys):
    items, archive = synthetic[1], synthetic_archive[0]
    for name in ("answers.parquet", "answers.csv"):
        with pytest.raises(SystemExit, match="0"):
            main(["judge", "export", str(tmp_path / name), "--data", str(archive.root)])
        assert f"Wrote 3,049 answers to {tmp_path / name}" in capsys.readouterr().out
    table = pq.read_table(tmp_path / "answers.parquet")
    first, item = table.slice(0, 1).to_pylist()[0], items[-1]
    metadata = item["result"]["eval_metadata"]
    assert first["reason"] == metadata["responses"]["justificationText"]
    assert first["judge"] == f"bedd/{item['worker_id']}"
    assert first["num_words"] == len(first["reason"].split())
    said = {column: value for column, value in first.items() if column.startswith("factor_") and value is not None}
    answers = metadata["responses"]
    assert len(said) == 2 * len(answers["direct_question"]) + len(answers["comparisons"])
    with (tmp_path / "answers.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["reason"] for line in lines] == table.column("reason").to_pylist()
    caves = table.filter(np.array(table.column("task").to_pylist()) == "basalt/find_cave")
    assert caves.column("factor_found_cave_left").null_count == 0
    assert table.column("factor_more_human_like").null_count == 0


def test_two_questions_that_would_share_a_column_are_refused_by_name(archive, write, monkeypatch):
    import_answers(archive, write(rows(1)))
    of = Tasks.of

    def twins(self, task_hash):
        task = of(self, task_hash)
        first = next(question for question in task.questions if question.kind == "comparative")
        twin = replace(first, id="twin", factor=first.factor.upper())
        return replace(task, questions=(*task.questions, twin))

    monkeypatch.setattr(Tasks, "of", twins)
    message = r"questions '\w+' and 'twin' of basalt/find_cave have the same column, factor_"
    with archive.database.read() as session, pytest.raises(DatasetError, match=message):
        flat_table(session, Selection())


@pytest.mark.journey("the published BEDD answers")
def test_the_command_line_imports_exports_and_ranks(write, tmp_path, capsys):
    items = rows(3)
    items[1]["task"] = "Nowhere"
    path, data, out = write(items), tmp_path / "data", tmp_path / "out.json"
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "import", str(path), "--data", str(data)])
    text = capsys.readouterr().out
    assert "answers.json: 3 rows, 2 imported as 'bedd', 0 there already, 1 dropped" in text
    assert "row 2 is about an unknown task 'Nowhere'" in text
    assert f"Wrote {data}/imports/bedd-report.json\nNext:  interplay rank --data {data}" in text
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "export", str(out), "--name", "bedd", "--data", str(data), "--json"])
    assert json.loads(capsys.readouterr().out)["num_answers"] == 2
    assert json.loads(out.read_text()) == [items[0], items[2]]
    with pytest.raises(SystemExit, match="0"):
        main(["rank", "--data", str(data), "--json"])
    assert {one["agent"] for one in json.loads(capsys.readouterr().out)["leaderboard"]} == {"GoUp", "Random"}
    with pytest.raises(SystemExit, match="2"):
        main(["judge", "export", str(tmp_path / "out.xls"), "--data", str(data)])
    assert "OUT must end in .json, .parquet or .csv" in capsys.readouterr().err


def test_postgresql_keeps_a_set_as_well(postgres_url, write, tmp_path):
    items = rows(20)
    archive = interplay.record.open(tmp_path / "data", database=postgres_url)
    try:
        path = write(items)
        assert import_answers(archive, path)["num_imported"] == 20
        assert import_answers(archive, path)["num_there_already"] == 20
        assert items_of(archive) == items
        assert [answer.created_at for answer in answers_of(archive)] == sorted(
            answer.created_at for answer in answers_of(archive)
        )
    finally:
        archive.close()
