"""The live server: people play in the browser, worlds run in worker processes, every step is recorded.

`PlayServer` grants seats and serves their sockets; `interplay.play.client.PlayClient` is a player that is a program.
The messages between them are in docs/protocol.md.
"""

from interplay.play.limits import PlayError
from interplay.play.server import PlayServer, SeatGrant

__all__ = ["PlayError", "PlayServer", "SeatGrant"]
