"""Variants of a study of play, read from the study's file: each variant is a task with its own instructions and incentives.

A variant plays its task in the unchanged world of that task. For example, "shoot from the inside out" and "from the outside in"
are variants of one Space Invaders task with one content hash, so that their episodes are replayed and compared in the same way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast, get_args

from interplay.study.incentives import SCOPES, Bonus, LinearBonus, Requirement, Scope, SlidingBonus, Treatment, readable
from interplay.study.questions import Questions, read_questions
from interplay.study.quizzes.file import QuizPart, read_quiz
from interplay.tables import Table

Choice = Literal["assigned", "chosen"]
AtTarget = Literal["continue", "stop"]
BUILT_IN = ("games", "time", "score")
"""Statistics that every game has: `games` is 1, `time` is the seconds of play, and `score` is the sum of rewards."""
_UNITS = {"active_time": "Active time", "time": "Time played", "games": "Games", "score": "Score"}


@dataclass(frozen=True)
class Variant:
    """One task that people may be asked to play.

    Attributes:
        name: The name in the study and in addresses.
        task: Id of the task.
        title: The title in words; empty: the task's title.
        instructions: Paragraphs, shown above the task's instructions.
        target_min: Accepted minutes that the study wants for this variant; None: no target, for example if people choose the
            variant.
        max_visits: Number of visits in which one person may play the variant; None: no limit.
        opens, closes: Start and end of the time when the variant may be given; None: no limit.
        partners: Agents for the other seats: in each game one of these agents acts for all other seats. The games of a visit
            use the agents in turn, in an order that differs between visits. Empty: other people have the other seats.
        quiz: Quiz that replaces the quiz of the study.
        fallback: Agent that a person may choose if no partner comes, and that acts for people who left; empty: no agent.
    """

    name: str
    task: str
    title: str
    instructions: tuple[str, ...]
    treatment: Treatment
    target_min: float | None = None
    max_visits: int | None = None
    opens: datetime | None = None
    closes: datetime | None = None
    partners: tuple[str, ...] = ()
    fallback: str = ""
    quiz: QuizPart | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        return (*self.partners, *([self.fallback] if self.fallback else []))

    def partner(self, enrolment_id: str, num_games: int) -> str | None:
        """Return the agent that plays with this person in the next game; None if the partners are people.

        >>> pair = Variant("pong", "together/cooperative_pong", "", (), Treatment(), partners=("scripted", "random"))
        >>> [pair.partner("visit-2", number) for number in range(3)]
        ['scripted', 'random', 'scripted']
        """
        if not self.partners:
            return None
        order = sorted(self.partners, key=lambda one: hashlib.sha256(f"{enrolment_id}:{one}".encode()).digest())
        return order[num_games % len(order)]


@dataclass(frozen=True)
class Waiting:
    """The promise to people who wait for a partner.
    After `after_s` seconds they may leave with the outcome `no_partner` and `pay_cents`, in hundredths of the study's currency,
    or play with the fallback agent, if there is one."""

    after_s: float = 60.0
    pay_cents: int = 0


@dataclass(frozen=True)
class Raffle:
    """The raffle among all complete visits; each winner gets `prize_cents`, in hundredths of the study's currency."""

    winners: int
    prize_cents: int


@dataclass(frozen=True)
class PlayPart:
    """The rules of a study of play.

    Attributes:
        variants: Variants in the order of the file; at least one.
        choice: `assigned`: each visit is given a variant. `chosen`: people choose one from a page of cards.
        by_link: Whether a link may name the variant, as `?task=NAME`.
        accepted: Statistic in seconds that counts towards `target_min`; only visits that met their requirements count.
        max_games: Number of games after which a visit ends; None: people decide, once the requirements are met.
        at_target: When every target is reached, `continue` gives the variant least above its target, `stop` gives no variant.
        is_blind: Whether people are not told which players are agents.
        reveals: Whether people are told at the end of their visit who their partners were.
    """

    variants: tuple[Variant, ...]
    choice: Choice = "assigned"
    by_link: bool = False
    accepted: str = "time"
    max_games: int | None = None
    at_target: AtTarget = "continue"
    raffle: Raffle | None = None
    waiting: Waiting = field(default_factory=Waiting)
    is_blind: bool = False
    reveals: bool = False
    questions: Questions = field(default_factory=Questions)

    @property
    def has_quizzes(self) -> bool:
        return any(one.quiz is not None for one in self.variants)

    def next_opening(self, now: datetime) -> datetime | None:
        """Return the time when the next variant opens; None if no variant will open."""
        return min((one.opens for one in self.variants if one.opens is not None and one.opens > now), default=None)

    @property
    def rewards(self) -> list[int]:
        """Promised rewards in hundredths of the currency, each amount once, smallest first."""
        return sorted({one.treatment.reward_cents for one in self.variants})

    @property
    def bonus_rules(self) -> list[str]:
        """Rules of the bonuses in words, each rule once."""
        return list(dict.fromkeys(one.treatment.bonus.in_words() for one in self.variants if one.treatment.bonus is not None))

    @property
    def max_bonus_cents(self) -> int:
        return max((one.treatment.bonus.max_cents for one in self.variants if one.treatment.bonus is not None), default=0)

    def variant(self, name: str) -> Variant | None:
        return next((one for one in self.variants if one.name == name), None)


def read_play(root: Table, *, reward_cents: int, currency: str) -> PlayPart:
    """Read the tables of a study of play, `[play]` and `[[variants]]` (StudyError if a value is invalid).
    `[[requirements]]`, `[bonus]`, `reward_cents` and `currency` apply to variants without their own."""
    play = root.table("play", {})
    shared_requirements, shared_bonus = _requirements(root), root.optional("bonus")
    if shared_bonus is not None:
        _bonus(shared_bonus)  # refused where it stands, also if every variant has its own
    variants: list[Variant] = []
    entries = root.tables("variants", [])
    if not entries:
        raise root.error(
            "variants", "are missing; a study of play needs at least one", 'add [[variants]] with task = "atari/breakout"'
        )
    for entry in entries:
        variant = _variant(entry, shared_requirements, shared_bonus, reward_cents, currency)
        if variant.name in {one.name for one in variants}:
            raise entry.error("name", f"{variant.name!r} is used twice", "give each variant its own name")
        variants.append(variant)
    part = PlayPart(
        tuple(variants),
        choice=cast(Choice, play.choice("choice", get_args(Choice), "assigned")),
        by_link=play.raw("by_link", bool, False),
        accepted=_statistic(play, "accepted", "time"),
        max_games=play.count("max_games", None),
        at_target=cast(AtTarget, play.choice("at_target", get_args(AtTarget), "continue")),
        raffle=_raffle(root.optional("raffle")),
        waiting=_waiting(root.optional("waiting")),
        is_blind=play.raw("blind", bool, False),
        reveals=play.raw("reveal", bool, False),
        questions=read_questions(root.optional("questions")),
    )
    targets = [one.target_min is not None for one in variants]
    if any(targets) and not all(targets):
        without = entries[targets.index(False)]
        raise without.error("target_min", "is missing, and other variants have one", "give every variant a target, or none")
    if part.at_target == "stop" and not any(targets):
        raise play.error("at_target", "'stop' needs targets", "add target_min to each variant")
    play.nothing_else()
    return part


def _variant(
    table: Table, requirements: tuple[Requirement, ...], bonus: Table | None, reward_cents: int, currency: str
) -> Variant:
    task = table.text("task")
    name = table.name("name") if "name" in table.values else task.rpartition("/")[2]
    own = _requirements(table) if "requirements" in table.values else requirements
    if not own:
        remedy = 'add [[requirements]] with statistic = "games" and required = 1, or more'
        raise table.error("requirements", "are missing; nobody could know when a visit is complete", remedy)
    rule = table.optional("bonus") or bonus
    if "reward" in table.values:
        reward_cents = cents(table, "reward")
    opens, closes = _time(table, "opens"), _time(table, "closes")
    if opens is not None and closes is not None and closes <= opens:
        raise table.error("closes", "is not after opens", "swap the two times, or leave one out")
    variant = Variant(
        name=name,
        task=task,
        title=table.line("title") if "title" in table.values else "",
        instructions=table.paragraphs("instructions") if "instructions" in table.values else (),
        treatment=Treatment(own, reward_cents, None if rule is None else _bonus(rule), currency),
        target_min=table.number("target_min", None, low=0.1, high=10_000_000),
        max_visits=table.count("max_visits", None),
        opens=opens,
        closes=closes,
        partners=_partners(table),
        fallback=table.text("fallback", ""),
        quiz=read_quiz(table.optional("quiz")),
    )
    table.nothing_else()
    if variant.partners and variant.fallback:
        problem = "has no use with partner: an agent plays from the start, so nobody waits"
        raise table.error("fallback", problem, "keep one of the two")
    return variant


def _requirements(table: Table) -> tuple[Requirement, ...]:
    found = []
    for entry in table.tables("requirements", []):
        out_of = _statistic(entry, "out_of", "")
        required = float(entry.number("required", low=1e-6, high=1 if out_of else 1e9))
        statistic = _statistic(entry, "statistic")
        scope = cast(Scope, entry.choice("scope", SCOPES, "visit"))
        label = entry.line("label") if "label" in entry.values else _label(statistic, out_of)
        found.append(Requirement(statistic, required, out_of, scope, label))
        entry.nothing_else()
    return tuple(found)


def _label(statistic: str, out_of: str) -> str:
    words = readable(statistic) + (f" out of {readable(out_of)}" if out_of else "")
    return words[:1].upper() + words[1:] if out_of else _UNITS.get(statistic, words[:1].upper() + words[1:])


def _bonus(table: Table) -> Bonus:
    kind = table.choice("kind", ("sliding", "linear"), "sliding")
    most = cents(table, "max")
    label = table.line("label") if "label" in table.values else ""
    correct, out_of = (_statistic(table, key, ... if kind == "sliding" else "") for key in ("correct", "out_of"))
    if bool(correct) != bool(out_of):
        raise table.error("correct", "is given without out_of, or out_of without correct", "name both, or neither")
    bonus: Bonus
    if kind == "sliding":
        full_at = float(table.number("full_at", 200, low=1, high=1e9))
        bonus = SlidingBonus(most, correct, out_of, full_at, label, _statistic(table, "statistic", ""))
    else:
        full_at = float(table.number("full_at", low=1e-6, high=1e12))
        bonus = LinearBonus(most, _statistic(table, "statistic"), full_at, label, correct, out_of)
    table.nothing_else()
    return bonus


def _raffle(table: Table | None) -> Raffle | None:
    if table is None:
        return None
    raffle = Raffle(table.count("winners", 1), cents(table, "prize"))
    table.nothing_else()
    return raffle


def _partners(table: Table) -> tuple[str, ...]:
    if isinstance(table.values.get("partner"), str):
        return (table.text("partner"),)
    agents = tuple(table.texts("partner", []))
    if len(set(agents)) < len(agents) or not all(agents):
        raise table.error(
            "partner", "names an agent twice, or an empty name", 'write partner = "scripted", or a list of different agents'
        )
    return agents


def _waiting(table: Table | None) -> Waiting:
    if table is None:
        return Waiting()
    waiting = Waiting(float(table.number("after_s", 60, low=1, high=3600)), cents(table, "pay", 0))
    table.nothing_else()
    return waiting


def _statistic(table: Table, key: str, default: Any = ...) -> str:
    value = table.text(key, default)
    if value and not value.replace("_", "a").replace(".", "a").isalnum():
        raise table.error(key, f"{value!r} is not the name of a statistic", 'write a name such as "score" or "active_time"')
    return value


def cents(table: Table, key: str, default: Any = ..., *, low: float = 0) -> int:
    amount = table.number(key, default, low=low, high=10_000) * 100
    if abs(amount - round(amount)) > 1e-6:
        raise table.error(key, "has more than two decimals", "write whole hundredths, such as 3.75")
    return round(amount)


def _time(table: Table, key: str) -> datetime | None:
    text = table.text(key, "")
    if not text:
        return None
    remedy = 'write it as "2026-12-01T09:00:00+01:00"'
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise table.error(key, f"{text!r} is not a time", remedy) from None
    if time.tzinfo is None:
        raise table.error(key, f"{text!r} has no time zone", remedy)
    return time
