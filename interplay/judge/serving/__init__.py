"""Serving: which match a judge gets next, how long it is kept for them, and the answer that comes back.

`judging.py` is the service, `matchmaker.py` chooses.
"""
