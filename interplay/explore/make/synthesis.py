"""Make many instances with language models: a seed draws candidates and hops, and one maker or several do the work.

`Chat` keeps every answer of a model, and each instance's result has its own file, so that a command that was stopped can
continue. For an instance that passes the gate, an episode of the oracle is recorded as its proof.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
)

from interplay.errors import InterplayError
from interplay.explore.instance import Instance
from interplay.explore.make import debate, scripted  # noqa: F401  (makes scripted makers known by name)
from interplay.explore.make.chat import FOLDER, Chat
from interplay.explore.make.debate import Made, Message, Reply
from interplay.explore.make.dialogue import TEXTS, Role
from interplay.explore.make.draft import NUM_CANDIDATES, Brief, Ruling
from interplay.explore.oracle.hops import depth
from interplay.explore.oracle.recording import record
from interplay.files import write_bytes
from interplay.record import Archive
from interplay.wording import amount

MODES = {"multi": debate.multi, "single": debate.single}
MAKINGS = FOLDER / "makings"
INSTANCES = FOLDER / "instances"
HOPS = (2, 4)
"""Least and largest number of hops by default; a seed draws the number for each instance."""


class SynthesisError(InterplayError):
    """Raised when the instances cannot be made as asked."""


@dataclass(frozen=True)
class Plan:
    """Plan for making instances: from which tasks, in which modes, and how many.

    Attributes:
        tasks: Tasks from which candidates are drawn, such as the tasks that the knowledge filter kept.
        modes: Some of `MODES`; with two modes, both make instances from the same candidates.
        count: Number of instances of each mode.
        hops: Number of tasks in an instance; if `None`, it is drawn within `HOPS`.
        model: Name of the maker's model, used in `source` and to make the instances' names.
    Raises:
        SynthesisError: If there are fewer different tasks than an instance may take.
    """

    tasks: tuple[str, ...]
    modes: tuple[str, ...]
    count: int
    hops: int | None
    seed: int
    model: str

    def __post_init__(self) -> None:
        most = self.hops or HOPS[1]
        if (num := len(set(self.tasks))) < most:
            raise SynthesisError(
                f"there {'is' if num == 1 else 'are'} {amount(num, 'task')} to choose from, "
                f"and an instance takes up to {most}\nName a file with more tasks, or ask for fewer hops."
            )

    def briefs(self) -> Iterator[tuple[str, Brief]]:
        """Yield (mode, brief) for each instance; all modes get the same briefs, except for `name` and `source`."""
        known = sorted(set(self.tasks))
        prompts = hashlib.sha256(TEXTS.read_bytes()).hexdigest()[:12]
        for number in range(self.count):
            rng = np.random.default_rng([self.seed, number])
            hops = int(rng.integers(HOPS[0], HOPS[1] + 1)) if self.hops is None else self.hops
            num_candidates = min(len(known), max(NUM_CANDIDATES, hops) if hops > 1 else 1)
            drawn = tuple(known[index] for index in rng.choice(len(known), num_candidates, replace=False))
            told = {"candidates": list(drawn), "hops": hops, "seed": self.seed, "number": number, "model": self.model}
            pair = _digest(told)
            for mode in self.modes:
                # The name says nothing of the mode: people who review it are not to know.
                name = f"m{_digest(told | {'mode': mode, 'prompts': prompts})}"
                yield mode, Brief(name, drawn, hops, {"made": told | {"mode": mode, "pair": pair, "prompts": prompts}})


@dataclass
class Far:
    """Progress of a synthesis; `turn` names the turn that ended last."""

    done: int
    total: int
    passed: int = 0
    turn: str = ""


@dataclass(frozen=True)
class Synthesis:
    """Results of all instances of a plan; `files` maps the name of each instance that passed to its file."""

    makings: tuple[Mapping[str, Any], ...]
    files: Mapping[str, Path] = field(default_factory=dict)

    def by_mode(self) -> list[dict[str, Any]]:
        """Return a row for each mode: numbers of instances, passed, repaired and refused ones, and of turns and debates."""
        rows = []
        for mode in dict.fromkeys(one["mode"] for one in self.makings):
            own = [one for one in self.makings if one["mode"] == mode]
            passed = [one for one in own if one["passed"]]
            rows.append(
                {
                    "mode": mode,
                    "instances": len(own),
                    "passed": len(passed),
                    "repaired": sum(bool(one["first_reasons"]) for one in passed),
                    "refused": len(own) - len(passed),
                    "turns": sum(len(one["turns"]) for one in own),
                    "debates": sum(one["debates"] for one in own),
                    "refused_replies": sum(count for one in own for kind, count in one["replies"].items() if kind != "used"),
                }
            )
        return rows


async def make(
    plan: Plan,
    archive: Archive,
    chat: Chat,
    model: Model,
    *,
    roles: Mapping[str, Model] | None = None,
    out: Path | None = None,
    num_at_once: int = 2,
    report: Callable[[Far], None] = lambda far: None,
) -> Synthesis:
    """Make the instances of a plan; read finished ones from their files, and continue others from the kept answers.

    Args:
        archive: Stores the proofs and the result of each instance.
        roles: Role -> the model for this role, if not `model`.
        out: Folder for the instances that pass; by default `INSTANCES` of the data folder.
    Raises:
        CallError: If a model does not answer; call this function again to continue.
        SynthesisError: If the folder cannot be made, or the file of an earlier result holds something else.
    """
    briefs = list(plan.briefs())
    far, turns = Far(0, len(briefs)), asyncio.Semaphore(num_at_once)
    folder = archive.root / INSTANCES if out is None else out
    try:  # before anything is paid for
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SynthesisError(f"{folder} cannot be made: {error.strerror}\nName another folder with --out.") from None
    (archive.root / MAKINGS).mkdir(parents=True, exist_ok=True)

    async def ask(role: Role, messages: Sequence[Message], about: str) -> Reply:
        config = GenerateConfig(temperature=role.temperature)
        output = await chat.ask(
            (roles or {}).get(role.name, model), [_chat_message(one) for one in messages], config=config, about=about
        )
        return Reply(output.completion, output.stop_reason == "content_filter")

    def took(turn: str) -> None:
        far.turn = turn
        report(far)

    async def one(mode: str, brief: Brief) -> dict[str, Any]:
        path = archive.root / MAKINGS / f"{brief.name}.json"
        async with turns:
            document = _kept(path, folder)
            if document is None:
                made = await MODES[mode](brief, ask, took)
                document = await asyncio.to_thread(_keep, made, archive, path, folder)
        far.done, far.passed = far.done + 1, far.passed + document["passed"]
        report(far)
        return document

    report(far)
    makings = await asyncio.gather(*(one(mode, brief) for mode, brief in briefs))
    return Synthesis(tuple(makings), {each["name"]: folder / f"{each['name']}.json" for each in makings if each["passed"]})


def _kept(path: Path, folder: Path) -> dict[str, Any] | None:
    """Read an instance's earlier result; `None` without one. Raise a `SynthesisError` if the file holds something else."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # never made, or torn when the machine stopped
        return None
    if not isinstance(document, dict) or not document.keys() >= {one.name for one in fields(Made)} - {"instance", "ruling"}:
        raise SynthesisError(f"{path} is not a result of making an instance\nMove it away; the answers of the models are kept.")
    if document["passed"] and not (folder / path.name).exists():
        write_bytes(folder / path.name, _written(document["document"]))
    return document


def _keep(made: Made, archive: Archive, path: Path, folder: Path) -> dict[str, Any]:
    """Record the proof of an instance that passed, and write the result."""
    document = made.to_json()
    if made.instance is not None and made.ruling is not None:
        instance = proved(made.instance, made.ruling, archive)
        document["document"] = instance.to_json()
        write_bytes(folder / path.name, _written(document["document"]))
    write_bytes(path, json.dumps(document).encode())
    return document


def proved(instance: Instance, ruling: Ruling, archive: Archive) -> Instance:
    assert ruling.passed
    assert ruling.verdict is not None
    proof = record(archive, instance, ruling.verdict).to_json()
    hops = {"edges": [edge.to_json() for edge in ruling.edges], "depth": depth(instance.nodes, ruling.edges)}
    return replace(instance, proofs=(proof | {"hops": hops},))


def _written(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:10]


def _chat_message(message: Message) -> ChatMessage:
    if message.author == "system":
        return ChatMessageSystem(content=message.text)
    if message.author == "assistant":
        return ChatMessageAssistant(content=message.text)
    pictures = [f"data:image/png;base64,{base64.b64encode(one).decode()}" for one in message.pictures]
    content: list[Content] = [ContentText(text=message.text), *(ContentImage(image=one) for one in pictures)]
    return ChatMessageUser(content=content)
