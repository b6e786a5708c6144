"""Ratings and leaderboards, from the append-only log of answers."""
