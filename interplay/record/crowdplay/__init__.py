"""Episodes that CrowdPlay has published (Gerstgrasser et al. 2022), as episodes of this archive.

`interplay.record.plain_values` reads their files, which are pickles, without running anything that they name. `catalogue` reads
the database beside them, which says what was played and by whom; `importing` makes episodes.
"""
