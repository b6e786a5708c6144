"""A real server killed under its judges (SIGKILL) and started again: no answer, match or draft is lost, none is doubled."""

import asyncio
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, TASKS, fill, form
from warm_process import SERVER, WarmProcess

from bench import judging_data
from bench.judging_checks import check
from bench.judging_crowd import leaderboards, run_crowd
from bench.judging_http import Client
from bench.judging_server import Server
from interplay.judge import Judging
from interplay.store import Answer, Database, Match

pytestmark = pytest.mark.processes

TWO_TASKS = judging_data.TASKS[:2]
NUM_ANSWERS = 60


class WarmServer(Server):
    """One that begins with its libraries loaded."""

    def begin(self, program, log, cwd):
        return WarmProcess(program, stderr=log, cwd=cwd, loaded=SERVER)


@pytest.fixture(scope="module", params=judging_data.DATABASES)
def served(request, tmp_path_factory):
    """A server over four agents in two tasks on three seeds, its database's address, and a folder."""
    folder = tmp_path_factory.mktemp("served")
    database = request.getfixturevalue("new_postgres_url")() if request.param == "postgresql" else None
    judging_data.fill(folder / "data", database, tasks=TWO_TASKS, num_agents=4, num_seeds=3)
    with WarmServer(folder / "data", database, log=folder / "server.log") as server:
        yield server, database or f"sqlite:///{folder}/data/interplay.db", folder


def test_five_judges_go_on_where_they_were_when_the_server_is_killed(served):
    server, database, folder = served

    def kill_and_start() -> None:
        server.kill()
        server.start()

    seen = run_crowd(
        folder / "seen.json",
        server.address,
        num_judges=5,
        num_answers=NUM_ANSWERS,
        think_s=0.0,
        seed=1,
        at_half=kill_and_start,
    )
    store = Database.open(database)
    # Six standard deviations on either side: one false alarm in a hundred million.
    findings = check(store, [seen], leaderboards(server.address, TWO_TASKS), max_z=6.0)
    store.close()
    assert dict(findings.faults) == {}
    assert findings.counts["num_answers"] == NUM_ANSWERS == len(seen["accepted"])


def test_what_was_accepted_a_moment_before_the_kill_is_there_after_it(served):
    server, database, _ = served
    address = urlsplit(server.address)

    async def judge_through_a_kill() -> str:
        writer, answerer = (Client(address.hostname, address.port) for _ in range(2))
        written = (await writer.request("POST", "/api/judge/matches", {})).body
        given = (await answerer.request("POST", "/api/judge/matches", {})).body
        answer = form(given["task"], "draw")
        await writer.request("POST", f"/api/judge/matches/{written['match']}/heartbeat", {"draft": {"reason": "The left"}})
        accepted = await answerer.request("POST", f"/api/judge/matches/{given['match']}/answer", answer)
        server.kill()
        assert accepted.status == 201
        server.start()
        again = await writer.request("POST", "/api/judge/matches", {})
        assert again.body["match"] == written["match"]
        assert again.body["draft"] == {"reason": "The left"}
        second = await answerer.request("POST", f"/api/judge/matches/{given['match']}/answer", answer)
        assert (second.status, second.body["error"]) == (409, "already_answered")
        writer.close()
        answerer.close()
        return given["match"]

    match = asyncio.run(judge_through_a_kill())
    store = Database.open(database)
    with store.read() as session:
        answers = session.scalars(sa.select(Answer).where(Answer.match_id == match)).all()
    store.close()
    assert [answer.outcome for answer in answers] == ["draw"]


# The checks themselves


@pytest.fixture
def judged(archive):
    """Twelve answers of two judges in one process, and what those judges saw."""
    judging = Judging(fill(archive), rng=np.random.default_rng(0), rules=AT_ONCE)
    accepted = {}
    for _ in range(6):
        for judge in ("ann", "ben"):
            match = judging.serve(judge)
            accepted[match.id] = (judging.answer(match.id, judge, **form(match.task)).sequence, "left")
    return judging, {"accepted": accepted, "holds": [], "wrong": []}


def findings_of(judging, seen) -> set[str]:
    boards = {task: judging.leaderboard(task or None)["rows"] for task in ("", TASKS[0])}
    # Twelve of twelve on one side are 3.46 standard deviations; one thread and one seed bring the same sides every time.
    return set(check(judging.database, [seen], boards, max_z=3.4).faults)


def test_work_in_order_passes_every_check(judged):
    assert findings_of(*judged) == set()


def _let_matches_change(session):
    session.execute(sa.text("DROP TRIGGER matches_are_kept_update"))


def _lose_an_answer(session, seen):
    session.execute(sa.text("DROP TRIGGER answers_are_kept_delete"))  # the database itself refuses such things
    session.execute(sa.delete(Answer).where(Answer.sequence == 3))


def _make_an_answer_up(session, seen):
    del seen["accepted"][next(iter(seen["accepted"]))]


def _turn_an_answer_round(session, seen):
    session.execute(sa.text("DROP TRIGGER answers_are_kept_update"))
    session.execute(sa.update(Answer).where(Answer.sequence == 3).values(outcome="right"))


def _mix_agents_up(session, seen):
    _let_matches_change(session)
    session.execute(sa.update(Match).values(left_agent=Match.right_agent))


def _mix_seeds_up(session, seen):
    _let_matches_change(session)
    session.execute(sa.update(Match).values(seed=Match.seed + 1))


def _let_every_match_last(session, seen):
    _let_matches_change(session)
    session.execute(sa.update(Match).values(answered_at=datetime.now(UTC) + timedelta(days=1)))


def _put_first_names_left(session, seen):
    _let_matches_change(session)
    for match in session.scalars(sa.select(Match).where(Match.left_agent > Match.right_agent)):
        match.left_agent, match.right_agent = match.right_agent, match.left_agent
        match.left_episode_id, match.right_episode_id = match.right_episode_id, match.left_episode_id


def _let_a_judge_hold_on(session, seen):
    pair = session.scalars(sa.select(Match).order_by(Match.served_at)).first()
    seen["holds"] = [(pair.id, 0, 1.0, 3.0), (pair.id, 1, 2.0, 4.0)]


@pytest.mark.parametrize(
    ("spoil", "kinds"),
    [
        (_lose_an_answer, {"accepted, and not in the log", "leaderboard is not a replay of the log"}),
        (_make_an_answer_up, {"in the log, and of no judge's doing"}),
        (_turn_an_answer_round, {"not as it was given", "leaderboard is not a replay of the log"}),
        (_mix_agents_up, {"wrong pair"}),
        (_mix_seeds_up, {"wrong pair"}),
        # Twelve matches of nine pairs.
        (_let_every_match_last, {"two matches of one judge", "one pair before two judges, by the database"}),
        (_put_first_names_left, {"a side is preferred"}),
        (_let_a_judge_hold_on, {"one pair before two judges, by their own account"}),
    ],
    ids=lambda value: value.__name__[1:] if callable(value) else "",
)
def test_every_fault_is_found(judged, spoil, kinds):
    judging, seen = judged
    judging.leaderboard()  # carried on from here, as a server's would be
    with judging.database.write() as session:
        spoil(session, seen)
    assert kinds <= findings_of(judging, seen)
