"""The synthetic answers as the store would hand them over, and an archive that holds them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from report_answers import full_answers

import interplay.record
from interplay import testing
from interplay.store.judging.verdicts import FullAnswer
from interplay.tasks import builtin_suites


@pytest.fixture(scope="session")
def forms():
    """Task id -> questions of every built-in task."""
    return {task.id: task.questions for suite in builtin_suites() for task in suite.tasks}


@pytest.fixture(scope="session")
def answers(forms) -> list[FullAnswer]:
    """The 3,049 synthetic answers in the order they were given."""
    return full_answers(forms)


@pytest.fixture(scope="session")
def answered_archive(answers, tmp_path_factory):
    """A data folder whose log holds the first 400 of them, through the real tables."""
    archive = interplay.record.open(tmp_path_factory.mktemp("answered"))
    tasks = {task.id: task for suite in builtin_suites() for task in suite.tasks if suite.id == "basalt"}
    with archive.database.write() as session:
        for task in tasks.values():
            testing.add_task(session, task)
        for one in answers[:400]:
            left, right = (testing.add_episode(session, tasks[one.task], agent, one.seed) for agent in (one.left, one.right))
            times = dict.fromkeys(("served_at", "seen_at", "answered_at"), one.created_at)
            match = testing.match_values(left, right, one.judge, id=f"match-{one.sequence}", **times)
            said = {"responses": one.responses, "reason": one.reason, "duration_s": one.duration_s}
            testing.add_answers(session, [(match, testing.answer_values(match, one.outcome, **said))])
    yield archive
    archive.close()
