"""A synthetic evaluation set in BEDD's published format, with the paper's counts: 3,049 comparisons, 17 agents, 65 workers.

Exact, for every seed: comparisons per task; sentiment classes per task (TextBlob) and, for the six agents the paper looks at,
per agent (tables 6 and 8 turned back into integers); words per task (table 2); mean, standard deviation and total of the time
per task (table 5, to the rounding of milliseconds). Plausible only: who beats whom (strengths are the paper's normalised
scores), answers to the other questions, words per agent. Every sentence is our own; questions carry the texts of our basalt
suite, in the published order (Milani et al. 2023, table 10). `bench.dataset` and the tests read it.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from math import exp
from statistics import NormalDist, fmean, pstdev
from typing import Any

TASKS = {
    "FindCave": "basalt/find_cave",
    "MakeWaterfall": "basalt/make_waterfall",
    "CreateVillageAnimalPen": "basalt/create_village_animal_pen",
    "BuildVillageHouse": "basalt/build_village_house",
}
"""Published short name -> task id."""

TASK_SENTIMENT = {
    "FindCave": (575, 48, 99),
    "MakeWaterfall": (519, 50, 113),
    "CreateVillageAnimalPen": (518, 99, 297),
    "BuildVillageHouse": (459, 70, 202),
}
"""Positive, neutral, negative reasons by task: the integers behind table 6."""

AGENT_SENTIMENT = {
    "Random": (213, 28, 96),
    "Human1": (260, 6, 18),
    "Human2": (223, 7, 13),
    "BC-Baseline": (267, 37, 107),
    "GoUp": (284, 29, 72),
    "UniTeam": (287, 41, 109),
}
"""Positive, neutral, negative reasons about each focus agent, over all its comparisons: the integers behind table 8."""

OTHER_AGENTS = (
    "yamato.kataoka",
    "corianas",
    "TheRealMiners",
    "pm",
    "JustATry",
    "KAIROS",
    "Li_and_Ivan",
    "voggite",
    "KABasalt",
    "Dopamind",
    "Miner007",
)
AGENTS = (*AGENT_SENTIMENT, *OTHER_AGENTS)

STRENGTH = {"Human2": 2.43, "Human1": 2.17, "GoUp": 0.73, "UniTeam": 0.13, "BC-Baseline": -0.32, "Random": -1.35} | {
    name: -0.345 + 0.154 * (5 - place) for place, name in enumerate(OTHER_AGENTS)
}
"""Normalised scores: those of table 3, the others spread so that all 17 have mean 0 and standard deviation 1."""

WORDS = {
    "FindCave": (27_948, 19.1),
    "MakeWaterfall": (26_437, 20.6),
    "CreateVillageAnimalPen": (32_768, 18.1),
    "BuildVillageHouse": (26_917, 20.8),
}
"""Words in all reasons of a task (table 2), and their standard deviation (standard error of table 6 times sqrt(n))."""

SECONDS = {
    "FindCave": (300.47, 271.10),
    "MakeWaterfall": (295.86, 270.99),
    "CreateVillageAnimalPen": (319.52, 255.50),
    "BuildVillageHouse": (375.37, 315.20),
}
"""Mean and standard deviation of the time per comparison (table 5)."""

NUM_WORKERS = 65
BEGIN = datetime(2022, 11, 21, 9, tzinfo=UTC)
_THING = {"FindCave": "cave", "MakeWaterfall": "waterfall", "CreateVillageAnimalPen": "pen", "BuildVillageHouse": "house"}
_MIN_WORDS = 26

_POSITIVE = (
    "I liked how well player {winner} did here, a great piece of work.",
    "Player {winner} did a good job and it was a pleasure to watch.",
    "What player {winner} made is beautiful and the walking was smooth.",
    "An excellent {thing} by player {winner}, clearly the better of these two.",
    "Player {winner} was impressive, with a nice idea about the {thing}.",
)
_NEGATIVE = (
    "Player {loser} was terrible and stared at a wall for minutes.",
    "Neither {thing} was finished, and player {loser} made an awful mess.",
    "Player {loser} was bad at this and got stuck in a pit.",
    "It was boring and annoying to watch player {loser} fail again.",
    "Player {loser} was useless here, the worst I saw all day.",
)
_NEUTRAL = (
    "So it went.",
    "That decided it.",
    "I watched this twice.",
    "There was a {thing}.",
    "Both of them kept walking.",
    "I looked for a {thing}.",
    "Player {loser} turned around and stopped.",
    "Player {winner} went up to the trees.",
    "I went by who had a {thing} at the end.",
    "Player {winner} looked around and then walked towards the hills.",
    "Player {loser} walked along the water and did not turn around.",
    "After a minute player {winner} knew where the {thing} had to be.",
    "Player {loser} jumped about, dug into the ground and waited there until the end.",
    "Player {winner} walked to the place, looked at the {thing} and said it was done.",
)
"""Sentences of 3 to 15 words without a word of sentiment, so that a reason can be filled up to any length."""


def synthetic_answers(seed: int = 0) -> list[dict[str, Any]]:
    """The whole set, newest first, as the published file lists it.

    Args:
        seed: Same seed, same list.
    Returns:
        3,049 items of `worker_id`, `task`, `episodes` (left first), `result` with `eval_metadata`, and the match's own fields;
        JSON values only.
    """
    rng = random.Random(seed)
    questions = _questions()
    plan = [
        (task, sentiment, *pair)
        for sentiment, class_pairs in enumerate(_pairs(rng))
        for task, pair in zip(_tasks_of_class(sentiment, rng), class_pairs, strict=True)
    ]
    rng.shuffle(plan)
    words = {task: _word_counts(task, rng) for task in TASKS}
    seconds = {task: _durations(task, rng) for task in TASKS}
    weights = [exp(-0.05 * place) for place in range(NUM_WORKERS)]
    workers = list(range(NUM_WORKERS)) + rng.choices(range(NUM_WORKERS), weights, k=len(plan) - NUM_WORKERS)
    rng.shuffle(workers)
    videos: dict[tuple[str, str, int], str] = {}
    time = BEGIN
    items = []
    for (task, sentiment, left, right), worker in zip(plan, workers, strict=True):
        time += timedelta(seconds=rng.randrange(60, 400))
        item = _item(
            rng,
            task=task,
            questions=questions[task],
            agents=(left, right) if rng.random() < 0.5 else (right, left),
            sentiment=sentiment,
            num_words=words[task].pop(),
            duration_s=seconds[task].pop(),
            worker=f"worker-{worker + 1:02}",
            time=time,
            videos=videos,
        )
        items.append(item)
    return items[::-1]


def _questions() -> dict[str, tuple[list[int], list[Any]]]:
    """Published task -> held-out seeds, and questions without the overall one."""
    from interplay.tasks import builtin_suites

    by_id = {task.id: task for suite in builtin_suites() for task in suite.tasks}
    return {
        name: (list(by_id[id].held_out_seeds), [q for q in by_id[id].questions if q.kind != "overall"])
        for name, id in TASKS.items()
    }


def _pairs(rng: random.Random) -> list[list[tuple[str, str]]]:
    """For each sentiment class the pairs of agents, so that every focus agent has exactly its published count."""
    classes = []
    for sentiment in range(3):
        degrees = {agent: counts[sentiment] for agent, counts in AGENT_SENTIMENT.items()}
        num_pairs = sum(counts[sentiment] for counts in TASK_SENTIMENT.values())
        rest = 2 * num_pairs - sum(degrees.values())
        for place, agent in enumerate(OTHER_AGENTS):
            degrees[agent] = rest // len(OTHER_AGENTS) + (place < rest % len(OTHER_AGENTS))
        ends = [agent for agent, degree in degrees.items() for _ in range(degree)]
        # Nobody fills half of the sorted list, so ends half the list apart are different agents; swaps then mix them.
        pairs = list(zip(ends[:num_pairs], ends[num_pairs:], strict=True))
        for _ in range(10 * num_pairs):
            i, j = rng.randrange(num_pairs), rng.randrange(num_pairs)
            (a, b), (c, d) = pairs[i], pairs[j][:: rng.choice((1, -1))]
            if a != d and c != b:
                pairs[i], pairs[j] = (a, d), (c, b)
        classes.append(pairs)
    return classes


def _tasks_of_class(sentiment: int, rng: random.Random) -> list[str]:
    """The tasks of all reasons of one class, mixed."""
    tasks = [task for task, counts in TASK_SENTIMENT.items() for _ in range(counts[sentiment])]
    rng.shuffle(tasks)
    return tasks


def _word_counts(task: str, rng: random.Random) -> list[int]:
    """Words of each reason of a task: at least `_MIN_WORDS`, skewed to the right, adding up to the published total."""
    total, deviation = WORDS[task]
    num = sum(TASK_SENTIMENT[task])
    raw = _skewed(num, total / num - _MIN_WORDS, deviation)
    counts = [_MIN_WORDS + max(0, round(value)) for value in raw]
    step = 1 if sum(counts) < total else -1
    for place in range(abs(total - sum(counts))):
        index = num - 1 - place % num  # the long ones can spare a word, and take one
        counts[index] += step
    rng.shuffle(counts)
    return counts


def _durations(task: str, rng: random.Random) -> list[float]:
    """Seconds of each comparison of a task, with the published mean and (sample) standard deviation."""
    mean, deviation = SECONDS[task]
    num = sum(TASK_SENTIMENT[task])
    raw = _skewed(num, mean - 32, deviation)
    center, spread = fmean(raw), pstdev(raw) * (num / (num - 1)) ** 0.5
    values = [mean + deviation * (value - center) / spread for value in raw]
    rng.shuffle(values)
    return values


def _skewed(num: int, mean: float, deviation: float) -> list[float]:
    """Ascending quantiles of a log-normal distribution with this mean and standard deviation."""
    from math import log, sqrt

    sigma = sqrt(log(1 + (deviation / mean) ** 2))
    normal = NormalDist(log(mean) - sigma**2 / 2, sigma)
    return [exp(normal.inv_cdf((place + 0.5) / num)) for place in range(num)]


def _item(
    rng: random.Random,
    *,
    task: str,
    questions: tuple[list[int], list[Any]],
    agents: tuple[str, str],
    sentiment: int,
    num_words: int,
    duration_s: float,
    worker: str,
    time: datetime,
    videos: dict[tuple[str, str, int], str],
) -> dict[str, Any]:
    """One comparison as the published file has it."""
    seeds, form = questions
    seed = rng.choice(seeds)
    gap = STRENGTH[agents[0]] - STRENGTH[agents[1]] + rng.gauss(0, 1.5)
    choice = "draw" if abs(gap) < 0.27 else "p1" if gap > 0 else "p2"
    winner = 1 if choice != "p2" else 2
    episodes = []
    for agent in agents:
        key = (agent, task, seed)
        videos.setdefault(key, _uuid(rng))
        episodes.append(
            {
                "agent_name": agent,
                "task": task,
                "hash": videos[key],
                "video_filename": f"{videos[key]}.mp4",
                "video_uri": f"uploads/{videos[key]}.mp4",
                "created_at": _stamp(BEGIN - timedelta(days=3)),
                "seed": str(seed),
                "meta": {},
            }
        )
    match_hash = _uuid(rng)
    ranks = [episode["hash"] for episode in (episodes if winner == 1 else episodes[::-1])]
    end = time + timedelta(seconds=duration_s)
    start_ms, end_ms = round(time.timestamp() * 1000), round(time.timestamp() * 1000) + round(duration_s * 1000)
    metadata = {
        "start_time": start_ms,
        "end_time": end_ms,
        "VIDEO_EVENTS": _video_events(rng, start_ms, end_ms, episodes),
        "responses": {
            "direct_question": [
                {"question": question.text} | {f"player_{side + 1}": _yes(rng, question, agents[side]) for side in (0, 1)}
                for question in form
                if question.kind == "direct"
            ],
            "comparisons": [
                {"question": question.text, "answer": _choice(rng, gap)} for question in form if question.kind == "comparative"
            ],
            "justificationText": _reason(rng, task, sentiment, num_words, winner),
        },
        "win_player": choice,
        "match_hash": match_hash,
        "ranks": ranks,
        "is_draw": choice == "draw",
        "playerA_id": episodes[0]["hash"],
        "PlayerA_VIDEO_URL": episodes[0]["video_uri"],
        "playerB_id": episodes[1]["hash"],
        "PlayerB_VIDEO_URL": episodes[1]["video_uri"],
        "mturk_assignmentId": f"assignment-{match_hash[:8]}",
        "mturk_hitId": f"hit-{task.lower()}",
        "mturk_turkSubmitTo": "N/A",
        "mturk_workerId": worker,
    }
    return {
        "worker_id": worker,
        "task": task,
        "episodes": episodes,
        "result": {
            "hash": _uuid(rng),
            "created_at": _stamp(end),
            "ranks": ranks,
            "is_draw": choice == "draw",
            "eval_metadata": metadata,
        },
        "hash": match_hash,
        "created_at": _stamp(time),
        "updated_at": _stamp(end),
        "expiry_at": _stamp(time + timedelta(minutes=30)),
    }


def _yes(rng: random.Random, question: Any, agent: str) -> str:
    """A yes or no about one agent: the stronger, the likelier a yes; of harm, the busier."""
    if question.id == "harm":
        likelihood = 0.04 if agent == "Random" else 0.12 + 0.05 * max(0.0, STRENGTH[agent])
    else:
        likelihood = 1 / (1 + exp(-1.6 * (STRENGTH[agent] - 0.4)))
    return "true" if rng.random() < likelihood else "false"


def _choice(rng: random.Random, gap: float) -> str:
    """An answer to a comparative question, around the overall impression."""
    if rng.random() < 0.05:
        return "na"
    gap += rng.gauss(0, 0.8)
    return "draw" if abs(gap) < 0.35 else "p1" if gap > 0 else "p2"


def _reason(rng: random.Random, task: str, sentiment: int, num_words: int, winner: int) -> str:
    """Text of so many words that TextBlob puts in the wanted class (0 positive, 1 neutral, 2 negative)."""
    names = {"winner": "AB"[winner - 1], "loser": "BA"[winner - 1], "thing": _THING[task]}
    lengths: dict[int, list[str]] = {}
    for sentence in _NEUTRAL:
        lengths.setdefault(len(sentence.split()), []).append(sentence)
    sentences = [rng.choice(_POSITIVE if sentiment == 0 else _NEGATIVE)] if sentiment != 1 else []
    left = num_words - sum(len(sentence.split()) for sentence in sentences)
    while left:
        fitting = [length for length in lengths if left - length == 0 or left - length >= min(lengths)]
        length = left if left in lengths else rng.choice([length for length in fitting if length >= 8] or fitting)
        sentences.append(rng.choice(lengths[length]))
        left -= length
    return " ".join(sentences).format(**names)


def _video_events(rng: random.Random, start_ms: int, end_ms: int, episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the page's tracking would have noted: both videos started, and how far they were watched."""
    events = []
    for player, episode in enumerate(episodes, start=1):
        watched = ("play", "tracking:firstplay", "tracking:first-quarter", "tracking:second-quarter", "tracking:third-quarter")
        times = sorted(rng.randrange(start_ms, end_ms) for _ in watched)
        events += [
            {"type": kind, "source": episode["video_uri"], "time": time, "player_id": f"player_{player}"}
            for kind, time in zip(watched, times, strict=True)
        ]
    return sorted(events, key=lambda event: event["time"])


def _uuid(rng: random.Random) -> str:
    """A random version-4 id, drawn from `rng`."""
    import uuid

    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _stamp(time: datetime) -> str:
    """A time as the published server wrote it: UTC without a zone."""
    return time.replace(tzinfo=None).isoformat()
