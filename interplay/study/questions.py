"""Questions after a game with a partner: about this partner, and which of the last two partners was better.

A study's file contains the questions or names sets from `question_sets/`; `due` returns the next form. These rules use no
database; the service is `Visits` (`play/visits.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from interplay.errors import unknown_name
from interplay.study.errors import FormError, StudyError
from interplay.tables import Table, parse_toml

AGREEMENT = ("strongly disagree", "disagree", "neither", "agree", "strongly agree")
"""Answers to a statement that has no options of its own."""
SIDES = {"first": "The first", "same": "No difference", "second": "The second"}
"""Answers to a comparison: value -> text on the page."""
MAX_TEXT_CHARS = 2000
"""Largest number of characters in an answer in people's own words."""


@dataclass(frozen=True)
class Question:
    """One question; its id is unique in its form.

    Attributes:
        options: Value -> text, in order. A statement has the values 1, 2, ... Without options, people answer in their own
            words, or leave the field empty.
    """

    id: str
    text: str
    options: Mapping[str, str]

    def accepts(self, value: str) -> bool:
        return value in self.options if self.options else len(value) <= MAX_TEXT_CHARS


@dataclass(frozen=True)
class Questions:
    """The questions of a study: `partner` after every `every`-th game, `comparison` about two successive partners.
    Two partners are compared only if they differ, and each pair is compared once."""

    partner: tuple[Question, ...] = ()
    comparison: tuple[Question, ...] = ()
    every: int = 1


def read_questions(table: Table | None) -> Questions:
    """Read the table `[questions]` of a study (StudyError if it is invalid)."""
    if table is None:
        return Questions()
    partner = _read(table, "partner", None)
    comparison = _read(table, "comparison", SIDES)
    questions = Questions(partner, comparison, table.count("every", 1))
    if not partner and not comparison:
        raise table.error("partner", "and comparison are missing, so nothing is asked", 'write use = "teamwork"')
    table.nothing_else()
    return questions


def taken_in(table: Table) -> dict[str, Any]:
    """Return the table with `use` replaced by the questions of the sets that it names (StudyError for an unknown set)."""
    found = dict(table.values)
    used = found.pop("use", [])
    for name in reversed([used] if isinstance(used, str) else table.texts("use", [])):
        if name not in builtin_sets():
            error = unknown_name("question set", name, builtin_sets())
            raise StudyError(f"{table.source}: {table.place('use')}: {error}")
        for kind, questions in builtin_sets()[name].items():
            own = found.get(kind, [])
            found[kind] = [*questions, *own] if isinstance(own, list) else own
    return found


@cache
def builtin_sets() -> dict[str, dict[str, Any]]:
    """Return the question sets of the package: name -> kind -> questions as in a file."""
    folder = Path(str(resources.files("interplay.study"))) / "question_sets"
    return {file.stem: parse_toml(file.read_text("utf-8"), str(file), StudyError) for file in sorted(folder.glob("*.toml"))}


def _read(table: Table, kind: str, options: Mapping[str, str] | None) -> tuple[Question, ...]:
    """Read the questions of one kind; if `options` is given, every question has these options."""
    found: dict[str, Question] = {}
    for entry in table.tables(kind, []):
        name = entry.name("id")
        if name in found:
            sets = [one for one, kinds in builtin_sets().items() if any(it["id"] == name for it in kinds.get(kind, []))]
            why = f"; the question set {sets[0]!r} has a question of this id, too" if sets else ""
            raise entry.error("id", f"{name!r} is used twice{why}", "give each question its own id")
        answers = options
        if answers is None:
            is_text = entry.choice("kind", ("scale", "text"), "scale") == "text"
            labels = () if is_text else entry.texts("options", list(AGREEMENT))
            if not is_text and len(set(labels)) < max(2, len(labels)):
                raise entry.error("options", "must be at least two different answers", 'write kind = "text", or more options')
            answers = {str(place + 1): label for place, label in enumerate(labels)}
        found[name] = Question(name, entry.line("text"), answers)
        entry.nothing_else()
    return tuple(found.values())


FormKind = Literal["partner", "comparison"]


class TeamGame(NamedTuple):
    """A game with a partner: its number in the visit, from 1, and names and kinds (`met`) of the actors in other seats."""

    number: int
    episode: str
    partner: str
    met: str = ""


@dataclass(frozen=True)
class Form:
    """The questions of one page, about one game or about two games, older game first."""

    kind: FormKind
    questions: tuple[Question, ...]
    games: tuple[TeamGame, ...]

    @property
    def key(self) -> str:
        """Key of the form, the same each time the form is shown."""
        return f"{self.kind}:{self.games[-1].episode}"

    def read(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return question id -> answer (FormError if an answer is missing, too long, or not among the options).

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
                raise FormError(f"This answer cannot be stored; choose an offered one, or write less: {one.text}")
        return found


def due(questions: Questions, games: Sequence[TeamGame], answered: Collection[str]) -> Form | None:
    """Return the next form, or None. `games` are the visit's games with a partner, in order.
    `answered` contains the keys of forms that the person sent or skipped."""
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
