"""Convert the lines of a recording, one JSON object for each frame, to actions in MineRL's form: 23 keys and the camera's turn.

There are two ways. `bedd` gives the same result as BEDD's own loader (`minerl_data_loader.py` of basalt-benchmark), including
its faults: the camera is cut to whole degrees, a change of the hotbar is one frame late, and reading ends where that loader
fails. `minerl` follows MineRL's converter (`minerec_to_minerl_action` in `herobraine/hero/mc.py`), which probably made VPT's
data: the camera as it turned, a change of the hotbar on the line that caused it, ESC in a menu as `inventory`.

Differences of `minerl` from that converter: attack that is held from the first line on without having been pressed is left out
(a fault of the recorder, which `bedd` handles, too). A turn across north takes the short way. If a line has no angles, the
camera follows the mouse. A line that cannot be read is a step in which nothing is held. If a recording has no slot, turning the
mouse wheel does nothing, because actions have no wheel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from interplay.envs.minerl_actions import KEYS
from interplay.learn.recordings.names import RecordingsError

_decode = msgspec.json.Decoder().decode


def read_lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yield each line of a recording, or None for a line that is no JSON object; empty lines are left out."""
    for line in raw_lines(path):
        if line.strip():
            yield _object(line)


def raw_lines(path: Path) -> Iterator[bytes]:
    """Yield the bytes of each line, including empty lines; `RecordingsError` if the file cannot be read."""
    try:
        with path.open("rb") as lines:
            yield from lines
    except OSError as error:
        raise RecordingsError(f"{path} cannot be read: {error.strerror or error}\nFetch it again, or remove it.") from error


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        frame = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            frame = json.loads(line)  # which takes NaN and other things that the quick reader refuses
        except (ValueError, RecursionError):
            return None
    return frame if isinstance(frame, dict) else None


Way = Literal["bedd", "minerl"]
WAYS: tuple[Way, ...] = ("minerl", "bedd")

DEGREES_A_PIXEL = 360 / 2400
"""Degrees by which MineRL turns the camera when the mouse moves by one pixel."""

KEYBOARD = {
    "key.keyboard.escape": "ESC",
    "key.keyboard.s": "back",
    "key.keyboard.q": "drop",
    "key.keyboard.w": "forward",
    **{f"key.keyboard.{slot}": f"hotbar.{slot}" for slot in range(1, 10)},
    "key.keyboard.e": "inventory",
    "key.keyboard.space": "jump",
    "key.keyboard.a": "left",
    "key.keyboard.d": "right",
    "key.keyboard.left.shift": "sneak",
    "key.keyboard.left.control": "sprint",
    "key.keyboard.f": "swapHands",
}
"""The recorder's name of a key -> MineRL's name."""
MOUSE = ("attack", "use", "pickItem")
"""MineRL's names of the left, right and middle mouse button; the recorder calls these buttons 0, 1 and 2."""

_PLACES = {name: place for place, name in enumerate(KEYS)}
_KEY_PLACES = {key: _PLACES[name] for key, name in KEYBOARD.items()}
_MOUSE_PLACES = [_PLACES[name] for name in MOUSE]
_HOTBAR, _ESC, _INVENTORY = _PLACES["hotbar.1"], _PLACES["ESC"], _PLACES["inventory"]

Line = Mapping[str, Any] | None
"""A line of a recording; None if it cannot be read."""


class Label(NamedTuple):
    """The action of one line.

    Attributes:
        pressed: Indices in `KEYS` of the keys that are held.
        pitch, yaw: Turn of the camera in degrees, down and right positive.
        is_null: Whether nothing is done. Like BEDD, `bedd` decides this before it cuts the camera and looks at the hotbar.
        cursor: Position of the mouse in a menu, in pixels of a screen of 720 rows; None while no menu is open.
    """

    pressed: frozenset[int]
    pitch: float
    yaw: float
    is_null: bool
    cursor: tuple[Any, Any] | None

    def action(self) -> dict[str, Any]:
        """MineRL's form: each key 0 or 1, and `camera`, (pitch, yaw)."""
        return {name: int(place in self.pressed) for place, name in enumerate(KEYS)} | {"camera": [self.pitch, self.yaw]}


class BrokenOffError(Exception):
    """A line at which BEDD's loader fails and silently stops reading."""


def labels_of(lines: Iterable[Line], way: Way) -> Iterator[Label]:
    """Yield the label of each line of one recording; with `minerl`, lines may be those of several parts of an episode.

    Raises:
        BrokenOffError: With `bedd`, at the line at which BEDD's loader stops.
    """
    if way == "bedd":
        labeller = _Bedd()
        for line in lines:
            yield labeller.label(line)
        return
    labeller = _MineRL()
    ahead = iter(lines)
    line = next(ahead, _NO_LINE)
    while line is not _NO_LINE:
        following = next(ahead, _NO_LINE)
        yield labeller.label(line, following)
        line = following


_NO_LINE: Any = {}
"""Placeholder for the line after the last one; like an unreadable line, it has no content."""


class _Bedd:
    """BEDD's loader. At a bad line, `_label` raises the same error as that loader; `label` raises `BrokenOffError` from it."""

    def __init__(self) -> None:
        self._slot: Any = 0
        self._is_first, self._is_stuck = True, False

    def label(self, line: Line) -> Label:
        try:
            return self._label(line)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise BrokenOffError(f"{type(error).__name__}: {error}") from error

    def _label(self, line: Any) -> Label:
        mouse = line["mouse"]
        if self._is_first:
            self._is_stuck = mouse["newButtons"] == [0]
        elif self._is_stuck:
            self._is_stuck = 0 not in mouse["newButtons"]
        self._is_first = False
        buttons = [button for button in mouse["buttons"] if button != 0] if self._is_stuck else mouse["buttons"]
        pressed = {_KEY_PLACES[key] for key in line["keyboard"]["keys"] if key in _KEY_PLACES}
        # Cut towards zero and not rounded: the loader writes them into an array of whole numbers.
        pitch, yaw = np.int64(int(mouse["dy"] * DEGREES_A_PIXEL)), np.int64(int(mouse["dx"] * DEGREES_A_PIXEL))
        pressed |= {place for button, place in enumerate(_MOUSE_PLACES) if button in buttons}
        is_null = not pressed and mouse["dx"] == 0 and mouse["dy"] == 0
        slot = line["hotbar"]
        if slot != self._slot and 0 <= slot < 9 and isinstance(slot, int):
            pressed.add(_HOTBAR + slot)
        self._slot = slot
        cursor = (mouse["x"], mouse["y"]) if line["isGuiOpen"] else None
        return Label(frozenset(pressed), float(pitch), float(yaw), is_null, cursor)


class _MineRL:
    """MineRL's converter, which computes the camera's turn from a line and the next line."""

    def __init__(self) -> None:
        self._is_first, self._is_stuck = True, False

    def label(self, line: Line, following: Line) -> Label:
        mouse, keyboard = part_of(line, "mouse"), part_of(line, "keyboard")
        news = items_of(mouse, "newButtons")
        self._is_stuck = news == [0] if self._is_first else self._is_stuck and 0 not in news
        self._is_first = False
        is_open = bool(line and line.get("isGuiOpen"))
        cursor = (mouse.get("x"), mouse.get("y")) if is_open and mouse is not None else None
        if mouse is None or keyboard is None or (following and part_of(following, "mouse") is None):
            return Label(frozenset(), 0.0, 0.0, True, cursor)
        pressed = {_KEY_PLACES[key] for key in items_of(keyboard, "keys") if key in _KEY_PLACES}
        pressed |= {place for button, place in enumerate(_MOUSE_PLACES) if button in items_of(mouse, "buttons")}
        if self._is_stuck:
            pressed.discard(_MOUSE_PLACES[0])
        if is_open and _ESC in pressed:
            pressed ^= {_ESC, _INVENTORY} if _INVENTORY not in pressed else {_ESC}
        assert line is not None
        if following and (slot := _slot(following)) is not None and slot != _slot(line):
            pressed.add(_HOTBAR + slot)
        pitch, yaw = _turn(line, following or {}, is_open=is_open)
        return Label(frozenset(pressed), pitch, yaw, not pressed and not pitch and not yaw, cursor)


def _turn(line: Mapping[str, Any], following: Mapping[str, Any], *, is_open: bool) -> tuple[float, float]:
    if not is_open:
        pitch, yaw = _change(line, following, "pitch", "yaw")
        if pitch is not None and yaw is not None:
            return pitch, (yaw + 180.0) % 360.0 - 180.0 if abs(yaw) > 180.0 else yaw
    elif following.get("isGuiOpen"):
        mouse, ahead = line["mouse"], following["mouse"]
        for names, scale in ((("scaledY", "scaledX"), 1.0), (("y", "x"), 0.5)):
            down, right = _change(mouse, ahead, *names)
            if down is not None and right is not None:
                return down * scale * DEGREES_A_PIXEL, right * scale * DEGREES_A_PIXEL
    return (_number(line["mouse"].get("dy")) or 0.0) * DEGREES_A_PIXEL, (
        _number(line["mouse"].get("dx")) or 0.0
    ) * DEGREES_A_PIXEL


def _change(line: Mapping[str, Any], following: Mapping[str, Any], *names: str) -> list[float | None]:
    """Change of these numbers from one line to the next; None where a number is missing."""
    pairs = [(_number(line.get(name)), _number(following.get(name))) for name in names]
    return [None if before is None or after is None else _number(after - before) for before, after in pairs]


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) <= sys.float_info.max else None


def _slot(line: Mapping[str, Any]) -> int | None:
    value = line.get("hotbar")
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 9 else None


def part_of(line: Line, name: str) -> Mapping[str, Any] | None:
    value = line.get(name) if line else None
    return value if isinstance(value, dict) else None


def items_of(part: Mapping[str, Any] | None, name: str) -> list[Any]:
    """Return the list of keys or buttons with this name, or an empty list if `part` has no such list."""
    value = part.get(name) if part else None
    return [item for item in value if isinstance(item, str | int)] if isinstance(value, list) else []
