"""How fast recordings are embedded with VPT in chunks, beside one picture at a time as the published code does it.

    python -m bench.embed --json

A network of 1x with weights from a formula (`tools/vpt_golden.py`) embeds the same videos in two ways, each in processes of its
own, on the same cores: `interplay demos embed` with a process for each core, and the way of the published code: one process,
one picture a call with both heads and the value, pictures in PyTorch's usual order in memory, threads as PyTorch has them.
`ratio` is between the pictures a second of the two, loading left out. `cpu_ms` is processor time a picture, in which waiting
does not count where the other processes of the machine take the cores. Latents of chunks of 1, 7, 64 and 128 are compared.
Exit status 1 unless chunks are faster and equal within 5e-4.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import av
import numpy as np
import torch

from interplay.agents.vpt.agent import load_network, save
from interplay.agents.vpt.checkpoint import build
from interplay.agents.vpt.network import VPT, WIDTHS, resized
from interplay.learn.embed import latents_of, read_shard, shard_path
from tools import vpt_golden

MIN_RATIO = 1.0
MAX_ERROR = 5e-4
CHUNKS = (1, 7, 64, 128)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=256, help="of each video; there is one for each core")
    parser.add_argument("--width", choices=list(WIDTHS), default="1x")
    parser.add_argument("--one-by-one", nargs=3, metavar=("NETWORK", "VIDEO", "FRAMES"), help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.one_by_one:
        network, video, num_frames = options.one_by_one
        print(json.dumps(one_by_one(Path(network), Path(video), int(num_frames))))
        return
    result = measure(options.frames, options.width)
    print(json.dumps(result, indent=2) if options.json else "\n".join(f"{name:24} {value}" for name, value in result.items()))
    raise SystemExit(0 if result["passed"] else 1)


def measure(num_frames: int, width: str) -> dict[str, Any]:
    """Every figure of one run."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)  # for the processes of both ways
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network = folder / "network"
        save(network, from_formula(width), made_from=[])
        for number in range(len(cores)):
            write_video(folder / "videos" / f"{number}.mp4", num_frames, shift=number * 1000)
        slow_frames = max(8, num_frames // 8)
        slow = in_own_process("--one-by-one", str(network), str(folder / "videos" / "0.mp4"), str(slow_frames))
        quick = embedded(folder, network, len(cores), num_frames)
        error = max_error(
            network, folder / "videos" / "0.mp4", min(num_frames, 160), read_shard(shard_path(folder / "out", "0"))
        )
    ratio = quick["per_second"] / slow["per_second"]
    return {
        "cores": len(cores),
        "load": [round(one, 2) for one in os.getloadavg()],
        "width": width,
        "frames": num_frames * len(cores),
        "one_by_one_frames": slow_frames,
        "per_second": round(quick["per_second"], 2),
        "one_by_one_per_second": round(slow["per_second"], 2),
        "cpu_ms": round(quick["cpu_ms"], 1),
        "one_by_one_cpu_ms": round(slow["cpu_ms"], 1),
        "ratio": round(ratio, 2),
        "ratio_cpu": round(slow["cpu_ms"] / quick["cpu_ms"], 2),
        "max_error": error,
        "passed": bool(ratio >= MIN_RATIO and error <= MAX_ERROR),
    }


def from_formula(width: str) -> VPT:
    """A network with the weights of the golden values."""
    with torch.device("meta"):
        shapes = {name: tuple(tensor.shape) for name, tensor in VPT(WIDTHS[width]).state_dict().items()}
    weights = {name: torch.from_numpy(array) for name, array in vpt_golden.weights(shapes).items()}
    return build(WIDTHS[width], weights, where="formula")


def write_video(path: Path, num_frames: int, *, shift: int) -> None:
    """Pictures of the size of MineRL's, with a pattern that moves."""
    path.parent.mkdir(exist_ok=True)
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=20, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for number in range(num_frames):
            picture = vpt_golden.picture(shift + number, 360, 640)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def embedded(folder: Path, network: Path, processes: int, num_frames: int) -> dict[str, float]:
    """The command, on all videos; without what it takes to begin, which a run with two pictures a video shows."""
    times = []
    for name, frames in (("short", 2), ("out", num_frames)):
        videos = folder / "videos" if name == "out" else folder / "short_videos"
        if name == "short":
            for number in range(processes):
                write_video(videos / f"{number}.mp4", frames, shift=0)
        words = ["-m", "interplay", "demos", "embed", str(videos), "--vpt", str(network), "--out", str(folder / name)]
        words += ["--processes", str(processes), "--device", "cpu", "--json"]
        before, begun_s = os.times(), time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        times.append((time.perf_counter() - begun_s, cpu_s))
    (short_s, short_cpu_s), (long_s, long_cpu_s) = times
    extra = (num_frames - 2) * processes
    return {"per_second": extra / (long_s - short_s), "cpu_ms": (long_cpu_s - short_cpu_s) / extra * 1e3}


def in_own_process(*words: str) -> dict[str, float]:
    """This module with other words, without what other processes are told about threads."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    command = [sys.executable, "-m", "bench.embed", *words]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)


def one_by_one(folder: Path, video: Path, num_frames: int) -> dict[str, float]:
    """The published way: decode, resize, one call for one picture with everything that the network says."""
    network = load_network(folder).to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    state, latents, begun_s, begun_cpu_s = network.initial_state(1), [], 0.0, 0.0
    with av.open(str(video)) as container, torch.inference_mode():
        for number, frame in enumerate(container.decode(video=0)):
            if number == 2:  # the first ones find memory and plans
                begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
            if number == num_frames + 2:
                break
            picture = resized(frame.to_ndarray(format="rgb24"), network.architecture.img_shape)
            output, state = network(torch.from_numpy(picture)[None, None], state)
            latents.append(output.latents[0, 0].numpy())
    seconds, cpu_s = time.perf_counter() - begun_s, time.process_time() - begun_cpu_s
    done = len(latents) - 2
    return {"per_second": done / seconds, "cpu_ms": cpu_s / done * 1e3}


def max_error(folder: Path, video: Path, num_frames: int, shard: np.ndarray) -> float:
    """The largest difference of latents, of chunks and of the command's shard, from those by PyTorch, one picture at a time."""
    network = load_network(folder)
    pictures = []
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            pictures.append(resized(frame.to_ndarray(format="rgb24"), network.architecture.img_shape))
            if len(pictures) == num_frames:
                break
    one_by_one = np.concatenate(list(latents_of(network, pictures, 1)))
    found = [np.concatenate(list(latents_of(network, pictures, chunk))) for chunk in CHUNKS]
    return max(float(np.abs(latents - one_by_one).max()) for latents in (*found, shard[:num_frames]))


if __name__ == "__main__":
    main()
