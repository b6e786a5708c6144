"""The form that is due after the games of a visit, and checks of its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from interplay.study.errors import FormError
from interplay.study.questionnaires.questions import Question, Questions

FormKind = Literal["partner", "comparison"]


class TeamGame(NamedTuple):
    """A game with a partner.

    Attributes:
        number: Of the game in the visit, from 1.
        partner: The actors in the other seats, as the recording names them, joined where they changed.
        met: Their kinds in words.
    """

    number: int
    episode: str
    partner: str
    met: str = ""


@dataclass(frozen=True)
class Form:
    """The questions of one page, about a game, or about two games, the older one first."""

    kind: FormKind
    questions: tuple[Question, ...]
    games: tuple[TeamGame, ...]

    @property
    def key(self) -> str:
        """A key that stays the same however often the form is shown."""
        return f"{self.kind}:{self.games[-1].episode}"

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Answers by question (FormError if one is missing, too long, or not among the options).

        >>> form = Form("partner", (Question("fun", "It was fun.", {"1": "no", "2": "yes"}),), (TeamGame(1, "e", "noop"),))
        >>> form.read({"fun": "2"})
        {'fun': '2'}
        """
        found = {one.id: given.get(one.id, "").strip() for one in self.questions}
        missing = [one.text for one in self.questions if one.options and not found[one.id]]
        if missing:
            more = f"; {len(missing)} have no answer yet" if len(missing) > 1 else ""
            raise FormError(f"Please answer every question{more}: {missing[0]}")
        for one in self.questions:
            if not one.accepts(found[one.id]):
                raise FormError(f"This answer cannot be kept; choose one of those offered, or write less: {one.text}")
        return found


def due(questions: Questions, games: Sequence[TeamGame], answered: Collection[str]) -> Form | None:
    """The next form, or None.

    Args:
        games: Those of the visit that were played with a partner, in order.
        answered: Keys of forms that were sent or skipped.
    """
    return next((form for form in forms(questions, games) if form.key not in answered), None)


def forms(questions: Questions, games: Sequence[TeamGame]) -> Iterator[Form]:
    compared: set[frozenset[str]] = set()
    for place, game in enumerate(games):
        if questions.partner and (place + 1) % questions.every == 0:
            yield Form("partner", questions.partner, (game,))
        before = games[place - 1] if place else game
        pair = frozenset((before.partner, game.partner))
        if questions.comparison and len(pair) == 2 and pair not in compared:
            compared.add(pair)
            yield Form("comparison", questions.comparison, (before, game))
