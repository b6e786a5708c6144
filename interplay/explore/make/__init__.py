"""How instances are made: from a bank of tasks, by planning or by language models.

`bank` draws tasks from the world's tables. `knowledge` decides by the votes of models which tasks need knowledge of the game;
`filtering` asks these models. `planner` makes instances of `chains` without a model. `chat` asks models and keeps every answer.

`synthesis` makes many instances with models: a seed draws the candidates, then several makers take turns, or one works alone
(`debate`). `dialogue` has the turns and parses replies. `draft` has the draft that makers work on, and the gate that refuses
drafts without a proof. `sandbox` has the makers' tools, and `reviews` the statistics of people's reviews.
"""
