"""The format of recordings: header and columns, values of spaces, pictures by what changed, video, and sums of rewards."""
