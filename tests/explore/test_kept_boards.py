"""Boards and ratings of models: made again only when something has changed, and with tasks as what is drawn at random."""

import gc
import json
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

import interplay.record
from interplay.cli import main
from interplay.explore import judgement_cache, published
from interplay.explore.evaluation.metrics import Outcome, Result
from interplay.explore.evaluation.runs import FOLDER as RUNS
from interplay.explore.evaluation.runs import RunFile, header
from interplay.explore.evaluation.settings import Settings
from interplay.explore.judgement_cache import Judgement
from interplay.explore.results import cache, verification
from interplay.explore.results.cache import ResultCache
from interplay.explore.results.first_attempts import Exposures
from interplay.explore.results.pairs import rate
from interplay.explore.results.references import ORACLE, References, proofs
from interplay.store import EpisodeRow, entrants
from interplay.store.models import Participant
from interplay.store.participants import attempts_state
from interplay.testing import START, add_task, episode_values

TASK = "explore/0116"
INSTANCE = published.instances()[TASK]
IDS = tuple(one.id for one in INSTANCE.milestones)


@pytest.fixture
def archive(tmp_path):
    with closing(interplay.record.open(tmp_path)) as archive:
        with archive.database.write() as session:
            session.add(Participant(key="ada", created_at=START))
            add_task(session, INSTANCE.task())
        yield archive


def play(archive, episode: str, *, actor: str, task=None, **changes) -> None:
    with archive.database.write() as session:
        session.add(EpisodeRow(**episode_values(task or INSTANCE.task(), actor, 0, id=episode, **changes)))


def judged(episode: str, num_reached: int) -> Judgement:
    return Judgement(episode, INSTANCE.name, "interplay-1", 100, IDS, dict.fromkeys(IDS[:num_reached], 5), {})


def run(archive, model: str, epoch: int = 1) -> None:
    head = header(INSTANCE, Settings(), model, epoch)
    file = RunFile(archive.root / RUNS / f"{head['run']}.jsonl", head, START)
    file.append({"begin": {"episode": f"{model}-{epoch}", "at_start": [], "not_judged": []}})
    file.append({"end": {"outcome": "terminated", "said_done": True, "num_steps": 9, "reached": {IDS[0]: 3}, "replies": {}}})
    file.close()


def test_a_proof_is_an_episode_of_the_oracle_in_which_all_was_reached(archive):
    today = INSTANCE.task()
    earlier = replace(today, tags=(*today.tags, "an earlier version"))
    play(archive, "half", actor=ORACLE, created_at=START)
    play(archive, "whole", actor=ORACLE, created_at=START + timedelta(minutes=1))
    play(archive, "unknown", actor=ORACLE, created_at=START + timedelta(minutes=2))
    with archive.database.write() as session:
        add_task(session, earlier)
    play(archive, "old", actor=ORACLE, task=earlier)
    known = {"half": judged("half", len(IDS) - 1), "whole": judged("whole", len(IDS))}
    assert proofs(archive.database, archive.root, known.get) == {today.content_hash: "whole"}
    assert proofs(archive.database, archive.root, {"half": known["half"]}.get) == {}
    # Of a version that does not come with the package counts what was kept when it was recorded.
    kept = archive.root / judgement_cache.FOLDER / "old.json"
    judgement_cache.write(archive.root, judged("old", len(IDS)), replace(INSTANCE, task_text="Another."))
    document = json.loads(kept.read_text())
    assert proofs(archive.database, archive.root, {}.get) == {}
    kept.write_text(json.dumps(document | {"task_hash": earlier.content_hash}))
    assert proofs(archive.database, archive.root, {}.get) == {earlier.content_hash: "old"}


def test_boards_are_made_again_only_when_something_has_changed(archive, monkeypatch):
    made = []
    for name in ("boards", "references"):
        original = getattr(cache, name)
        monkeypatch.setattr(cache, name, lambda *given, name=name, original=original: made.append(name) or original(*given))
    known: dict[str, Judgement] = {}
    kept = ResultCache(archive.database, archive.root, known.get)
    assert (kept.boards(), made) == ([], ["boards"])
    run(archive, "m")

    def rows() -> list[tuple[str, int]]:
        """Asked twice; the second time nothing may be made."""
        (board,) = kept.boards()
        made.clear()
        assert kept.boards() == [board]
        assert made == []
        return [*((row["model"], row["runs"]) for row in board.table["references"]), ("waiting", board.num_waiting)]

    assert rows() == [("waiting", 0)]
    play(archive, "ada-1", actor="participant-1", actor_kind="human", participant_id=1)
    assert rows() == [("waiting", 0)]
    with archive.database.write() as session:
        entrants.agree(session, episode_id="ada-1", participant_id=1, agreed=True, now=START)
    assert rows() == [("waiting", 1)]
    known["ada-1"] = judged("ada-1", 1)
    judgement_cache.write(archive.root, known["ada-1"], INSTANCE)
    assert rows() == [("people (first attempts)", 1), ("waiting", 0)]
    Exposures(archive.database).add(1, "explore/0009", START)
    assert rows() == [("people (first attempts)", 1), ("waiting", 0)]
    with archive.database.write() as session:
        entrants.agree(session, episode_id="ada-1", participant_id=1, agreed=False, now=START)
    assert rows() == [("waiting", 0)]
    run(archive, "n")
    assert {row["model"] for row in kept.boards()[0].table["models"]} == {"m", "n"}
    (pair,) = kept.boards()[0].pairs
    assert (pair["first"], pair["second"], pair["msr_difference"], pair["msr_holm"]) == ("m", "n", 0, 1)


def test_boards_keep_what_they_stand_beside_so_another_never_takes_its_place(archive, monkeypatch):
    """What is freed leaves its address to what is made next, so an address says nothing of what changed."""
    run(archive, "m")
    kept = ResultCache(archive.database, archive.root, {}.get)
    monkeypatch.setattr(cache, "references", lambda *given: References({}, (), ()))
    kept.boards()
    first = weakref.ref(kept.references())
    play(archive, "ada-1", actor="participant-1", actor_kind="human", participant_id=1)
    kept.references()
    gc.collect()
    assert first() is not None
    kept.boards()
    gc.collect()
    assert first() is None, "only the last one is kept"


def test_what_takes_long_to_make_holds_up_nothing_else(archive, monkeypatch):
    run(archive, "m")
    kept = ResultCache(archive.database, archive.root, {}.get)
    (board,) = kept.boards()
    begun, go_on = threading.Event(), threading.Event()

    def slow(*given):
        begun.set()
        assert go_on.wait(60)
        return rate(*given)

    monkeypatch.setattr(cache, "rate", slow)
    with ThreadPoolExecutor(2) as pool:
        try:
            ratings = pool.submit(kept.ratings, board, "bradley-terry")
            assert begun.wait(60)
            others = pool.submit(lambda: (kept.boards(), kept.run(board.results[0].run)))
            boards, whole = others.result(timeout=30)
            assert (boards, whole is None, ratings.done()) == ([board], False, False)
        finally:
            go_on.set()
        assert ratings.result(60).rows == rate(board.results, "bradley-terry").rows


def test_an_entrant_withdrawn_while_another_comes_back_is_a_change(archive):
    def state():
        with archive.database.read() as session:
            return attempts_state(session, published.PREFIX)

    with archive.database.write() as session:
        add_task(session, INSTANCE.task())
        for name in ("ada", "bob"):
            entrants.admit(session, name=name, task=TASK, kind="agent", now=START)
        entrants.withdraw(session, name="ada", now=START)
    before = state()
    with archive.database.write() as session:
        entrants.restore(session, name="ada")
        entrants.withdraw(session, name="bob", now=START + timedelta(minutes=1))
    assert state() != before


def test_a_whole_run_is_read_again_only_when_its_file_has_changed(archive, monkeypatch):
    run(archive, "m")
    (path,) = (archive.root / RUNS).glob("*.jsonl")
    kept, first = ResultCache(archive.database, archive.root, {}.get), None
    first = kept.run(path.stem)
    assert first is not None
    assert kept.run(path.stem) is first
    with path.open("a") as file:
        file.write('{"failed": {"error": "gone", "replies": {}}}\n')
    assert kept.run(path.stem).num_failed == 1
    assert (kept.run("f" * 16), kept.run("../" + path.stem)) == (None, None)


def test_results_of_a_folder_without_a_catalogue_make_none(tmp_path, capsys):
    head = header(INSTANCE, Settings(), "m", 1)
    RunFile(tmp_path / RUNS / f"{head['run']}.jsonl", head, START).close()
    with pytest.raises(SystemExit) as stop:
        main(["explore", "results", "--data", str(tmp_path), "--json"])
    assert not stop.value.code
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert (table["references"], [row["model"] for row in table["models"]]) == ([], ["m"])
    assert [path.name for path in tmp_path.iterdir()] == ["explore"]


def test_results_of_many_models_do_not_print_each_pair_and_say_what_difficulty_is(archive, capsys, monkeypatch):
    monkeypatch.setattr(verification, "compared", lambda *given: "")
    for model in "abcdef":
        run(archive, model)
    with pytest.raises(SystemExit):
        main(["explore", "results", "--data", str(archive.root)])
    said = capsys.readouterr().out
    assert "15 pairs of models" in said
    assert "MSR differs by" not in said
    assert "Difficulty is tasks + prerequisites" in said
    assert "name no capabilities" in said


def test_pages_say_which_runs_they_believe_until_they_are_compared(archive):
    run(archive, "m")
    known: dict[str, Judgement] = {}
    kept = ResultCache(archive.database, archive.root, known.get)
    assert (kept.boards()[0].num_believed, len(kept.results()[0])) == (1, 1)
    known["m-1"] = judged("m-1", 2)
    judgement_cache.write(archive.root, known["m-1"], INSTANCE)
    assert kept.boards() == [], "the file says 1 milestone"
    assert ["says otherwise than episode m-1" in str(one) for one in kept.results()[1]] == [True]
    run(archive, "n")
    known["n-1"] = replace(judged("n-1", 1), reached={IDS[0]: 3})
    (board,) = kept.boards()
    assert [row["model"] for row in board.models] == ["n"]
    assert [one["why"] for one in board.left_out()] == ["it says otherwise than episode m-1"], "no milestone is named"


def test_results_say_how_many_first_attempts_cannot_be_judged(archive, capsys):
    head = header(INSTANCE, Settings(), "m", 1)
    RunFile(archive.root / RUNS / f"{head['run']}.jsonl", head, START).close()
    play(archive, "ada-1", actor="participant-1", actor_kind="human", participant_id=1)
    with archive.database.write() as session:
        entrants.agree(session, episode_id="ada-1", participant_id=1, agreed=True, now=START)
    with pytest.raises(SystemExit) as stop:
        main(["explore", "results", "--data", str(archive.root)])
    assert not stop.value.code
    said = capsys.readouterr().out
    assert "No run counts, so there is no table. Why: 1 x it was interrupted; run the same command again.\n" in said
    assert "TSR" not in said
    assert "first attempts of people that cannot be judged, and are left out: 1" in said  # it has no file


def result(model: str, task: int, epoch: int, num_reached: int) -> Result:
    parts = tuple(Outcome(str(number), "find", 1 if number < num_reached else None, True) for number in range(3))
    about = {"seed": 0, "hops": 1, "capabilities": (), "settings": "{}", "at_start": (), "num_steps": 1, "episode": None}
    ended = {
        "failed": None,
        "ended": "terminated",
        "calls": 1,
        "input_tokens": 1,
        "output_tokens": 1,
        "replies": {},
        "cost": None,
    }
    which = {"run": f"{model}{task}{epoch}", "task": f"explore/t{task}", "model": model, "epoch": epoch}
    return Result(outcomes=parts, **which, **about, **ended)


BEST = (3, 3, 2, 0, 3, 1)
"""Milestones that `good` reaches in six tasks; `bad` reaches one in each."""


def runs(num_epochs: int) -> list[Result]:
    return [
        result(model, task, epoch, reached if model == "good" else 1)
        for epoch in range(num_epochs)
        for task, reached in enumerate(BEST)
        for model in ("good", "bad")
    ]


def test_more_runs_of_the_same_tasks_do_not_make_a_rating_look_surer():
    once, often = (rate(runs(number)) for number in (1, 25))
    assert (once.num_answers, often.num_answers, often.num_tasks) == (6, 150, 6)
    for ours in (once, often):
        assert [row.agent for row in ours.rows] == ["good", "bad"]
    widths = [ours.rows[0].high - ours.rows[0].low for ours in (once, often)]
    assert widths[1] > 0.6 * widths[0], "it would be a fifth if the 150 pairs were taken for independent"
    # The worse model is the better one in a resample that has t3, where it wins, more often than the four tasks it loses.
    assert 0.8 < often.rows[0].above_next < 0.99
    assert often.rows[1].above_next is None


def test_the_order_of_runs_does_not_change_a_rating():
    for method in ("bradley-terry", "davidson"):
        assert rate(runs(3), method).rows == rate(runs(3)[::-1], method).rows


def test_a_single_task_gives_no_interval():
    ratings = rate([one for one in runs(4) if one.task == "explore/t0"])
    assert [(row.agent, row.low, row.high, row.above_next) for row in ratings.rows] == [
        ("good", None, None, None),
        ("bad", None, None, None),
    ]
    assert rate([]).rows == ()
