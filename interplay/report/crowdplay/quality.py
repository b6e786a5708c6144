"""Which plays are good data: by a stated rule, those in which the player did what the task asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from interplay.report.crowdplay.plays import Play, meets
from interplay.store.episodes import Condition
from interplay.study.definition import Study

SHARE = 0.8
"""Of the paper: at least 80 % in the right order, or on the right side (section 4.3 and appendix A.6)."""


@dataclass(frozen=True)
class Quality:
    """The rule for good plays.

    Attributes:
        given: Conditions for every play; without any, `of_variants` decides.
        of_variants: (task, variant) -> conditions for its plays; plays of any other are good.
    """

    given: tuple[Condition, ...] = ()
    of_variants: Mapping[tuple[str, str], tuple[Condition, ...]] = field(default_factory=dict)

    def conditions(self, play: Play) -> tuple[Condition, ...]:
        return self.given or self.of_variants.get((play.held.task, play.held.variant or ""), ())

    def is_good(self, play: Play) -> bool:
        return meets(play, self.conditions(play))

    @property
    def in_words(self) -> str:
        if self.given:
            return f"plays with {_words(self.given)}."
        if not self.of_variants:
            return "all plays, because no study here asks for a behaviour; --quality gives a rule."
        named = [f"{variant}: {_words(rule)}" for (_, variant), rule in sorted(self.of_variants.items())]
        return "plays that did what their study asked for (" + "; ".join(dict.fromkeys(named)) + "); all plays of other tasks."


def _words(conditions: Iterable[Condition]) -> str:
    return " and ".join(f"{one.name} {one.operator} {one.value:g}" for one in conditions)


def quality_of(studies: Iterable[Study], shares: Iterable[str], given: Sequence[Condition] = ()) -> Quality:
    """The rule of an archive, by every version of its studies, or the `given` one.

    A variant of a study asks for a behaviour where a requirement or a bonus is about a share, such as `inside_out.good` out of
    `inside_out.all`, or where it is called as the statistic that measures it. Visits under other incentives, which ask for
    nothing, are held to the same rule: the variant's name and task tell which.
    """
    known = set(shares)
    rules: dict[tuple[str, str], dict[str, float]] = {}
    named: dict[tuple[str, str], str] = {}
    for variant in (variant for study in studies if study.play is not None for variant in study.play.variants):
        key = variant.task, variant.name
        asked = [(one.statistic, one.out_of, one.required) for one in variant.treatment.requirements if one.out_of]
        bonus = variant.treatment.bonus
        if hasattr(bonus, "out_of"):
            asked.append((bonus.correct, bonus.out_of, SHARE))  # type: ignore[union-attr]
        for statistic, out_of, required in asked:
            name = statistic.partition(".")[0]
            if name == out_of.partition(".")[0]:
                rule = rules.setdefault(key, {})
                rule[name] = max(required, rule.get(name, 0.0))
        if variant.name in known:
            named[key] = variant.name
    for key, name in named.items():
        rules.setdefault(key, {name: SHARE})
    ordered = {key: tuple(Condition(name, ">=", share) for name, share in rule.items()) for key, rule in rules.items()}
    return Quality(tuple(given), ordered)
