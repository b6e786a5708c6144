"""What the world says when it is asked for something it does not have."""

from interplay.errors import InterplayError


class WorldError(InterplayError):
    """Something about the world that cannot be; the world is as it was before."""
