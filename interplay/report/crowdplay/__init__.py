"""The analyses of CrowdPlay (Gerstgrasser et al. 2022), one module a section.

`plays.py` is what they are made of, and which of it is good; `times.py` (hours, latency), `maps.py` and `groups.py`
(treatments, teams) have the sections; `report.py` puts them together.
"""
