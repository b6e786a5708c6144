"""Connections of players: messages (docs/protocol.md), pictures, tokens, and limits of sockets."""
