"""Judging over HTTP, the leaderboard that answers make, and how far model judges can be believed."""
