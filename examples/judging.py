"""From videos to a ranking with doubt in one screen: three agents, two judges, one of them careless.

Run it:  python examples/judging.py
"""

import tempfile
from datetime import UTC, datetime

import numpy as np

import interplay.record
from interplay import tasks
from interplay.agents.evaluate import evaluate
from interplay.judge import Judging, ScriptedJudge
from interplay.judge.ratings.ratings import comparison
from interplay.rank.leaderboards import Resampling, boards
from interplay.store import judging as store
from interplay.store.judging import bans

task = tasks.find("atari/breakout")
rng = np.random.default_rng(0)

with tempfile.TemporaryDirectory() as folder:
    archive = interplay.record.open(folder)
    for name in ("noop", "random", "scripted"):
        evaluate(archive, task, name, task.held_out_seeds[:3], max_steps=600)  # recorded, filmed, admitted

    # A pair shares task and seed, a coin draws the sides, and nobody is told who plays.
    judging = Judging(archive, rng=rng)
    returns = {episode.id: episode.total_reward for episode in archive.episodes(task=task.id)}
    for judge in (ScriptedJudge("careful", noise=0.1), ScriptedJudge("careless", noise=50.0)):
        for _ in range(30):
            match = judging.serve(judge.name, task.id, judge_kind="program")
            left, right = (returns[judging.video(match.id, side, judge.name)[0].stem] for side in ("left", "right"))
            form = judge.form([{"id": one.id, "kind": one.kind} for one in match.questions], left, right, rng)
            judging.answer(match.id, judge.name, **form)

    # How each judge works can be looked at; a ban is data, and everything is computed anew.
    for row in judging.judges():
        print(f"{row.judge}: {row.num_answers} answers, left in {row.left_share:.0%} of those that name a side")
    with archive.database.write() as session:
        bans.ban(session, judge="careless", reason="answers at random", now=datetime.now(UTC))

    # The same log by two methods, with intervals over resampled answers.
    with archive.database.read() as session:
        log = [comparison(answer) for answer in store.answers(session)]
    for method in ("trueskill", "bradley-terry"):
        for row in boards(log, method, resampling=Resampling(200)).overall.rows:
            print(f"{method:14} {row.agent:9} score {row.score:6.2f}   from {row.score_low:6.2f} to {row.score_high:6.2f}")
