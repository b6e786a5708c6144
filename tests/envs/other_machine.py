"""A process whose kernels and libraries are those of another processor. It reads questions, one JSON list a line, and answers
each with a line of JSON:

["pictures", FOLDER]     hashes of pictures of the saved worlds there, and of what they are made of
["verify", FILE]         the verdict on a sealed episode
["golden"]               what golden.py measures

The kernels are not compiled from Python again. Numba keeps the LLVM code of each kernel beside the machine code for this
processor; from that LLVM makes machine code for the processor in NUMBA_CPU_NAME. A compiler may choose other arithmetic only
where LLVM code has a flag that allows it or an operation that may be fused, so that is looked for in every kernel.
"""

import hashlib
import json
import re
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from golden import looks, measure

from blockworld import Renderer, World, compiling
from blockworld.registry.facts import table
from blockworld.render import bodies
from blockworld.render.daylight import brightness, of_sky
from interplay.record import Episode
from interplay.record.verification.verify import verify_file

SIZES = {(640, 360): Fraction(2), (128, 128): None}
"""Sizes of pictures, and how large bars and screens are in them: as people see them, and as agents do."""
NOT_EXACT = re.compile(
    r"\b(?:f(?:neg|add|sub|mul|div|rem|cmp)|call|select|phi) (?:fast|reassoc|nnan|ninf|nsz|arcp|contract|afn) |@llvm\.fmuladd\."
)
"""Arithmetic in LLVM code whose result depends on what the processor can do."""


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def pictures(folder: Path) -> dict[str, str]:
    """Name -> hash of each saved world's picture in two sizes, and of what pictures are made of."""
    compiling.ensure()
    found = {}
    for path in sorted(folder.glob("*.world")):
        for size, scale in SIZES.items():
            found[f"{path.stem} {size}"] = _hash(Renderer(size).frame(World.restore(path.read_bytes()), scale))
    found["textures"] = looks()["textures"]
    found["light"] = _hash(np.array([brightness(of_sky(time, "rain")) for time in range(0, 24_000, 500)]))
    faces = [face for row in table("bodies") for part in bodies.body(row["name"]).parts for face in part.faces]
    found["skins"] = _hash(np.concatenate([face.reshape(-1) for face in faces]))
    return found


def verdict(file: Path) -> dict[str, Any]:
    """What replay says of a sealed episode."""
    return asdict(verify_file(file, Episode.open(file).id, None))


def use_kept_kernels() -> None:
    """Take this processor's kernels from Numba's cache and make machine code for NUMBA_CPU_NAME of them; compile no others."""
    from llvmlite import binding
    from numba.core import caching, codegen

    this = (binding.get_process_triple(), binding.get_host_cpu_name(), codegen.get_host_cpu_features())
    load = codegen.JITCodeLibrary._unserialize

    def load_bitcode(target: Any, kept: tuple[str, str, tuple[bytes, bytes]]) -> Any:
        name, kind, (_, bitcode) = kept
        assert kind == "object"
        inexact = NOT_EXACT.search(str(binding.parse_bitcode(bitcode)))
        assert inexact is None, f"{name}: {inexact}"
        return load(target, (name, "bitcode", bitcode))

    def keep(cache: caching.FunctionCache, signature: object, _: object) -> None:
        raise AssertionError(f"blockworld.exercise compiles {cache._py_func} for other arguments than {signature}")

    codegen.JITCPUCodegen.magic_tuple = lambda self: this
    codegen.JITCodeLibrary._unserialize = load_bitcode
    caching.FunctionCache.save_overload = keep


def main() -> None:
    """Answer on standard output until there are no more questions."""
    use_kept_kernels()
    for line in sys.stdin:
        what, *words = json.loads(line)
        answer = {"pictures": pictures, "verify": verdict, "golden": measure}[what](*map(Path, words))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
