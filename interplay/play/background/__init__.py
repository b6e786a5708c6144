"""Processes of low priority that run beside the games: they seal recordings, draw pictures again, and make films."""
