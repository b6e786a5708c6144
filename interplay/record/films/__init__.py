"""Make mp4 films of episodes or of some of their steps, check videos from elsewhere, and vary the bytes that judges get."""
