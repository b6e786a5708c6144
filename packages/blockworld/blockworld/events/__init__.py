"""Consequences of the actions of mobs and things: blows, shots, explosions, births and deaths."""
