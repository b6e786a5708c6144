"""Language models play instances: protocols, prompts, the reading of replies, runs on disk, and what they add up to.

`settings` says how a model is asked, `prompts` what it reads, `replies` reads what it answers, `game` is the world of a run,
recorded and judged at every tick, `runs` keeps each answered call on disk, `inspect_task` plays with Inspect and is the only
part that imports it, `metrics` and `pairs` are arithmetic over runs.
"""
