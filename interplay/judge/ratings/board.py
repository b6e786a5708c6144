"""Make the leaderboard for pages and programs: rows sorted by score, unrated agents, and the pair to ask about next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.pairing import AgentPair, pairing_rule
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.ratings.ratings import Ratings
from interplay.judge.rules import Rules
from interplay.record import OUTCOME_CHECK_SUCCESS
from interplay.store import entrants as store_entrants
from interplay.store import judging as store
from interplay.store.episodes import statistic_values


class NextPair(NamedTuple):
    """The two agents to ask about next outside studies, if no match were open; `worth` as in `AgentPair`."""

    task: str
    agents: tuple[str, str]
    worth: float


def leaderboard(
    session: Session, candidates: Candidates, ratings: Ratings, rules: Rules, task: str | None = None
) -> dict[str, Any]:
    """Return the agents sorted by score, for one task or for all tasks together (NotFoundError for an unknown task).

    Args:
        rules: Rules of the open room, whose pairing rule determines the next pair.
    Returns:
        A dict. `rows`: each a `rank.LeaderboardRow` as a dict, plus `kind`, `withdrawn`, `num_checked` (number of the agent's
        candidate episodes that an outcome check has judged) and `num_passed` (number of them that passed; ratings ignore both);
        `unrated`: names of agents without an answer; `next_pair`: a `NextPair` as a dict, or None; `automatic`: None if no
        episode was checked, else `num_decided` (number of answers that prefer a side, where only one side passed its check) and
        `num_agreed` (number of these answers that prefer the side that passed); `task`, `num_answers`, `num_judges`.
    """
    if task is not None:
        candidates.check_task(session, task)
    agents = store_entrants.entrants(session, task)
    tasks = [task] if task is not None else store.judged_tasks(session)
    shown = {one: candidates.of_task(session, one) for one in tasks}
    names = {one: sorted({candidate.agent for candidate in candidates}) for one, candidates in shown.items()}
    passed = statistic_values(session, OUTCOME_CHECK_SUCCESS, task)
    checked: defaultdict[str, dict[str, float]] = defaultdict(dict)  # a game counts once, however many of its seats they held
    for candidate in chain.from_iterable(shown.values()):
        if candidate.episode_id in passed:
            checked[candidate.agent][candidate.episode_id] = passed[candidate.episode_id]
    with ratings.current(session) as standings:
        board = standings.overall if task is None else standings.task(task)
        rows, num_answers, num_judges = board.leaderboard(), board.num_answers, standings.num_judges(task)
    wanted = pairing_rule(rules.policy, **rules.policy_options)
    with ratings.evidence(session) as evidence:
        # The same chance every time, so that a reload changes nothing.
        orders = {one: wanted.order(names[one], evidence[one], (), np.random.default_rng(0)) for one in tasks}
    pair = next_pair({one: order for one, order in orders.items() if rules.tasks is None or one in rules.tasks})
    kinds = {agent.name: agent.kind for agent in agents}
    active = {agent.name for agent in agents if store_entrants.state(agent) == "approved"}
    return {
        "task": task,
        "rows": [
            asdict(row)
            | {
                "kind": kinds.get(row.agent, "agent"),
                "withdrawn": row.agent not in active,
                "num_checked": len(checked[row.agent]),
                "num_passed": round(sum(checked[row.agent].values())),
            }
            for row in rows
        ],
        "unrated": sorted(active - {row.agent for row in rows}),
        "num_answers": num_answers,
        "num_judges": num_judges,
        "next_pair": pair and pair._asdict(),
        "automatic": agreement(session, task) if passed else None,
    }


def agreement(session: Session, task: str | None, up_to: int | None = None) -> dict[str, int]:
    num_decided, num_agreed = store.answers_where_one_side_leads(session, OUTCOME_CHECK_SUCCESS, task, up_to=up_to)
    return {"num_decided": num_decided, "num_agreed": num_agreed}


def next_pair(orders: Mapping[str, Sequence[AgentPair]]) -> NextPair | None:
    """Return the pair of highest worth among the first pairs of all tasks; among equals, the task that is first by id counts.
    `orders` maps each task to its pairs in order."""
    firsts = [NextPair(task, (pair.a, pair.b), pair.worth) for task, pairs in orders.items() for pair in pairs[:1]]
    return min(firsts, key=lambda pair: (-round(pair.worth, 9), pair.task), default=None)
