"""Episodes as data sets of LeRobot, version 3.0 of its layout, and back: many episodes in a Parquet file, many in a video.

`layout` says where everything lies, `exporting` writes it, `video` holds the pictures, `importing` makes episodes of it.
"""
