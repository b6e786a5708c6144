"""The one error of this room."""

from interplay.errors import InterplayError


class RecordingError(InterplayError):
    """A recording that cannot be written, read or trusted; the text says what is kept and what to do next."""
