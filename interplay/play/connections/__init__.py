"""Connections of players: messages (docs/protocol.md), pictures, tokens, and what the server asks of a socket."""
