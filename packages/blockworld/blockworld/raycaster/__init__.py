"""The picture of the world: a ray-caster in Numba that reads the grid's arrays.

A ray walks from cell to cell and jumps through air by `grid.skip`; tiles of 8 x 8 pixels share a safe start, found by marching
a cone. `picture.paint` makes the picture and `picture.trace` follows the ray of one pixel, with the help of `walk.march_air`,
`water.cross_water`, `surfaces.meet`, `shading.shade` and `sky.sky`. Colours are sums from front to back, so that water and
stained glass let light through. `records` has the names of all numbers.

Floats are single precision, and every machine gives the same bits: nothing is reordered or fused (no fastmath), and functions
that the C library rounds in its own way come from `exact`. LLVM builds all functions into `paint`; the small tuples that they
take and give are in registers there. `tools/make_raycaster.py` compiles the same functions for browsers.
"""
