"""Studies of play: `variants.py` reads the study's file, `games.py` the games of a visit; `ledger.py` writes its pay,
`visits.py` is the service."""
