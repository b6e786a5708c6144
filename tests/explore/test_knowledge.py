"""The knowledge filter: what replies say, what votes come to, how good it is, and that no answer is lost."""

import asyncio
import json
import math
import random
import tomllib
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from scipy.stats import binom

from bench.model_server import ModelServer
from interplay.explore.evaluation.calls import CallError
from interplay.explore.evaluation.providers import At, model_named
from interplay.explore.make import filtering, knowledge
from interplay.explore.make.bank import normalised
from interplay.explore.make.chat import Chat
from interplay.explore.make.knowledge import LABELS, NO, YES, KnowledgeError, ReplyError, Sample, decide, measure

GOOD = {"perception": ["spatial_perception"], "reasoning": [], "action": ["move", "collect"]}
CHANCE = 1e-6


def test_the_taxonomy_has_5_3_and_6_labels_and_the_prompt_explains_each():
    assert {group: len(labels) for group, labels in LABELS.items()} == {"perception": 5, "reasoning": 3, "action": 6}
    said = knowledge.texts()["capabilities"]
    assert all(f"- {label}: " in said for labels in LABELS.values() for label in labels)
    assert "arXiv" in knowledge.texts()["source"]


def test_the_golden_set_has_200_names_of_one_form_each_with_one_label():
    golden = knowledge.golden()
    count = Counter(golden.values())
    assert len(golden) >= 200
    assert min(count[YES], count[NO]) >= 100
    assert len(golden) == count.total() == sum(len(names) for names in golden_lists().values()), "no name has two labels"
    assert all(normalised(name) == name for name in golden)


def golden_lists() -> dict[str, list[str]]:
    return tomllib.loads(Path(knowledge.__file__).with_name("golden.toml").read_text())


@pytest.mark.parametrize(("text", "verdict"), [("Yes", YES), (" no.\n", NO), ("**No**", NO), ('"YES!"', YES)])
def test_a_verdict_is_one_word(text, verdict):
    assert knowledge.read_verdict(text) == verdict


def test_what_is_no_verdict_is_none():
    for text in ["", "Perhaps", "Yes and no", "I think: No", "No " * 9999, "\0"]:
        with pytest.raises(ReplyError, match="one word, Yes or No"):
            knowledge.read_verdict(text)


def test_a_description_stands_where_the_verdict_is_yes_and_nowhere_else():
    assert knowledge.read_description("One must know it.", YES) == "One must know it."
    assert knowledge.read_description(" None. ", NO) is None
    for text, verdict in (("None", YES), ("", YES), ("One must know it.", NO)):
        with pytest.raises(ReplyError, match="you answered"):
            knowledge.read_description(text, verdict)


def test_an_unknown_label_is_an_error_and_never_dropped():
    for change, why in [
        ({"reasoning": ["dynamic_reasoning"]}, "'dynamic_reasoning' is not a label of reasoning; labels are common_sense"),
        ({"action": ["spatial_perception"]}, "is not a label of action"),
        ({"action": "move"}, "action must be a list"),
        ({"action": [["move"]]}, "is not a label of action"),
        ({"extra": []}, "must have the keys perception, reasoning, action"),
    ]:
        assert knowledge.read_capabilities(f"Here: {json.dumps(GOOD)}") == {
            "perception.spatial_perception",
            "action.move",
            "action.collect",
        }
        with pytest.raises(ReplyError, match=why):
            knowledge.read_capabilities(json.dumps(GOOD | change))


def test_a_reply_without_the_object_is_an_error():
    for text in ["", "{", "}{", "[]", '{"perception": []}', "{" * 100_000, "null"]:
        with pytest.raises(ReplyError):
            knowledge.read_capabilities(text)


def samples(model: str, verdicts: str) -> list[Sample]:
    """`Y`, `N` or `?` for each sample of a model."""
    return [
        Sample(model, {"Y": YES, "N": NO}.get(one), "It is so." if one == "Y" else None, frozenset({"action.move"}))
        for one in verdicts
    ]


def test_each_models_majority_decides_and_what_they_disagree_on_waits_for_people():
    for first, second, verdict, why in [
        ("NNNNY", "NNNYY", NO, ""),
        ("YYYNN", "YYYYY", YES, ""),
        ("NNNNN", "YYYYY", None, "a says No; b says Yes"),
        ("NNNYYY", "NNNNNN", None, "a said Yes as often as No"),
        ("NNNN?", "NNNNN", None, "a gave fewer than 5 verdicts"),
    ]:
        both = samples("a", first) + samples("b", second)
        one = decide("mine dirt", both, {})
        assert (one.verdict, one.kept, one.by_people) == (verdict, verdict == NO, False)
        assert why in one.why
        assert bool(one.why) == (verdict is None)
        assert (one.description is not None) == (verdict == YES)
        decided = decide("mine dirt", both, {"mine dirt": NO})
        assert (decided.verdict, decided.by_people, decided.why) == (NO, True, "")
        assert decided.published() == {
            "requires_domain_knowledge": "No",
            "domain_knowledge_description": None,
            "capabilities": {"perception": [], "reasoning": [], "action": ["move"]},
        }


def test_a_label_is_kept_that_more_than_half_of_the_samples_have():
    said = [Sample("a", NO, None, frozenset({"action.move", "action.jump"})), Sample("a", NO, None, frozenset({"action.move"}))]
    assert decide("mine dirt", [*said, Sample("a", NO, None, None, ("no JSON",))], {}).capabilities == ("action.move",)


@pytest.mark.parametrize("errors", [(0.05, 0.2), (0.3, 0.35)])
def test_precision_recall_and_consistency_are_those_of_models_with_a_known_error(errors):
    rng, golden = random.Random(11), knowledge.golden()
    flipped = {YES: NO, NO: YES}

    def replies(task: str, error: float) -> list[str]:
        return [f"{flipped[golden[task]] if rng.random() < error else golden[task]}." for _ in range(5)]

    verdicts = [
        decide(
            task,
            [
                Sample(f"m{number}", knowledge.read_verdict(text))
                for number, error in enumerate(errors)
                for text in replies(task, error)
            ],
            {},
        )
        for task in golden
    ]
    found = measure(verdicts, golden)
    count = Counter(golden.values())
    wrong = [binom.sf(2, 5, error) for error in errors]  # three or more of five
    right, both_wrong = math.prod(1 - one for one in wrong), math.prod(wrong)

    def bounds(number: int, chance: float) -> tuple[float, float]:
        return binom.ppf(CHANCE / 2, number, chance), binom.isf(CHANCE / 2, number, chance)

    for label, other, precision, recall in (
        (NO, YES, found.precision, found.recall),
        (YES, NO, found.dropped_precision, found.dropped_recall),
    ):
        low, high = bounds(count[label], right)
        assert low / count[label] <= recall.value <= high / count[label]
        wrong_low, wrong_high = bounds(count[other], both_wrong)
        assert low / (low + wrong_high) <= precision.value <= high / (high + wrong_low)
    for number, error in enumerate(errors):
        total = 5 * len(golden)
        low, high = bounds(total, 1 - error)
        assert low / total <= found.accuracy[f"m{number}"].value <= high / total
    # Of one task: the share of ten pairs that agree, by how many of five are wrong.
    agree = [[(math.comb(k, 2) + math.comb(5 - k, 2)) / 10 for k in range(6)] for _ in errors]
    means = [sum(binom.pmf(k, 5, error) * row[k] for k in range(6)) for error, row in zip(errors, agree, strict=True)]
    assert means == pytest.approx([error**2 + (1 - error) ** 2 for error in errors])
    spread = sum(
        sum(binom.pmf(k, 5, e) * row[k] ** 2 for k in range(6)) - m**2 for e, row, m in zip(errors, agree, means, strict=True)
    )
    for label, consistency in ((NO, found.consistency), (YES, found.dropped_consistency)):
        far = 5.0 * math.sqrt(spread / 4 / count[label])  # 5 standard errors: less than one in a million
        assert abs(consistency.value - sum(means) / 2) <= far
    waiting = 1 - right - both_wrong
    low, high = bounds(len(golden), waiting)
    assert low / len(golden) <= found.waiting.value <= high / len(golden)


# At work


def scripted(model: str, texts: list[str]) -> str:
    """`sure` says what is in the golden set; `odd` is wrong of bricks, and at first names a label that there is not."""
    task = next(line.removeprefix("The task: ") for line in texts[0].splitlines() if line.startswith("The task: "))
    label = knowledge.golden().get(task, NO)
    label = {YES: NO, NO: YES}[label] if (model, task) == ("odd", "mine bricks") else label
    if "Name what a player" in texts[0]:
        wrong = GOOD | {"reasoning": ["dynamic_reasoning"]}
        return json.dumps(wrong if model == "odd" and len(texts) == 1 else GOOD)
    if len(texts) == 1:
        return label
    return "None" if label == NO else "One must know it."


def run(folder, server, tasks: list[str], decisions=None) -> tuple[list[knowledge.Verdict], Chat]:
    with closing(Chat(folder / "filter.jsonl", num_at_once=8)) as chat:
        models = [model_named(name, At(server.address)) for name in ("sure", "odd")]
        return asyncio.run(filtering.judge(tasks, models, chat, decisions=decisions)), chat


@pytest.mark.processes
def test_a_filter_that_is_killed_at_any_moment_goes_on_and_no_label_is_lost(tmp_path):
    tasks = ["mine oak_log", "craft to piston", "mine bricks"]
    with ModelServer(scripted) as server:
        verdicts, chat = run(tmp_path, server, tasks)
        assert [one.verdict for one in verdicts] == [NO, YES, None]
        assert [one.capabilities for one in verdicts] == 3 * [
            ("perception.spatial_perception", "action.move", "action.collect")
        ]
        errors = [error for one in verdicts for sample in one.samples for error in sample.errors]
        assert len(errors) == 15, "an unknown label is asked again, and listed"
        assert {error.partition(";")[0] for error in errors} == {
            "capabilities: 'dynamic_reasoning' is not a label of reasoning"
        }
        num_calls = len(server.prompts)
        assert num_calls == 3 * 2 * 5 * 3 + 15 == sum(one.calls for one in chat.spent.values())
        whole = (tmp_path / "filter.jsonl").read_bytes()
        for part in (0.31, 0.77, 0.999):  # what a process leaves that is killed while it writes
            left = whole[: int(len(whole) * part)]
            (tmp_path / "filter.jsonl").write_bytes(left)
            before = len(server.prompts)
            assert run(tmp_path, server, tasks)[0] == verdicts
            assert len(server.prompts) - before == num_calls - left.count(b"\n"), "only what was not answered is asked"
        places = filtering.write(tmp_path / "out", verdicts)
        assert json.loads(places[filtering.ANALYSIS].read_text()) == {
            "mine oak_log": verdicts[0].published(),
            "craft to piston": verdicts[1].published(),
        }
        assert verdicts[1].description == "One must know it."
        queue = places[filtering.QUEUE]
        assert queue.read_text() == "mine bricks\t\tsure says No; odd says Yes\n"
        assert knowledge.read_decisions(queue) == {}, "nobody has decided yet"
        queue.write_text(queue.read_text().replace("\t\t", "\tno\t"))
        again, chat = run(tmp_path, server, tasks, knowledge.read_decisions(queue))
        assert (again[2].verdict, again[2].by_people) == (NO, True)
        assert sum(one.calls for one in chat.spent.values()) == 0
        assert knowledge.by_verb(again) == {
            "mine": {"kept": 2, "dropped": 0, "waiting": 0},
            "craft to": {"kept": 0, "dropped": 1, "waiting": 0},
        }


def test_a_model_that_does_not_answer_stops_the_filter_with_one_error_that_says_how_to_go_on(tmp_path):
    def reply(model: str, texts: list[str]) -> str | int:
        return 400 if model == "odd" else scripted(model, texts)

    with ModelServer(reply) as server, pytest.raises(CallError, match=r"odd did not answer: .*\n.*Run the same command again"):
        run(tmp_path, server, ["mine oak_log", "mine bricks"])


def test_one_model_or_few_samples_are_refused_and_so_is_a_queue_with_another_word(tmp_path):
    with closing(Chat(tmp_path / "filter.jsonl")) as chat:
        model = model_named("m", At("http://127.0.0.1:1/v1"))
        for models, number in (([model], 5), ([model, model], 5), ([model, model_named("n", At("http://127.0.0.1:1/v1"))], 4)):
            with pytest.raises(
                KnowledgeError,
                match=r"needs at least 2 models, each asked at least 5 times; got [12] models?, asked [45] times",
            ):
                asyncio.run(filtering.judge(["mine dirt"], models, chat, num_samples=number))
    (tmp_path / "queue.tsv").write_text("mine dirt\tmaybe\n")
    with pytest.raises(KnowledgeError, match=r"line 1: 'maybe' is neither Yes nor No\nRemedy"):
        knowledge.read_decisions(tmp_path / "queue.tsv")
    (tmp_path / "queue.tsv").write_text("mine dirt Yes\n")
    with pytest.raises(KnowledgeError, match=r"line 1: 'mine dirt Yes' has no tab\nRemedy"):
        knowledge.read_decisions(tmp_path / "queue.tsv")
    with pytest.raises(KnowledgeError, match="no such file\nGive the queue"):
        knowledge.read_decisions(tmp_path / "nothing_there.tsv")
    (tmp_path / "queue.tsv").write_text("Mine_dirt\tyes\n")
    assert knowledge.read_decisions(tmp_path / "queue.tsv") == {"mine dirt": YES}, "however the name is written"
