"""What runs add up to: rates, intervals, order, failed runs, tests between models, and answers to rank."""

import json

import numpy as np
import pytest
from small_instance import FIRST_LOG

from interplay.explore.evaluation import metrics
from interplay.explore.evaluation.metrics import Outcome, Result, msr, rate, result_of, summary, tables, tsr
from interplay.explore.evaluation.runs import Run, header
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import parse
from interplay.explore.results.boards import answers, holm, paired_tests, randomization_p, write_answers
from interplay.explore.results.references import proved
from interplay.rank import read_answers

SETTINGS = json.dumps(Settings().to_json(), sort_keys=True)


def result(task: str, ticks: list[int | None], *, model: str = "ada", **changes) -> Result:
    outcomes = tuple(Outcome(f"m{place}", "mine", tick, tick is not None) for place, tick in enumerate(ticks))
    values = {
        "run": f"{model}-{task}",
        "task": task,
        "model": model,
        "seed": 0,
        "epoch": 1,
        "hops": len(ticks),
        "capabilities": (),
        "settings": SETTINGS,
        "outcomes": outcomes,
        "at_start": (),
        "failed": None,
        "ended": "time_limit",
        "num_steps": 10,
        "episode": f"episode-{model}-{task}",
        "calls": 10,
        "input_tokens": 1000,
        "output_tokens": 100,
        "replies": {"action": 8, "empty": 2},
        "cost": None,
    }
    return Result(**values | changes)


def test_the_published_figure_comes_out_of_its_counts():
    # 202 of 260 instances of one hop and 132 of 553 of more: (202 + 132) / 813 = 41.08 %
    runs = [result(f"one-{n}", [5] if n < 202 else [None]) for n in range(260)]
    runs += [result(f"more-{n}", [5, 6] if n < 132 else [5, None]) for n in range(553)]
    whole = tsr(runs)
    assert round(100 * (whole.value or 0), 2) == 41.08
    assert (whole.num, whole.num_instances) == (813, 813)
    assert msr(runs).value == (202 + 2 * 132 + (553 - 132)) / (260 + 2 * 553)
    by_hops = summary(runs)["by_hops"]
    assert [round(100 * by_hops[hops]["tsr"]["value"], 1) for hops in ("1", "2")] == [77.7, 23.9]


def test_runs_of_one_instance_count_as_one_where_they_are_all_alike():
    alike = rate([(task, float(task in "ab"), 1.0) for task in "abcd" for _ in range(50)])
    single = rate([(task, float(task in "ab"), 1.0) for task in "abcd"])
    # 4 clusters at 1, 1, 0, 0: variance 4 * 0.25 / 16 * 4 / 3 = 1 / 12, so n = 0.25 * 12 = 3; Wilson at 3 trials
    assert (alike.low, alike.high) == (single.low, single.high)
    assert (alike.num, alike.num_instances) == (200, 4)
    assert alike.low == pytest.approx((0.5 + 1.959964**2 / 6) / (1 + 1.959964**2 / 3) - (alike.high - alike.low) / 2)


def test_nothing_reached_in_many_runs_of_few_instances_is_no_certain_zero():
    # Wilson at 0 of 4: z^2 / (4 + z^2)
    none = rate([(task, 0.0, 1.0) for task in "abcd" for _ in range(99)])
    assert none.value == none.low == 0
    assert none.high == pytest.approx(1.959964**2 / (4 + 1.959964**2))
    assert rate([]).value is None


def test_a_run_that_failed_and_one_without_milestones_are_in_no_rate_and_no_pair():
    gone = {"failed": "the server is gone", "ended": None}
    runs = [result("a", [3, 4]), result("b", [None, None], **gone), result("c", [])]
    assert (tsr(runs).value, tsr(runs).num) == (1.0, 1)
    assert (msr(runs).value, msr(runs).num) == (1.0, 2)
    assert summary(runs)["failed"] == 1
    assert list(answers([*runs, result("a", [None, None], model="bob", **gone), result("b", [1, 2], model="bob")])) == []


def test_what_a_server_does_not_say_is_unknown_and_not_nothing():
    runs = [result("a", [1]), result("b", [1], input_tokens=None, output_tokens=None)]
    row = summary(runs, (1.0, 10.0))
    assert (row["input_tokens"], row["output_tokens"], row["cost"]) == (None, None, None)
    call = {"output": {"choices": [], "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}}}
    made = result_of(Run(header(parse(CHAIN), Settings(), "ada", 1), (call,)))
    assert (made.calls, made.input_tokens, made.cost) == (1, None, None)


CHAIN = FIRST_LOG | {
    "selected_tasks": ["mine oak_log", "craft planks", "craft stick"],
    "reasoning_graph": {
        "nodes": ["mine oak_log", "craft planks", "craft stick"],
        "edges": [
            {"from": "mine oak_log", "to": "craft planks", "reason": ""},
            {"from": "craft planks", "to": "craft stick", "reason": ""},
        ],
    },
    "atomic_tasks_ordered": ["mine oak_log", "craft planks", "craft stick"],
    "milestones": [
        {"task": task, "milestone_id": name, "description": "", "rules": FIRST_LOG["milestones"][0]["rules"]}
        for task, name in (("mine oak_log", "log"), ("craft planks", "planks"), ("craft stick", "stick"))
    ],
}


def test_a_milestone_is_in_order_when_all_below_it_were_reached_before():
    for at_start, reached, in_order in [
        ([], {"log": 1, "planks": 5, "stick": 5}, ["log", "planks", "stick"]),
        ([], {"log": 9, "planks": 5, "stick": 12}, ["log"]),
        ([], {"planks": 5, "stick": 6}, []),
        (["log"], {"planks": 5, "stick": 6}, ["planks", "stick"]),
        ([], {"log": 1, "stick": 2}, ["log"]),
    ]:
        head = header(parse(CHAIN), Settings(), "ada", 1)
        end = {"outcome": "time_limit", "num_steps": 20, "reached": reached, "replies": {}}
        made = result_of(Run(head, begin={"episode": "e", "at_start": at_start}, end=end))
        assert [one.id for one in made.outcomes if one.in_order] == in_order
        assert [one.verb for one in made.outcomes] == [verb for verb in ("mine", "craft", "craft")][len(at_start) :]
        assert made.num_reached == len(reached)
        assert Result.from_json(made.to_json()) == made


def test_a_run_without_an_end_failed_and_says_what_to_do():
    made = result_of(Run(header(parse(CHAIN), Settings(), "ada", 1)))
    assert made.failed == "it was interrupted; run the same command again"
    assert (made.num_reached, len(made.outcomes)) == (0, 3)


def test_settings_that_differ_never_share_a_table():
    other = json.dumps(Settings("hold", 300, "hidden").to_json(), sort_keys=True)
    made = tables([result("a", [1]), result("a", [1], settings=other), result("a", [None], model="bob")])
    assert {one["label"]: [row["model"] for row in one["models"]] for one in made} == {
        "paper": ["ada", "bob"],
        "hold-300-hidden": ["ada"],
    }


def test_cost_is_what_servers_say_or_what_the_price_makes_of_tokens():
    runs = [result("a", [1], cost=0.25), result("b", [1])]
    assert summary(runs[:1])["cost"] == 0.25
    assert summary(runs)["cost"] is None, "one of them is not known"
    assert summary(runs, (1.0, 10.0))["cost"] == pytest.approx(2000 / 1e6 + 10 * 200 / 1e6)
    assert summary([result("a", [1])])["cost"] is None
    assert summary(runs)["refused_replies"] == 4


def test_two_models_are_compared_on_the_same_runs_with_instances_as_units():
    ada = [result(f"t{n}", [1, 2], epoch=epoch) for n in range(4) for epoch in (1, 2)]
    bob = [result(f"t{n}", [1, None], model="bob", epoch=epoch) for n in range(4) for epoch in (1, 2)]
    (row,) = paired_tests([*ada, *bob[:-1], result("elsewhere", [1], model="bob")], np.random.default_rng(0))
    assert (row["runs"], row["instances"]) == (7, 4)
    assert (row["tsr_difference"], row["msr_difference"]) == (1.0, 0.5)
    assert row["tsr_p"] == row["msr_holm"] == 2 / 2**4  # all four signs alike, either way


def test_a_pair_differs_by_as_much_as_the_two_rows_of_the_table():
    ada = [result("a", [1, 2, 3, 4]), result("b", [None])]
    bob = [result("a", [1, None, None, None], model="bob"), result("b", [1], model="bob")]
    ((row, other),) = (made["models"] for made in tables([*ada, *bob]))
    (pair,) = paired_tests([*ada, *bob], np.random.default_rng(0))
    assert pair["msr_difference"] == pytest.approx(row["msr"]["value"] - other["msr"]["value"]) == pytest.approx(4 / 5 - 2 / 5)


def test_results_are_split_by_difficulty_depth_and_capability():
    runs = [result("a", [1]), result("b", [1, None], prerequisites=1, depth=2), result("c", [1] * 4, prerequisites=3, depth=2)]
    row = summary([*runs, result("d", [None], capabilities=("action.craft",), latency_ms=500.0)])
    assert {name: one["tsr"]["value"] for name, one in row["by_difficulty"].items()} == {
        "easy": 0.5,
        "medium": 0.0,
        "hard": 1.0,
    }
    assert list(row["by_difficulty"]) == ["easy", "medium", "hard"]
    assert {name: one["msr"]["value"] for name, one in row["by_depth"].items()} == {"not known": 0.5, "2": 5 / 6}
    assert row["by_capability"]["action.craft"]["tsr"]["value"] == 0.0
    assert row["latency_ms"] == 500 / 40


def test_a_proof_of_an_earlier_release_says_no_depth():
    edge = {"first": "a", "then": "b", "enforced": True}
    proofs = [{"hops": {"depth": 2, "edges": [edge | more]}} for more in ({"verdict": "enforced"}, {})]
    assert [metrics._depth({"task": "own", "instance": {"proofs": [one]}}) for one in proofs] == [2, None]


def test_p_values_of_many_instances_are_drawn_and_agree_with_the_exact_ones():
    rng = np.random.default_rng(3)
    differences = np.array([1.0] * 9 + [-1.0] * 3)
    exact = randomization_p(differences, rng)
    assert exact == pytest.approx(299 * 2 / 4096)  # P(at most 3 of 12 signs differ) = (1 + 12 + 66 + 220) / 4096, twice
    drawn = randomization_p(np.append(differences, 0.0), rng)
    assert drawn == pytest.approx(exact, abs=0.02)
    assert randomization_p(np.zeros(5), rng) == 1.0
    assert holm([0.01, 0.03, 0.02]) == pytest.approx([0.03, 0.04, 0.04])


def test_more_milestones_win_and_as_many_are_a_draw_and_rank_reads_them(tmp_path):
    runs = [result("a", [1, 2]), result("b", [1, None]), result("c", [9, 1])]
    runs += [result("a", [1, None], model="bob"), result("b", [None, 3], model="bob"), result("d", [1], model="bob")]
    assert [(one["left"], one["right"], one["outcome"], one["task"]) for one in answers(runs)] == [
        ("ada", "bob", "left", "a"),
        ("ada", "bob", "draw", "b"),
    ]
    assert write_answers(runs, tmp_path / "answers.csv") == 2
    assert [one.outcome for one in read_answers(tmp_path / "answers.csv")] == ["left", "draw"]


def test_who_says_done_too_early_is_counted_apart_from_who_was_right_or_never_said_it():
    runs = [
        result("a", [5], said_done=True),
        result("b", [5, None], said_done=True),
        result("c", [None], said_done=False),
    ]
    assert summary(runs)["false_done"] == 1


def test_the_oracle_stands_on_the_instances_of_the_table_in_the_version_that_was_played():
    runs = [
        result("a", [5, None], task_hash="v1"),
        result("a", [5, None], epoch=2, task_hash="v1"),
        result("b", [None], task_hash="v2"),
    ]
    row = summary(proved(runs, {"v1", "v3"}))
    assert (row["runs"], row["tsr"]["value"], row["calls"]) == (2, 0.5, 0)
    assert proved(runs, {"v3"}) == [], "without any proof there is no row"
    assert row["msr"]["value"] == 2 / 3, "all milestones of one instance, none of the other"


def test_tables_of_one_label_have_names_that_differ():
    other = json.dumps(Settings(prompts="other").to_json(), sort_keys=True)
    made = tables([result("a", [5]), result("a", [5], settings=other)])
    assert [one["label"] for one in made] == ["paper", "paper"]
    assert len({one["name"] for one in made}) == 2
    assert tables([result("a", [5])])[0]["name"] == "paper"
