"""Recordings of people in Minecraft as BEDD and VPT publish them: a video (`.mp4`) and a line of JSON a frame (`.jsonl`).

`names` and `index` list them, `download` fetches them, `integrity` checks them, and `counts` joins files to episodes. `labels`
reads lines and makes an action of each; `pictures` draws the cursor that videos lack, and `loader` combines these. `vpt_import`
makes episodes of the catalogue, and `vpt_export` writes episodes for other programs.
"""
