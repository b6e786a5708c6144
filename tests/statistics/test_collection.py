"""The statistics of one game: owners, collectors that fail, going on after a crash, your own."""

import json
import logging

import numpy as np
import pytest

from interplay.errors import NotFoundError
from interplay.statistics import (
    Collection,
    Collector,
    Setting,
    Statistic,
    StatisticError,
    StatisticSpec,
    defaults,
    together,
    total,
)

SETTING = Setting("gym:Some-v0", ("left", "right"), 10.0, 0)
OWNERS = {"left": "ada", "right": "bob"}


class Jumps(Collector):
    """Counts one action."""

    statistic = Statistic("jumps", "Jumps", "int")

    def __init__(self, action: int = 5) -> None:
        self._action = action

    def see(self, step):
        for seat, action in step.actions.items():
            self.counts[seat]["count"] += action == self._action


class Failing(Jumps):
    """Fails at its third step."""

    statistic = Statistic("failing", "Failing")

    def see(self, step):
        if step.step == 3:
            raise ZeroDivisionError("a mistake of its author")


class Forgetful(Jumps):
    """Remembers what no file can hold."""

    def see(self, step):
        super().see(step)
        self.memory["seen"] = {1, 2}


class Endless(Jumps):
    """Its counts are no numbers of Python, or endless."""

    statistic = Statistic("endless", "Endless")
    count = float("inf")

    def see(self, step):
        self.counts["left"]["count"] = self.count


class Ram(Jumps):
    """Reads what this world does not offer."""

    statistic = Statistic("ram", "RAM")
    needs = ("ram",)


class Shown(Jumps):
    """Counts the steps that it is shown."""

    statistic = Statistic("shown", "Shown")
    needs = ("ram",)
    watches = ("ram", 1, 3)

    def see(self, step):
        self.counts["left"]["count"] += 1


class Unneeded(Shown):
    """Watches what it does not need."""

    statistic = Statistic("unneeded", "Unneeded")
    needs = ()


def nothing():
    """No collector."""
    return 7


def of(*names: str, **parameters) -> Collection:
    specs = [StatisticSpec(name if name in ("score", "action_changes") else f"{__name__}:{name}", parameters) for name in names]
    collection = Collection(specs, SETTING, OWNERS)
    collection.begin({}, {})
    return collection


def feed(collection: Collection, left, right, *, reward=1.0, owners=None, num=1) -> None:
    for _ in range(num):
        rewards = {"left": reward, "right": 0.0}
        collection.see({"left": left, "right": right}, rewards, rewards, {}, owners)


def held(collection: Collection, name: str) -> dict[tuple[str, str], float]:
    return {(one.seat, one.actor): one.value for one in collection.measures() if one.name == name}


def test_your_own_collector_is_named_by_module_and_factory():
    collection = of("Jumps", action=7)
    feed(collection, 7, 5)
    assert collection.values("left") == {"jumps": 1}
    assert collection.values("right") == {"jumps": 0}
    assert [one.title for one in collection.statistics] == ["Jumps"]


def test_a_collector_is_shown_steps_in_which_the_bytes_change_that_it_watches_or_a_seat_earns_something():
    memory = bytearray(4)
    collection = Collection([StatisticSpec(f"{__name__}:Shown", {})], SETTING, OWNERS)
    collection.begin({}, {"ram": lambda: bytes(memory)})
    counts = []
    for byte, reward in ((0, 0.0), (0, 0.0), (2, 0.0), (2, 0.0), (3, 0.0), (3, 5.0), (3, float("nan"))):
        memory[byte] += byte != 0 and reward == 0.0
        feed(collection, 5, 5, reward=reward)
        counts.append(collection.values("left")["shown"])
    assert counts == [1, 1, 2, 3, 3, 4, 5]  # byte 3 is not watched
    collection.restore(collection.state())
    feed(collection, 5, 5, reward=0.0)
    assert collection.values("left")["shown"] == 6, "who goes on knows nothing of the bytes before"


def test_what_each_owner_of_a_seat_did_is_kept_apart_and_the_seat_has_it_all():
    collection = of("Jumps", "score")
    feed(collection, 5, 5, num=3)
    assert collection.own("left") is None, "nobody else has held it"
    feed(collection, 5, 0, owners={"left": "robot"}, num=2)
    assert collection.own("left")[0] == {"jumps": 3, "score": 3.0}
    feed(collection, 5, 0, owners={"left": "ada"})
    assert collection.own("left")[0] == {"jumps": 4, "score": 4.0}
    assert collection.own("left")[1]["score.points"] == 4.0
    assert collection.own("right") is None
    assert held(collection, "jumps") == {("left", "ada"): 4, ("left", "robot"): 2, ("right", "bob"): 3}
    assert held(collection, "score") == {("left", "ada"): 4.0, ("left", "robot"): 2.0, ("right", "bob"): 0.0}
    assert collection.values("left") == {"jumps": 6, "score": 6.0}


def test_owners_that_change_in_the_callers_own_mapping_are_noticed():
    collection, owners = of("Jumps"), dict(OWNERS)
    feed(collection, 5, 0, owners=owners)
    owners["left"] = "robot"
    feed(collection, 5, 0, owners=owners)
    assert held(collection, "jumps")["left", "robot"] == 1


def test_a_collector_that_fails_is_left_out_and_the_others_go_on(caplog):
    collection = of("Failing", "Jumps")
    with caplog.at_level(logging.WARNING):
        feed(collection, 5, 5, num=5)
    assert collection.values("left") == {"jumps": 5}
    assert {one.name for one in collection.measures()} == {"jumps"}
    assert collection.left_out == {"failing": "ZeroDivisionError: a mistake of its author"}
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("statistic failing is left out of a game of gym:Some-v0 from step 3 on")


@pytest.mark.parametrize("count", [float("inf"), np.int64(1), np.float32(0.5), "1"])
def test_counts_that_are_no_finite_numbers_are_left_out(count, monkeypatch):
    monkeypatch.setattr(Endless, "count", count)
    collection = of("Endless", "Jumps")
    feed(collection, 5, 5)
    assert collection.values("left") == {"jumps": 1}
    assert "its counts must be finite numbers of Python" in collection.left_out["endless"]
    assert {one.name for one in collection.measures()} == {"jumps"}


def test_what_is_watched_must_be_needed_and_may_be_no_bytes():
    assert of("Unneeded", "Jumps").left_out == {
        "unneeded": "it watches 'ram', which is not among its needs\nRemedy: add it to `needs`."
    }
    for reading in (7, [1, 2, 3, 999], np.arange(4.0)):
        collection = Collection([StatisticSpec(f"{__name__}:Shown", {})], SETTING, OWNERS)
        collection.begin({}, {"ram": lambda reading=reading: reading})
        feed(collection, 5, 5, reward=0.0)
        assert collection.left_out == {}
        assert collection.values("left")["shown"] == 1


def test_what_a_world_does_not_offer_is_left_out():
    assert of("Ram").left_out == {"ram": "gym:Some-v0 does not offer ram, which this statistic needs"}


def test_a_game_goes_on_from_its_state_as_if_nothing_had_happened():
    whole, first = of("Jumps", "score", "action_changes"), of("Jumps", "score", "action_changes")
    for collection in (whole, first):
        feed(collection, 5, 0, reward=0.1, num=3)
        feed(collection, 5, 1, reward=0.1, owners={"left": "robot"}, num=4)
    second = of("Jumps", "score", "action_changes")
    second.restore(first.state())
    assert second.num_steps == 7
    for collection in (whole, second):
        feed(collection, 4, 1, reward=0.1, owners={"left": "robot"}, num=2)
        feed(collection, 4, 1, reward=0.1, num=2)
    assert second.measures() == whole.measures()
    assert json.loads(second.state()) == json.loads(whole.state())


def test_a_collector_left_out_before_a_crash_stays_out_after_it():
    first, second = of("Failing", "Jumps"), of("Failing", "Jumps")
    feed(first, 5, 5, num=4)
    second.restore(first.state())
    feed(second, 5, 5)
    assert second.values("left") == {"jumps": 5}


def test_what_no_file_can_hold_is_said_once(caplog):
    collection = of("Forgetful")
    feed(collection, 5, 5)
    assert collection.state() is collection.state() is None
    assert len([record for record in caplog.records if "cannot be kept" in record.getMessage()]) == 1


def test_what_cannot_be_built_says_why():
    for name, error, text in [
        ("aliens_hitt", NotFoundError, "unknown statistic 'aliens_hitt'; did you mean 'aliens_hit'"),
        ("no_such_module:Jumps", StatisticError, "cannot be imported: ModuleNotFoundError"),
        (f"{__name__}:Jups", StatisticError, "cannot be imported: AttributeError"),
        (f"{__name__}:SETTING", StatisticError, "must be a class or function, got Setting"),
        (f"{__name__}:nothing", StatisticError, "made int; expected an interplay.statistics.Collector"),
    ]:
        with pytest.raises(error, match=text):
            StatisticSpec(name).build()


def test_a_parameter_that_does_not_exist_is_refused_with_the_nearest():
    with pytest.raises(NotFoundError, match="'action_timeout'; did you mean 'action_timeout_s'"):
        StatisticSpec("active_time", {"action_timeout": 20}).build()


def test_a_task_changes_a_default_in_its_place():
    own = StatisticSpec("active_time", {"action_timeout_s": 20})
    specs = together(defaults("ale:breakout"), [own, StatisticSpec("path_length")])
    assert [spec.name for spec in specs] == [*(spec.name for spec in defaults("ale:breakout")), "path_length"]
    assert own in specs


def test_what_cannot_be_built_does_not_keep_a_game_from_being_played(caplog):
    collection = Collection([StatisticSpec("no_such_module:x"), StatisticSpec("score")], SETTING, OWNERS)
    collection.begin({}, {})
    feed(collection, 0, 0)
    assert collection.values("left") == {"score": 1.0}
    assert "no_such_module:x" in collection.left_out


def test_a_sitting_adds_up_counts_and_not_shares():
    shots = StatisticSpec("accuracy").build()
    assert shots.value(total([{"hits": 1, "shots": 1}, {"hits": 1, "shots": 9}])) == 0.2
