"""Serving: the next match of a judge, how long it is reserved, and the answer. `judging.py` is the service, `matchmaker.py`
chooses."""
