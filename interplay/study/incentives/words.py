"""Statistics and amounts of them as people read them."""

from __future__ import annotations

DURATIONS = ("time", "active_time")
"""Statistics that are times, in seconds."""


def readable(statistic: str) -> str:
    """The name of a statistic as people read it.

    >>> readable("active_time")
    'active time'
    """
    return statistic.replace("_", " ").replace(".", " ")


def amount(statistic: str, value: float, *, is_share: bool = False) -> str:
    """A value of a statistic as people read it.

    >>> amount("time", 200.9), amount("score", 1240.0), amount("score", 0.5), amount("good", 0.62, is_share=True)
    ('3:20', '1,240', '0.5', '62 %')
    """
    if is_share:
        return f"{100 * value:.0f} %"
    if statistic in DURATIONS:
        return f"{int(value) // 60}:{int(value) % 60:02d}"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.3g}"
