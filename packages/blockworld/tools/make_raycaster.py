"""Compile the ray-caster for browsers: its kernels in Python become a WebAssembly module of some 20 kB.

    python tools/make_raycaster.py           # writes the module beside the browser's scripts; about a minute
    python tools/make_raycaster.py --check   # says whether the module is of the source as it is

Numba turns the kernels into LLVM's intermediate form, and LLVM, which llvmlite brings along for WebAssembly too, into an object
file. That file needs nothing from elsewhere, so that it becomes a module by leaving out what linkers read and naming its one
function. A section of the module has the names of the arguments in their order, and the digest of the source.
Run it whenever a file of `blockworld/raycaster` has changed; a test tells.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numba import carray

import blockworld
from blockworld.raycaster import picture, records

SOURCES = sorted((Path(blockworld.__file__).parent / "raycaster").glob("*.py"))
MODULE = Path(blockworld.__file__).parent / "web" / "land" / "raycaster.wasm"
SECTION = "interplay"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
"""Of WebAssembly, that every browser with WebGL2 and modules in workers has had since 2023."""
TYPES = {
    name: kind
    for kind, names in {
        "uint8": "light skip out",
        "uint16": "blocks",
        "uint32": "info pages",
        "int16": "tops",
        "int32": "faces box_range box_faces page_starts marks",
        "float32": "boxes height glow land clouds ripples bright num starts columns rays depth",
    }.items()
    for name in names.split()
}
"""Of the arrays, as browsers fill them; what is not here is a whole number."""
RECORDS = {
    "box_range": records.Range,
    "boxes": records.Box,
    "num": records.View,
    "marks": records.Marks,
    "rays": records.Rays,
}
"""What the kernels take some of them for."""


def cast(
    blocks, light, skip, SX, SY, SZ, info, num_states, faces, box_range, boxes, num_boxes, box_faces, height, glow, pages,
    num_pages, page_starts, land, clouds, ripples, bright, num, marks, starts, tops, columns, rays, first_row, every, W, H, out,
    depth,
):  # fmt: skip
    """The module's function: `picture.first_steps` and `picture.paint` of arrays that begin at these addresses.

    Types are those of `TYPES` and `RECORDS`, shapes those below; W and H are the picture's size in pixels, SX, SY and SZ the
    land's in cells.
    """
    num_cells, down, across = SX * SY * SZ, -(-H // records.TILE), -(-W // records.TILE)
    cells = records.Cells(
        carray(blocks, (num_cells,)),
        carray(light, (num_cells,)),
        carray(skip, (num_cells,)),
        SX,
        SY,
        SZ,
        carray(tops, (SX // records.TILE, SZ // records.TILE)),
    )
    looks = records.Looks(
        carray(info, (num_states,)),
        carray(faces, (num_states, 6)),
        carray(box_range, (num_states,)),
        carray(boxes, (num_boxes,)),
        carray(box_faces, (num_boxes, 6)),
        carray(height, (num_states,)),
        carray(glow, (num_states,)),
        carray(pages, (num_pages,)),
        carray(page_starts, (records.LEVELS,)),
    )
    scenery = records.Scenery(
        carray(land, (256, 256, 3)),
        carray(clouds, (256, 256)),
        carray(ripples, (128, 128, 2)),
    )
    canvas = records.Canvas(
        carray(starts, (down, across)),
        carray(columns, (2, records.TILE * across)),
        carray(rays, (1,)),
        carray(out, (H, W, 3)),
        carray(depth, (H, W)),
    )
    view = carray(num, (1,))[0]
    picture.first_steps(cells, view, W, H, first_row, every, canvas.starts)
    picture.paint(cells, looks, scenery, carray(bright, (256, 3)), view, carray(marks, (1,))[0], canvas, first_row, every)


def source_digest() -> str:
    """Of everything that the module is made from."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in [*SOURCES, Path(__file__)])).hexdigest()


def intermediate() -> tuple[str, str]:
    """LLVM's form of `cast`, not optimised for any machine, and the name that the function has there."""
    from numba import from_dtype, njit, types

    arguments = [
        types.CPointer(from_dtype(RECORDS.get(name, np.dtype(TYPES[name])))) if name in TYPES else types.int32
        for name in inspect.signature(cast).parameters
    ]
    kernel = njit(types.void(*arguments), error_model="numpy", nogil=True)(cast)
    compiled = kernel.overloads[kernel.signatures[0]]
    return compiled.library.get_llvm_str(), compiled.fndesc.llvm_func_name


def compiled(text: str, name: str) -> bytes:
    """An object file of WebAssembly that has this function, and what it calls."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = "wasm32-unknown-unknown"
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=3, features=FEATURES)
    text = re.sub(r"target datalayout = .*", f'target datalayout = "{machine.target_data}"', text)
    text = re.sub(r"target triple = .*", f'target triple = "{triple}"', text)
    text = re.sub(r'"(target-cpu|target-features|probe-stack|stack-probe-size)"="[^"]*"', "", text)
    module = llvm.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name == name else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    for _ in range(2):  # the second time without what the first has found useless: Python's own entries, and their callees
        passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def module_of(object_file: bytes, name: str, facts: dict[str, Any]) -> bytes:
    """The object file as a module that exports its function as `cast`, with facts in a section of their own.

    Raises:
        SystemExit: If the kernels need something that browsers do not have.
    """
    IMPORT, MEMORY_KIND, FUNCTION_KIND, GLOBAL_KIND, EXPORT, CUSTOM = 2, 2, 0, 3, 7, 0
    sections, at = [], 8
    while at < len(object_file):
        length, start = _number(object_file, at + 1)
        sections.append((object_file[at], object_file[start : start + length]))
        at = start + length

    imports = dict(sections)[IMPORT]
    count, at = _number(imports, 0)
    num_functions = 0
    for _ in range(count):
        names = []
        for _ in range(2):
            length, at = _number(imports, at)
            names.append(imports[at : at + length].decode())
            at += length
        kind, at = imports[at], at + 1
        if kind == FUNCTION_KIND:
            raise SystemExit(
                f"the kernels call {names[1]}, which browsers do not have; use what compiles to instructions alone"
            )
        if kind == MEMORY_KIND:
            flags, at = _number(imports, at)
            for _ in range(1 + (flags & 1)):
                _, at = _number(imports, at)
        elif kind == GLOBAL_KIND:
            at += 2
        else:
            raise SystemExit(f"the object file imports {names[1]} of kind {kind}, for which this tool knows no place")

    symbols = dict(_symbols(next(body for number, body in sections if number == CUSTOM and _name(body) == "linking")))
    exported = _bytes(1) + _text("cast") + _bytes(FUNCTION_KIND) + _bytes(symbols[name] + num_functions)
    parts = [object_file[:8]]
    for number, body in sections:
        if number == CUSTOM:
            continue
        if number > EXPORT and exported:
            parts += [bytes([EXPORT]), _bytes(len(exported)), exported]
            exported = b""
        parts += [bytes([number]), _bytes(len(body)), body]
    about = _text(SECTION) + json.dumps(facts).encode()
    return b"".join([*parts, bytes([CUSTOM]), _bytes(len(about)), about])


def _symbols(linking: bytes) -> list[tuple[str, int]]:
    """Functions that the object file has, by name: their numbers, from its symbol table."""
    SYMBOL_TABLE, FUNCTION, DATA, UNDEFINED, EXPLICIT_NAME = 8, 0, 1, 0x10, 0x40
    length, at = _number(linking, 0)
    _, at = _number(linking, at + length)  # the version
    found = []
    while at < len(linking):
        kind = linking[at]
        length, at = _number(linking, at + 1)
        end = at + length
        if kind != SYMBOL_TABLE:
            at = end
            continue
        count, at = _number(linking, at)
        for _ in range(count):
            what = linking[at]
            flags, at = _number(linking, at + 1)
            if what == DATA:
                length, at = _number(linking, at)
                at += length
                if not flags & UNDEFINED:
                    for _ in range(3):
                        _, at = _number(linking, at)
                continue
            number, at = _number(linking, at)
            if not flags & UNDEFINED or flags & EXPLICIT_NAME:
                length, at = _number(linking, at)
                if what == FUNCTION:
                    found.append((linking[at : at + length].decode(), number))
                at += length
        at = end
    return found


def _name(body: bytes) -> str:
    length, at = _number(body, 0)
    return body[at : at + length].decode()


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number in LEB128, and where the next thing begins."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _bytes(value: int) -> bytes:
    out = []
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _text(text: str) -> bytes:
    return _bytes(len(text.encode())) + text.encode()


def facts_of(module: bytes) -> dict[str, Any]:
    """What the module's own section says: `arguments` (name and type, in order) and `source`."""
    at, found = 8, {}
    while at < len(module):
        length, start = _number(module, at + 1)
        body = module[start : start + length]
        if module[at] == 0 and _name(body) == SECTION:
            found = json.loads(body[len(_text(SECTION)) :])
        at = start + length
    return found


def main() -> None:
    """Make the module, or check it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check:
        if facts_of(MODULE.read_bytes()).get("source") != source_digest():
            raise SystemExit(
                f"the ray-caster or this tool has changed since {MODULE.name} was made: run  python tools/make_raycaster.py"
            )
        return
    if not options.plain:
        # Code for no machine in particular, and nothing from the cache, which has machine code alone.
        with tempfile.TemporaryDirectory() as folder:
            plain = {"NUMBA_OPT": "0", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
            raise SystemExit(subprocess.run([sys.executable, __file__, "--plain"], env=os.environ | plain).returncode)
    print("compiling the kernels: about a minute", file=sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, name = intermediate()
    arguments = [[key, TYPES.get(key)] for key in inspect.signature(cast).parameters]
    module = module_of(compiled(text, name), name, {"arguments": arguments, "source": source_digest()})
    MODULE.write_bytes(module)
    print(f"wrote {MODULE}: {len(module):,} bytes")


if __name__ == "__main__":
    main()
