"""A player that is a process of its own, so that it can be killed: `python player_process.py ADDRESS`, its grant on standard
input. It plays until then."""

import asyncio
import json
import sys

from interplay.play.client import PlayClient


async def play(address: str) -> None:
    client = PlayClient(address, json.loads(sys.stdin.readline()))
    await client.connect()
    await client.start()
    async for _ in client.frames():
        await client.press(1 + client.step // 8 % 2)


asyncio.run(play(sys.argv[1]))
