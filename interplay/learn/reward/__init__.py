"""Rewards from judged pairs: what people said about games teaches a reward for each step, and that reward teaches agents.

`pairs.py` reads the answers, `model.py` is the networks and their loss, `training.py` trains and measures them (`fit`), and
`storage.py` reads them back (`load_reward`) and gives transitions their rewards.
"""
