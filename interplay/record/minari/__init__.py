"""Episodes as data sets of Minari, the Farama Foundation's format for offline reinforcement learning, and back.

A data set holds one seat of one task. `exporting` writes them, `importing` makes episodes of them, `places` says where they
lie.
"""
