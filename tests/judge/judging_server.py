"""The web server without live play, as a process that can be killed: `python judging_server.py --data FOLDER --port 0`."""

import argparse
import asyncio
from pathlib import Path

import numpy as np
import uvicorn
import uvloop

import interplay.record
from interplay.judge import Judging, Rules
from interplay.play.connections.sockets import listen
from interplay.web.app import create_app


class Server(uvicorn.Server):
    """Says on stdout where it is once it answers."""

    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--database")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    listener = listen("127.0.0.1", options.port)
    archive = interplay.record.open(options.data, options.database)
    judging = Judging(archive, rng=np.random.default_rng(), rules=Rules(min_viewing_s=0, min_watched_share=0))
    config = uvicorn.Config(create_app(archive, judging=judging), log_level="warning")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
