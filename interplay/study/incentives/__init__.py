"""Incentives of a study of play: what must be reached, what a visit earns, and who wins a raffle. Pure arithmetic.

A game is a mapping {statistic: number}; a visit is the sequence of its games. `requirements.py` says how far somebody is,
`bonus.py` what doing well is worth, `treatment.py` puts both beside the reward, `raffle.py` draws winners.
"""

from interplay.study.incentives.bonus import Bonus, LinearBonus, SlidingBonus
from interplay.study.incentives.raffle import Ticket, draw
from interplay.study.incentives.requirements import Game, Progress, Requirement, completion
from interplay.study.incentives.treatment import Earned, Treatment

__all__ = [
    "Bonus",
    "Earned",
    "Game",
    "LinearBonus",
    "Progress",
    "Requirement",
    "SlidingBonus",
    "Ticket",
    "Treatment",
    "completion",
    "draw",
]
