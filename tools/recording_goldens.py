"""Make `tests/learn/data/recordings`: synthetic recordings, and what the loaders of BEDD and MineRL make of them.

    python tools/recording_goldens.py CHECKOUT_OF_BASALT_BENCHMARK CHECKOUT_OF_MINERL

The first is minerllabs/basalt-benchmark (0807ec6 of 2023-11-29 was used), the second minerllabs/minerl (dev branch, 8268ee9).
Nothing of them is kept but numbers: their loader runs on the recordings, its actions and hashes of its frames are written down.
Needs opencv and av, both in the environment of the tests.
"""

from __future__ import annotations

import importlib.util
import json
import queue
import sys
import threading
import types
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import xxhash

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "learn" / "data" / "recordings"
WIDTH, HEIGHT = 640, 360


def main() -> None:
    bedd, minerl = map(Path, sys.argv[1:3])
    FOLDER.mkdir(parents=True, exist_ok=True)
    golden: dict[str, Any] = {}
    worker, convert = bedd_worker(bedd), minerl_converter(minerl)
    for name, (lines, num_frames, profile) in recordings().items():
        path = FOLDER / f"{name}.jsonl"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        write_video(path.with_suffix(".mp4"), num_frames, profile)
        golden[name] = {"bedd": by_bedd(worker, path), "minerl": by_minerl(convert, lines)}
    text = json.dumps(golden, separators=(",", ":")).replace('"},', '"},\n').replace("]],", "]],\n")
    (FOLDER / "golden.json").write_text(text + "\n")


def line(keys=(), buttons=(), new=(), dx=0.0, dy=0.0, gui=False, x=640.0, y=360.0, hotbar=0, **more) -> dict[str, Any]:
    mouse = {"x": x, "y": y, "dx": dx, "dy": dy, "scaledX": x / 2 - 320, "scaledY": y / 2 - 180, "dwheel": 0.0}
    mouse |= {"buttons": list(buttons), "newButtons": list(new)}
    keyboard = {"keys": [f"key.keyboard.{key}" for key in keys], "newKeys": [], "chars": ""}
    angles = {"yaw": 10.0, "pitch": 5.0}
    return {"mouse": mouse, "keyboard": keyboard, "isGuiOpen": gui, "isGuiInventory": gui, "hotbar": hotbar} | angles | more


def recordings() -> dict[str, tuple[list[Any], int, str]]:
    """Name -> lines, frames of the video, profile of H.264."""
    rng = np.random.default_rng(16)
    keys = ["w", "a", "s", "d", "space", "e", "q", "f", "left.shift", "left.control", "1", "9", "escape", "f3", "unknown"]
    anything = [
        line(
            rng.choice(keys, rng.integers(0, 5), replace=False),
            rng.choice(5, rng.integers(0, 3), replace=False).tolist(),
            dx=float(rng.integers(-30, 31)) / 2,
            dy=float(rng.integers(-1500, 1501)),
            hotbar=int(rng.integers(0, 3)),
            gui=bool(rng.integers(0, 5) == 0),
            x=float(rng.integers(0, 1280)),
            y=float(rng.integers(0, 720)),
            yaw=float(rng.integers(-720, 721)) / 4,
            pitch=float(rng.integers(-360, 361)) / 4,
        )
        for _ in range(40)
    ]
    stuck = [line(buttons=[0], new=[0]), *[line(["w"], [0, 1]) for _ in range(5)], line([], [0], [0]), line([], [0])]
    wheel = [line(hotbar=slot) for slot in (5, 5, 6, 6, 5, 0, 8, 8)] + [line(["3"], hotbar=8), line(hotbar=2)]
    edges = [(0, 0), (639, 359), (1279, 719), (1264, 704), (1270, 300), (300, 710), (1280, 300), (300, 720), (5000, 5000)]
    edges += [
        (-1, 100),
        (-2, 100),
        (100, -3),
        (-20, -20),
        (-31, 100),
        (-32, 100),
        (-33, 100),
        (100, -40),
        (-600, 100),
        (-2000, 9),
    ]
    cursor = [line(gui=True, x=float(x), y=float(y)) for x, y in edges]
    escape = [line(["e"]), line(gui=True), line(["escape"], gui=True), line(["escape"]), line(["escape", "e"], gui=True)]
    null = [line(["w"]) for _ in range(6)]
    angles = [
        line(["w"], dx=float(turn), yaw=yaw, pitch=pitch, gui=gui, x=x, y=300.0, hotbar=slot)
        for turn, yaw, pitch, gui, x, slot in [
            (3, 170.0, 10.0, False, 640.0, 0),
            (-4, 175.5, 10.25, False, 640.0, 0),
            (9, 176.0, -3.0, True, 640.0, 1),
            (1, 176.0, -3.0, True, 700.0, 1),
            (0, 176.0, -3.0, True, 690.0, 4),
            (5, 176.0, -3.0, False, 640.0, 4),
            (0, 100.0, 4.0, False, 640.0, 4),
        ]
    ]
    without_scale = [line(gui=True, x=float(x), y=9.0) for x in (0, 40, 20)]
    for one in without_scale:
        del one["mouse"]["scaledX"], one["mouse"]["scaledY"]
    without_angles = [line(["w"], dx=turn, dy=-turn) for turn in (1.0, -7.0, 20.0)]
    for one in without_angles:
        del one["yaw"], one["pitch"]
    without_hotbar = [line(["w"]), line(["a"]), line(["s"])]
    del without_hotbar[1]["hotbar"]
    return {
        "anything": (anything, 40, "high"),
        "stuck": (stuck, 8, "baseline"),
        "wheel": (wheel, 10, "baseline"),
        "cursor": (cursor, len(cursor), "baseline"),
        "escape": (escape, 5, "baseline"),
        "null-mouse": ([*null[:4], null[4] | {"mouse": None}, null[5]], 6, "baseline"),
        "null-keyboard": ([*null[:2], null[2] | {"keyboard": None}, null[3]], 4, "baseline"),
        "angles": (angles, 7, "baseline"),
        "without-scale": (without_scale, 3, "baseline"),
        "without-angles": (without_angles, 3, "baseline"),
        "without-hotbar": (without_hotbar, 3, "baseline"),
        "short-video": (null, 4, "baseline"),
        "long-video": (null, 8, "baseline"),
        "bad-json": ([*null[:3], '{"mouse": {"x": 1', null[3]], 5, "baseline"),
        "empty-line": ([*null[:2], "", null[3]], 4, "baseline"),
        "last-newline": ([*null[:2], ""], 2, "baseline"),
    }


def write_video(path: Path, num_frames: int, profile: str) -> None:
    """A picture that moves, with sharp edges in colour."""
    across, down = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"profile": profile, "crf": "38", "preset": "veryfast", "threads": "1"}
        for step in range(num_frames):
            red = across * 255 // WIDTH
            green = ((across + 7 * step) // 40 + down // 30) % 2 * 200
            blue = (down + 3 * step) * 255 // HEIGHT % 256
            picture = np.stack([red, green, blue], axis=-1).astype(np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def bedd_worker(checkout: Path) -> Any:
    """BEDD's `data_loader_worker`; of the network, which it does not use, only the resize is put in its place."""
    agent = checkout / "basalt" / "vpt_lib" / "agent.py"
    text = agent.read_text()
    assert "AGENT_RESOLUTION = (128, 128)" in text
    assert "cv2.resize(img, target_resolution, interpolation=cv2.INTER_LINEAR)" in text
    stand_in: Any = types.ModuleType("basalt.vpt_lib.agent")
    stand_in.AGENT_RESOLUTION = (128, 128)
    stand_in.resize_image = lambda picture, size: cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)
    sys.modules["basalt.vpt_lib.agent"] = stand_in
    sys.path.insert(0, str(checkout))
    return importlib.import_module("basalt.utils.minerl_data_loader").data_loader_worker


def by_bedd(worker: Any, path: Path) -> list[Any]:
    """What its worker gave before it ended: keys that are 1, camera, whether it is null, hash of the frame."""
    tasks: queue.Queue = queue.Queue()
    given: queue.Queue = queue.Queue()
    tasks.put((0, str(path.with_suffix(".mp4")), str(path)))
    tasks.put(None)
    try:
        worker(tasks, given, threading.Event())
    except Exception as error:  # as its process would die
        print(f"{path.stem}: {type(error).__name__}: {error}", file=sys.stderr)
    found = []
    while not given.empty():
        item = given.get()
        if item is not None and item[1] is not None:
            _, frame, action = item
            pressed = sorted(name for name, value in action.items() if name not in ("camera", "is_null_action") and value)
            camera = [int(value) for value in action["camera"]]
            found.append([pressed, camera, int(action["is_null_action"]), xxhash.xxh3_64_hexdigest(frame.tobytes())])
    return found


def minerl_converter(checkout: Path) -> Any:
    """MineRL's `minerec_to_minerl_action`."""
    path = checkout / "minerl" / "herobraine" / "hero" / "mc.py"
    spec = importlib.util.spec_from_file_location("minerl_mc", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.minerec_to_minerl_action


def by_minerl(convert: Any, lines: list[Any]) -> list[Any]:
    """What its converter says of each line: keys that are 1, and camera; null where it fails."""
    found: list[Any] = []
    for number, one in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else None
        try:
            action = convert(one, following)
        except Exception as error:
            print(f"minerl: {type(error).__name__}: {error}", file=sys.stderr)
            found.append(None)
            continue
        pressed = sorted(name for name, value in action.items() if name not in ("camera", "dwheel") and value)
        found.append([pressed, [float(value) for value in action["camera"]]])
    return found


if __name__ == "__main__":
    main()
