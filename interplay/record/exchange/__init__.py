"""Data sets: episodes to other programs' formats and back, and from one data folder to another.

`writing` and `proving` hold what the formats share: which episodes are in a data set, a folder that appears whole, columns of
numbers; and the way back, where an episode is played again and compared. A format is a small room beside this one:
`interplay.record.lerobot`, `hugging_face` and `minari`. `pull` fetches sealed files from another server, and `copies` makes
those that a server gives.
"""
