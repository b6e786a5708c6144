"""Verify an episode by its file and a replay, and check an environment or a task before recording starts."""
