"""How fast published recordings become frames and actions, beside the way of BEDD's own loader.

    python -m bench.demos --json

Recordings of 640x360 pixels are synthesised from films of the block world, with lines of JSON as BEDD's have, an eighth of
them in menus. Both read the same files to the same frames (128x128, cursor drawn, byte for byte) and the same actions (labels
`bedd`), in turns, and the medians of their rates are compared.

The baseline is what `minerl_data_loader.py` of basalt-benchmark does, written here after its description: ten processes with
OpenCV, each reads all lines of a file, decodes, draws the cursor, turns BGR to RGB, clips, resizes, and puts frame after frame
with its action into a queue of 16, from which one process takes batches of 8. Ours reads as many files at once as there are
cores, in threads.

`ratio` is of recordings in the quality in which Interplay exports them, `ratio_4_mbit` of those with the bit rate of BEDD's,
where decoding, which both leave to FFmpeg, takes most of the time. `cpu_ratio` and `cpu_ratio_4_mbit` compare the seconds of
CPU for a frame, which others on the same machine change less: ten processes get more of a busy machine than one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from interplay.learn.recordings.labels import KEYBOARD
from interplay.learn.recordings.loader import Loader
from interplay.learn.recordings.pictures import _CURSOR

FILMS = Path(__file__).parent.parent / "interplay" / "starter" / "films"
NUM_RECORDINGS = 10
NUM_FRAMES = 200
ROUNDS = 3
MIN_RATIO = 3.0
_QUALITIES = {"export": {"crf": "23"}, "4_mbit": {"b": "4000000"}}


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(np.random.default_rng(options.seed))
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:28} {value}")
    raise SystemExit(0 if result["passed"] else 1)


def measure(rng: np.random.Generator) -> dict[str, Any]:
    """Every figure of one run."""
    result: dict[str, Any] = {"num_cores": os.cpu_count()}
    ratios, cpu_ratios = {}, {}
    for quality, settings in _QUALITIES.items():
        with tempfile.TemporaryDirectory() as folder:
            paths = synthesise(Path(folder), settings, rng)
            size = sum(path.with_suffix(".mp4").stat().st_size for path in paths)
            if not same(paths[0]):
                raise SystemExit("the two loaders do not give the same; run the tests")
            rates: dict[str, list[float]] = {"baseline": [], "interplay": []}
            cpu: dict[str, list[float]] = {"baseline": [], "interplay": []}
            for _ in range(ROUNDS):
                for name, read in (("baseline", baseline), ("interplay", interplay)):
                    wall_s, cpu_s, num_frames = timed(read, paths)
                    assert num_frames == NUM_RECORDINGS * NUM_FRAMES
                    rates[name].append(num_frames / wall_s)
                    cpu[name].append(1000 * cpu_s / num_frames)
        ratios[quality] = statistics.median(rates["interplay"]) / statistics.median(rates["baseline"])
        cpu_ratios[quality] = statistics.median(cpu["baseline"]) / statistics.median(cpu["interplay"])
        result[f"kb_a_frame_{quality}"] = round(size / NUM_RECORDINGS / NUM_FRAMES / 1000, 1)
        for name in rates:
            result[f"{name}_frames_per_s_{quality}"] = round(statistics.median(rates[name]))
            result[f"{name}_cpu_ms_a_frame_{quality}"] = round(statistics.median(cpu[name]), 3)
    result["ratio"] = round(ratios["export"], 2)
    result["ratio_4_mbit"] = round(ratios["4_mbit"], 2)
    result["cpu_ratio"], result["cpu_ratio_4_mbit"] = (round(cpu_ratios[quality], 2) for quality in _QUALITIES)
    return result | {"passed": result["ratio"] >= MIN_RATIO}


def timed(read: Callable[[list[Path]], int], paths: list[Path]) -> tuple[float, float, int]:
    """Seconds, seconds of CPU with those of processes that ended, and frames."""
    begin, before = time.perf_counter(), _cpu_s()
    num_frames = read(paths)
    return time.perf_counter() - begin, _cpu_s() - before, num_frames


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def interplay(paths: list[Path]) -> int:
    """Our way; returns the number of frames."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(lambda path: sum(map(len, Loader([path], labels="bedd"))), paths))


def baseline(paths: list[Path]) -> int:
    """BEDD's way; returns the number of frames."""
    context = multiprocessing.get_context("fork")
    tasks = context.Queue()
    for path in paths:
        tasks.put(path)
    for _ in paths:
        tasks.put(None)
    queues = [context.Queue(maxsize=16) for _ in paths]
    workers = [context.Process(target=_worker, args=(tasks, given), daemon=True) for given in queues]
    for worker in workers:
        worker.start()
    count = position = 0
    while queues:
        batch = []
        while len(batch) < 8 and queues:
            item = queues[position % len(queues)].get(timeout=60)
            if item is None:
                del queues[position % len(queues)]
                continue
            batch.append(item)
            position += 1
        count += len(batch)
    for worker in workers:
        worker.join()
    return count


def _worker(tasks: Any, given: Any) -> None:
    while (path := tasks.get()) is not None:
        for frame, action in read_as_bedd(path):
            given.put((path, frame, action), timeout=60)
    given.put(None)


_NOTHING = dict.fromkeys([*KEYBOARD.values(), "attack", "use", "pickItem"], 0)
_MOUSE = {0: "attack", 1: "use", 2: "pickItem"}


def read_as_bedd(path: Path):
    """Frames and actions, one after the other, as its worker makes them."""
    rows = [line.split() for line in _CURSOR.read_text().splitlines() if not line.startswith("#")]
    sheet = np.array([[(int(pixel[:2], 16),) * 3 + (int(pixel[2:], 16),) for pixel in row] for row in rows], np.uint8)
    cursor, alpha = sheet[:, :, :3], sheet[:, :, 3:] / 255.0
    with path.open() as file:
        lines = json.loads("[" + ",".join(file.readlines()) + "]")
    video = cv2.VideoCapture(str(path.with_suffix(".mp4")))
    is_stuck, slot = lines[0]["mouse"]["newButtons"] == [0], 0
    for number, line in enumerate(lines):
        mouse = line["mouse"]
        if number and is_stuck and 0 in mouse["newButtons"]:
            is_stuck = False
        buttons = [button for button in mouse["buttons"] if button != 0] if is_stuck else mouse["buttons"]
        action: dict[str, Any] = {**_NOTHING, "camera": np.array([0, 0])}
        for key in line["keyboard"]["keys"]:
            if key in KEYBOARD:
                action[KEYBOARD[key]] = 1
        action["camera"][0] = mouse["dy"] * 360 / 2400
        action["camera"][1] = mouse["dx"] * 360 / 2400
        for button, name in _MOUSE.items():
            if button in buttons:
                action[name] = 1
        action["is_null_action"] = not any(map(np.any, action.values()))
        if line["hotbar"] != slot:
            slot = line["hotbar"]
            action[f"hotbar.{slot + 1}"] = 1
        is_there, frame = video.read()
        if not is_there:
            break
        if line["isGuiOpen"]:
            x, y = (int(mouse[name] * (frame.shape[0] / 720)) for name in ("x", "y"))
            rows_left, columns_left = max(0, min(frame.shape[0] - y, 16)), max(0, min(frame.shape[1] - x, 16))
            if rows_left and columns_left:
                place = frame[y : y + rows_left, x : x + columns_left]
                over = alpha[:rows_left, :columns_left]
                place[...] = (place * (1 - over) + cursor[:rows_left, :columns_left] * over).astype(np.uint8)
        cv2.cvtColor(frame, code=cv2.COLOR_BGR2RGB, dst=frame)
        frame = np.asarray(np.clip(frame, 0, 255), dtype=np.uint8)
        yield cv2.resize(frame, (128, 128), interpolation=cv2.INTER_LINEAR), action
    video.release()


def same(path: Path) -> bool:
    """Whether both give the same frames and turns."""
    ours = list(Loader([path], labels="bedd"))
    theirs = list(read_as_bedd(path))
    frames, cameras = (np.concatenate([getattr(steps, name) for steps in ours]) for name in ("frames", "camera"))
    return np.array_equal(frames, [frame for frame, _ in theirs]) and np.array_equal(
        cameras, [action["camera"] for _, action in theirs]
    )


def synthesise(folder: Path, settings: dict[str, str], rng: np.random.Generator) -> list[Path]:
    """Recordings of the films of the block world that the package has."""
    films = [path for path in sorted(FILMS.glob("*.mp4")) if _is_wide(path)]
    paths = []
    for number in range(NUM_RECORDINGS):
        path = folder / f"bench-{number:012x}-20220716-1900{number:02d}.jsonl"
        path.write_text("\n".join(json.dumps(_line(step, rng)) for step in range(NUM_FRAMES)))
        _rewrite(films[number % len(films)], path.with_suffix(".mp4"), settings)
        paths.append(path)
    return paths


def _is_wide(path: Path) -> bool:
    with av.open(str(path)) as film:
        return film.streams.video[0].width == 640 and film.streams.video[0].frames >= NUM_FRAMES


def _rewrite(source: Path, target: Path, settings: dict[str, str]) -> None:
    """The first frames of a film as Constrained Baseline, as most of BEDD's are."""
    with av.open(str(source)) as film, av.open(str(target), "w") as video:
        stream: Any = video.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        stream.options = {"profile": "baseline", "preset": "veryfast", **settings}
        if "b" in settings:
            stream.bit_rate = int(settings["b"])
        for number, frame in zip(range(NUM_FRAMES), film.decode(video=0), strict=False):
            frame.pts, frame.time_base = number, Fraction(1, 20)
            video.mux(stream.encode(frame))
        video.mux(stream.encode())


def _line(step: int, rng: np.random.Generator) -> dict[str, Any]:
    is_open = step // 25 % 8 == 7
    x, y, dx, dy = (float(value) for value in rng.integers([0, 0, -40, -20], [1280, 720, 41, 21]))
    keys = [key for key in KEYBOARD if rng.random() < 0.1]
    mouse = {"x": x, "y": y, "dx": dx, "dy": dy, "scaledX": x / 2 - 320, "scaledY": y / 2 - 180, "dwheel": 0.0}
    mouse |= {"buttons": [0] if rng.random() < 0.5 else [], "newButtons": []}
    keyboard = {"keys": keys, "newKeys": keys[:1], "chars": ""}
    return {"mouse": mouse, "keyboard": keyboard, "isGuiOpen": is_open, "isGuiInventory": is_open, "hotbar": step // 40 % 9}


if __name__ == "__main__":
    main()
