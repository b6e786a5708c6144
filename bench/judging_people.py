"""Fifty judges: people who watch, think, write, reload, give back, answer late and answer twice. Every second one came by the
link of a study, which slips in checks; the others have a cookie and judge in the open room.

What they did and what they were told is written to a file, for `bench.judging_checks` to hold against the database. Run by
`bench.judging` as a process of its own, which prints a line when a stated number of answers has been accepted.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from bench.judging_data import STUDY
from bench.judging_http import Client, Reply

SHARES = {"reload": 0.1, "give back": 0.05, "answer late": 0.05, "answer twice": 0.05}
"""How many of all turns have something that is not a plain answer."""
RANGE_BYTES = 32 * 1024
"""Of each video, first and second part."""
REASON = (
    "I watched both of them to the end. The one I chose knew where to go from the first step on, while the other one turned "
    "around many times and stood still for a while before it tried what was asked for."
)


@dataclass
class Seen:
    """What judges did and were told.

    Attributes:
        accepted: Match -> sequence number in the log and outcome; the number is None where the first reply was lost with the
            server and the second try was told that the match has its answer.
        holds: Match, judge, and when it was certainly before them: from the reply that brought it until the request that
            gave it back or answered it was sent; `time.monotonic`.
        serves: When each reply with a match came, and how long it took, ms.
        latencies_ms: Kind of request -> how long each took that got a reply, ms.
        num_lost: Kind of request -> how many were sent and got no reply.
        statuses: Kind of request and status -> how many.
        wrong: What should not have been said, in words.
    """

    accepted: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    holds: list[tuple[str, int, float, float]] = field(default_factory=list)
    serves: list[tuple[float, float]] = field(default_factory=list)
    latencies_ms: dict[str, list[float]] = field(default_factory=dict)
    num_lost: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    begin_s: float = 0.0
    end_s: float = 0.0
    cpu_s: float = 0.0


class Crowd:
    """Judges who work side by side until a number of answers has been accepted.

    Args:
        address: The server.
        num_answers: How many together.
        think_s: Mean time a turn takes, apart from waiting for the server; 0 for none.
        announce: Told each number of accepted answers.
    """

    def __init__(self, address: str, num_answers: int, think_s: float, seed: int, announce: Any) -> None:
        self.address = urlsplit(address)
        self.think_s = think_s
        self.seed = seed
        self.seen = Seen()
        self._num_answers = self._num_left = num_answers
        self._announce = announce

    async def work(self, num_judges: int) -> None:
        """Let them all work."""
        self.seen.begin_s, cpu_s = time.monotonic(), time.process_time()
        await asyncio.gather(*(Person(self, number).work() for number in range(num_judges)))
        self.seen.end_s, self.seen.cpu_s = time.monotonic(), time.process_time() - cpu_s

    @property
    def is_done(self) -> bool:
        """Whether all answers have been accepted."""
        return len(self.seen.accepted) >= self._num_answers

    def begin_turn(self) -> bool:
        """Whether one more answer is wanted; it is then expected of whoever asked."""
        if self._num_left == 0:
            return False
        self._num_left -= 1
        return True

    def skip_turn(self) -> None:
        """The turn brings no answer."""
        self._num_left += 1

    def accept(self, match: str, sequence: int | None, outcome: str) -> None:
        """An answer is in the log, as far as its judge knows."""
        if match in self.seen.accepted:
            self.seen.wrong.append(f"match {match} took two answers")
        self.seen.accepted[match] = (sequence, outcome)
        self._announce(len(self.seen.accepted))


class Person:
    """One judge at one browser."""

    def __init__(self, crowd: Crowd, number: int) -> None:
        self._crowd, self._seen, self._number = crowd, crowd.seen, number
        self._rng = np.random.default_rng([crowd.seed, number])
        assert crowd.address.hostname is not None
        assert crowd.address.port is not None
        self._client = Client(crowd.address.hostname, crowd.address.port)
        self._late: tuple[dict[str, Any], dict[str, Any]] | None = None
        """A match given back whose answer is still to come, and that answer."""
        self._headers = ""
        """Of every request: that they are enrolled, if they are."""

    async def work(self) -> None:
        """Turn after turn until enough has been answered."""
        await asyncio.sleep(self._crowd.think_s * self._rng.random())
        if self._number % 2:
            await self._enrol()
        while not self._crowd.is_done:
            if self._crowd.begin_turn():
                await self._turn()
            else:
                await asyncio.sleep(0.02)  # the last answers are with others, who may give them back
        self._client.close()

    async def _enrol(self) -> None:
        """Read what the study is about, agree, and keep the token."""
        welcome = await self._client.request("GET", f"/studies/{STUDY}")
        version = re.search(rb'name="version" value="(\w+)"', welcome.body)
        assert version is not None, welcome
        begun = await self._client.request("POST", f"/studies/{STUDY}/begin", f"decision=agree&version={version[1].decode()}")
        token = parse_qs(urlsplit(begun.location).query)["enrolment"][0]
        self._headers = f"Interplay-Enrolment: {token}\r\n"

    async def _turn(self) -> None:
        habit = self._rng.choice([*SHARES, ""], p=[*SHARES.values(), 1 - sum(SHARES.values())])
        served = await self._call("serve", "POST", "/api/judge/matches", {})
        if served.status == 409:  # everything is before somebody
            self._crowd.skip_turn()
            await asyncio.sleep(0.02)
            return
        if served.status != 201:
            self._crowd.skip_turn()
            return
        self._seen.serves.append((served.done_s, served.latency_ms))
        match = served.body
        await self._watch(match)
        await self._think(0.5)
        form = self._form(match)
        draft = {"outcome": form["outcome"], "reason": form["reason"][:60], "responses": form["responses"]}
        address = f"/api/judge/matches/{match['match']}"
        await self._call("heartbeat", "POST", f"{address}/heartbeat", {"draft": draft})
        if habit == "reload":
            await self._reload(match, draft)
        await self._think(0.5)
        if habit in ("give back", "answer late"):
            await self._give_back(served, late=form if habit == "answer late" else None)
            self._crowd.skip_turn()
        else:
            answered = await self._answer(match, form)
            self._seen.holds.append((match["match"], self._number, served.done_s, answered.sent_s))
            if answered.status != 201 and match["match"] not in self._seen.accepted:
                self._crowd.skip_turn()
            if habit == "answer twice":
                again = await self._call("answer", "POST", f"{address}/answer", form)
                if again.status != 409:
                    self._seen.wrong.append(f"the second answer to {match['match']} got {again.status}")
            if self._late is not None and self._crowd.begin_turn():
                late, self._late = self._late, None
                if (await self._answer(*late)).status != 201:  # they met the same videos again in between
                    self._crowd.skip_turn()

    async def _watch(self, match: dict[str, Any]) -> None:
        for side in ("left", "right"):
            for first in (0, RANGE_BYTES):
                part = f"Range: bytes={first}-{first + RANGE_BYTES - 1}\r\n"
                reply = await self._call("video", "GET", match[side]["video"], None, headers=part)
                if reply.status != 206:
                    self._seen.wrong.append(f"a part of a video got {reply.status}")

    async def _reload(self, match: dict[str, Any], draft: dict[str, Any]) -> None:
        again = await self._call("serve", "POST", "/api/judge/matches", {})
        if again.status != 201 or again.body["match"] != match["match"]:
            self._seen.wrong.append(f"a reload of {match['match']} got {again.status} and another match")
        elif again.body["draft"] != draft:
            self._seen.wrong.append(f"a reload of {match['match']} lost what was written")
        else:
            self._seen.serves.append((again.done_s, again.latency_ms))

    async def _give_back(self, served: Reply, *, late: dict[str, Any] | None) -> None:
        match = served.body
        given = await self._call("release", "POST", f"/api/judge/matches/{match['match']}/release", {})
        self._seen.holds.append((match["match"], self._number, served.done_s, given.sent_s))
        if late is not None and self._late is None:
            self._late = (match, late)

    async def _answer(self, match: dict[str, Any], form: dict[str, Any]) -> Reply:
        reply = await self._call("answer", "POST", f"/api/judge/matches/{match['match']}/answer", form)
        if reply.status == 201:
            self._crowd.accept(match["match"], reply.body["answer"], form["outcome"])
        elif reply.status == 409 and reply.num_lost:  # the first try was carried out, and its reply lost
            self._crowd.accept(match["match"], None, form["outcome"])
        elif reply.status != 410:
            self._seen.wrong.append(f"an answer to {match['match']} got {reply.status}: {reply.body}")
        return reply

    async def _call(self, kind: str, method: str, path: str, body: Any, *, headers: str = "") -> Reply:
        reply = await self._client.request(method, path, body, headers=self._headers + headers)
        self._seen.latencies_ms.setdefault(kind, []).append(reply.latency_ms)
        self._seen.statuses[f"{kind} {reply.status}"] += 1
        if reply.num_lost:
            self._seen.num_lost[kind] += reply.num_lost
        if reply.status >= 500:
            self._seen.wrong.append(f"{kind} got {reply.status}: {reply.body}")
        return reply

    async def _think(self, share: float) -> None:
        await asyncio.sleep(self._crowd.think_s * share * self._rng.uniform(0.5, 1.5))

    def _form(self, match: dict[str, Any]) -> dict[str, Any]:
        responses: dict[str, Any] = {}
        for question in match["questions"]:
            if question["kind"] == "direct":
                responses[question["id"]] = {"left": bool(self._rng.integers(2)), "right": bool(self._rng.integers(2))}
            elif question["kind"] == "comparative":
                responses[question["id"]] = str(self._rng.choice(["left", "draw", "right", "na"]))
        outcome = str(self._rng.choice(["left", "right", "draw"], p=[0.45, 0.45, 0.1]))
        viewing = {
            side: {"length_s": 50.0, "watched_s": 0.0, "stretches": []}  # nothing was played, and this server asks for nothing
            for side in ("left", "right")
        }
        return {"outcome": outcome, "responses": responses, "reason": REASON, "viewing": viewing}


def main() -> None:
    """Judge, and write down what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True)
    parser.add_argument("--judges", type=int, required=True)
    parser.add_argument("--answers", type=int, required=True)
    parser.add_argument("--think", type=float, default=0.0)
    parser.add_argument("--announce", type=int, default=0, help="print a line after so many accepted answers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    def announce(num_accepted: int) -> None:
        if num_accepted == options.announce:
            print(num_accepted, flush=True)

    import uvloop

    crowd = Crowd(options.address, options.answers, options.think, options.seed, announce)
    gc.freeze()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(crowd.work(options.judges))
    options.out.write_text(json.dumps(vars(crowd.seen)))


if __name__ == "__main__":
    main()
