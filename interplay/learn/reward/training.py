"""Train a reward model on people's answers, and measure how good it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np

from interplay.learn.config import CHECKPOINT, RunError
from interplay.learn.reading import FOLDER, in_order, load
from interplay.learn.reward.pairs import DRAW, AskedSegments, Judges, Pair, Split, answered_pairs, asked_segments, split
from interplay.learn.reward.storage import KeptReward, reward_folder, save_reward, write_along
from interplay.learn.settings import RewardConfig
from interplay.learn.train import check_seat, check_torch, claimed
from interplay.learn.transitions import Transitions
from interplay.record import Archive, Episode
from interplay.store.judging import add_guide
from interplay.tasks import Task, find

MOST_UNSEEN = 200
"""Largest number of games on which the reward is compared with the game's own score."""
NUM_UNSURE = 10
_BEYOND_CHANCE = 1.645
"""A reward beats chance if its accuracy exceeds 0.5 by more than this many standard errors of a coin: one-sided test at 5 %."""


@dataclass(frozen=True)
class FittedReward:
    """The result of `fit`."""

    folder: Path
    updates: int
    seconds: float
    description: dict[str, Any]


def fit(
    archive: Archive,
    config: RewardConfig,
    name: str,
    *,
    resume: bool = False,
    on_episode: Callable[[int, int], None] | None = None,
    on_update: Callable[[int, int], None] | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
) -> FittedReward:
    """Learn a reward from the answers about a task's games; any learner takes it as `--reward name`.

    A share of the worlds (seeds) is held out. Two measures are stored with the reward: how well answers about held-out worlds
    are predicted, and the rank correlation of summed rewards with the game's own score in games outside the training. With
    `config.study`, the answers are about a study's segments, and the reward decides which pairs are asked about next.

    Raises:
        TransitionError: If the task has several seats and none is chosen, or does not have the chosen seat.
        RunError: If no answer counts, all are draws, or no answer is about a whole decision; if the study is of another task;
            or if the run cannot continue.
        ConfigError: If the name cannot be used, a reward has that name, or another process learns it.
    """
    folder = reward_folder(archive, name)
    with claimed(folder, name, resume=resume, what="reward", last="reward.json"):
        check_torch()
        from interplay.learn.harness.run import explained

        task = find(config.task)
        check_seat(config, task)
        judges = cast(Judges, config.judges)
        asked = None if config.study is None else _asked(archive, config.study, task, config, judges)
        pairs = answered_pairs(archive.database, task.id, judges) if asked is None else asked.pairs
        rng = np.random.default_rng((config.seed, 5))
        parts = split(pairs, config.validation, rng=rng, held_out=None if asked is None else asked.held_out)
        learned_from = {episode for pair in parts.training for episode in (pair.first, pair.second)}
        judged = {episode for pair in pairs for episode in (pair.first, pair.second)}
        games = {episode.id: episode for episode in archive.episodes(task=task.id) if episode.num_steps > 0}
        if asked is not None:
            asked = asked._replace(sides={key: side for key, side in asked.sides.items() if side[0] in games})
            judged |= {episode for episode, _ in asked.sides.values()}
        if missing := sorted(judged - games.keys()):
            raise RunError(
                f"{len(missing)} of the {len(judged)} games that were compared are not recorded here step by step, such as "
                f"{missing[0]}\n"
                "Bring them in (interplay episodes import or pull), or learn from another task's answers."
            )
        others = [one.id for one in in_order(games.values()) if one.id not in learned_from]
        if len(others) > MOST_UNSEEN:
            others = np.random.default_rng((config.seed, 6)).permutation(others)[:MOST_UNSEEN].tolist()
        wanted = in_order(games[episode] for episode in learned_from | {*others} | judged)
        data = load(
            wanted,
            observation=config.observation,
            seat=config.seat,
            cache=archive.root / FOLDER,
            on_episode=None if on_episode is None else lambda done: on_episode(done, len(wanted)),
        )
        parts, num_left_out = _with_decisions(parts, data, config)
        learner, updates, seconds = _train(config, data, parts.training, folder, resume, on_update, on_metrics)
        facts: dict[str, Any] = {
            "name": name,
            "task": task.id,
            "task_hash": task.content_hash,
            "seat": config.seat or task.seats[0],
            "observation": config.observation,
            "encoder": learner.description,
            "members": config.members,
            "study": config.study,
            "answers": len(pairs),
            "answers_left_out": num_left_out,
            "judges": config.judges,
            "games": len({episode for pair in pairs for episode in (pair.first, pair.second)}),
            "config": config.to_json(),
        }
        with explained(folder, config):
            facts |= _measure(learner, data, parts.unseen, [games[one] for one in others], learned_from)
            sums = {} if asked is None else _sums_of_segments(learner, data, asked)
            kept = KeptReward(name, facts, learner.ensemble.to("cpu"))
            if config.study is not None:
                with archive.database.write() as session:
                    add_guide(session, config.study, name, sums, datetime.now(UTC))
            rewards, spread = kept.of_decisions(data)
            write_along(folder, ((one, data.steps[at], rewards[at], spread[at]) for one, at in learner.games.items()))
            description = save_reward(folder, kept.ensemble, facts)  # last: the reward is there when this is
        (folder / CHECKPOINT).unlink(missing_ok=True)
        return FittedReward(folder, updates, seconds, description)


def _with_decisions(parts: Split, data: Transitions, config: RewardConfig) -> tuple[Split, int]:
    """Leave out pairs with a side without decisions, such as a segment after the seat's game; return their number, too."""
    from interplay.learn.reward.model import decisions_of, games_of

    games = games_of(data)
    training, unseen = (
        [pair for pair in pairs if all(len(decisions_of(side, games, data)) for side in pair.sides)]
        for pairs in (parts.training, parts.unseen)
    )
    num_left_out = len(parts.training) + len(parts.unseen) - len(training) - len(unseen)
    if num_left_out and all(pair.outcome == DRAW for pair in training):
        raise RunError(
            f"there is nothing to learn a reward from: {num_left_out} answers are about a segment that holds no whole decision "
            f"of {config.observation!r}, and the others are draws or about held-out worlds\n"
            "Ask about longer segments, or learn from another observation."
        )
    return parts._replace(training=training, unseen=unseen), num_left_out


def _train(
    config: RewardConfig,
    data: Transitions,
    pairs: list[Pair],
    folder: Path,
    resume: bool,
    on_update: Callable[[int, int], None] | None,
    on_metrics: Callable[[dict[str, Any]], None] | None,
) -> tuple[Any, int, float]:
    import torch

    from interplay.learn.harness.learner import device_of, threads
    from interplay.learn.harness.run import Watch, explained, keep_settings, loop
    from interplay.learn.reward.model import PreferenceLearner

    device = device_of(config.device)
    folder.mkdir(parents=True, exist_ok=True)
    with threads(config.threads), explained(folder, config):
        keep_settings(folder, config)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            learner = PreferenceLearner(config, data, pairs, device)
        compared = [[*pair[:3], *(pair.spans or ())] for pair in pairs]
        fingerprint = config.fixed() | {"pairs": json.loads(json.dumps(compared))}
        watch = Watch(on_update, on_metrics)
        looped = loop(learner, learner.batch, config, folder, fingerprint, updates=config.updates, resume=resume, watch=watch)
        looped.metrics.write(looped.final)
        looped.metrics.close()
    return learner, looped.update, looped.seconds


def _measure(
    learner: Any, data: Transitions, unseen: list[Pair], others: list[Episode], learned_from: set[str]
) -> dict[str, Any]:
    """Measure a reward: correctly predicted answers, order of games, pairs about which it is unsure; and its scale."""
    import torch

    from interplay.learn.reward.model import rewards_of

    rewards = rewards_of(learner.ensemble, data, torch.device(learner.device))
    mean = rewards.mean(0)
    used = np.concatenate([learner.games[one] for one in sorted(learned_from) if one in learner.games])
    size = float(np.abs(mean[used]).mean())
    sums = {name: rewards[:, places].sum(1) / learner.mean_length for name, places in learner.games.items()}
    found: dict[str, Any] = {"scale": 1 / size if size > 0 else 1.0, "unseen_answers": len(unseen)}
    if not learner.has_draws:  # it gives a draw no chance at all
        found["unseen_draws_left_out"] = sum(pair.outcome == DRAW for pair in unseen)
        unseen = [pair for pair in unseen if pair.outcome != DRAW]
    if unseen:
        with torch.inference_mode():
            every = [unseen for _ in range(len(rewards))]
            measured = learner.measure(learner.compared(every, np.full((len(every), len(unseen)), 0.5)))
        found |= {f"unseen_{name}": float(value) for name, value in measured.items()}
        num_decided = sum(pair.outcome != DRAW for pair in unseen)
        found["is_at_chance"] = found["unseen_accuracy"] - 0.5 <= _BEYOND_CHANCE * 0.5 / max(num_decided, 1) ** 0.5
    there = [one for one in others if one.id in sums]
    if len(there) > 2:
        predicted = np.array([sums[one.id].mean() for one in there])
        found |= {"unseen_games": len(there), "correlation": rank_correlation(predicted, [one.total_reward for one in there])}
    found["unsure"] = _unsure(there, sums)
    return found


def _asked(archive: Archive, study: str, task: Task, config: RewardConfig, judges: Judges) -> AskedSegments:
    asked = asked_segments(archive.database, study, judges)
    if asked.task != task.id:
        raise RunError(
            f"study {study!r} compares segments of {asked.task}, and this run is of {task.id}\n"
            f"Learn from it:  interplay learn reward --study {study} --task {asked.task} --out NAME"
        )
    if asked.seat is not None and asked.seat != config.seat:
        raise RunError(
            f"study {study!r} compares the play of the seat {asked.seat!r}, and this run is of {config.seat!r}\n"
            f"Choose it:  --seat {asked.seat}"
        )
    return asked


def _sums_of_segments(learner: Any, data: Transitions, asked: AskedSegments) -> dict[str, list[float]]:
    """Map each segment of a study to its value by each network, in the unit in which the model compares segments."""
    import torch

    from interplay.learn.reward.model import rewards_of

    rewards = rewards_of(learner.ensemble, data, torch.device(learner.device))
    places = {key: learner.decisions_of(side) for key, side in asked.sides.items()}
    return {key: (rewards[:, at].sum(1) / learner.mean_length).tolist() for key, at in places.items()}


def _unsure(games: list[Episode], sums: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Pairs of games of the same world whose order is least certain among the members: the best pairs to ask about next."""
    worlds: dict[int, list[str]] = {}
    for game in games:
        worlds.setdefault(game.seed, []).append(game.id)
    rows: list[dict[str, Any]] = []
    for seed, names in worlds.items():
        for one, other in combinations(names, 2):
            chances = 1 / (1 + np.exp(-np.clip(sums[one] - sums[other], -50, 50)))
            rows.append({"left": one, "right": other, "seed": seed, "spread": float(chances.std())})
    return sorted(rows, key=lambda row: -row["spread"])[:NUM_UNSURE]


def rank_correlation(one: Any, other: Any) -> float | None:
    """Spearman's correlation; equal values share their mean rank. None if one side has only equal values.

    >>> rank_correlation([1, 2, 3, 4], [10, 30, 20, 40])
    0.8
    """
    ranks = np.stack([_ranks(np.asarray(values, np.float64)) for values in (one, other)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return None
    return round(float(np.corrcoef(ranks)[0, 1]), 12)


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
