"""High scores: whose games may be compared (`scores.py`, the service), and how somebody stands among others (`standing.py`)."""

from interplay.study.scores.scores import Board, Place, Scores
from interplay.study.scores.standing import Bins, Standing, bins, standing

__all__ = ["Bins", "Board", "Place", "Scores", "Standing", "bins", "standing"]
