"""Exchange episodes: export them to other programs' formats, import them, and copy them between data folders.

All formats (`interplay.record.datasets`) share `writer` and `importer`. `writer` chooses the episodes of a data set and lets
its folder appear only when complete; `importer` replays each episode and compares it. `pull` fetches sealed files from another
server, and `publishing` gives copies of our files to others.
"""
