"""The whole report from 3,049 answers, and its files."""

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import numpy as np
import pytest
from sqlalchemy import text

import interplay.record
from bench.synthetic_bedd import AGENT_SENTIMENT, TASK_SENTIMENT, synthetic_answers
from interplay.cli import main
from interplay.errors import NotFoundError
from interplay.judge.published import import_answers
from interplay.rank import Comparison
from interplay.rank.methods import Log, rate
from interplay.report import bedd_report, write_report
from interplay.report.bedd.demonstrations import Effort
from interplay.report.bedd.paper import published
from interplay.report.bedd.reasons import sentiment
from interplay.report.bedd.report import NothingToReportError
from interplay.report.matchmaking import save_matchmaking
from interplay.report.plots import png, svg
from interplay.report.table import Column, Figure, Measured, Table
from interplay.store import Answer, Ban
from interplay.store.judging.verdicts import FullAnswer, full_answers

EFFORTS = [Effort(task, 1200 + 100 * place, 10 * place, 700, place != 3) for task in TASK_SENTIMENT for place in range(6)]
PLACES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "1")
"""The paper's tables a complete report has."""


@pytest.fixture(scope="module")
def report(answers, forms):
    return bedd_report(answers, forms, efforts=EFFORTS, effort_source="trial files")


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    return write_report(report, tmp_path_factory.mktemp("report"))


def block(report, id: str):
    return next(block for block in report.blocks if block.id == id)


def rows(report, id: str, key: str) -> dict:
    return {row[key]: row for row in block(report, id).records()}


def test_every_table_and_figure_of_the_paper_s_analysis_is_there(report):
    titles = " ".join(block.title for block in report.blocks)
    for place in PLACES:
        assert f"table {place})" in titles, place
    assert titles.count("(figure 3)") == 2
    assert titles.count("(figure 4)") == 4
    ids = [block.id for block in report.blocks] + [section.id for section in report.sections]
    assert len(ids) == len(set(ids))
    assert all(block.caption for block in report.blocks)


def test_counts_hours_words_and_judges_are_the_paper_s(report):
    for name, row in rows(report, "data-by-task", "task").items():
        assert row["comparisons (difference)"] == 0, name
        assert row["words (difference)"] == 0
        assert abs(row["hours (difference)"]) < 1
        if name != "all":
            assert all(abs(row[f"{kind} (%) (difference)"]) < 0.006 for kind in ("positive", "neutral", "negative"))
    work = block(report, "judges")
    texts = {row[0]: work.columns[1].write(row[1]) for row in work.rows}
    assert texts["fewest answers of a judge"].isdigit()
    assert texts["most"].isdigit()
    assert "." in texts["share of the busiest judge (%)"]
    totals = rows(report, "totals", "what")
    for what in ("comparisons", "single judgements (comparison points)", "judges", "agents"):
        assert totals[what]["number (difference)"] == 0, what


def test_sentiment_tests_by_task_and_agent_are_the_paper_s(report):
    (overall,) = block(report, "chi-square-tasks").records()
    assert (round(overall["X²"], 2), overall["df"]) == (132.21, 6)
    for kind, num_pairs in (("tasks", 6), ("agents", 15)):
        pairs = block(report, f"pairs-{kind}").records()
        assert len(pairs) == num_pairs
        for pair in pairs:
            assert abs(pair["X² (difference)"]) < 0.0051, pair
            assert pair["significant"] == (pair["in the paper"] == "yes"), pair


def test_times_have_the_published_deviation_and_its_name(report):
    for name, row in rows(report, "time-by-task", "task").items():
        if name != "all":
            assert abs(row["standard deviation (s) (difference)"]) < 0.01
            assert row["standard error (s)"] < 12
            assert row["median (s)"] < row["mean (s)"]


def test_normalised_scores_order_the_focus_agents_as_the_paper_does(report):
    scores = block(report, "normalised").records()
    assert {row["agent"] for row in scores} == set(AGENT_SENTIMENT)
    assert [row["agent"] for row in scores if not row["agent"].startswith("Human")] == [
        "GoUp",
        "UniTeam",
        "BC-Baseline",
        "Random",
    ]
    assert all(abs(row["normalised TrueSkill (difference)"]) < 0.5 for row in scores)
    assert all(row["95 % from"] < row["normalised TrueSkill"] < row["95 % to"] for row in scores)


def test_the_paper_s_disagreements_with_itself_are_named(report):
    said = " ".join(" ".join(row.values()) for row in block(report, "paper-inconsistencies").records())
    for number in (
        "F = 3.72",
        "F = 4.29",
        "5.385",
        "5.12",
        "362",
        "2,097",
        "394",
        "standard deviation",
        "273.65",
        "around 274",
    ):
        assert number in said, number


def test_comparisons_among_the_paper_s_six_are_counted_and_timed_beside_its_394(report, answers):
    six = set(AGENT_SENTIMENT)
    inside = [answer for answer in answers if {answer.left, answer.right} <= six]
    totals = rows(report, "totals", "what")
    (count,) = (row for what, row in totals.items() if what.startswith("comparisons among"))
    assert (count["number"], count["number (paper)"]) == (len(inside), 394)
    hours = totals["hours of those comparisons"]
    assert hours["number"] == pytest.approx(sum(answer.duration_s for answer in inside) / 3600)
    assert hours["number (paper)"] == 34


def test_factors_are_shown_over_all_comparisons_and_among_the_six(report, answers, forms):
    figure = block(report, "figure-factors-findcave")
    kinds = {kind: [row for row in figure.table if row["comparisons"] == kind] for kind in ("all", "among these")}
    assert [(row["factor"], row["agent"]) for row in kinds["all"]] == [
        (row["factor"], row["agent"]) for row in kinds["among these"]
    ]
    caves = [answer for answer in answers if answer.task == "basalt/find_cave"]
    inside = [answer for answer in caves if {answer.left, answer.right} <= set(AGENT_SENTIMENT)]
    for kind, some in (("all", caves), ("among these", inside)):
        num = {row["agent"]: row["num"] for row in kinds[kind] if row["factor"] == "Better Overall"}
        assert num == {agent: sum(agent in (one.left, one.right) for one in some) for agent in AGENT_SENTIMENT}, kind
    assert f"the {len(inside):,} comparisons of two of these agents" in block(report, "among-findcave").caption
    section = next(section for section in report.sections if section.id == "factors")
    assert "394 comparisons" in " ".join(section.paragraphs)


def test_one_agent_alone_has_no_comparisons_among_those_shown(answers, forms):
    report = bedd_report(answers[:300], forms, agents=["GoUp"])
    assert not any(one.id.startswith("among-") for one in report.blocks)
    assert {row["comparisons"] for row in block(report, "figure-factors-findcave").table} == {"all"}


def test_the_table_of_questions_says_whose_wording_answers_were_given_to(answers, forms):
    def mapped(*some) -> tuple[str, dict]:
        table = block(bedd_report(some, forms), "factor-mapping")
        return table.caption, next(row for row in table.records() if row["factor"] == "Found Cave")

    here = [answer for answer in answers if answer.task == "basalt/find_cave"][:30]
    imported = [answer._replace(dataset="bedd") for answer in here]
    caption, row = mapped(*here)
    assert "they say the same as the published questions. Judges read these for all 30 answers." in caption
    assert (row["given here"], row["imported"]) == (30, 0)
    caption, row = mapped(*imported)
    assert "All 30 answers are imported: they answer the questions of their own data set" in caption
    assert "(for BEDD, the published ones)" in caption
    assert (row["given here"], row["imported"]) == (0, 30)
    silent = imported[0]._replace(responses={})
    caption, row = mapped(*here[:10], *imported[10:29], silent)
    assert "for 10 answers; the other 20 are imported" in caption
    assert "Both count for one factor" in caption
    assert (row["given here"], row["imported"]) == (10, 19)


def test_imported_answers_carry_the_name_of_their_set(tmp_path):
    path = tmp_path / "few.json"
    path.write_text(json.dumps(synthetic_answers()[:5]))
    archive = interplay.record.open(tmp_path / "data")
    import_answers(archive, path, name="few")
    with archive.database.read() as session:
        assert [one.dataset for one in full_answers(session)] == ["few"] * 5
    archive.close()


def test_ways_to_rate_are_compared_by_what_they_give_on_these_answers(report, answers):
    found = rows(report, "rating-methods", "method")
    with_trueskill, with_itself = "rank correlation with TrueSkill", "with itself, answers reversed"
    assert list(found) == ["TrueSkill", "Bradley-Terry", "Davidson", "direct questions alone"]
    assert found["TrueSkill"][with_trueskill] == pytest.approx(1)
    assert found["TrueSkill"][with_itself] < 1
    assert [found[name][with_itself] for name in list(found)[1:3]] == [pytest.approx(1)] * 2
    log = Log.of([Comparison(one.left, one.right, one.outcome) for one in answers])
    places = [np.argsort(np.argsort(rate(log, method).score)) for method in ("trueskill", "davidson")]
    squares = float(((places[0] - places[1]) ** 2).sum())
    spearman = 1 - 6 * squares / (17 * (17**2 - 1))  # the textbook's form, where no two scores are equal
    assert found["Davidson"][with_trueskill] == pytest.approx(spearman)
    assert all(0.7 < row[with_trueskill] <= 1.0001 for row in found.values())


def test_agents_can_be_chosen_and_a_mistyped_one_is_named(answers, forms):
    chosen = bedd_report(answers[:300], forms, agents=["pm", "KAIROS"])
    assert {row["agent"] for row in block(chosen, "sentiment-agents").records()} == {"pm", "KAIROS"}
    with pytest.raises(NotFoundError, match=r"unknown agent 'Humann1'; did you mean 'Human1'"):
        bedd_report(answers[:300], forms, agents=["Humann1"])


def test_other_agents_are_looked_at_where_the_paper_s_are_missing(answers, forms):
    renamed = [answer._replace(left=f"x-{answer.left}", right=f"x-{answer.right}") for answer in answers[:300]]
    shown = block(bedd_report(renamed, forms), "sentiment-agents").records()
    assert len(shown) == 6
    assert all(row["agent"].startswith("x-") for row in shown)


def test_one_answer_is_enough_for_a_report_and_none_is_not(answers, forms, tmp_path):
    report = bedd_report(answers[:1], forms)
    written = write_report(replace(report, sections=report.sections[:-2]), tmp_path)
    assert written.pdf.read_bytes().startswith(b"%PDF")
    with pytest.raises(NothingToReportError, match="interplay judge import"):
        bedd_report([], forms)


def test_answers_about_a_task_without_a_form_are_counted_as_one_judgement(answers, forms):
    strange = [answer._replace(task="lab/<b>tower</b>", responses={}) for answer in answers[:20]]
    report = bedd_report(strange, forms)
    assert rows(report, "totals", "what")["single judgements (comparison points)"]["number"] == 20
    assert not any(one.id.startswith("factors-") for one in report.blocks)


class Page(HTMLParser):
    """Ids, links and loaded addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif name == "src" or (tag == "link" and name == "href"):
                self.loads.append(value)


def test_the_page_is_one_file_whose_links_all_lead_somewhere(report, written):
    text = written.html.read_text()
    page = Page(text)
    assert page.loads == []
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (written.html.parent / link).exists(), link
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(page.ids)
    assert text.count("<svg") == sum(isinstance(one, Figure) for one in report.blocks)


def test_every_table_is_saved_as_csv_with_the_paper_s_numbers(report, written):
    for one in report.blocks:
        with (written.tables / f"{one.id}.csv").open(newline="") as file:
            saved = list(csv.DictReader(file))
        assert len(saved) == len(one.records() if isinstance(one, Table) else one.table), one.id
    with (written.tables / "normalised.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["agent"] == "Random")
    assert float(row["normalised TrueSkill (paper)"]) == -1.35


def test_the_same_answers_give_the_same_bytes(answers, forms, tmp_path):
    for folder in ("one", "two"):
        report = bedd_report(answers[:200], forms)
        write_report(replace(report, sections=report.sections[:2]), tmp_path / folder)
    saved = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    assert len(saved) > 8
    for name in saved:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_the_json_has_everything_and_no_nan(report, written):
    document = json.loads(written.json.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert len(document["tables"]) + len(document["figures"]) == len(report.blocks)


def test_names_from_outside_are_text_in_the_page_and_in_the_pdf(answers, forms, tmp_path):
    evil = "<script>alert(1)</script>&"
    odd = [answer._replace(left=evil if answer.left == "pm" else answer.left) for answer in answers[:200]]
    odd = [answer._replace(right=evil if answer.right == "pm" else answer.right) for answer in odd]
    report = bedd_report(odd, forms, agents=[evil, "GoUp"])
    few = [replace(section, blocks=section.blocks[:3]) for section in report.sections if section.id != "factors"]
    written = write_report(replace(report, sections=few), tmp_path)
    assert "<script" not in written.html.read_text()
    assert "&lt;script&gt;" in written.html.read_text()


def test_names_with_dollars_are_no_mathematics(answers, forms):
    odd = [answer._replace(left="a$_$" if answer.left == "GoUp" else answer.left) for answer in answers[:300]]
    odd = [answer._replace(right="a$_$" if answer.right == "GoUp" else answer.right) for answer in odd]
    report = bedd_report(odd, forms, agents=["a$_$", "Random"])
    figure = next(one for one in report.blocks if one.id.startswith("figure-factors-"))
    assert "a$_$" in svg(figure)
    assert png(figure).startswith(b"\x89PNG")


def test_the_plot_of_policies_takes_any_name(tmp_path):
    named = {"policy": "a$_$", "method": "$x$ _", "q1": 0.8, "median": 0.9, "q3": 1.0, "num": 2}
    save_matchmaking([named | {"answers": number} for number in (10, 20)], 0.95, tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    assert "a$_$" in text
    assert "$x$ _" in text


def test_two_tasks_of_nearly_one_name_have_figures_and_tables_of_their_own(answers, forms):
    twins = ("lab/tower a", "lab/tower-a")
    both = [answer._replace(task=twins[number % 2]) for number, answer in enumerate(answers[:300])]
    report = bedd_report(both, dict.fromkeys(twins, forms["basalt/find_cave"]), agents=["GoUp", "Random"])
    ids = [one.id for one in report.blocks if "factors-" in one.id]
    assert sorted(ids) == sorted(f"{kind}factors-lab-tower-a{end}" for kind in ("", "figure-") for end in ("", "-2"))
    among = [one.id for one in report.blocks if one.id.startswith("among-")]
    assert among == ["among-lab-tower-a", "among-lab-tower-a-2"]


@pytest.mark.long_proof
def test_the_command_reports_on_a_data_folder_and_a_folder_of_recordings(answered_archive, tmp_path, capsys):
    folder, out = tmp_path / "recordings" / "find-cave", tmp_path / "r"
    folder.mkdir(parents=True)
    frame = {"mouse": {"newButtons": [1]}, "keyboard": {"keys": ["key.keyboard.w"]}}
    (folder / "a.jsonl").write_text("\n".join([json.dumps(frame)] * 40))
    data = ["--data", str(answered_archive.root), "--recordings", str(folder.parent)]
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", *data, "--out", str(out), "--seed", "1", "--json"])
    assert not stop.value.code
    document = json.loads(capsys.readouterr().out)
    assert document["facts"]["answers"] == "400"
    assert [(out / name).exists() for name in ("report.html", "report.pdf", "report.json")] == [True] * 3
    assert str(out / "report.html") in document["files"]
    tables = {table["id"]: table for table in document["tables"]}
    assert "(seed 1)" in tables["normalised"]["caption"]
    assert (tables["proxies"]["rows"][0]["recordings"], tables["proxies"]["rows"][0]["mean clicks"]) == (1, 40.0)
    total = tables["demonstrations-by-task"]["rows"][-1]
    size_gb = (folder / "a.jsonl").stat().st_size / 1e9
    assert (total["episodes"], total["mean length (s)"], total["size (GB)"]) == (1, 2.0, size_gb)


def test_a_folder_that_cannot_be_written_is_named(answered_archive, tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--data", str(answered_archive.root), "--out", str(tmp_path / "taken")])
    assert stop.value.code == 1
    assert f"cannot be written to {tmp_path / 'taken'}" in capsys.readouterr().err.replace("\n", " ")


def test_the_command_says_where_to_go_without_answers(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["report", "bedd", "--data", str(tmp_path)])
    assert stop.value.code == 1
    assert "it holds no interplay.db" in capsys.readouterr().err


def test_answers_are_read_whole_in_order_and_only_those_that_count(answered_archive, answers):
    with answered_archive.database.read() as session:
        read = list(full_answers(session))
        assert all(one.left_episode != one.right_episode for one in read)
        nothing = {"sequence": 0, "left_episode": "", "right_episode": ""}
        assert [one._replace(**nothing) for one in read] == [one._replace(**nothing) for one in answers[:400]]
        assert {one.task for one in full_answers(session, "basalt/find_cave")} == {"basalt/find_cave"}
    first: FullAnswer = answers[0]
    now = datetime(2026, 1, 2, tzinfo=UTC)
    with answered_archive.database.write() as session:
        session.add(Ban(judge=first.judge, reason="the same answer every time", created_at=now))
        session.execute(text("DROP TRIGGER answers_are_kept_update"))  # which would refuse what follows
        session.get(Answer, 2).purpose = "attention"
        session.get(Answer, 3).judge_kind = "model"
    try:
        with answered_archive.database.read() as session:
            counted = list(full_answers(session))
        left_out = {answer.sequence for answer in answers[:400] if answer.judge == first.judge} | {2, 3}
        assert {answer.sequence for answer in counted} == set(range(1, 401)) - left_out
    finally:
        with answered_archive.database.write() as session:
            session.get(Answer, 2).purpose = "rating"
            session.get(Answer, 3).judge_kind = "person"
            for ban in session.query(Ban):
                ban.lifted_at = now + timedelta(days=1)
    with answered_archive.database.read() as session:
        assert len(list(full_answers(session))) == 400


def test_textblob_takes_a_side_for_praise_and_the_report_shows_how_often(answers, forms):
    assert sentiment("the player on the right walked") == "positive"
    assert sentiment("the player on the left walked") == "neutral"
    sided = [answer._replace(reason="The player on the right walked on.") for answer in answers[:10]]
    report = bedd_report(sided, forms)
    assert all(row["by “right” (%)"] == 100 for row in block(report, "sentiment-tasks").records())


def test_numbers_are_written_with_the_paper_s_beside_them():
    column = Column("X²", "number")
    assert column.write(-1234.5) == "−1,234.50"
    assert column.write_paper(Measured(2.694, 2.69)) == "2.69 (±0.00)"
    assert column.write_paper(Measured(2.0, 2.69)) == "2.69 (−0.69)"
    assert column.write_paper(Measured(2.0)) == ""
    assert Column("p", "p").write(4.1e-22) == "4.10e-22"
    assert column.write(float("nan")) == "–"


def test_the_published_numbers_add_up_where_the_paper_says_so():
    tasks = published("tasks").values()
    assert sum(row["comparisons"] for row in tasks) == published("overall", "comparisons")
    assert sum(row["words"] for row in tasks) == published("overall", "words")
    for row in [*tasks, *published("agents").values()]:
        assert row["positive"] + row["neutral"] + row["negative"] == pytest.approx(100, abs=0.02)
