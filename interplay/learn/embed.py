"""Embed videos and episodes with VPT: write the latents of all pictures of each source to one file, a shard.

An agent gets one picture at a time. The pictures of a recording are all known, so they pass the network in chunks. Each chunk
continues with the network's memory of the previous one, so latents equal the agent's up to rounding. A shard gets its name when
it is complete: a stopped run continues with the missing shards and repeats only the unfinished one.

A shard is a safetensors file with `latents`, float32, shape (T, hidsize). `embedding.json` beside the shards names the network.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
import safetensors.numpy
import torch
from av.error import FFmpegError

from interplay.agents.vpt.agent import load_network
from interplay.agents.vpt.folder import read_description
from interplay.agents.vpt.network import VPT, resized
from interplay.errors import InterplayError, unknown_name
from interplay.files import alone, is_disk_full, remove_parts, write_bytes, write_json
from interplay.jobs import Executor
from interplay.learn.harness import learner
from interplay.learn.recordings.labels import read_lines
from interplay.learn.recordings.loader import Loader
from interplay.learn.recordings.names import RecordingsError
from interplay.learn.recordings.pictures import SIZE
from interplay.record import Episode, RecordingError
from interplay.tables import visible

FORMAT = "interplay-embedding"
DESCRIPTION = "embedding.json"
LOCK = ".embed.lock"
"""File in a folder of shards; a run keeps it locked."""
CHUNK = 64
"""Number of pictures that pass the network together; larger chunks need more memory and are hardly faster."""

_SMALL = (SIZE, SIZE, 3)
_HINT = "Finished shards are kept. Run the same command again, with fewer --processes if there was too little memory."


class EmbedError(InterplayError):
    """Embeddings cannot be made or read; the text says what is kept and what to do next."""


class SourceError(EmbedError):
    """One video or episode cannot be read to its end; the run continues with the others."""


class Source(NamedTuple):
    """A video or episode to embed; `name` is the path of its shard in the output folder, without the ending."""

    name: str
    path: Path


@dataclass
class Embedded:
    """The result of a run; `failed` has the reason for each source without a shard."""

    written: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    num_frames: int = 0
    seconds: float = 0.0


def recordings_in(folder: Path) -> list[Source]:
    """Videos in and below a folder, sorted; labels (`.jsonl`) without a video, too, to report them. `EmbedError` if empty."""
    found = {path.with_suffix("") for path in visible((*folder.rglob("*.mp4"), *folder.rglob("*.jsonl")), folder)}
    if not found:
        what = "has no videos (.mp4)" if folder.is_dir() else "is not a folder"
        raise EmbedError(f"{folder} {what}\nName a folder of recordings:  interplay demos embed FOLDER --vpt NAME --out DIR")
    return [Source(path.relative_to(folder).as_posix(), path.with_name(f"{path.name}.mp4")) for path in sorted(found)]


def embed(
    sources: Sequence[Source],
    network: Path,
    out: Path,
    *,
    chunk: int = CHUNK,
    device: str = "auto",
    executor: Executor = Executor(),
    threads: int = 0,
    on_shard: Callable[[int, int], None] = lambda done, total: None,
    clock: Callable[[], float] = time.monotonic,
) -> Embedded:
    """Write the missing shard of each source, with the VPT network of a folder.

    Args:
        chunk: Number of pictures that pass the network together.
        device: `auto` (a GPU if available), `cpu` or `cuda`.
        executor: Where sources are embedded. Each other process embeds one source at a time with one thread.
        threads: Number of CPU threads of this process, at most one for each core; 0 does not change it.
    Raises:
        EmbedError: If another run writes to `out`, `out` has shards of another network, the disk is full, or a GPU has too
            little memory. Finished shards are kept.
        LostError: If a process of the executor was killed, perhaps because there was too little memory.
        ConfigError, NotFoundError: If a GPU is asked for and missing, or `device` is unknown.
        VPTError: If the network cannot be loaded.
    """
    begun, result = clock(), Embedded()
    description = read_description(network)
    weights = description["weights_sha256"]
    if device not in ("auto", "cpu", "cuda"):
        raise unknown_name("device", device, ["auto", "cpu", "cuda"])
    chosen = learner.device_of(device).type
    with _only_run(out):
        _check_folder(out, description)
        waiting = []
        for source in sources:
            if _is_whole(shard_path(out, source.name), source, weights):
                result.kept.append(source.name)
            else:
                waiting.append(source)
        jobs = {one.name: (one.path, network, shard_path(out, one.name), weights, chunk, chosen) for one in waiting}
        on_shard(len(result.kept), len(sources))
        try:
            with learner.threads(min(threads, os.cpu_count() or 1)):
                for done in executor.map(write_shard, jobs, here=write_shard, hint=_HINT, gpus=int(chosen == "cuda")):
                    if isinstance(done.error, SourceError):
                        result.failed[done.key] = str(done.error)
                    else:
                        result.num_frames += done.get()
                        result.written.append(done.key)
                    on_shard(len(result.kept) + len(result.written) + len(result.failed), len(sources))
        finally:
            _network.cache_clear()
    result.seconds = clock() - begun
    return result


def shard_path(out: Path, name: str) -> Path:
    return out / f"{name}.safetensors"


def read_shard(path: Path) -> np.ndarray:
    """Return the latents of a shard, float32, shape (T, hidsize), as a read-only memory map."""
    try:
        header, begin = _header(path)
        part = header["latents"]
        if part["dtype"] != "F32":
            raise ValueError(f"its numbers are {part['dtype']}, not F32")
        return np.memmap(path, np.float32, "r", begin + part["data_offsets"][0], tuple(part["shape"]))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise EmbedError(f"{path} is not a shard of embeddings: {error}\nEmbed its recording again.") from None


def latents_of(network: VPT, pictures: Iterable[np.ndarray], chunk: int) -> Iterator[np.ndarray]:
    """Yield the latents of one episode's pictures in chunks: float32, shape (up to `chunk`, hidsize)."""
    device, state = network.net.final_ln.weight.device, network.initial_state(1)
    coming = iter(pictures)
    for part in _ahead(iter(lambda: list(islice(coming, chunk)), [])):
        with torch.inference_mode():
            latents, state = network.latents(torch.from_numpy(np.stack(part)[None]).to(device), state)
        yield latents[0].cpu().numpy()


def write_shard(path: Path, network: Path, shard: Path, weights: str, chunk: int, device: str) -> int:
    """Write the shard of a video or episode; return its number of pictures."""
    vpt = _network(network, device)
    try:
        parts = list(latents_of(vpt, _pictures(path, vpt.architecture.img_shape), chunk))
    except torch.OutOfMemoryError as error:
        raise _too_large(error, chunk) from None
    except (FFmpegError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{path} cannot be read: {why}\nFetch it again; it is missing or was cut off.") from None
    except (RecordingError, RecordingsError) as error:
        raise SourceError(str(error)) from None
    if not parts:
        raise SourceError(f"{path} has no pictures\nFetch it again.")
    facts = {"format": FORMAT, "weights_sha256": weights, "source_bytes": str(_size(path))}
    data = safetensors.numpy.save({"latents": np.concatenate(parts)}, facts)
    try:
        shard.parent.mkdir(parents=True, exist_ok=True)
        remove_parts(shard)
        write_bytes(shard, data)
    except OSError as error:
        what = "the disk is full" if is_disk_full(error) else f"it cannot be written: {error.strerror}"
        raise EmbedError(f"{shard}: {what}\nFinished shards are kept. Make room, and run the same command again.") from None
    return sum(map(len, parts))


@cache
def _network(folder: Path, device: str) -> VPT:
    return load_network(folder, device=device)


def _pictures(path: Path, img_shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    if path.suffix != ".mp4":
        episode = Episode.open(path)
        for frame in episode.observed.passing(0, episode.num_steps + 1):
            yield resized(frame.rgb(), img_shape)
        return
    labels = path.with_suffix(".jsonl")
    with av.open(str(path)) as container:
        if not container.streams.video:
            raise SourceError(f"{path} has no video in it\nFetch it again.")
        stream, number = container.streams.video[0], 0
        listed = stream.frames
        if labels.exists():  # the cursor in menus is not in the video, but in the lines beside it
            listed = min(listed, sum(1 for _ in read_lines(labels)))
            loader = Loader([labels], is_small=img_shape == _SMALL, chunk=8, cut=True)
            pictures = (resized(one, img_shape) for steps in loader for one in steps.frames)
        else:
            stream.thread_type = "AUTO"
            pictures = (resized(frame.to_ndarray(format="rgb24"), img_shape) for frame in container.decode(stream))
        for picture in pictures:
            number += 1
            yield picture
        if number < listed:
            raise SourceError(f"{path} was cut off: its index lists {listed:,} pictures, {number:,} are there\nFetch it again.")


def _ahead(items: Iterator[list[np.ndarray]]) -> Iterator[list[np.ndarray]]:
    """Yield the same items; read each one while the previous one is processed."""
    with ThreadPoolExecutor(1) as reader:
        upcoming = reader.submit(next, items, None)
        while (item := upcoming.result()) is not None:
            upcoming = reader.submit(next, items, None)
            yield item


@contextmanager
def _only_run(out: Path) -> Iterator[None]:
    """Lock a folder for one run, because two runs would do the same work and remove each other's unfinished files."""
    busy = f"another run writes to {out}\nWait until it has ended, or choose another folder:  --out DIR"
    with ExitStack() as stack:
        try:
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone(out / LOCK, otherwise=EmbedError(busy)))
        except OSError as error:
            raise EmbedError(f"{out} cannot be written to: {error.strerror}\nChoose another folder:  --out DIR") from None
        yield


def _check_folder(out: Path, description: dict[str, Any]) -> None:
    """Refuse a folder with shards of another network; write the network's name into an empty folder."""
    path = out / DESCRIPTION
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["weights_sha256"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            raise EmbedError(f"{path} is damaged\nChoose another folder:  --out DIR") from None
        if found != description["weights_sha256"]:
            raise EmbedError(
                f"{out} has embeddings of another network than {description['name']!r}\nChoose another folder:  --out DIR"
            )
        return
    try:
        document = {"format": FORMAT, "version": 1, "network": description["name"], "sizes": description["sizes"]}
        write_json(path, document | {"weights_sha256": description["weights_sha256"]})
    except OSError as error:
        raise EmbedError(f"{out} cannot be written to: {error.strerror}\nChoose another folder:  --out DIR") from None


def _is_whole(shard: Path, source: Source, weights: str) -> bool:
    """Whether a complete shard of this source exists, made by this network from a source of the same size."""
    try:
        header, begin = _header(shard)
        facts, end = header["__metadata__"], begin + header["latents"]["data_offsets"][1]
        is_of_source = facts["weights_sha256"] == weights and int(facts["source_bytes"]) == _size(source.path)
        return is_of_source and end == _size(shard)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Header of a safetensors file, and the byte at which its numbers start (https://github.com/huggingface/safetensors#format)."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 0 < size < 1 << 20:
            raise ValueError("it has no header")
        return json.loads(file.read(size)), 8 + size


def _size(path: Path) -> int:
    return path.stat().st_size


def _too_large(error: BaseException, chunk: int) -> EmbedError:
    first_line = str(error).partition("\n")[0][:200]
    smaller = f"--chunk {chunk // 2}" if chunk > 1 else "--device cpu"
    return EmbedError(
        f"the GPU has too little memory for {chunk} pictures at once: {first_line}\n"
        f"Finished shards are kept. Run the same command again with {smaller}."
    )
