"""The analyses of CrowdPlay (Gerstgrasser et al. 2022), one module a section.

`plays.py` is what they are made of, `quality.py` which of it is good, `hours.py`, `maps.py`, `treatments.py`, `latency.py` and
`teams.py` are the sections, `report.py` puts them together.
"""
