"""The live server: people play in the browser, worlds run in worker processes, every step is recorded.

`interplay.play.server.PlayServer` grants seats and serves their sockets; `interplay.play.client.PlayClient` is a player that is
a program. The messages between them are in docs/protocol.md. Nothing is imported here: a worker does not load the server.
"""
