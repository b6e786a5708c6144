"""The format of recordings: header and columns, values of spaces, changes between pictures, and video."""
