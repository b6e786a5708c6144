"""The picture of the world: a ray-caster in Numba that reads the grid's arrays.

A ray walks from cell to cell; in air it jumps over up to `Grid.skip` cells. Rays of a tile of 8 x 8 pixels share a safe
first distance (`picture.first_steps`). `picture.paint` makes the picture and `picture.trace` follows the ray of one pixel:
they call `walk.march_air`, `water.cross_water`, `surfaces.meet`, `shading.shade` and `sky.sky`. Colours are added from front to
back, so that water and stained glass let light through. `records` defines the records that the functions share.

Floats are single precision, and every machine gives the same bits: no operation is reordered or fused (no fastmath), and
functions that each C library rounds differently come from `exact`. LLVM inlines all functions into `paint`, so that the small
tuples that they take and return stay in registers. `tools/make_raycaster.py` compiles the same functions for browsers.
"""
