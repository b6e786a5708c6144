"""Episodes as a user's own loop records them."""

import gymnasium

from interplay.record import Archive, Episode, Recording


def cartpoles(archive: Archive, num_episodes: int = 2) -> list[Episode]:
    """Episodes of CartPole with random actions, each to its end."""
    with Recording(gymnasium.make("CartPole-v1"), archive, actor="me", task="mine/cartpole") as env:
        env.action_space.seed(0)
        for seed in range(num_episodes):
            env.reset(seed=seed)
            while not any(env.step(env.action_space.sample())[2:4]):
                pass
    return archive.episodes(task="mine/cartpole")
