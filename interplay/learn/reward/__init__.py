"""Rewards from judged pairs: learn a reward for each step from people's answers about games; agents then learn from it.

`pairs.py` reads the answers, `model.py` has the networks and their loss, `training.py` trains and measures the networks
(`fit`), and `storage.py` loads reward models (`load_reward`) and gives transitions the learned rewards.
"""
