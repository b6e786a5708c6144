"""Ratings and leaderboards, computed from the append-only log of answers."""
