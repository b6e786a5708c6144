"""Ratings and leaderboards, carried on from the append-only log of answers."""
