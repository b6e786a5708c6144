"""Studies of play.

`variants.py` is what a study's file says, `games.py` what a visit has played, `ledger.py` what it has earned, `visits.py` the
service.
"""
