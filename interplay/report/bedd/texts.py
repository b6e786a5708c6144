"""Tables about the reasons that judges wrote: length and sentiment by group (BEDD's tables 6 to 9, and its section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from interplay.rank.normal import Z95
from interplay.report.bedd.paper import published, published_pair
from interplay.report.bedd.reasons import SENTIMENTS, Groups, sentiment_counts
from interplay.report.plots import plot_intervals, plot_sentiments
from interplay.report.statistics import Anova, anova, chi_square, describe, pairwise_chi_square
from interplay.report.table import Cell, Column, Figure, Measured, Table, count_columns, number_columns

_OVERLAP = " An answer is about two agents, so it can be in two groups. The tests treat groups as independent."


def length_table(groups: Groups, kind: str) -> Table:
    """Make the table of characters and words of reasons: table 6 (`kind` is "tasks") or 8 ("agents")."""
    rows = []
    for name, readings in groups.items():
        chars = describe([reading.num_chars for reading in readings])
        words = describe([reading.num_words for reading in readings])
        row: list[Cell] = [name, len(readings)]
        for unit, summary in (("chars", chars), ("words", words)):
            row += [
                Measured(summary.mean, published(kind, name, f"{unit}_mean")),
                Measured(summary.se, published(kind, name, f"{unit}_se")),
                summary.median,
            ]
        rows.append(tuple(row))
    columns = [Column(_one(kind)), Column("answers", "count")]
    for unit in ("characters", "words"):
        columns += [Column(unit, "number"), Column(f"SE of {unit}", "number"), Column(f"median {unit}", "number", 1)]
    return Table(
        f"length-{kind}",
        f"Length of reasons by {_one(kind)} ({_place(kind, 6, 8)})",
        tuple(columns),
        tuple(rows),
        "Means with their standard error (SE = standard deviation / √n), and medians. Words are separated by white space.",
    )


def anova_tables(groups: Groups, kind: str) -> list[Table]:
    """Make tables of one-way ANOVA of words and of characters, and of Tukey's HSD for words; empty if a test is impossible."""
    tests: dict[str, Anova] = {}
    for unit in ("words", "characters"):
        num = attrgetter("num_words" if unit == "words" else "num_chars")
        values = {name: [num(reading) for reading in readings] for name, readings in groups.items()}
        try:
            tests[unit] = anova(values)
        except ValueError:  # too few answers, or all alike
            continue
    if not tests:
        return []
    paper = published("words_by_task") if kind == "tasks" else None
    overall = Table(
        f"anova-{kind}",
        f"Does the length differ between {kind}? One-way ANOVA",
        (Column("length in"), Column("F", "number"), *count_columns("df between", "df within"), Column("p", "p")),
        tuple(
            (
                unit,
                Measured(test.statistic, paper["statistic"] if paper and unit == "words" else None),
                test.df_between,
                test.df_within,
                Measured(test.p, paper["p"] if paper and unit == "words" else None),
            )
            for unit, test in tests.items()
        ),
        "F test of equal means." + (_OVERLAP if kind == "agents" else ""),
    )
    tables = [overall]
    for unit, test in tests.items():
        rows = []
        for pair in test.differences:
            known = _published_difference(paper, pair.a, pair.b) if unit == "words" else {}
            ours = (Measured(getattr(pair, name), known.get(name)) for name in ("low", "high", "p"))
            rows.append((f"{pair.a} − {pair.b}", pair.difference, *ours, pair.significant))
        tables.append(
            Table(
                f"tukey-{unit}-{kind}",
                f"Which {kind} differ in {unit}? Tukey's HSD",
                (
                    Column("pair"),
                    *number_columns(f"difference ({unit})", "95 % from", "95 % to"),
                    Column("p", "p"),
                    Column("significant"),
                ),
                tuple(rows),
                "Differences of means with simultaneous 95 % confidence intervals (Tukey-Kramer); significant where p < 0.05."
                + (_OVERLAP if kind == "agents" else ""),
            )
        )
    return tables


def sentiment_table(groups: Groups, kind: str) -> Table:
    rows = []
    for name, readings in groups.items():
        counts = sentiment_counts(reading.sentiment for reading in readings)
        shares = [
            Measured(100 * count / len(readings), published(kind, name, each))
            for count, each in zip(counts, SENTIMENTS, strict=True)
        ]
        leaning = 100 * sum(reading.leans_on_right for reading in readings) / len(readings)
        rows.append((name, len(readings), *counts, *shares, leaning))
    return Table(
        f"sentiment-{kind}",
        f"Sentiment of reasons by {_one(kind)} ({_place(kind, 6, 8)})",
        (
            Column(_one(kind)),
            Column("answers", "count"),
            *count_columns(*SENTIMENTS),
            *number_columns(*(f"{each} (%)" for each in SENTIMENTS)),
            Column("by “right” (%)", "number", 1),
        ),
        tuple(rows),
        "Positive, neutral and negative: TextBlob's polarity is above, at or below 0. TextBlob reads the word “right” as "
        "praise, also where it means a side. The last column is the share of reasons that have another class without this "
        "word.",
    )


def sentiment_figure(groups: Groups, kind: str) -> Figure:
    records: list[dict[str, Any]] = []
    for name, readings in groups.items():
        counts = sentiment_counts(reading.sentiment for reading in readings)
        records.append({"name": name, "num": len(readings), **dict(zip(SENTIMENTS, counts, strict=True))})
    return Figure(
        f"figure-sentiment-{kind}",
        f"Sentiment of reasons by {_one(kind)}",
        "Share of reasons that TextBlob reads as positive, neutral and negative; n is the number of reasons.",
        records,
        plot_sentiments,
        "; ".join(f"{row['name']}: {100 * row['positive'] / row['num']:.0f} % positive" for row in records),
        height_in=1.1 + 0.55 * len(records),
    )


def length_figure(groups: Groups, kind: str, roster: Sequence[str] = ()) -> Figure:
    records = []
    for name, readings in groups.items():
        words = describe([reading.num_words for reading in readings])
        half = Z95 * words.se if len(readings) > 1 else 0.0
        records.append(
            {"name": name, "num": words.num, "value": words.mean, "low": words.mean - half, "high": words.mean + half}
        )
    return Figure(
        f"figure-words-{kind}",
        f"Words per reason by {_one(kind)}",
        "Means with 95 % intervals, mean ± 1.96 standard errors; n is the number of reasons.",
        records,
        lambda table, ax: plot_intervals(table, ax, label="words per reason (mean)", roster=roster),
        "; ".join(f"{row['name']}: {row['value']:.1f} words" for row in records),
        height_in=1.0 + 0.55 * len(records),
    )


def sentiment_tests(groups: Groups, kind: str) -> list[Table]:
    """Make tables of chi-square tests, over all groups and for every pair (tables 7 and 9); empty if nothing can be tested."""
    counts = {name: sentiment_counts(reading.sentiment for reading in readings) for name, readings in groups.items()}
    section = f"{_one(kind)}_sentiment"
    try:
        test = chi_square(list(counts.values()))
    except ValueError:
        return []
    caveat = _OVERLAP if kind == "agents" else ""
    known = (Measured(value, published(section, name)) for name, value in (("statistic", test.statistic), ("df", test.df)))
    overall = Table(
        f"chi-square-{kind}",
        f"Does sentiment depend on the {_one(kind)}? Chi-square test of independence",
        (Column("X²", "number"), Column("df", "count"), Column("N", "count"), Column("p", "p")),
        ((*known, sum(map(sum, counts.values())), test.p),),
        "Pearson's test without continuity correction." + caveat,
    )
    return [overall, pair_table(counts, kind, caveat)]


def pair_table(counts: dict[str, tuple[int, int, int]], kind: str, caveat: str = "") -> Table:
    section = f"{_one(kind)}_sentiment"
    rows = []
    pairs = pairwise_chi_square(counts)
    for pair in pairs:
        known = published_pair(section, pair.a, pair.b) or {}
        mark = known.get("significant")
        ours = (Measured(pair.statistic, known.get("statistic")), Measured(pair.p, known.get("p")))
        rows.append((f"{pair.a} – {pair.b}", *ours, pair.significant, "–" if mark is None else "yes" if mark else "no"))
    return Table(
        f"pairs-{kind}",
        f"Which {kind} differ in sentiment? ({_place(kind, 7, 9)})",
        (Column("pair"), Column("X²", "number"), Column("p", "p"), Column("significant"), Column("in the paper")),
        tuple(rows),
        f"Chi-square with 2 degrees of freedom; significant where p < 0.05 / {len(pairs)}, Bonferroni's correction." + caveat,
    )


def text_blocks(groups: Groups, kind: str, roster: Sequence[str] = ()) -> Iterable[Table | Figure]:
    """Yield this module's tables and figures in order; `kind` is "tasks" or "agents", and `roster` as in `plot_intervals`."""
    yield sentiment_figure(groups, kind)
    yield sentiment_table(groups, kind)
    yield from sentiment_tests(groups, kind)
    yield length_figure(groups, kind, roster)
    yield length_table(groups, kind)
    yield from anova_tables(groups, kind)


def _published_difference(paper: Any, a: str, b: str) -> dict[str, float]:
    """Return the published interval of mean(a) - mean(b), also if the paper has mean(b) - mean(a); empty if it has neither."""
    for known in (paper or {}).get("differences", ()):
        if (known["a"], known["b"]) == (a, b):
            return known
        if (known["a"], known["b"]) == (b, a):
            return {"low": -known["high"], "high": -known["low"], "p": known["p"]}
    return {}


def _one(kind: str) -> str:
    return kind.removesuffix("s")


def _place(kind: str, of_tasks: int, of_agents: int) -> str:
    return f"table {of_tasks if kind == 'tasks' else of_agents}"
