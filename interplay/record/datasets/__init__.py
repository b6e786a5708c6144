"""Export episodes to, and import them from, four formats of data sets.

`hugging_face`: Parquet files of `datasets`, without loss. `lerobot_*`: version 3.0 of LeRobot's layout, with many episodes in
a Parquet file and in a video. `minari_*`: the Farama Foundation's format, one data set for each seat of a task. `crowdplay_*`:
import of the data that CrowdPlay published (Gerstgrasser et al. 2022); no code that its pickle files name is run.
"""
