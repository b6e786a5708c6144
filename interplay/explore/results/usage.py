"""List the calls of a run with their ticks, keys, thoughts, tokens and time; only the run's file is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.explore.evaluation.replies import KINDS, PLAYED, Reply, clean, read, read_action
from interplay.explore.evaluation.runs import Run
from interplay.explore.evaluation.settings import Settings

WORDS_CHARS = 4000


@dataclass(frozen=True)
class Call:
    """One answered call.

    Attributes:
        tick: Tick at which the call was made.
        ticks: Duration of the reply's action; 0 for a refused reply, after which the model was asked again.
        kinds: Kinds of the reply, of `replies.KINDS`; several if the model called several tools.
        camera: Turn in degrees: down, and to the right.
        memory: The model's memory from this call on; `None` if the reply does not change it.
        input_tokens, output_tokens: Numbers of tokens as the server counts them.
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
    """Return the calls of a run, in order; empty if the run's file does not say at which ticks they were made."""
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
    message = (output.get("choices") or [{}])[0].get("message") or {}
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if part.get("type") == "text")
    text = output.get("completion") or (content if isinstance(content, str) else "")
    called = next(iter(message.get("tool_calls") or ()), None)
    if called is None:
        reply = read(text, most_ticks=settings.most_ticks, memory_words=settings.memory_words)
    else:
        text = text or f"{called.get('function')} {json.dumps(called.get('arguments'))}"
        reply = Reply("action")
        if called.get("function") == "act":
            arguments = called.get("arguments") or {}
            reply = read_action(arguments.get("keys"), arguments.get("ticks", 1), most_ticks=settings.most_ticks)
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
