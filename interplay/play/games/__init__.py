"""Games as the web process sees them: one live world each, with its seats and its seed, and its recovery after a crash."""
