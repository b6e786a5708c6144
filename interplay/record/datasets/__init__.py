"""The formats of data sets that episodes are exported to and imported from.

`hugging_face` (Parquet files of `datasets`, without loss), `lerobot_*` (version 3.0 of LeRobot's layout: many episodes in a
Parquet file, many in a video), `minari_*` (the Farama Foundation's format; one seat of one task a data set), and `crowdplay_*`,
which reads what CrowdPlay has published (Gerstgrasser et al. 2022) without running anything that its pickles name.
"""
