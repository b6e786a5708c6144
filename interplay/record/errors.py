"""The errors of `interplay.record`."""

from interplay.errors import InterplayError


class RecordingError(InterplayError):
    """A recording cannot be written, read or trusted; the text says what is kept and what to do next."""


class MissingFileError(RecordingError):
    """The file of a catalogued episode does not exist here. `episode`: id of the episode."""

    def __init__(self, message: str, episode: str = "") -> None:  # unpickled with the message alone
        super().__init__(message)
        self.episode = episode


class OtherVersionError(RecordingError):
    """A recording has another schema version; its content is not damaged."""


class SealError(RecordingError):
    """An episode cannot be written as a sealed file; its journal stays complete."""
