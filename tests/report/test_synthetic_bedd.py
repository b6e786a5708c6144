"""The synthetic set has the paper's counts, exactly."""

from collections import Counter

import pytest

from bench.synthetic_bedd import AGENT_SENTIMENT, AGENTS, TASK_SENTIMENT, synthetic_answers
from interplay.report.bedd.paper import published
from interplay.report.bedd.reasons import sentiment

CLASSES = ("positive", "neutral", "negative")


@pytest.fixture(scope="module")
def items():
    return synthetic_answers(0)


def reason(item) -> str:
    return item["result"]["eval_metadata"]["responses"]["justificationText"]


def test_it_has_as_many_comparisons_agents_and_workers(items):
    assert Counter(item["task"] for item in items) == {name: sum(row) for name, row in TASK_SENTIMENT.items()}
    assert {episode["agent_name"] for item in items for episode in item["episodes"]} == set(AGENTS)
    assert len({item["worker_id"] for item in items}) == 65


def test_textblob_finds_the_published_classes_by_task_and_by_agent(items):
    by_task, by_agent = Counter(), Counter()
    for item in items:
        kind = sentiment(reason(item))
        by_task[item["task"], kind] += 1
        by_agent.update((episode["agent_name"], kind) for episode in item["episodes"])
    assert {task: tuple(by_task[task, kind] for kind in CLASSES) for task in TASK_SENTIMENT} == TASK_SENTIMENT
    assert {agent: tuple(by_agent[agent, kind] for kind in CLASSES) for agent in AGENT_SENTIMENT} == AGENT_SENTIMENT


def test_every_reason_is_long_enough_for_the_form_and_words_add_up(items):
    assert min(len(reason(item)) for item in items) >= 100
    words = Counter()
    for item in items:
        words[item["task"]] += len(reason(item).split())
    assert words == {task: published("tasks", task, "words") for task in TASK_SENTIMENT}


def test_it_is_newest_first_compares_two_agents_on_one_seed_and_is_the_same_every_time(items):
    times = [item["created_at"] for item in items]
    assert times == sorted(times, reverse=True)
    for item in items:
        left, right = item["episodes"]
        assert left["agent_name"] != right["agent_name"]
        assert left["seed"] == right["seed"]
        metadata = item["result"]["eval_metadata"]
        order = [left["hash"], right["hash"]]
        assert item["result"]["ranks"] == (order[::-1] if metadata["win_player"] == "p2" else order)
    assert synthetic_answers(0) == items
    assert synthetic_answers(1) != items
