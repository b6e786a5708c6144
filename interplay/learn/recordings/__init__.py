"""Recordings of people in Minecraft, as BEDD and VPT publish them: a video (`.mp4`) and a JSON line for each frame (`.jsonl`).

`names` and `index` list recordings, `download` fetches them, `integrity` checks them, and `counts` joins files to episodes.
`labels` turns each line into an action, `pictures` draws the cursor that videos lack, and `loader` combines lines and pictures.
`vpt_import` adds recordings to the catalogue as episodes, and `vpt_export` writes episodes as recordings for other programs.
"""
