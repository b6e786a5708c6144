"""Where the published numbers disagree with each other, recomputed from those numbers, so that nobody hunts for a match."""

from __future__ import annotations

from math import sqrt

from interplay.report.bedd.paper import paper, published
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
            "the two Tukey intervals agree with these",
        ),
        (
            "± of the times, table 5",
            "called a standard error (271.10 s for FindCave)",
            f"a standard deviation; its standard error is then {an_error:.1f} s",
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
            "all its values by agent, also of figure 4",
            "shares and tests are those of all comparisons of the six agents: whole numbers that add up to 2,097 give them "
            "exactly; the paper does not say which comparisons figure 4 shows",
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
            f"{total_s / 3600:.2f} from the totals of table 5: cut off in one place and rounded in the other",
        ),
        (
            "captions of tables 6 and 8",
            "table 6 (by task) details table 3; table 8 (by agent) details table 2",
            "table 2 is by task and table 3 by agent; table 3 has no words",
        ),
        (
            "X² of pairs of tasks, section 5.1",
            "one degree of freedom for two pairs",
            "two, for a table of 2 tasks by 3 classes; only two degrees give the printed p",
        ),
        (
            "65 workers, and the list of banned ones",
            "65",
            "no other number of the paper can confirm this; only the published file can",
        ),
    )
    return Section(
        "inconsistencies",
        "Where the paper disagrees with itself",
        (
            "The columns beside our numbers show these values as they are printed. So a difference there may be an error of "
            "the paper.",
        ),
        (
            Table(
                "paper-inconsistencies",
                "Printed and computed again",
                (Column("what"), Column("printed"), Column("what other printed numbers say")),
                rows,
                "Computed for this report from the paper's own numbers.",
            ),
        ),
    )
