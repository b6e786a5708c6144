"""Verification: of an episode by its file and a replay, and of an environment or a task before anything is recorded."""
