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
"""
KEYS = """
[task.keys]
buttons = ["A"]
bindings = { KeyA = "A" }
actions = { "" = 0, "A" = 1 }
"""
LOOK = """
[[task]]
name = "look"
frame_rate_hz = 20
env.id = "gym:trial_worlds:TrialLook-v0"
[task.keys]
compose = true
buttons = ["forward", "back", "left", "right", "jump", "attack", "use", "hotbar.1", "hotbar.2", "hotbar.3", "ESC"]
pointer = "camera"
pointer_degrees = 0.25
turns = { look_left = [0, -5], look_right = [0, 5], look_up = [-5, 0], look_down = [5, 0] }
opposites = [["left", "right"], ["forward", "back"]]
labels = { attack = "hit", "hotbar.1" = "first thing" }
[task.keys.bindings]
KeyW = "forward"
KeyS = "back"
KeyA = "left"
KeyD = "right"
Space = "jump"
MouseLeft = "attack"
KeyF = "attack"
MouseRight = "use"
Digit1 = "hotbar.1"
Digit2 = "hotbar.2"
Digit3 = "hotbar.3"
ArrowLeft = "look_left"
ArrowRight = "look_right"
ArrowUp = "look_up"
ArrowDown = "look_down"
"""
PONG = """
[[task]]
name = "pong"
frame_rate_hz = 15
seats = ["left", "right"]
env.id = "pettingzoo:butterfly/cooperative_pong-v6"
env.options = { kwargs = { ball_speed = 1 } }
[task.keys]
buttons = ["UP", "DOWN"]
bindings = { KeyW = "UP", KeyS = "DOWN", ArrowUp = "UP", ArrowDown = "DOWN" }
actions = { "" = 0, "UP" = 1, "DOWN" = 2 }
"""
"""Two seats."""
TURNS = """
[[task]]
name = "turns"
pace = "turns"
frame_rate_hz = 100
max_turns = 100
env.id = "gym:trial_worlds:TrialCounter-v0"
[task.keys]
buttons = ["A", "B"]
bindings = { KeyA = "A", KeyB = "B" }
actions = { "" = 0, "A" = 0, "B" = 1 }

[[task]]
name = "turns_for_two"
pace = "turns"
frame_rate_hz = 100
max_turns = 100
seats = ["left", "right"]
env.id = "pettingzoo:butterfly/cooperative_pong-v6"
env.options = { kwargs = { ball_speed = 1 } }
[task.keys]
buttons = ["UP", "DOWN"]
bindings = { KeyW = "UP", KeyS = "DOWN", ArrowUp = "UP", ArrowDown = "DOWN" }
actions = { "" = 0, "UP" = 1, "DOWN" = 2 }
"""
"""The world waits for its players."""
STEER = """
[[task]]
name = "steer"
frame_rate_hz = 60
env.id = "gym:Pendulum-v1"
[task.keys]
buttons = ["LEFT", "RIGHT"]
bindings = { ArrowLeft = "LEFT", ArrowRight = "RIGHT" }
axes = [{ pointer = "x", values = [2, -2], buttons = ["LEFT", "RIGHT"] }]
"""
"""The action is a number."""
BLOCKS = """
[[task]]
name = "blocks"
frame_rate_hz = 20
seats = ["left", "right"]
env.id = "voxel:trial"
env.options = { size = [64, 36], kind = "flat" }
[task.keys]
compose = true
buttons = [
    "forward", "back", "left", "right", "jump", "sneak", "sprint", "attack", "use", "drop", "inventory",
    "pickItem", "swapHands",
    "hotbar.1", "hotbar.2", "hotbar.3", "hotbar.4", "hotbar.5", "hotbar.6", "hotbar.7", "hotbar.8", "hotbar.9", "ESC",
]
pointer = "camera"
pointer_degrees = 0.25
bindings = { KeyW = "forward", KeyS = "back", Enter = "ESC" }
"""
"""Two seats with a view each."""
WORLDS = {
    "counter": "TrialCounter",
    "raises": "TrialRaises",
    "slow": "TrialSlow",
    "crawls": "TrialCrawls",
    "noise": "TrialNoise",
}


def suite_text() -> str:
    """The suite of the trial worlds, a short game of Space Invaders, and games for two."""
    tasks = [f'[[task]]\nname = "{name}"\nenv.id = "gym:trial_worlds:{world}-v0"\n{KEYS}' for name, world in WORLDS.items()]
    tasks.append(f'[[task]]\nname = "crowd"\nseats = ["left", "right"]\nenv.id = "gym:trial_worlds:TrialCounter-v0"\n{KEYS}')
    tasks.append(f'[[task]]\nname = "gone"\nenv.id = "gym:trial_worlds_gone:Gone-v0"\n{KEYS}')
    tasks.append(f'[[task]]\nname = "brief"\ntime_limit_s = 1.5\nenv.id = "ale:space_invaders"\n{KEYS}')
    return SUITE + "\n".join([*tasks, LOOK, PONG, BLOCKS, TURNS, STEER])
