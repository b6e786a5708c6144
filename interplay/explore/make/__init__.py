"""How instances are made: from a bank of tasks, by planning or by language models.

`bank` draws tasks from the world's tables, `knowledge` decides by the votes of models which of them need knowledge of the game
(`filtering` asks them), `planner` makes instances of `chains` without a model, and `chat` asks models and keeps every answer.

`synthesis` makes many instances with models: candidates by seed, then several makers in turns, or one (`debate`). `dialogue`
has their turns and parses replies, `draft` is what they work on, `sandbox` has their tools, `gate` stops unproved drafts, and
`reviews` has the statistics of people's reviews.
"""
