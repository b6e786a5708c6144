"""The evaluation of language models on instances.

`settings` has protocols and prompts, `replies` parses replies, `game` is the world of a run, recorded and judged at each tick,
`runs` keeps each answered call on disk, `metrics` computes rates of runs, and `inspect_task` plays with Inspect.
"""
