"""The errors of `interplay.record`."""

from interplay.errors import InterplayError


class RecordingError(InterplayError):
    """A recording cannot be written, read or trusted; the text says what is kept and what to do next."""


class OtherVersionError(RecordingError):
    """A recording has another schema version; its content is not damaged."""


class SealError(RecordingError):
    """An episode cannot be written as a sealed file; its journal stays complete."""
