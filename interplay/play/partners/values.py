"""Observations and actions as bytes, between a worker and the process that decides: MessagePack with arrays, no pickle.

An array is an extension of code 1, a NumPy scalar one of code 2: u8 length of the dtype's name, the name, u8 number of axes,
u32 of each, then the values, row-major.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

_ARRAY, _SCALAR = 1, 2


def _unknown(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        array = np.asarray(value)
        if array.dtype.hasobject or array.dtype.names is not None:
            raise TypeError(f"an array of {array.dtype} cannot be sent")
        name = array.dtype.str.encode()
        head = struct.pack(f"<B{len(name)}sB{array.ndim}I", len(name), name, array.ndim, *array.shape)
        return msgspec.msgpack.Ext(_SCALAR if isinstance(value, np.generic) else _ARRAY, head + array.tobytes())
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _extension(code: int, data: memoryview) -> Any:
    length = data[0]
    dtype = np.dtype(bytes(data[1 : 1 + length]).decode())
    num_axes = data[1 + length]
    begin = 2 + length
    shape = struct.unpack_from(f"<{num_axes}I", data, begin)
    array = np.frombuffer(data, dtype, offset=begin + 4 * num_axes).reshape(shape).copy()
    return array[()] if code == _SCALAR else array


encode = msgspec.msgpack.Encoder(enc_hook=_unknown).encode
"""Of what agents see and do: numbers, texts, arrays, and mappings and lists of them; TypeError for anything else."""
decode = msgspec.msgpack.Decoder(ext_hook=_extension).decode
