"""Serving: choose the next match of a judge, reserve it, and take the answer.
`judging.py` is the service; `matchmaker.py` chooses matches."""
