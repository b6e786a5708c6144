"""CSV files of answers are read in order; every fault is named with its line and a remedy."""

import re
from datetime import UTC, datetime

import pytest

from interplay.errors import InterplayError
from interplay.rank import AnswersError, Comparison, leaderboard, read_answers
from interplay.rank.answers_file import read_judgements

GOOD = "left,right,outcome\nada,bob,left\n"


@pytest.fixture
def answers_file(tmp_path):
    """Writes a file and returns its path."""

    def write(content: str | bytes):
        path = tmp_path / "answers.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_the_three_columns_are_enough(answers_file):
    assert read_answers(answers_file(GOOD)) == [Comparison("ada", "bob", "left")]


def test_columns_come_in_any_order_and_others_are_ignored(answers_file):
    path = answers_file("mood,outcome,judge,right,task,left\nglad,draw,eve,bob,dig,ada\n")
    assert read_answers(path) == [Comparison("ada", "bob", "draw", "dig", "eve")]


def test_answers_come_as_time_says(answers_file):
    path = answers_file(
        "left,right,outcome,time\n"
        "c,d,left,2026-03-01T12:00:00+02:00\n"  # 10:00 UTC
        "a,b,left,2026-03-01T09:30:00Z\n"
        "e,f,left,2026-03-01 11:00:00\n"  # no zone: UTC
        "g,h,left,1772355600\n"  # 2026-03-01T09:00:00Z
    )
    answers = read_answers(path)
    assert [answer.left for answer in answers] == ["g", "a", "c", "e"]
    assert answers[1].time == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def test_answers_of_one_instant_keep_the_files_order(answers_file):
    rows = "".join(f"a{number},b,left,2026-03-01T12:00:00Z\n" for number in range(50))
    answers = read_answers(answers_file("left,right,outcome,time\n" + rows))
    assert [answer.left for answer in answers] == [f"a{number}" for number in range(50)]


def test_without_time_the_files_order_counts(answers_file):
    path = answers_file("left,right,outcome\nb,a,left\na,b,left\n")
    assert [answer.left for answer in read_answers(path)] == ["b", "a"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.rstrip().encode(),
        GOOD.replace("\n", "\n\n").encode() + b"   \n,,\n",
        b" Left , RIGHT,outcome\n ada ,bob, LEFT \n",
        b'"left","right","outcome"\n"ada","bob","left"\n',
        GOOD.replace("\n", "\r").encode(),
    ],
    ids=[
        "byte order mark",
        "windows line ends",
        "no last line end",
        "empty lines",
        "spaces and capitals",
        "quotes",
        "old Mac",
    ],
)
def test_harmless_variations_are_read(answers_file, content):
    assert read_answers(answers_file(content)) == [Comparison("ada", "bob", "left")]


def test_answers_of_lmarena_are_read_by_its_own_names(answers_file):
    path = answers_file(
        "question_id,model_a,model_b,winner,judge,tstamp\n1,ada,bob,model_a,x,1.5\n2,ada,bob,model_b,x,2.5\n"
        "3,ada,bob,tie,x,3.5\n4,ada,bob,tie (bothbad),x,4.5\n"
    )
    answers = read_answers(path)
    assert [one.outcome for one in answers] == ["left", "right", "draw", "draw"]
    assert {(one.left, one.right, one.judge) for one in answers} == {("ada", "bob", "x")}
    assert answers[0].time == datetime.fromtimestamp(1.5, UTC)
    assert [one.outcome for one in read_judgements(path)] == ["left", "right", "draw", "draw"]


def test_names_may_hold_commas_quotes_line_breaks_and_any_script(answers_file):
    path = answers_file('left,right,outcome\n"a, ""the"" first","b\nc",left\nΩ-猫,b,draw\n')
    assert [(answer.left, answer.right) for answer in read_answers(path)] == [('a, "the" first', "b\nc"), ("Ω-猫", "b")]


def test_progress_reaches_the_end(answers_file):
    calls = []
    path = answers_file("left,right,outcome\n" + "ada,bob,left\n" * 5000)
    assert len(read_answers(path, on_progress=lambda done, total: calls.append((done, total)))) == 5000
    assert len(calls) >= 3
    assert calls[-1][0] == calls[-1][1] == path.stat().st_size


FAULTS = {
    "empty file": ("", 1, "the file is empty", "left,right,outcome"),
    "only empty lines": ("\n\n", 1, "the file is empty", "left,right,outcome"),
    "missing column": ("left,right\nada,bob\n", 1, "missing column outcome", "must name the columns"),
    "missing columns": ("agent,outcome\nada,left\n", 1, "missing columns left, right", "must name the columns"),
    "no header": ("ada,bob,left\n", 1, "missing columns right, outcome", "must name the columns"),
    "semicolons": ("left;right;outcome\nada;bob;left\n", 1, "missing columns", "separated by commas"),
    "column twice": ("left,right,outcome,left\n", 1, "column 'left' occurs 2 times", "keep one"),
    "unknown outcome": (GOOD + "ada,bob,won\n", 3, "unknown outcome 'won'", "write left, right"),
    "empty outcome": (GOOD + "ada,bob,\n", 3, "unknown outcome ''", "write left, right"),
    "empty left": (GOOD + "ada,bob,left\n ,bob,left\n", 4, "column 'left' is empty", "write the agent's name"),
    "empty right": (GOOD + "ada,,left\n", 3, "column 'right' is empty", "write the agent's name"),
    "same agent": (GOOD + "bob, bob,draw\n", 3, "agent 'bob' is on both sides", "correct or remove the line"),
    "too few columns": (GOOD + "ada,bob\n", 3, "2 columns, but the header has 3", "leave no column out"),
    "too many columns": (GOOD + "ada,the second,bob,left\n", 3, "4 columns, but the header has 3", "double quotes"),
    "latin-1": (GOOD.encode() + "zoë,bob,left\n".encode("latin-1"), 3, "byte 0xeb is not UTF-8", "iconv"),
    "utf-16": (GOOD.encode("utf-16"), 1, "the text is UTF-16", "CSV UTF-8"),
    "zero byte": (GOOD.encode() + b"a\0da,bob,left\n", 3, "a zero byte", "export the answers as CSV"),
    "open quote": (GOOD + '"ada,bob,left\nada,bob,left\n', 3, "not CSV", "double quotes"),
    "stray quote": (GOOD + '"ada"x,bob,left\n', 3, "not CSV", "double quotes"),
    "huge field": (GOOD + "a" * 200_000 + ",bob,left\n", 3, "not CSV", "double quotes"),
    "bad time": (
        "left,right,outcome,time\nada,bob,left,yesterday\n",
        2,
        "cannot read the time 'yesterday'",
        "seconds since 1970",
    ),
    "no time": (
        "left,right,outcome,time\nada,bob,left,2026-01-01\nada,bob,left,\n",
        3,
        "cannot read the time ''",
        "every line",
    ),
    "endless time": ("left,right,outcome,time\nada,bob,left,1e300\n", 2, "cannot read the time '1e300'", "seconds since 1970"),
    "time that is not a number": ("left,right,outcome,time\nada,bob,left,nan\n", 2, "cannot read the time 'nan'", "seconds"),
    "fault after a name of two lines": (GOOD + '"a\nb",c,left\nada,bob,won\n', 5, "unknown outcome 'won'", "write left"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_line_and_a_remedy(answers_file, fault):
    content, line, problem, remedy = FAULTS[fault]
    path = answers_file(content)
    with pytest.raises(AnswersError) as caught:
        read_answers(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: line {line}: "), text
    assert problem in text
    assert re.search(rf"\nRemedy: .*{re.escape(remedy)}", text, re.DOTALL), text
    assert isinstance(caught.value, InterplayError)


def test_a_header_alone_is_no_log(answers_file):
    with pytest.raises(AnswersError, match=r"no answers below the header\nRemedy: add one line"):
        read_answers(answers_file("left,right,outcome\n"))


def test_a_file_that_is_not_there_and_a_folder_say_so(tmp_path):
    with pytest.raises(AnswersError, match=r"cannot read .*nowhere.csv: No such file or directory\nRemedy"):
        read_answers(tmp_path / "nowhere.csv")
    with pytest.raises(AnswersError, match=r"Is a directory\nRemedy"):
        read_answers(tmp_path)


def test_a_hundred_thousand_answers_take_seconds(answers_file):
    import time

    rows = "".join(f"agent-{number % 17},agent-{(number * 7 + 1) % 16 + 20},left\n" for number in range(100_000))
    path = answers_file("left,right,outcome\n" + rows)
    begin = time.process_time()
    assert len(leaderboard(read_answers(path))) > 17
    assert time.process_time() - begin < 5


def test_judgements_tell_episodes_apart_as_well_as_the_file_can(tmp_path):
    path = tmp_path / "answers.csv"
    head = "left,right,outcome,judge"
    path.write_text(f"{head}\nada,bob,left,eve\n")
    (judgement,) = read_judgements(path)
    assert (judgement.judge, judgement.left, judgement.right, judgement.outcome) == ("eve", "ada", "bob", "left")
    assert (judgement.num_reason_chars, judgement.duration_s) == (None, None)
    path.write_text(f"{head},seed,task,reason\nada,bob,left,eve,7,dig,better\n")
    (judgement,) = read_judgements(path)
    assert (judgement.item, judgement.num_reason_chars) == (("dig", "ada 7", "bob 7"), 6)
    path.write_text(f"{head},left_episode,right_episode,reason_chars,duration_s\nada,bob,left,eve,e2,e1,312,61.5\n")
    (judgement,) = read_judgements(path)
    assert (judgement.item, judgement.oriented("left")) == (("", "e1", "e2"), "second")
    assert (judgement.num_reason_chars, judgement.duration_s) == (312, 61.5)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("left,right,outcome\nada,bob,left\n", "line 1: there is no column 'judge'"),
        ("left,right,outcome,judge\nada,bob,left,\n", "line 2: column 'judge' is empty"),
        ("left,right,outcome,judge,duration_s\nada,bob,left,eve,long\n", "line 2: column 'duration_s' has 'long'"),
        ("left,right,outcome,judge,reason_chars\nada,bob,left,eve,-3\n", "line 2: column 'reason_chars' has '-3'"),
        ("left,right,outcome,judge,duration_s\nada,bob,left,eve,nan\n", "which is not a number of zero or more"),
        ("left,right,outcome,judge\nada,bob,won,eve\n", "line 2: unknown outcome 'won'"),
    ],
)
def test_judgements_at_fault_are_named_by_their_line(tmp_path, text, fault):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(AnswersError, match=re.escape(fault)):
        read_judgements(path)


def test_two_ways_to_write_one_name_are_not_two_agents(answers_file):
    path = answers_file("left,right,outcome,judge\nZoe\u0308,bob,left,Rene\u0301\nbob,Zo\u00eb,right,Ren\u00e9\n")
    answers = read_answers(path)
    assert {answer.judge for answer in answers} == {"Ren\u00e9"}
    assert [(row.agent, row.num_answers) for row in leaderboard(answers)] == [("Zo\u00eb", 2), ("bob", 2)]
