"""Gradient noise from a hash of lattice points, so that any part of a field can be computed without the rest.

The noise is Perlin's (Improving Noise, 2002), but a hash, instead of a permutation table, chooses the gradients, so that a
field needs only a seed. Values lie within -1 and 1, mostly within -0.6 and 0.6, with mean 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MASK = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def mixed(seed: int, x: int, y: int, z: int) -> int:
    """Hash a point to a number from 0 to 2**32 - 1 that looks random. The factors are primes below 2**31."""
    h = (seed * 1013904223 + x * 374761393 + y * 668265263 + z * 1440662683) & _MASK
    h = ((h ^ (h >> 15)) * 1274126177) & _MASK
    h = ((h ^ (h >> 13)) * 1103515245) & _MASK
    return h ^ (h >> 16)


@njit(cache=True, nogil=True)
def _ease(t: float) -> float:
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@njit(cache=True, nogil=True)
def _slope2(seed: int, x: int, z: int, dx: float, dz: float) -> float:
    h = mixed(seed, x, 0, z)
    return ((h & 0xFFFF) / 32768.0 - 1.0) * dx + ((h >> 16) / 32768.0 - 1.0) * dz


@njit(cache=True, nogil=True)
def noise2(seed: int, x: float, z: float) -> float:
    """Noise at a point of the plane; lattice points are at whole numbers."""
    ix, iz = int(np.floor(x)), int(np.floor(z))
    fx, fz = x - ix, z - iz
    u, v = _ease(fx), _ease(fz)
    a = _slope2(seed, ix, iz, fx, fz)
    b = _slope2(seed, ix + 1, iz, fx - 1, fz)
    c = _slope2(seed, ix, iz + 1, fx, fz - 1)
    d = _slope2(seed, ix + 1, iz + 1, fx - 1, fz - 1)
    a += u * (b - a)
    c += u * (d - c)
    return 1.4 * (a + v * (c - a))


@njit(cache=True, nogil=True)
def _slope3(seed: int, x: int, y: int, z: int, dx: float, dy: float, dz: float) -> float:
    h = mixed(seed, x, y, z)
    gx = (h & 0x3FF) / 512.0 - 1.0
    gy = ((h >> 10) & 0x3FF) / 512.0 - 1.0
    gz = ((h >> 20) & 0x3FF) / 512.0 - 1.0
    return gx * dx + gy * dy + gz * dz


@njit(cache=True, nogil=True)
def noise3(seed: int, x: float, y: float, z: float) -> float:
    """Noise at a point in space; lattice points are at whole numbers."""
    ix, iy, iz = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
    fx, fy, fz = x - ix, y - iy, z - iz
    u, v, w = _ease(fx), _ease(fy), _ease(fz)
    low = high = 0.0
    for k in range(2):
        a = _slope3(seed, ix, iy + k, iz, fx, fy - k, fz)
        b = _slope3(seed, ix + 1, iy + k, iz, fx - 1, fy - k, fz)
        c = _slope3(seed, ix, iy + k, iz + 1, fx, fy - k, fz - 1)
        d = _slope3(seed, ix + 1, iy + k, iz + 1, fx - 1, fy - k, fz - 1)
        a += u * (b - a)
        c += u * (d - c)
        if k == 0:
            low = a + w * (c - a)
        else:
            high = a + w * (c - a)
    return 1.3 * (low + v * (high - low))


@njit(cache=True, nogil=True)
def field2(seed: int, sx: int, sz: int, scale: float, octaves: int) -> np.ndarray:
    """Noise over a map: float64, shape (sx, sz).

    Args:
        scale: Cells between lattice points of the first octave; each further octave has half the distance and amplitude.
    """
    out = np.empty((sx, sz), np.float64)
    for x in range(sx):
        for z in range(sz):
            total, height, step = 0.0, 1.0, scale
            for octave in range(octaves):
                total += height * noise2(seed + octave, x / step, z / step)
                height *= 0.5
                step *= 0.5
            out[x, z] = total
    return out


@njit(cache=True, nogil=True)
def lattice3(seed: int, nx: int, nz: int, ny: int, step: int, scale: float, scale_y: float, octaves: int) -> np.ndarray:
    """Noise in space at every `step`-th cell, for interpolation between these cells: float64, shape (nx, nz, ny)."""
    out = np.empty((nx, nz, ny), np.float64)
    for i in range(nx):
        for k in range(nz):
            for j in range(ny):
                total, height, size = 0.0, 1.0, 1.0
                for octave in range(octaves):
                    total += height * noise3(
                        seed + octave, i * step / (scale * size), j * step / (scale_y * size), k * step / (scale * size)
                    )
                    height *= 0.5
                    size *= 0.5
                out[i, k, j] = total
    return out
