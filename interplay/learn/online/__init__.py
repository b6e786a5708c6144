"""Learning by playing: rounds of games, each followed by learning from them.

`practise(archive, PPOConfig(task="overcooked/cramped_room", observation="state"), "cook")` plays and learns, and leaves a
policy that every other room knows as the agent `cook`. `games` has worlds and seats, `players` the processes in which they are,
`running` one run of the algorithm; what a run shares with others (metrics, checkpoints, resuming) is `learn.harness`.
"""

from interplay.learn.online.practising import practise

__all__ = ["practise"]
