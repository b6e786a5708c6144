"""Judging over HTTP, the leaderboard, and the calibration of model judges."""
