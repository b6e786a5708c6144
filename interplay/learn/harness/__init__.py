"""The common part of every training run: batches, metrics, checkpoints, devices, and the loop that uses them.

An algorithm is a `Learner` (see `learner`): it defines one update with a batch. `run` does the rest, so that a killed run
continues to the weights it would have had anyway. PyTorch is imported here; import it where a run begins.
"""
