"""Where things are: the array of blocks, its light, what collides with what, how water flows, which blocks join."""
