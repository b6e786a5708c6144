"""Common parts of all training runs: batches, metrics, checkpoints, devices, and the training loop.

An algorithm is a `Learner` (see `learner`) and defines one update with a batch. `run` does the rest: a killed run continues and
ends with the same weights as a run that was never killed. This package imports PyTorch, so import it only where a run begins.
"""
