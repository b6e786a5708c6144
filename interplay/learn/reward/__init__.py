"""Rewards from judged pairs: people's answers about games teach a reward for each step, and that reward teaches agents.

`pairs.py` reads the answers, `model.py` is the networks and their loss, `training.py` trains and measures them (`fit`), and
`storage.py` reads them back (`load_reward`) and gives transitions their rewards.
"""
