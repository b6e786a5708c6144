"""Let every agent play with every other agent in a task of several seats, in every order of seats, on the same seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from interplay.agents.base import AgentError
from interplay.agents.evaluate import plan, run_jobs
from interplay.agents.find import find, names
from interplay.agents.scripted import has_player
from interplay.envs.backends import check_playable
from interplay.jobs import Executor
from interplay.record import Archive, Episode
from interplay.tasks import Task


def entrants(task: Task, archive: Archive) -> list[str]:
    """Names of the agents that play a task by default: its scripted player, the policies trained for it, and `random`."""
    policies = [one.name for one in names(archive) if one.kind == "policy" and one.task == task.id]
    return [*(["scripted"] if has_player(task) else []), *policies, "random"]


def lineups(seats: Sequence[str], agents: Sequence[str]) -> list[dict[str, str]]:
    """Return every line-up (seat -> agent) with one agent in one seat, and one agent, the same or another, in all others.

    >>> [tuple(one.values()) for one in lineups(("left", "right"), ("a", "b"))]
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for one in agents:
        for other in agents:
            for own in seats:
                lineup = {seat: one if seat == own else other for seat in seats}
                found.setdefault(tuple(lineup.values()), lineup)
    return [found[key] for key in sorted(found, key=lambda who: [agents.index(name) for name in who])]


def cross_play(
    archive: Archive,
    task: Task,
    agents: Sequence[str],
    seeds: Sequence[int],
    *,
    num_episodes: int = 1,
    seed: int = 0,
    max_steps: int | None = None,
    executor: Executor = Executor(),
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, list[Episode]]:
    """Play every line-up of a task on each seed. Recorded games are not repeated, so this call continues a stopped run.

    No video is made, and no agent is admitted to judging. `agents` are different names that `agents.find` takes. `num_episodes`
    is the number of games for each line-up and seed. `seed` seeds the agents' random draws.

    Returns:
        Line-up -> its episodes; the key is the agents' own names in the order of the seats, joined by `" + "`.
    Raises:
        AgentError: If the task has only one seat, two agents have the same name, or an agent cannot play.
        NotFoundError: If there is no agent with one of the names.
    """
    check_playable(task)
    if len(task.seats) < 2:
        raise AgentError(
            f"task {task.id} has one seat, and cross-play needs at least two\n"
            f"Let agents play it alone:  interplay play {task.id} --agent NAME"
        )
    known = {name: find(name, archive).name for name in dict.fromkeys(agents)}
    if twice := [name for name, number in Counter(known.values()).items() if number > 1]:
        raise AgentError(
            f"two of these agents have the name {twice[0]!r}, so recordings cannot tell them apart: {', '.join(known)}\n"
            "Give each agent a `name` of its own."
        )
    found: dict[str, list[Episode]] = {}
    jobs = []
    for lineup in lineups(task.seats, list(known)):
        called = {seat: known[name] for seat, name in lineup.items()}
        there, missing = plan(
            archive, task, lineup, called, seeds,
            num_episodes=num_episodes, seed=seed, max_steps=max_steps, video=False, again=False,
        )  # fmt: skip
        found[" + ".join(called.values())] = there
        jobs += missing
    done, total = sum(map(len, found.values())), sum(map(len, found.values())) + len(jobs)
    report(done, total)
    for episode_id in run_jobs(archive, jobs, executor):
        episode = archive.get(episode_id)
        found[" + ".join(held.actor for held in episode.seats)].append(episode)
        done += 1
        report(done, total)
    return found
