"""Recordings of people in Minecraft as BEDD and VPT publish them: a video (`.mp4`) and a line of JSON a frame (`.jsonl`).

`names` and `index` know what there is, `fetching` downloads it, `checking` reads it through. `counting` joins files to
episodes.
`labels` makes an action of each line, `pictures` draws the cursor that the videos lack, `loading` brings both together.
`importing` makes episodes of the catalogue, `exporting` writes episodes for other programs.
"""
