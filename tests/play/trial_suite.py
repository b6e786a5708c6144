"""The suite of the trial worlds, as a task file."""

SUITE = """
[suite]
id = "trial"
title = "Trial"

[defaults]
frame_rate_hz = 60
time_limit_s = 60
held_out_seeds = [1, 2, 3]
title = "A trial"
goal = "Try."
instructions = "Try it."
questions = [{ id = "better", factor = "overall", kind = "overall", text = "Which is better?" }]

[defaults.keys]
buttons = ["A"]
[defaults.keys.bindings]
KeyA = "A"
[defaults.keys.actions]
"" = 0
"A" = 1
"""
WORLDS = {"counter": "TrialCounter", "raises": "TrialRaises", "slow": "TrialSlow", "noise": "TrialNoise"}


def suite_text() -> str:
    """The suite of the trial worlds, and a short game of Space Invaders."""
    tasks = [f'[[task]]\nname = "{name}"\nenv.id = "gym:trial_worlds:{world}-v0"\n' for name, world in WORLDS.items()]
    tasks.append('[[task]]\nname = "brief"\ntime_limit_s = 1.5\nenv.id = "ale:space_invaders"\n')
    return SUITE + "\n".join(tasks)
