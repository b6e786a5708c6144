"""What the tests of study pages share: studies, answers put straight into the log, and forms read from pages."""

import re
from datetime import UTC, datetime
from html import unescape
from urllib.parse import urlencode

from interplay import testing
from interplay.store.judging import num_answers_by
from interplay.store.participants import judge_name
from interplay.store.study import studies
from interplay.study.definition import Study, parse_study
from interplay.tasks import find

TASK = "atari/breakout"
CONSENT = "You may stop at any time. <b>Nothing</b> is asked about you."
STUDY = f"""
[study]
id = "caves"
title = "Compare two players"
summary = "Two videos, one question."
minutes = 15
answers = 2
contact = "Ada Lab, ada@lab.example"
instructions = "Watch both videos.\\n\\nThen answer."
[consent]
text = "{CONSENT}"
stores = ["This server keeps your answers."]
[quiz]
quiz = "atari"
attempts = 2
[pay]
reward = 3.75
hourly_target = 15
[channels.open]
[channels.mturk]
[channels.prolific]
codes = {{ done = "DONE1", screened_out = "OUT2", no_consent = "NO3" }}
[judging]
tasks = ["{TASK}"]
min_viewing_s = 0
min_watched_share = 0
min_reason_chars = 0
"""
MTURK = {"assignmentId": "3ASSIGN", "hitId": "3HIT", "workerId": "A1ADA", "turkSubmitTo": "https://www.mturk.com"}
PROLIFIC = {"PROLIFIC_PID": "60bf9310e8dec401be6e9615", "STUDY_ID": "5f3c", "SESSION_ID": "7a1b"}


def open_study(archive, text: str = STUDY) -> Study:
    """Open a study of this text."""
    study = parse_study(text)
    with archive.database.write() as session:
        studies.open_study(
            session, study=study.id, content_hash=study.content_hash, definition=study.to_json(), now=datetime.now(UTC)
        )
    return study


def close_study(archive, study: str = "caves") -> None:
    with archive.database.write() as session:
        studies.close_study(session, study, datetime.now(UTC))


def add_answers(archive, participant_id: int, count: int, study: str = "caves", duration_s: float = 60.0) -> None:
    """Answers of a participant, as the judging room would have stored them."""
    task, now = find(TASK), datetime.now(UTC)
    with archive.database.write() as session:
        left, right = (testing.add_episode(session, task, name, 1) for name in ("stand-in-left", "stand-in-right"))
        judge = judge_name(participant_id)
        given = num_answers_by(session, judge, study)
        times = dict.fromkeys(("served_at", "seen_at", "answered_at"), now)
        matches = [
            testing.match_values(left, right, judge, id=f"{participant_id:012x}{number:012x}", study=study, **times)
            for number in range(given, given + count)
        ]
        testing.add_answers(session, [(match, testing.answer_values(match, duration_s=duration_s)) for match in matches])


def enrolments(archive, study: str = "caves"):
    with archive.database.read() as session:
        return studies.enrolments_of_study(session, study)


def hidden_fields(page: str) -> dict[str, str]:
    """The hidden fields of a page's form."""
    return {name: unescape(value) for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)}


def quiz_answers(study: Study, *, right: bool) -> dict[str, list[str]]:
    """A form that ticks exactly the right boxes, or exactly the wrong ones."""
    return {q.id: [o.id for o in q.options if o.is_right == right] for q in study.quiz.quiz.questions}


def address(parameters: dict[str, str] | None = None, study: str = "caves") -> str:
    return f"/studies/{study}" + (f"?{urlencode(parameters)}" if parameters else "")
