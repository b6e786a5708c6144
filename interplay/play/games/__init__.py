"""Games as the web process sees them: one live world each, with its seats, its seed, and what is left of it after a crash."""
