"""Where the published numbers disagree with each other, recomputed from those numbers, so that nobody hunts for a match."""

from __future__ import annotations

from math import sqrt

from interplay.report.bedd_paper import paper, published
from interplay.report.statistics import anova_from_summaries
from interplay.report.table import Column, Section, Table


def inconsistency_section() -> Section:
    """One row a disagreement: what is printed, what follows from other printed numbers."""
    tasks = paper()["tasks"]
    summaries = {name: (row["comparisons"], row["words_mean"], row["words_se"]) for name, row in tasks.items()}
    statistic, p = anova_from_summaries(summaries)
    total_s = sum(row["total_s"] for row in tasks.values())
    comparisons = published("overall", "comparisons")
    demonstration_hours = sum(row["hours"] for row in paper()["demonstrations"].values())
    an_error = tasks["FindCave"]["seconds_sd"] / sqrt(tasks["FindCave"]["comparisons"])
    rows = (
        (
            "ANOVA of words by task, section 5.1",
            "F = 3.72, p = .01",
            f"F = {statistic:.2f}, p = {p:.3f} from the means, standard errors and counts of tables 2 and 6; "
            "the two Tukey intervals do follow from them",
        ),
        (
            "± of the times, table 5",
            "called a standard error (271.10 s for FindCave)",
            f"a standard deviation: as one, its standard error is {an_error:.1f} s",
        ),
        (
            "minutes per comparison, appendix D.1",
            "5.12",
            f"{total_s / comparisons / 60:.3f} from the totals of table 5 ({total_s:,.2f} s over {comparisons:,})",
        ),
        (
            "sentiment of FindCave, table 2",
            "79 / 14 / 7 %, in the order positive, negative, neutral",
            "the other rows of the table are in the order positive, neutral, negative; table 6 has 79.64 / 6.65 / 13.71",
        ),
        (
            "answers behind tables 8 and 9",
            "394 comparisons among the six agents (section 5), so at most 788 places for agents; appendix E.2 says the same of "
            "all its values by agent, figure 4 among them",
            "shares and tests are those of all comparisons of the six: integer counts that add up to 2,097 give them exactly; "
            "nothing printed tells which comparisons figure 4 shows",
        ),
        ("hours of demonstrations, table 1", "361", f"{demonstration_hours} as the sum of the rows"),
        (
            "direct questions about the animal pen, appendix E.1",
            "4 quantitative questions, the next highest task 2",
            "its form in appendix D and table 10 has 6",
        ),
        (
            "hours of comparisons",
            "273 (section 3.2, table 2) and around 274 (caption of table 5)",
            f"{total_s / 3600:.2f} from the totals of table 5: cut off in one place, rounded in the other",
        ),
        (
            "captions of tables 6 and 8",
            "table 6 (by task) details table 3; table 8 (by agent) details table 2",
            "the other way round: table 2 is by task, table 3 by agent, and table 3 has no words",
        ),
        (
            "X² of pairs of tasks, section 5.1",
            "one degree of freedom for two pairs",
            "two: a table of 2 tasks by 3 classes, and only two give the printed p",
        ),
        ("65 workers, and the list of banned ones", "65", "only the published file itself can tell; nothing printed checks it"),
    )
    return Section(
        "inconsistencies",
        "Where the paper disagrees with itself",
        ("These stay as they are printed in the columns beside our numbers; a difference there need not be an error here.",),
        (
            Table(
                "paper-inconsistencies",
                "Printed against recomputed",
                (Column("what"), Column("printed"), Column("what other printed numbers say")),
                rows,
                "Recomputed for this report from the paper's own numbers.",
            ),
        ),
    )
