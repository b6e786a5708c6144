"""The same cents, whenever what ends visits and what pays them is killed: real processes, killed by SIGKILL at random moments.

`INTERPLAY_MOMENTS=100 pytest tests/study/test_money_after_kills.py` tries more of them.
"""

import json
import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from fake_mturk import KEY_ID, SECRET, FakeMTurk
from fake_prolific import STUDY as PROLIFIC_STUDY
from fake_prolific import TOKEN, FakeProlific
from play_world import STUDY, PlayWorld
from warm_process import WarmProcess

import interplay.record
from interplay.cli import _run
from interplay.study.money.payroll import Payroll

pytestmark = pytest.mark.long_proof

MOMENTS = int(os.environ.get("INTERPLAY_MOMENTS", "6"))
"""Of each platform."""
GAMES = {"A1ADA": (200, 200), "A2BO": (150, 200), "A3CY": (100, 100), "A4DI": (0, 50), "A5EVE": (33, 47)}
CENTS = {"A1ADA": 225, "A2BO": 132, "A3CY": 150, "A4DI": 75, "A5EVE": 86}
"""75 for each, and 150 x min(1, good/200) x 2 x (good/all - 1/2) rounded up: of Eve 24.75 x 0.40426 = 10.005, so 11."""
LOADED = (
    "interplay.cli.study",
    "interplay.record",
    "interplay.study.money.payroll",
    "interplay.study.money.ledger",
    "interplay.study.mturk.api",
    "interplay.study.channels.prolific_api",
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
)
"""What these processes load sooner or later."""
FINISH = """
import sys
import interplay.record
from interplay.study.studies import Studies
archive = interplay.record.open(sys.argv[1])
studies = Studies(archive.database)
for name in sys.argv[2:]:
    studies.finish(studies.enrolment(name), "done")
"""


class Played:
    """Five people who have played and not finished yet, in a folder that is copied for every moment."""

    def __init__(self, archive, channel: str) -> None:
        self.root = archive.root
        text = (
            STUDY if channel == "prolific" else STUDY.replace("[channels.prolific]", "[channels.mturk]").partition("codes")[0]
        )
        world = PlayWorld(archive, text)
        self.names = {}
        for worker, (good, hits) in GAMES.items():
            one = world.come(worker, f"3{worker}", channel=channel, hit=PROLIFIC_STUDY if channel == "prolific" else "3HIT")
            world.visits.give(one)
            world.play(one, {"inside_out.good": good, "inside_out.all": hits}, seconds=300)
            self.names[worker] = one.id


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Channel -> its people."""
    found = {}
    for channel in ("mturk", "prolific"):
        archive = interplay.record.open(tmp_path_factory.mktemp(channel) / "data")
        found[channel] = Played(archive, channel)
        archive.close()
    return found


@pytest.fixture
def accounts(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)


def kill_at_request(platform, process: WarmProcess, number: int, when: str, later_s: float) -> threading.Thread:
    """Kill a process at its so-many-th request: before the platform does anything, once it has, or a moment after that."""
    answer = platform.answer
    begin = len(platform.requests)

    def answered(request):
        if len(platform.requests) - begin != number:
            return answer(request)
        if when == "before":
            process.kill()
        document = answer(request)
        if when == "done":
            process.kill()
        elif when == "later":
            threading.Thread(target=lambda: (time.sleep(later_s), process.kill()), daemon=True).start()
        return document

    platform.answer = answered
    return answer


def end_visits(played: Played, data: Path, rng: np.random.Generator) -> None:
    """A process ends all visits, and is killed meanwhile; another one ends what is left."""
    arguments = ["-c", FINISH, str(data), *played.names.values()]
    process = WarmProcess(arguments, loaded=LOADED)
    time.sleep(float(rng.uniform(0.0, 0.5)))
    process.kill()
    process.wait(60)
    process.stdout.close()
    process = WarmProcess(arguments, loaded=LOADED)
    assert process.wait(60) == 0
    process.stdout.close()


def pay_until_nothing_is_left(channel: str, data: Path, platform, capsys) -> None:
    """As an operator does: pay again, and where nobody knows the end of a payment, look on the platform."""
    line = [
        "study",
        "pay",
        "orders",
        "--channel",
        channel,
        "--endpoint",
        platform.endpoint,
        "--send",
        "--data",
        str(data),
        "--json",
    ]
    settle: list[str] = []
    for _ in range(5):
        capsys.readouterr()
        status = _run([*line, *settle])
        payments = json.loads(capsys.readouterr().out)["payments"]
        assert {one["state"] for one in payments} <= {"sent", "unknown"}
        if status == 0:
            return
        unknown = [one for one in payments if one["state"] == "unknown"]
        settle = []
        for one in unknown:
            is_paid = platform.paid.get(one["worker"], 0) > 0
            settle += ["--settle", f"{one['request']}={'sent' if is_paid else 'failed'}"]
    pytest.fail(f"still something to pay: {payments}")


def received(channel: str, platform) -> dict[str, int]:
    """Worker -> cents that arrived, by the platform's own books."""
    if channel == "prolific":
        approved = [one["participant"] for one in platform.submissions.values() if one["status"] == "APPROVED"]
        return {worker: 75 + platform.paid.get(worker, 0) for worker in approved}
    approved = [one["WorkerId"] for one in platform.assignments.values() if one["AssignmentStatus"] == "Approved"]
    bonuses = dict.fromkeys(approved, 0)
    for one in platform.bonuses:
        bonuses[one["WorkerId"]] += round(float(one["BonusAmount"]) * 100)
    return {worker: 75 + cents for worker, cents in bonuses.items()}


@pytest.mark.parametrize("channel", ["mturk", "prolific"])
def test_the_same_cents_arrive_whenever_processes_are_killed(channel, played, accounts, tmp_path, capsys):
    rng = np.random.default_rng(15)
    killed = 0
    for moment in range(MOMENTS):
        data = tmp_path / str(moment)
        shutil.copytree(played[channel].root, data)
        end_visits(played[channel], data, rng)
        with FakeMTurk() if channel == "mturk" else FakeProlific() as platform:
            for worker in GAMES:
                platform.hand_in(f"3{worker}", worker)
            command = ["study", "pay", "orders", "--channel", channel, "--endpoint", platform.endpoint, "--send"]
            process = WarmProcess(
                ["-m", "interplay.cli", *command, "--data", str(data)], env=dict(os.environ), stderr=data / "log", loaded=LOADED
            )
            when = ("before", "done", "later")[moment % 3]
            answer = kill_at_request(platform, process, int(rng.integers(1, 22)), when, float(rng.uniform(0, 0.03)))
            killed += process.wait(60) != 0
            process.stdout.close()
            platform.answer = answer
            pay_until_nothing_is_left(channel, data, platform, capsys)
            assert received(channel, platform) == CENTS, f"moment {moment}"
        archive = interplay.record.open(data)
        payroll = Payroll(archive.database)
        for worker, name in played[channel].names.items():
            explained = payroll.explain("orders", name)
            assert explained.agrees
            assert explained.reward_cents + explained.bonus_cents == explained.sent_cents == CENTS[worker]
        archive.close()
    assert killed >= MOMENTS // 3, "too few runs were really killed"
