"""Functions that tests give to executors."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from interplay.agents import AgentError
from interplay.jobs import Place


class Point(NamedTuple):
    x: int
    label: str | None


@dataclass(frozen=True)
class Shape:
    points: tuple[Point, ...]
    place: Path
    area: float
    names: dict[str, float]


def moved(shape: Shape, by: int) -> Shape:
    points = tuple(Point(point.x + by, point.label) for point in shape.points)
    return Shape(points, shape.place / "moved", shape.area, shape.names)


def backwards(data: bytes, times: int) -> bytes:
    return data[::-1] * times


def fail(kind: str) -> None:
    if kind == "agent":
        raise AgentError("no idea\nAsk somebody.")
    if kind == "value":
        raise ValueError("not a number")
    if kind == "dead":
        os._exit(3)


def where() -> str:
    place = Place.of_environment()
    return f"{place.data} {place.database}"


def process() -> int:
    return os.getpid()


def nap(folder: Path, number: int, duration_s: float) -> int:
    """Say in a file that this job began, and in another that it ended."""
    (folder / f"{number}.began").touch()
    time.sleep(duration_s)
    (folder / f"{number}.ended").touch()
    return number


def fail_first(folder: Path, number: int) -> None:
    (folder / f"{number}.began").touch()
    if number == 0:
        raise ValueError("job 0")
    time.sleep(0.05)
    (folder / f"{number}.ended").touch()


def wait_for(path: Path, number: int) -> int:
    while not path.exists():
        time.sleep(0.01)
    return number


_kept: list[int] = []


def keep(number: int) -> list[int]:
    _kept.append(number)
    return _kept
