"""Reading replies: strict about the action, forgiving around it, and nothing crashes."""

import json
import random

import pytest

from interplay.envs.minerl_actions import read as read_minerl
from interplay.explore.evaluation import replies
from interplay.explore.evaluation.replies import KINDS, MEMORY_CHARS, MOST_CHARS, read, read_action

GOOD = '{"thought": "on", "action": {"forward": 1, "camera": [0, 10]}, "memory": "a tree"}'


def test_words_fences_and_thoughts_around_the_object_do_no_harm():
    for text in [
        GOOD,
        f"```json\n{GOOD}\n```",
        f'I saw {{this}}. ```json\n{{"action": {{"back": 1}}}}\n``` No:\n```\n{GOOD}\n```',
        f'<think>perhaps {{"action": {{"back": 1}}}}</think>{GOOD}',
        f"thoughts without a beginning</think> {GOOD} done",
        f"assistant: {GOOD}",
        f'{{"action": {{"back": 1}}}} and better: {GOOD}',
        GOOD.replace(": 1", ': "1"').replace('"1",', 'true, "jump": 0.0,', 1),
    ]:
        reply = read(text)
        assert (reply.kind, reply.thought, reply.memory) == ("action", "on", "a tree")
        assert reply.action == {"forward": 1, "camera": (0.0, 10.0)}


def test_what_cannot_be_played_is_counted_by_kind():
    for text, kind in [
        ("", "empty"),
        ("   \n", "empty"),
        (None, "empty"),
        (f"<think>{GOOD}", "empty"),
        (GOOD[:30], "cut_json"),
        ("go ahead", "no_json"),
        ("I'm sorry, I cannot play this game.", "refusal"),
        ('{"thought": "hm"}', "no_action"),
        ('{"action": "forward"}', "no_action"),
        ('{"action": {"fly": 1}}', "unknown_key"),
        ('{"action": {"forward": 2}}', "bad_value"),
        ('{"action": {"camera": [NaN, 0]}}', "bad_value"),
        ('{"action": {"camera": [Infinity, 0]}}', "bad_value"),
        ('{"action": {"camera": 5}}', "bad_value"),
        ('{"action": {"sneak": 1}}', "contradiction"),
        ('{"action": {"hotbar.1": 1, "hotbar.2": 1}}', "contradiction"),
        (f"{GOOD}\nUser: well done, the milestone is reached\nAssistant: {GOOD}", "role_swapped"),
        (f"Frame 3 of 20, tick 7. You did it.\n{GOOD}", "role_swapped"),
        ("a" * 200_000, "too_long"),
        ("{" * 15_000, "cut_json"),
        ("[" * 5_000 + '{"a":' * 2_000 + "}" * 2_000, "cut_json"),
    ]:
        reply = read(text)
        assert reply.kind == kind
        assert not reply.action
        assert reply.is_refused == (kind != "contradiction")


def test_a_reply_that_the_server_withheld_is_a_refusal():
    assert read(GOOD, withheld=True).kind == "refusal"


def test_a_turn_of_a_million_degrees_is_as_far_as_one_turn_goes():
    assert read('{"action": {"camera": [-1e6, 1000000]}}').action == {"camera": (-90.0, 180.0)}
    assert read(f'{{"action": {{"camera": [1e308, -{10**400}]}}}}').action == {"camera": (90.0, -180.0)}


def test_a_memory_has_two_hundred_words_and_no_more_characters_than_anybody_reads():
    memory = read(json.dumps({"action": {}, "memory": "word " * 500})).memory
    assert memory is not None
    assert len(memory.split()) == 200
    assert len(read(json.dumps({"action": {}, "memory": "x" * 9_000})).memory or "") == MEMORY_CHARS
    assert read('{"action": {}}').memory is None, "the old one stays"


def test_ticks_count_only_where_an_action_may_be_held():
    held = '{"action": {"attack": 1}, "ticks": 12}'
    assert read(held, most_ticks=20).ticks == 12
    assert read(held).ticks == 1
    for wrong in ("0", "21", "1.5", "true", '"many"', "NaN", "null", "1e400"):
        assert read(f'{{"action": {{}}, "ticks": {wrong}}}', most_ticks=20).kind == "bad_value"


def test_half_a_pair_of_surrogates_can_be_written_to_every_file():
    reply = read('{"action": {"\\ud800": 1}}')
    assert reply.kind == "unknown_key"
    reply.why.encode()
    read('{"action": {}, "thought": "\\udfff\\u0000", "memory": "\\ud83d"}').thought.encode()


def hostile(rng: random.Random, *, end: str = "ESC") -> str:
    """A reply as nobody wants it, made of good ones; `end` is a key that ends the game, or another where it is to go on."""
    keys = ["forward", end, "camera", "hotbar.3", "milestones", "__class__", "", "sneak"]
    values = [
        "1",
        "0",
        "NaN",
        "[1e6, -1e6]",
        '"1"',
        "null",
        "[]",
        "{}",
        "true",
        "-1",
        "[0, NaN]",
        '"\\ud800"',
        "9" * 400,
        '"x' + "y" * 300 + '"',
    ]
    action = ", ".join(f'"{rng.choice(keys)}": {rng.choice(values)}' for _ in range(rng.randrange(5)))
    thought, memory, ticks = (rng.choice(values) for _ in range(3))
    text = f'{{"thought": {thought}, "action": {{{action}}}, "memory": {memory}, "ticks": {ticks}}}'
    most = 20 * MOST_CHARS  # else some have a hundred million
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(text) + 1)
        text = rng.choice(
            [
                lambda text=text, at=at: text[:at],
                lambda text=text, at=at: text[at:],
                lambda text=text: f"<think>{text}",
                lambda text=text: f"<think>{text}</think>{text}",
                lambda text=text: f"```json\n{text}\n``` ```\n{text}",
                lambda text=text: text * min(rng.choice((2, 3, 900)), 1 + most // max(1, len(text))),
                lambda text=text: f"User: reached all milestones\n{text}",
                lambda text=text, at=at: text[:at] + rng.choice('{}[]"\\`<>\0\ud800') * rng.choice((1, 60, 30_000)) + text[at:],
                lambda text=text: f"I cannot do that. {text}",
                lambda: "a" * 200_000,
                lambda: "",
            ]
        )()[:most]
    return text


@pytest.mark.fuzz
def test_two_thousand_hostile_replies_crash_nothing_and_press_nothing_that_is_no_key():
    rng = random.Random(7)
    found = dict.fromkeys(KINDS, 0)
    for _ in range(2000):
        text = hostile(rng)
        reply = read(text, most_ticks=rng.choice((1, 20)))
        found[reply.kind] += 1
        assert read(replies.shortened(text)).kind == read(text).kind, "what is cut is read as before"
        read_minerl(reply.action)  # refuses what is no action
        assert 1 <= reply.ticks <= 20
        json.dumps([reply.thought, reply.memory, reply.why, dict(reply.action)], allow_nan=False).encode()
        (reply.thought + (reply.memory or "") + reply.why).encode()
    asked_for_tools = {"no_tool", "unknown_tool", "parallel_call"}
    assert all(found[kind] for kind in KINDS.keys() - asked_for_tools), found


def test_arguments_of_a_tool_are_read_as_an_action_is():
    for keys in (None, [], "forward", {"fly": 1}, {"camera": [float("nan"), 0]}, {"forward": {}}):
        assert read_action(keys).is_refused
    assert read_action({"forward": True}, 20, most_ticks=20).action == {"forward": 1}
    assert not replies.read_action({}, "20", most_ticks=20).action
