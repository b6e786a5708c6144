"""Instances without a model: chains in which no hop can be left out, scenes that hold, and those of the package."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from blockworld import Action
from blockworld.registry import ITEM, ITEMS
from interplay.cli import main
from interplay.explore import checking, published
from interplay.explore.checking import REASON_WORDS
from interplay.explore.instance import load
from interplay.explore.make import chains, planner
from interplay.explore.make.chains import LAST, OPENED, PlanError, Way, draw, leads_past, times
from interplay.explore.make.sandbox import build_instance
from interplay.explore.oracle.hops import EdgeVerdict, Hops, leaked
from interplay.explore.oracle.proving import ReplayError, packed, prove, replayed, unpacked

PIG = Way("hunt", "porkchop", what="pig")
COOK = Way("smelt", "cooked_porkchop", needs="porkchop", what="furnace")
SELL = Way("sell", "emerald", needs="cooked_porkchop", what="butcher")
BUY = Way("buy", "saddle", needs="emerald", what="leatherworker")
WALL = Way("break", OPENED, needs="diamond_pickaxe", what="obsidian")
INSIDE = Way("open", "emerald", needs=OPENED, what="barrel")


@pytest.fixture(scope="module")
def planned() -> dict:
    """Those that come with the package."""
    return {name: published.instances()[name] for name in published.names("planner")}


def test_ways_are_those_of_the_tables_of_the_world():
    ways = set(chains.ways())
    assert Way("smelt", "iron_ingot", needs="iron_ore", what="furnace") in ways
    assert Way("mine", "iron_ore", needs="stone_pickaxe", what="iron_ore") in ways, "with the weakest tool that will do"
    assert Way("mine", "clay_ball", 4, what="clay") in ways
    assert Way("craft", "oak_door", 3, "oak_planks", 6, (), "crafting_table") not in ways, "too many pieces to get one by one"
    assert Way("craft", "lantern", 1, "torch", 1, (("iron_nugget", 8),), "crafting_table") in ways
    assert Way("sell", "emerald", needs="leather", what="leatherworker") in ways
    assert not [way for way in ways if way.verb == "mine" and way.needs is None and way.gives == "cobblestone"]


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_chain_has_its_hops_and_no_way_past_one_and_a_seed_gives_the_same(hops):
    for seed in range(6):
        chain = draw(hops, np.random.default_rng(seed))
        assert chain == draw(hops, np.random.default_rng(seed))
        assert len({way.gives for way in chain}) == hops
        assert all(then.needs == first.gives for first, then in pairwise(chain))
        assert not any(leads_past(chain, place) for place in range(hops - 1))
        assert all(often >= 1 for often in times(chain))


def test_a_way_round_a_hop_is_found_in_the_tables():
    assert not any(leads_past([PIG, COOK, SELL, BUY], place) for place in range(3))
    other = Way("collect", "emerald", what="barrel")
    assert leads_past([PIG, COOK, other, BUY], 1), "an emerald lies there"
    log = Way("mine", "oak_log", what="oak_log")
    planks = Way("craft", "oak_planks", 4, "oak_log")
    assert not leads_past([log, planks], 0)
    more = replace(planks, given=(("birch_log", 1),))
    assert leads_past([log, planks, Way("craft", "stick", 4, "oak_planks", 2, more.given)], 1), "sticks of other planks"
    assert not leads_past([WALL, INSIDE, BUY], 0)
    soft = replace(WALL, what="bricks")
    assert not leads_past([WALL, INSIDE], 0)
    assert leads_past([Way("collect", "diamond_pickaxe", what="barrel"), soft], 0), "bricks give way to a bare hand"


def test_a_chain_that_the_tables_do_not_give_is_an_error():
    with pytest.raises(PlanError, match=r"no chain of 30 hops was found.*\nTry fewer hops"):
        draw(30, np.random.default_rng(0), "buy")


def lying(instance) -> set[str]:
    """Items that lie on the land when a game begins."""
    things = build_instance(instance).world.entities
    return {ITEMS[one["item"]].name for one in things[things["kind"] == ITEM]}


def test_a_scene_has_no_finding_names_no_task_and_gives_what_is_needed():
    for hops in (1, 2):
        for seed, last in enumerate(dict.fromkeys(LAST[min(hops, 2)])):
            rng = np.random.default_rng([hops, seed])
            made = planner.instance_of(draw(hops, rng, last), "made", rng)
            assert made.num_hops == hops == len(made.edges) + 1
            assert checking.check(made).findings == (), made.nodes
            assert not lying(made), "the animals of the land left something, which could give what a chain must"
            assert leaked(made)[0] == () or hops > 1


def test_what_does_not_hold_is_not_let_through(planned):
    made = planned["explore/p001"]
    good = Hops((), made.num_hops, (), {}, {}, (), None)
    assert planner.holds(made, good)
    changes = [{"depth": made.num_hops - 1}, {"reached_at_start": ("a",)}, {"reached_by_noop": {"a": 1}}]
    for change in [*changes, {"reached_by_random": {"a": 1}}, {"named": ("a",)}]:
        assert not planner.holds(made, replace(good, **change))


# The set of the package


def test_the_set_of_the_package_has_its_hops_and_all_are_proved(planned):
    assert Counter(one.num_hops for one in planned.values()) == {1: 25, 2: 25, 3: 25, 4: 25}
    assert len({tuple(sorted(one.nodes)) for one in planned.values()}) == 100, "no two have the same tasks"
    for one in planned.values():
        (proof,) = one.proofs
        assert (proof["content_hash"], proof["task_hash"]) == (one.content_hash, one.task().content_hash), one.name
        assert set(proof["milestones"]) == {milestone.id for milestone in one.milestones}
        assert 0 < max(proof["milestones"].values()) == proof["ticks"] < one.step_budget
        edges = tuple(EdgeVerdict(edge["first"], edge["then"], edge["verdict"]) for edge in proof["hops"]["edges"])
        found = {key: value for key, value in proof["hops"].items() if key != "leaks"}
        assert planner.holds(one, Hops(**found | {"edges": edges})), one.name
        assert all(edge.enforced for edge in edges)
        assert (leaked(one)[0], proof["hops"]["leaks"]) == ((), False)
        assert all(len(edge.reason.split()) in REASON_WORDS for edge in one.edges)


def test_the_set_has_walls_locked_tools_trades_and_smelting(planned):
    verbs = Counter(one.nodes[-1].split()[0] for one in planned.values())
    assert {"craft", "trade", "smelt", "mine", "collect"} <= verbs.keys()
    walls = [one for one in planned.values() if any("bedrock" in command for command in one.commands)]
    assert len(walls) >= 5
    tools = [one for one in planned.values() if any("pickaxe" in edge.reason for edge in one.edges)]
    assert len(tools) >= 20


def test_nothing_that_lies_on_the_land_leads_past_a_hop_of_the_set(planned):
    """Some scenes of the set keep what the animals of the land leave: by the tables it gives no thing of their chains."""
    kept = [one for one in planned.values() if one.commands[:2] != planner.CLEAR]
    left = lying(kept[0]) if kept else set()
    for one in kept:
        chain = chain_of(one)
        assert len(chain) == one.num_hops, one.name
        carried = chains.carried_at_start(chain) | dict.fromkeys(left, 9)
        for first, then in pairwise(chain):
            assert then.gives not in chains.had(chain, carried, frozenset({first.gives})), one.name


def chain_of(instance) -> list[Way]:
    """The ways of an instance's tasks, each of which needs the one before."""

    def after(chain: list[Way]) -> list[Way]:
        if len(chain) == instance.num_hops:
            return chain
        task = instance.nodes[len(chain)]
        able = [way for way in chains.ways() if way.task == task and (not chain or way.needs == chain[-1].gives)]
        return next((found for way in able if (found := after([*chain, way]))), [])

    return after([])


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_proof_is_played_again_and_the_oracle_finds_one_again(planned, hops):
    of_hops = [one for one in planned.values() if one.num_hops == hops]
    short = min(of_hops, key=lambda one: one.proofs[0]["ticks"])
    proof = short.proofs[0]
    actions = unpacked(proof["actions"])
    assert replayed(short, actions) == proof["milestones"]
    assert replayed(short, actions[: proof["ticks"] - 1]) != proof["milestones"]
    verdict = prove(short)
    assert {one.milestone: one.tick for one in verdict.milestones} == proof["milestones"]


def test_actions_are_packed_without_loss_and_what_is_none_is_refused():
    actions = [Action(), Action(), Action(forward=True, camera_yaw=float(np.float32(0.1))), Action(hotbar=3)]
    assert unpacked(packed(actions)) == actions
    for text in ("", "nonsense!", packed([])[:-3], packed(actions)[::-1]):
        with pytest.raises(ReplayError, match=r"cannot be read.*\nProve the instance again"):
            unpacked(text)


def test_a_folder_with_other_instances_is_not_taken_for_what_was_asked_for(planned, tmp_path, capsys):
    hops = planned["explore/p001"].num_hops
    planner.write(tmp_path / "p001.json", planned["explore/p001"])
    arguments = ["explore", "make", "--mode", "planner", "--count", "1", "--seed", "3", "--out", str(tmp_path), "--hops"]
    for asked, code, told in ((hops % 4 + 1, 1, f"with {hops} hops"), (hops, 0, "1 of them were there already")):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, str(asked)])
        said = capsys.readouterr()
        assert (stop.value.code or 0) == code
        assert told in " ".join((said.err if code else said.out).split())
    assert load(tmp_path / "p001.json") == planned["explore/p001"]


@pytest.mark.journey("instances that are made")
def test_the_command_makes_an_instance_that_plays_and_goes_on_where_it_was_stopped(tmp_path, capsys):
    arguments = ["explore", "make", "--mode", "planner", "--hops", "1", "--count", "1", "--seed", "3", "--out", str(tmp_path)]
    for written in (1, 0):
        with pytest.raises(SystemExit) as stop:
            main([*arguments, "--json"])
        said = json.loads(capsys.readouterr().out)
        assert (stop.value.code or 0, said["made"], len(said["written"])) == (0, 1, written)
    (file,) = tmp_path.glob("*.json")
    assert load(file).num_hops == 1
