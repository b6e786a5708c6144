"""Decide which atomic tasks need knowledge of the game, and which capabilities: several models answer several times each.

Each sample has three rounds, as published (MineExplorer, arXiv 2605.30931, appendix): first a verdict in one word, then, in the
same chat, the needed knowledge, and last, in a new chat, the capabilities. The published filter asks one model once about each
task, and an unusable reply loses its labels. Here, two models or more answer at least five times each, and the majority
decides. After an unknown label the model is asked again, and this is listed. If models disagree on a task, it waits for people.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.explore.evaluation.metrics import Rate, rate
from interplay.explore.instance import CAPABILITIES
from interplay.explore.make.bank import normalised, verb_of
from interplay.tables import read_text

YES, NO = "Yes", "No"
"""Verdicts: the task needs knowledge of the game, and is dropped; or it does not, and is kept."""
LEAST_MODELS, LEAST_SAMPLES = 2, 5
ATTEMPTS = 3
GROUPS = ("perception", "reasoning", "action")
LABELS: Mapping[str, tuple[str, ...]] = {
    group: tuple(name.partition(".")[2] for name in CAPABILITIES if name.startswith(f"{group}.")) for group in GROUPS
}


class KnowledgeError(InterplayError):
    """Raised when the filter cannot run, or one of its files cannot be used."""


class ReplyError(InterplayError):
    """Raised when a reply cannot be used; the text tells the model why."""


@dataclass(frozen=True)
class Sample:
    """One sample: a model's answers about one task; an answer is `None` if no reply could be used."""

    model: str
    verdict: str | None
    description: str | None = None
    capabilities: frozenset[str] | None = None
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Verdict on one task.

    Attributes:
        verdict: `YES` or `NO`, decided by people or by the majority of each model; `None` while the task waits for people.
        why: Why the task waits.
        description: The knowledge that is needed, if the verdict is `YES`.
        capabilities: Labels that more than half of the samples have.
    """

    task: str
    verdict: str | None
    by_people: bool
    why: str
    description: str | None
    capabilities: tuple[str, ...]
    samples: tuple[Sample, ...] = field(repr=False)

    @property
    def kept(self) -> bool:
        """Whether the task is kept, because it needs no knowledge of the game."""
        return self.verdict == NO

    def published(self) -> dict[str, Any]:
        return {
            "requires_domain_knowledge": self.verdict,
            "domain_knowledge_description": self.description,
            "capabilities": {
                group: [name for name in LABELS[group] if f"{group}.{name}" in self.capabilities] for group in GROUPS
            },
        }


# Replies


def read_verdict(text: str) -> str:
    """Return `YES` or `NO` if the reply is one of these words; raise a `ReplyError` otherwise.

    >>> read_verdict(" no. ")
    'No'
    """
    word = text.strip().strip(".!*\"'`").strip().capitalize()
    if word not in (YES, NO):
        raise ReplyError(f"it must be one word, Yes or No, and was {text.strip()[:60]!r}")
    return word


def read_description(text: str, verdict: str) -> str | None:
    """Return the needed knowledge, or `None` if the verdict is No; raise a `ReplyError` if the text contradicts the verdict."""
    said = text.strip().replace("\0", " ")
    is_none = said.rstrip(".").lower() in ("none", "")
    if is_none == (verdict == YES):
        raise ReplyError("you answered Yes, so say what one must know" if is_none else "you answered No, so write None")
    return None if is_none else said[:4000]


def read_capabilities(text: str) -> frozenset[str]:
    """Read the labels of `CAPABILITIES` from the JSON object of a reply.

    Raises:
        ReplyError: If the reply has no object, or the object has an unknown group or label, or lacks a group.
    """
    try:
        document = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        raise ReplyError("it holds no JSON object") from None
    if not isinstance(document, dict) or set(document) != set(GROUPS):
        raise ReplyError(f"the object must have the keys {', '.join(GROUPS)} and no others")
    found = set()
    for group, labels in document.items():
        if not isinstance(labels, list):
            raise ReplyError(f"{group} must be a list, and was {labels!r:.60}")
        for label in labels:
            if label not in LABELS[group]:
                raise ReplyError(f"{label!r:.60} is not a label of {group}; labels are {', '.join(LABELS[group])}")
            found.add(f"{group}.{label}")
    return frozenset(found)


# Votes


def decide(task: str, samples: Sequence[Sample], decisions: Mapping[str, str], *, num_samples: int = LEAST_SAMPLES) -> Verdict:
    """Return the verdict on a task from its samples.

    The models decide if each model gave `num_samples` verdicts and all have the same majority; otherwise the task waits until
    people have decided. People's `decisions` overrule the models.
    """
    by_model: dict[str, list[str]] = {}
    for one in samples:
        by_model.setdefault(one.model, []).extend([] if one.verdict is None else [one.verdict])
    leans = {model: 2 * verdicts.count(YES) - len(verdicts) for model, verdicts in by_model.items()}
    majorities = {model: YES if lean > 0 else NO if lean else None for model, lean in leans.items()}
    why = ""
    if short := [model for model, verdicts in by_model.items() if len(verdicts) < num_samples]:
        why = f"{', '.join(short)} gave fewer than {num_samples} verdicts that can be used"
    elif tied := [model for model, verdict in majorities.items() if verdict is None]:
        why = f"{', '.join(tied)} said Yes as often as No"
    elif len(set(majorities.values())) > 1:
        why = "; ".join(f"{model} says {verdict}" for model, verdict in majorities.items())
    verdict = decisions.get(task) or (None if why else next(iter(majorities.values()), None))
    described = [one.description for one in samples if one.verdict == YES and one.description]
    labelled = [one.capabilities for one in samples if one.capabilities is not None]
    count = Counter(label for labels in labelled for label in labels)
    return Verdict(
        task,
        verdict,
        task in decisions,
        "" if verdict is not None else why or "nobody was asked",
        described[0] if verdict == YES and described else None,
        tuple(label for label in CAPABILITIES if 2 * count[label] > len(labelled)),
        tuple(samples),
    )


# Measures


@dataclass(frozen=True)
class Measures:
    """Quality of a filter, on tasks whose labels people wrote.

    Attributes:
        precision: Among the tasks that the filter keeps, the share that should be kept. Waiting tasks are not kept.
        recall: Among the tasks that should be kept, the share that the filter keeps.
        dropped_precision, dropped_recall: The same for dropped tasks.
        consistency, dropped_consistency: How often two samples of one model agree about one task: on tasks that should be
            kept, and on tasks that should be dropped.
        accuracy: Model -> share of the model's single verdicts that are right.
        waiting: Share of the tasks that wait for people.
    """

    precision: Rate
    recall: Rate
    dropped_precision: Rate
    dropped_recall: Rate
    consistency: Rate
    dropped_consistency: Rate
    accuracy: Mapping[str, Rate]
    waiting: Rate


def measure(verdicts: Iterable[Verdict], golden: Mapping[str, str]) -> Measures:
    """Compare a filter's verdicts with golden labels, for tasks with a label. 95 % intervals take tasks as independent."""
    known = [one for one in verdicts if one.task in golden]
    models = sorted({sample.model for one in known for sample in one.samples})

    def share(of: str | None, right: Callable[[Verdict], bool], among: Callable[[Verdict], bool]) -> Rate:
        chosen = [one for one in known if of in (None, golden[one.task]) and among(one)]
        return rate((one.task, float(right(one)), 1.0) for one in chosen)

    def consistency(of: str) -> Rate:
        return rate((one.task, *_agreements(one)) for one in known if golden[one.task] == of)

    def accuracy(model: str) -> Rate:
        said = [
            (one.task, sample.verdict == golden[one.task])
            for one in known
            for sample in one.samples
            if sample.model == model and sample.verdict is not None
        ]
        return rate((task, float(right), 1.0) for task, right in said)

    return Measures(
        share(None, lambda one: golden[one.task] == NO, lambda one: one.verdict == NO),
        share(NO, lambda one: one.verdict == NO, lambda one: True),
        share(None, lambda one: golden[one.task] == YES, lambda one: one.verdict == YES),
        share(YES, lambda one: one.verdict == YES, lambda one: True),
        consistency(NO),
        consistency(YES),
        {model: accuracy(model) for model in models},
        share(None, lambda one: one.verdict is None, lambda one: True),
    )


def _agreements(one: Verdict) -> tuple[float, float]:
    """Return two numbers of pairs of samples of the same model: of pairs that agree, and of all pairs."""
    alike = pairs = 0
    for model in {sample.model for sample in one.samples}:
        said = Counter(sample.verdict for sample in one.samples if sample.model == model and sample.verdict is not None)
        total = said.total()
        alike += sum(count * (count - 1) // 2 for count in said.values())
        pairs += total * (total - 1) // 2
    return float(alike), float(pairs)


def by_verb(verdicts: Iterable[Verdict]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one in verdicts:
        row = found.setdefault(verb_of(one.task), {"kept": 0, "dropped": 0, "waiting": 0})
        row["waiting" if one.verdict is None else "kept" if one.kept else "dropped"] += 1
    return dict(sorted(found.items(), key=lambda item: (-sum(item[1].values()), item[0])))


# Files


@cache
def texts() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def golden() -> dict[str, str]:
    """Return task -> `YES` or `NO` from the golden set that comes with the package."""
    document = tomllib.loads(Path(__file__).with_name("golden.toml").read_text(encoding="utf-8"))
    return dict.fromkeys(document["no"], NO) | dict.fromkeys(document["yes"], YES)


def read_decisions(path: Path) -> dict[str, str]:
    """Read people's verdicts: each line has a task, a tab, and Yes, No or nothing yet. Return task -> verdict.

    Raises:
        KnowledgeError: If the file cannot be read, or a line has another form.
        BankError: If the text before a tab is not a task's name.
    """
    found: dict[str, str] = {}
    text = read_text(path, KnowledgeError, hint="Give the queue.tsv that the filter wrote.")
    for number, line in enumerate(text.splitlines(), 1):
        name, tab, rest = line.partition("\t")
        if name.strip() and not tab:
            raise KnowledgeError(f"{path}: line {number}: {line!r:.60} has no tab\nRemedy: write a task, a tab, and Yes or No.")
        word = rest.partition("\t")[0].strip().capitalize()
        if word not in ("", YES, NO):
            raise KnowledgeError(
                f"{path}: line {number}: {rest!r:.60} is neither Yes nor No\nRemedy: write one of them after a tab."
            )
        if name.strip() and word:
            found[normalised(name)] = word
    return found
