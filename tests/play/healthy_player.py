"""A player in a process of its own: plays until its input is closed, then says what it missed.

python healthy_player.py ADDRESS NUM_FRAMES     (at least so many)
"""

import asyncio
import json
import sys

from interplay.play.client import PlayClient


async def play(address: str, num_frames: int) -> None:
    async with await PlayClient.open(address, "atari/breakout") as client:  # without the button it never ends
        await client.start()
        while client.state != "playing":
            await client.receive()
        print("playing", flush=True)
        told = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        first = step = client.decoder.step
        num_missed = 0
        async for _ in client.frames():
            num_missed += max(client.decoder.step - step - 1, 0)
            step = client.decoder.step
            if told.done() and step - first >= num_frames:
                break
        kinds = [message["type"] for message in client.messages]
        print(json.dumps({"num_frames": step - first, "num_missed": num_missed, "messages": kinds}))


asyncio.run(play(sys.argv[1], int(sys.argv[2])))
