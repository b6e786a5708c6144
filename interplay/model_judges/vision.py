"""A vision-language model as a judge: it sees frames of both videos in order, and fills in the form.

Any server with the chat-completions protocol works (`POST {address}/chat/completions`). The model is asked twice about each
pair, with the sides swapped. If the two replies disagree, the model has followed the side, not the videos, and the answer is
a draw. Every call is stored (prompt, hashes of pictures, reply, tokens, latency), so that it can be scored again later.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from interplay.errors import InterplayError
from interplay.judge.serving.checks import SWAPPED
from interplay.rank import OUTCOMES
from interplay.tasks import Question

NUM_FRAMES = 8
MAX_WIDTH = 384
TIMEOUT_S = 120.0
_SWAPPED = {**SWAPPED, "na": "na"}


class VisionJudgeError(InterplayError):
    """Raised when the model's server does not answer, or its answer cannot be used; the text says what the server sent."""


class UnansweredPairError(VisionJudgeError):
    """Raised when one pair gets no answer, because of its videos or the model's reply; other pairs may get one."""


@dataclass(frozen=True)
class VisionJudge:
    """A vision-language model at a server.

    Attributes:
        address: URL without the ending `/chat/completions`, for example `http://127.0.0.1:11434/v1`.
        key: Key that is sent as `Authorization: Bearer`.
        calls: File to which every call is appended, one JSON document on each line.
    """

    address: str
    model: str
    key: str | None = None
    calls: Path | None = None

    def ask(
        self,
        goal: str,
        questions: Sequence[Question],
        left: Sequence[NDArray[np.uint8]],
        right: Sequence[NDArray[np.uint8]],
        *,
        client: httpx.Client,
    ) -> dict[str, Any]:
        """Let the model fill in the form about two episodes; return `outcome`, `responses` and `reason`.

        Args:
            left, right: Frames in order, each uint8, shape (H, W, 3), RGB.
        Raises:
            UnansweredPairError: If the model's reply does not fill in the form.
            VisionJudgeError: If the server refuses or does not answer.
        """
        pictures = [encode(frame) for frame in left], [encode(frame) for frame in right]
        first = self._call(goal, questions, *pictures, client)
        second = _swap(self._call(goal, questions, pictures[1], pictures[0], client))
        return _combine(first, second, questions)

    def _call(
        self, goal: str, questions: Sequence[Question], left: list[bytes], right: list[bytes], client: httpx.Client
    ) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": prompt(goal, questions)}]
        for side, pictures in (("LEFT", left), ("RIGHT", right)):
            content.append({"type": "text", "text": f"Frames of the {side} player, in order:"})
            content += [
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64," + base64.b64encode(one).decode()}}
                for one in pictures
            ]
        body = {"model": self.model, "temperature": 0, "messages": [{"role": "user", "content": content}]}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        begin = time.perf_counter()
        try:
            reply = client.post(f"{self.address.rstrip('/')}/chat/completions", json=body, headers=headers, timeout=TIMEOUT_S)
            reply.raise_for_status()
            document = reply.json()
            text = document["choices"][0]["message"]["content"]
        except httpx.HTTPStatusError as error:
            raise VisionJudgeError(
                f"{self.address} answered {error.response.status_code}: {error.response.text[:200]!r}\n"
                "Check the address, the model's name and the key."
            ) from error
        except httpx.HTTPError as error:
            raise VisionJudgeError(f"{self.address} does not answer: {error}\nIs the model's server running?") from error
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise VisionJudgeError(
                f"{self.address} does not answer by the chat-completions protocol: {type(error).__name__}: {error}"
            ) from error
        if self.calls is not None:
            hashes = [[hashlib.sha256(one).hexdigest()[:16] for one in side] for side in (left, right)]
            call = {
                "address": self.address,
                "model": self.model,
                "prompt": prompt(goal, questions),
                "pictures": {"left": hashes[0], "right": hashes[1]},
                "reply": document,
                "latency_ms": round(1000 * (time.perf_counter() - begin), 1),
            }
            self.calls.parent.mkdir(parents=True, exist_ok=True)
            with self.calls.open("a") as file:
                file.write(json.dumps(call) + "\n")
        return read_reply(text, questions)


def prompt(goal: str, questions: Sequence[Question]) -> str:
    lines = [
        "Two players were given the same task in the same world. Look at frames of both and fill in a form about them.",
        f"The task: {goal}",
        "Reply with one JSON object and nothing else:",
        '{"outcome": "left" or "draw" or "right", "responses": {...}, "reason": "what you saw that decided it"}',
        "outcome says which player did better overall. responses has an entry for each of these questions:",
    ]
    for question in questions:
        if question.kind == "direct":
            lines.append(f'"{question.id}": {{"left": true or false, "right": true or false}} - {question.text}')
        elif question.kind == "comparative":
            lines.append(f'"{question.id}": "left", "draw", "right" or "na" - {question.text}')
    return "\n".join(lines)


def read_reply(text: Any, questions: Sequence[Question]) -> dict[str, Any]:
    """Read the completed form from a model's reply; words around the JSON object are ignored."""
    if not isinstance(text, str):
        raise UnansweredPairError(f"the model replied with no text: {str(text)[:200]!r}")
    try:
        form = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError) as error:
        raise UnansweredPairError(f"the model replied without a JSON object: {text[:200]!r}") from error
    if form.get("outcome") not in OUTCOMES:
        raise UnansweredPairError(f"the model's outcome is not left, draw or right: {text[:200]!r}")
    said = form.get("responses")
    said = said if isinstance(said, Mapping) else {}
    responses: dict[str, Any] = {}
    for question in questions:
        answer = said.get(question.id)
        if question.kind == "comparative":
            responses[question.id] = answer if isinstance(answer, str) and answer in _SWAPPED else "na"
        elif question.kind == "direct" and isinstance(answer, Mapping):
            responses[question.id] = {side: answer.get(side) is True for side in ("left", "right")}
    return {"outcome": form["outcome"], "responses": responses, "reason": _text(form.get("reason", ""))}


def _text(value: Any) -> str:
    """Return a text that both databases can store, at most 10,000 characters long."""
    return str(value)[:10_000].replace("\0", " ").encode(errors="replace").decode()


def _swap(form: dict[str, Any]) -> dict[str, Any]:
    responses = {
        name: {"left": answer["right"], "right": answer["left"]} if isinstance(answer, Mapping) else _SWAPPED[answer]
        for name, answer in form["responses"].items()
    }
    return {"outcome": _SWAPPED[form["outcome"]], "responses": responses, "reason": form["reason"]}


def _combine(first: dict[str, Any], second: dict[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
    """Combine two forms with the same order of sides: different answers become a draw, and yes needs two yes answers."""

    def both(one: Any, other: Any) -> Any:
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return {side: one[side] and other[side] for side in ("left", "right")}
        return one if one == other else "draw"

    shared = first["responses"].keys() & second["responses"].keys()
    return {
        "outcome": both(first["outcome"], second["outcome"]),
        "responses": {
            question.id: both(first["responses"][question.id], second["responses"][question.id])
            for question in questions
            if question.id in shared
        },
        "reason": first["reason"],
    }


def encode(frame: NDArray[np.uint8]) -> bytes:
    import simplejpeg

    step = max(1, -(-frame.shape[1] // MAX_WIDTH))
    return simplejpeg.encode_jpeg(np.ascontiguousarray(frame[::step, ::step]), quality=80)


def frames_of(path: Path) -> list[NDArray[np.uint8]]:
    """Return frames spread evenly over a whole video, the last frame included, each uint8, shape (H, W, 3)."""
    import av
    from av.error import FFmpegError

    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            total = stream.frames or sum(1 for _ in container.demux(stream))
            container.seek(0)
            wanted = set(np.linspace(0, max(total - 1, 0), NUM_FRAMES).round().astype(int).tolist())
            found: list[NDArray[np.uint8]] = [
                np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
                for place, frame in enumerate(container.decode(stream))
                if place in wanted
            ]
    except (FFmpegError, IndexError, OSError) as error:
        raise UnansweredPairError(f"{path} cannot be read as a video: {error}") from error
    if not found:
        raise UnansweredPairError(f"{path} has no frame that can be decoded")
    return found


Ask = Callable[[Sequence[NDArray[np.uint8]], Sequence[NDArray[np.uint8]]], dict[str, Any]]
"""A vision judge as a function: frames of the left and of the right episode -> outcome, responses, reason."""
