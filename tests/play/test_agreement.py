"""Who is asked whether their game may be compared."""

from interplay.play.games.agreement import can_be_compared
from interplay.record import Owner
from interplay.tasks import find

TASK = find("atari/breakout")
ANN, BOB = Owner("participant-1", "human", 1), Owner("participant-2", "human", 2)
AGENT, UNKNOWN = Owner("random", "agent"), Owner("ann", "human")


def test_people_are_asked_only_about_games_that_could_be_compared():
    for outcome, owners, is_asked in [
        ("terminated", [ANN], True),
        ("quit", [ANN, BOB], True),
        ("time_limit", [ANN, AGENT], True),
        ("left", [ANN, BOB], False),
        ("interrupted", [ANN], False),
        ("terminated", [ANN, UNKNOWN], False),
    ]:
        assert can_be_compared(TASK, TASK.held_out_seeds[0], outcome, owners) == is_asked
        other = next(seed for seed in range(10**6) if seed not in TASK.held_out_seeds)
        assert not can_be_compared(TASK, other, outcome, owners)
