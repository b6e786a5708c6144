"""Processes of low priority beside the games: sealing recordings, drawing pictures again, making films."""
