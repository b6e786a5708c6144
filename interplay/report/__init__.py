"""Statistics, tables and figures of all recorded data.

`chi_square`, `pairwise_chi_square`, `anova` and `describe` do the arithmetic. `bedd_report` makes a `Report` from answers, and
`write_report` saves a report as HTML, PDF, JSON and CSV. See docs/report.md.

>>> round(chi_square([[575, 48, 99], [519, 50, 113]]).statistic, 2)
2.69
"""

from interplay.rank.bias import holm
from interplay.report.bedd.reasons import counts_report
from interplay.report.bedd.report import bedd_report
from interplay.report.statistics import anova, chi_square, describe, mann_whitney, pairwise_chi_square
from interplay.report.table import Column, Figure, Measured, Report, Section, Table
from interplay.report.write import write_report

__all__ = [
    "Column",
    "Figure",
    "Measured",
    "Report",
    "Section",
    "Table",
    "anova",
    "bedd_report",
    "chi_square",
    "counts_report",
    "describe",
    "holm",
    "mann_whitney",
    "pairwise_chi_square",
    "write_report",
]
