"""Cart and pole that fails after so many steps, registered as `Failing-v0`, or gives no numbers as rewards, `Numberless-v0`."""

import gymnasium
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

LAST_STEP = 40


class Failing(CartPoleEnv):
    """It works for 40 steps, over all its games."""

    steps_made = 0

    def step(self, action):
        self.steps_made += 1
        if self.steps_made > LAST_STEP:
            raise ZeroDivisionError("the cart is gone")
        return super().step(action)


class Numberless(CartPoleEnv):
    """Its rewards are no numbers."""

    def step(self, action):
        observation, _, terminated, truncated, info = super().step(action)
        return observation, float("nan"), terminated, truncated, info


gymnasium.register("Failing-v0", Failing)
gymnasium.register("Numberless-v0", Numberless)
