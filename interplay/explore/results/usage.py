"""Use of each call of a run: its ticks, keys, thought, tokens and time, from the run's file alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.explore.evaluation.replies import KINDS, PLAYED, Reply, clean, read, read_action
from interplay.explore.evaluation.runs import Run
from interplay.explore.evaluation.settings import Settings

WORDS_CHARS = 4000
"""Of the words of a call that are shown."""


@dataclass(frozen=True)
class Call:
    """One answered call.

    Attributes:
        tick: When it was made.
        ticks: Duration of its action; 0 for a refused reply, after which the model was asked again.
        kinds: Of `replies.KINDS`; several where a model called several tools.
        camera: Degrees down and to the right.
        memory: The model's memory from here on; `None` where the reply does not change it.
        input_tokens, output_tokens: As its server counts them.
    """

    tick: int
    ticks: int
    kinds: tuple[str, ...]
    keys: tuple[str, ...] = ()
    camera: tuple[float, float] | None = None
    tool: str | None = None
    words: str = ""
    memory: str | None = None
    why: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None

    @property
    def is_refused(self) -> bool:
        return not PLAYED.intersection(self.kinds)


def calls_of(run: Run) -> list[Call]:
    """Calls of a run, in order; empty if its file does not say when they were made."""
    said = run.end or run.failed or {}
    asked = said.get("asked", ())
    ticks = [tick for tick, *_ in asked]
    ends = [*ticks[1:], (run.end or {}).get("num_steps", ticks[-1])] if ticks else []
    again = (run.failed or {}).get("again", 0)
    calls = [*run.calls, *run.lost[len(run.lost) - again :]]
    settings, whys = Settings(**run.header["settings"]), said.get("whys", {})
    return [
        _call(call, tick, end - tick, tuple(kinds), whys.get(str(number), ""), settings)
        for number, (call, (tick, *kinds), end) in enumerate(zip(calls, asked, ends, strict=False))
    ]


def _call(call: Mapping[str, Any], tick: int, ticks: int, kinds: tuple[str, ...], why: str, settings: Settings) -> Call:
    output = call["output"]
    usage = output.get("usage") or {}
    text = output.get("completion") or _text(_message(output).get("content"))
    called = next(iter(_message(output).get("tool_calls") or ()), None)
    if called is not None:
        reply = _of_tool(called, settings)
        text = text or f"{called.get('function')} {json.dumps(called.get('arguments'))}"
    else:
        reply = read(text, most_ticks=settings.most_ticks, memory_words=settings.memory_words)
    if not PLAYED.intersection(kinds):  # also where the text alone could be played, as what a server withheld
        why = why or reply.why or next((KINDS[kind] for kind in kinds if kind in KINDS), "")
        reply = Reply("refused", thought=reply.thought)
    camera = reply.action.get("camera")
    return Call(
        tick,
        ticks,
        kinds,
        tuple(name for name in reply.action if name != "camera"),
        None if camera is None else (camera[0], camera[1]),
        None if called is None else clean(called.get("function"), 100),
        clean(reply.thought or text, WORDS_CHARS),
        reply.memory,
        "" if "action" in kinds else why or reply.why,
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        call.get("latency_ms"),
    )


def _of_tool(called: Mapping[str, Any], settings: Settings) -> Reply:
    arguments = called.get("arguments") or {}
    if called.get("function") != "act":
        return Reply("action")
    return read_action(arguments.get("keys"), arguments.get("ticks", 1), most_ticks=settings.most_ticks)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else ""


def _message(output: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = output.get("choices") or [{}]
    return choices[0].get("message") or {}
