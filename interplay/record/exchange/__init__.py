"""Data sets: episodes to other programs' formats and back, and from one data folder to another.

`writer` and `importer` hold what the formats (`interplay.record.datasets`) share: which episodes are in a data set, a folder
that appears whole, columns of numbers; and the way back, where an episode is played again and compared. `pull` fetches sealed
files from another server, and `publishing` gives copies of ours to others.
"""
