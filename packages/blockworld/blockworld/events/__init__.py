"""Consequences of what mobs and things do: blows, shots, explosions, births and deaths."""
