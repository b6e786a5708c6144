"""Errors of jobs."""

from __future__ import annotations

from interplay.errors import InterplayError


class JobsError(InterplayError):
    """Jobs cannot be given to other processes."""


class LostError(JobsError):
    """The process of a job ended without a message."""


class UnexpectedError(Exception):
    """An error in another process that is no `InterplayError`: its kind and text, and its traceback as a note."""
