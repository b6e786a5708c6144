"""Films: an episode or some of its steps as mp4, videos from elsewhere, and the bytes that one judge is served."""
