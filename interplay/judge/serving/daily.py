"""Limit the answers of one person, and of one network address, in 24 hours."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from interplay.judge.errors import DailyLimitError
from interplay.judge.rules import Rules
from interplay.store import judging as store
from interplay.wording import amount

DAY_S = 86_400.0
_MOST_ADDRESSES = 100_000


class DailyLimits:
    """Limits of answers per day. Answers of an address are counted in this process only. Safe to share between threads."""

    def __init__(self, clock: Callable[[], datetime], monotonic: Callable[[], float]) -> None:
        self._clock, self._monotonic = clock, monotonic
        self._lock = threading.Lock()
        self._times: dict[str, deque[float]] = {}

    def count(self, address: str) -> None:
        with self._lock:
            times = self._times.pop(address, None) or deque()
            self._times[address] = times  # the one seen last stands last
            now = self._monotonic()
            times.append(now)
            while times[0] <= now - DAY_S:
                times.popleft()
            if len(self._times) > _MOST_ADDRESSES:
                del self._times[next(iter(self._times))]

    def _wait_s(self, address: str, limit: int) -> float:
        with self._lock:
            times, now = self._times.get(address, ()), self._monotonic()
            recent = [time for time in times if time > now - DAY_S]
            return 0.0 if len(recent) < limit else recent[len(recent) - limit] + DAY_S - now

    def check(self, session: Session, judge: str, study: str | None, judge_kind: str, address: str, rules: Rules) -> None:
        """Refuse a person who has reached a limit (DailyLimitError with the limit, and the time to wait)."""
        if judge_kind != "person":
            return
        limit, where = rules.max_answers_per_day, "in the open room" if study is None else "in this study"
        if limit is not None:
            now = self._clock()
            given = store.answered_since(session, judge, now - timedelta(seconds=DAY_S), study)
            if len(given) >= limit:
                wait_s = DAY_S - (now - given[limit - 1]).total_seconds()
                raise DailyLimitError(
                    f"you have given {limit} answers in 24 hours, the most that one person may give {where}; "
                    f"thank you. You can continue in {_in_words(wait_s)}",
                    wait_s,
                )
        limit = rules.max_answers_per_address
        wait_s = 0.0 if limit is None or not address else self._wait_s(address, limit)
        if wait_s > 0:
            raise DailyLimitError(
                f"{limit} answers came from your network address in 24 hours, the most that one address may send "
                f"{where}; thank you. You can continue in {_in_words(wait_s)}",
                wait_s,
            )


def _in_words(seconds: float) -> str:
    """Return a time to wait in words.

    >>> _in_words(50), _in_words(3700), _in_words(86_000)
    ('1 minute', '1 hour', '23 hours')
    """
    number, unit = (int(seconds // 3600), "hour") if seconds >= 3600 else (max(1, round(seconds / 60)), "minute")
    return amount(number, unit)
