"""The errors of this room."""

from interplay.errors import InterplayError


class RecordingError(InterplayError):
    """A recording that cannot be written, read or trusted; the text says what is kept and what to do next."""


class OtherVersionError(RecordingError):
    """A recording of another schema version; nothing is wrong with it."""


class SealError(RecordingError):
    """An episode that cannot be written as a sealed file; its journal is whole and stays."""
