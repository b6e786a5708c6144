"""The analyses of CrowdPlay (Gerstgrasser et al. 2022).

`plays.py` reads the plays and decides which plays are good. `times.py` (hours, latency), `maps.py` and `groups.py` (treatments,
teams) make the sections, and `report.py` puts the sections together.
"""
