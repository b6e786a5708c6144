"""What every training run has, whatever the algorithm: batches, metrics, checkpoints, devices, and the loop that uses them.

An algorithm is a `Learner` (see `learner`): it says what one update does to a batch. `run` does the rest, so that a run that
was killed continues to the weights it would have had anyway. PyTorch is imported here; import it where a run begins.
"""
