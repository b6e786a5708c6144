"""How instances are made: from a bank of tasks, by planning or by language models, and what is kept of it.

`bank` draws tasks from the world's tables, `knowledge` lets models say which of them need knowledge of the game, `planner`
makes instances without any model, and `chat` asks models and keeps every answer.
"""
