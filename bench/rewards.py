"""Rewards from judged pairs, from the first answer to agents trained on them. `python -m bench.rewards [--json]`.

Games of cart and pole by a clumsy player and by random play are compared by judges who prefer the longer game, one answer in
ten the wrong way round. A reward is learned from the answers; CQL and IQL learn from it and from the game's own reward, and a
clone beside them, all in one benchmark. With `--data` a run that was stopped goes on.

With `--segments`, judges compare three seconds of games of `bench/light.toml`, one answer in ten the wrong way round, and a
reward is learned again after every `--every` answers: once from pairs drawn at random, once from pairs that the last reward was
least sure about. What counts is how many pairs of segments of worlds it never saw the reward orders as the game's own does.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from interplay.agents.evaluate import evaluate
from interplay.cli.output import stage_bars
from interplay.judge import Judging, Rules
from interplay.judge.segments.studies import SegmentStudies
from interplay.judge.serving.videos import clip_of_segment
from interplay.learn.benchmark.definition import Benchmark, Contender, LearnedTask
from interplay.learn.benchmark.runner import Report, run_benchmark
from interplay.learn.reward.training import fit
from interplay.learn.settings import RewardConfig
from interplay.record import Archive
from interplay.store import judging as store
from interplay.store.judging import SegmentRow
from interplay.store.study import studies
from interplay.tasks import Task, find
from interplay.testing import add_answers, answer_values, match_values

TASK = f"{Path(__file__).with_name('cartpole.toml')}:cartpole"
PLAYERS = ("bench.cartpole:LeanAgent", "random")
NOISE = 0.1
LIGHT = f"{Path(__file__).with_name('light.toml')}:light"
WHOLE_GAMES, SEGMENTS = (500, 300, 10_000), (200, 40, 1000)
"""Answers, games and updates unless said otherwise."""


def play(archive: Archive, task: Task, num_games: int, report: Report = lambda what, done, total: None) -> None:
    """Games of both players, each on the same worlds."""
    for player in PLAYERS:
        follow = partial(report, f"{player} plays")
        evaluate(archive, task, player, range(num_games), video=False, report=follow)


def prefers_longer(left: float, right: float, rng: np.random.Generator) -> str:
    """The outcome for two returns, by a judge who is wrong in a share of the answers."""
    if left == right:
        return "draw"
    return "left" if (left > right) != (rng.random() < NOISE) else "right"


def answer(
    archive: Archive,
    task: Task,
    num_answers: int,
    *,
    seed: int,
    says: Callable[[float, float, np.random.Generator], str] = prefers_longer,
    judge_kind: str = "person",
    swap: bool = False,
) -> None:
    """Twenty judges compare games of one world.

    Args:
        says: The outcome for the returns of the left and the right game.
        judge_kind: `person` or `model`.
        swap: Show every pair the other way round, with the same judgement.
    """
    rng = np.random.default_rng(seed)
    worlds: dict[int, list[Any]] = {}
    for episode in sorted(archive.episodes(task=task.id), key=lambda one: (one.seed, one.actor)):
        if episode.seed not in task.held_out_seeds:
            worlds.setdefault(episode.seed, []).append(episode)
    pairs = [pair for games in worlds.values() for pair in itertools.combinations(games, 2)]
    rows = []
    for number in range(num_answers):
        left, right = pairs[int(rng.integers(len(pairs)))]
        if rng.random() < 0.5:
            left, right = right, left
        outcome = says(left.total_reward, right.total_reward, rng)
        if swap:
            left, right, outcome = right, left, {"left": "right", "right": "left", "draw": "draw"}[outcome]
        sides = [
            {"id": one.id, "task": task.id, "task_hash": one.task_hash, "seed": one.seed, "actor": one.actor}
            for one in (left, right)
        ]
        name = f"{judge_kind}-{seed}"
        match = match_values(*sides, judge=f"{name}-{number % 20}", id=f"{name}-m{number}", judge_kind=judge_kind)
        rows.append((match, answer_values(match, outcome)))
    with archive.database.write() as session:
        add_answers(session, rows)


def benchmark_of(reward: str, *, updates: int, seeds: tuple[int, ...], num_games: int, hidden: tuple[int, ...]) -> Benchmark:
    """A clone, and each algorithm on the game's reward and on the learned one."""
    settings = {"observation": "state", "updates": updates, "hidden": [*hidden], "batch_size": 64, "validation": 0}
    task = LearnedTask(TASK, find(TASK), {"actor": None, "where": ()}, (), None, 500.0)
    contenders = [Contender("bc", "bc", None, {"temperature": 0})]
    for name, given in (("cql", {"learning_rate": 3e-4, "target_every": 500, "alpha": 0.5}), ("iql", {"temperature": 0})):
        contenders += [
            Contender(name, name, None, given),
            Contender(f"{name}, learned reward", name, None, {**given, "reward": reward}),
        ]
    return Benchmark("rewards", "Rewards from judged pairs", seeds, num_games, settings, (task,), tuple(contenders))


def study_of_segments(
    archive: Archive, name: str, *, now: datetime, rules: Mapping[str, Any] | None = None, **table: Any
) -> list[SegmentRow]:
    """Open a study of segments of `LIGHT`, and stand in for the videos; returns its segments.

    Args:
        rules: More of its table `[judging]`.
        table: Settings of `[judging.segments]`.
    """
    task = find(LIGHT)
    judging = {"min_viewing_s": 0, "min_watched_share": 0, "segments": {"task": task.id, **table}, **(rules or {})}
    document = {"study": {"id": name, "title": name, "summary": name, "minutes": 5, "instructions": "Watch."}}
    document |= {"channels": {"open": {}}, "judging": judging}
    study_hash = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    part = Rules.from_mapping(judging).segments
    assert part is not None
    segments = SegmentStudies(archive)
    drawn = segments.draw(part, task)
    with archive.database.write() as session:
        studies.open_study(session, study=name, content_hash=study_hash, definition=document, now=now)
    segments.keep(name, study_hash, drawn)
    with archive.database.read() as session:
        rows = store.segments_of(session, study_hash)
    for row in rows:  # nobody looks at them
        archive.video_place(clip_of_segment(row).name).touch()
    archive.enter_videos(clip_of_segment(row).name for row in rows)
    return rows


class SegmentJudges:
    """Judges of segments of one study, who prefer the one with more of the game's own reward.

    Args:
        archive: Where the study is.
        study: Its id.
        segments: Of it.
        seed: Of their errors, and of what they are served.
        noise: Share of their answers that are the wrong way round.
    """

    def __init__(self, archive: Archive, study: str, segments: list[SegmentRow], *, seed: int, noise: float = NOISE) -> None:
        self._study, self._noise, self._rng = study, noise, np.random.default_rng((seed, 1))
        self._judging = Judging(archive, rng=np.random.default_rng(seed))
        self._database = archive.database
        rewards = {name: archive.get(name).rewards() for name in {row.episode_id for row in segments}}
        self.worth = {row.id: float(rewards[row.episode_id][row.first_step : row.last_step + 1].sum()) for row in segments}

    def answer(self, num_answers: int) -> None:
        """So many more answers, by twenty judges."""
        for number in range(num_answers):
            judge = f"judge-{number % 20}"
            served = self._judging.serve(judge, study=self._study)
            with self._database.read() as session:
                match = store.match_to_read(session, served.id)
            assert match is not None
            left, right = self.worth[match.left_segment_id or 0], self.worth[match.right_segment_id or 0]
            outcome = "draw" if left == right else "left" if (left > right) != (self._rng.random() < self._noise) else "right"
            self._judging.answer(served.id, judge, outcome=outcome, responses={}, reason="", study=self._study)


def accuracy_of_guide(archive: Archive, study: str, segments: list[SegmentRow], worth: dict[int, float]) -> float:
    """Share of all pairs of segments of held-out worlds that the newest reward orders as the game's own does."""
    with archive.database.read() as session:
        guide = store.newest_guide(session, study)
        assert guide is not None
        sums = store.guide_sums(session, guide)
    held_out = [row for row in segments if row.is_held_out]
    learned = np.array([np.mean(sums[row.key]) for row in held_out])
    true = np.array([worth[row.id] for row in held_out])
    one, other = np.triu_indices(len(held_out), 1)
    return float(np.mean((learned[one] > learned[other]) == (true[one] > true[other])))


def compare_pairings(
    archive: Archive, *, num_answers: int, every: int, seeds: int, updates: int, of: int, say: Any
) -> dict[str, Any]:
    """Held-out accuracy after each round of answers, of random pairs and of the least sure one `of` so many, over seeds."""
    accuracy: dict[str, list[list[float]]] = {"random": [], "unsure": []}
    for seed, (name, curves) in itertools.product(range(seeds), accuracy.items()):
        study = f"{name}-{seed}"
        candidates = 1 if name == "random" else of
        segments = study_of_segments(
            archive, study, now=datetime.now(UTC), number=300, seed=seed, held_out=0.2, candidates=candidates
        )
        judges = SegmentJudges(archive, study, segments, seed=seed)
        curve = []
        for done in range(every, num_answers + 1, every):
            judges.answer(every)
            config = RewardConfig(
                task=LIGHT,
                study=study,
                observation="state",
                seed=seed,
                updates=updates,
                hidden=(64, 64),
                learning_rate=2e-3,
                threads=1,
            )
            fit(archive, config, f"{study}-{done}")
            curve.append(accuracy_of_guide(archive, study, segments, judges.worth))
        curves.append(curve)
        say(f"{study}: " + " ".join(f"{value:.3f}" for value in curve))
    means = {name: np.mean(curves, axis=0).tolist() for name, curves in accuracy.items()}
    answers = list(range(every, num_answers + 1, every))
    reached = {  # answers that unsure pairs need for what random pairs reach with all
        name: next((n for n, value in zip(answers, curve, strict=True) if value >= means["random"][-1]), None)
        for name, curve in means.items()
    }
    return {"answers": answers, "accuracy": means, "runs": accuracy, "answers_needed": reached}


def bench_segments(options: argparse.Namespace, say: Any) -> None:
    """Run `compare_pairings`, and print what came of it."""
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        task = find(LIGHT)
        say(f"playing {2 * options.games} games")
        for player in ("bench.light:Seeks", "random"):
            evaluate(archive, task, player, range(options.games), video=False)
        found = compare_pairings(
            archive,
            num_answers=options.answers,
            every=options.every,
            seeds=options.seeds,
            updates=options.updates,
            of=options.candidates,
            say=say,
        )
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for number, *values in zip(found["answers"], *found["accuracy"].values(), strict=True):
        print(
            f"{number:4} answers: "
            + ", ".join(f"{name} {one:.3f}" for name, one in zip(found["accuracy"], values, strict=True))
        )
    needed = found["answers_needed"]
    print(f"to reach what random pairs reach with {found['answers'][-1]}: random {needed['random']}, unsure {needed['unsure']}")


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", action="store_true", help="compare random pairs of segments with unsure ones")
    parser.add_argument("--every", type=int, default=25, help="answers between two rewards, of segments")
    parser.add_argument("--candidates", type=int, default=10, help="pairs of segments of which the least sure one is asked")
    parser.add_argument("--answers", type=int, help="500, of segments 200")
    parser.add_argument("--games", type=int, help="of each player: 300, of segments 40")
    parser.add_argument("--updates", type=int, help="of each agent 10,000, of each reward of segments 1,000")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="keep everything there; a folder for a while if not given")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    say = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    for name, default in zip(("answers", "games", "updates"), SEGMENTS if options.segments else WHOLE_GAMES, strict=True):
        if getattr(options, name) is None:
            setattr(options, name, default)
    if options.segments:
        bench_segments(options, say)
        return
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(options.data or Path(folder))) as archive:
        task = find(TASK)
        with stage_bars(counts=False) as report:
            play(archive, task, options.games, report)
        learned = archive.root / "rewards" / "bench"
        if not (learned / "reward.json").exists():
            with archive.database.read() as session:
                is_answered = next(store.answers(session), None) is not None
            if not is_answered:  # what a run that was stopped has answered stays
                say(f"answering {options.answers} times")
                answer(archive, task, options.answers, seed=1)
            say("learning the reward")
            fit(archive, RewardConfig(task=TASK, observation="state"), "bench", resume=(learned / "config.json").exists())
        described = json.loads((learned / "reward.json").read_text())
        chosen = benchmark_of(
            "bench", updates=options.updates, seeds=tuple(range(1, options.seeds + 1)), num_games=20, hidden=(256, 256)
        )
        with stage_bars(counts=False) as report:
            results = run_benchmark(archive, chosen, report=report)
        returns = {name: results.mean(name, task.id) for name in results.algorithms}
        means = {name: float(np.mean(values)) for name, values in returns.items()}
        found = {
            "answers": described["answers"],
            "correlation": described["correlation"],
            "unseen_games": described["unseen_games"],
            "unseen_accuracy": described.get("unseen_accuracy"),
            "unseen_answers": described["unseen_answers"],
            "returns": returns,
            "share": {name: means[f"{name}, learned reward"] / means[name] for name in ("cql", "iql")},
            "over_clone": {name: means[f"{name}, learned reward"] / means["bc"] for name in ("cql", "iql")},
        }
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(
        f"rank correlation with the true return of {found['unseen_games']} unseen games: {found['correlation']:.3f} (bar 0.8)"
    )
    for name in ("cql", "iql"):
        print(
            f"{name} on the learned reward: {found['share'][name]:.0%} of {name} on the game's own (bar 80 %), "
            f"{found['over_clone'][name]:.2f} times the clone (bar: more than 1)"
        )


if __name__ == "__main__":
    main()
