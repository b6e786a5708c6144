"""How instances are made: from a bank of tasks, by planning or by language models, and what is kept of it.

`bank` draws tasks from the world's tables, `knowledge` lets models say which of them need knowledge of the game, `planner`
makes instances without any model, and `chat` asks models and keeps every answer.

`synthesis` lets models make many: candidates by seed, then several makers in turn, or one (`debate`). `roles` says who is bound
to what, `turns` reads replies, `draft` is what they work on, `sandbox` lets them look, and `gate` lets nothing through that is
unproved. `reviews` is what people's reviews of them come to.
"""
