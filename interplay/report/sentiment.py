"""Sentiment classes of what judges wrote, as BEDD made them: the sign of TextBlob's polarity."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from interplay.errors import InterplayError, not_installed

Sentiment = Literal["positive", "neutral", "negative"]
SENTIMENTS: tuple[Sentiment, ...] = ("positive", "neutral", "negative")


@lru_cache(maxsize=4096)  # a report reads the same reasons again
def sentiment(text: str) -> Sentiment:
    """Positive, neutral or negative: polarity of TextBlob's pattern analyser above, at or below 0.

    The polarity is the mean over the words of the text that its English lexicon knows, 0 if it knows none. The lexicon reads
    "right" as praise (+0.29) and "left" as nothing, wherever they name a side: see docs/report.md, "Sentiment".

    Raises:
        InterplayError: If TextBlob is not installed.
    """
    polarity: float = _analyser()(text).polarity  # type: ignore[assignment]  # a property cached on the instance
    return "positive" if polarity > 0 else "negative" if polarity < 0 else "neutral"


def sentiment_counts(sentiments: Iterable[Sentiment]) -> tuple[int, int, int]:
    """How many are positive, neutral and negative.

    >>> sentiment_counts(["positive", "negative", "positive"])
    (2, 0, 1)
    """
    listed = list(sentiments)
    positive, neutral, negative = (listed.count(name) for name in SENTIMENTS)
    return positive, neutral, negative


def _analyser():
    """The class TextBlob; importing it takes a second, so it waits until a text is read."""
    try:
        from textblob import TextBlob
    except ModuleNotFoundError:
        raise InterplayError(not_installed("sentiment needs", "textblob", "report")) from None
    return TextBlob
