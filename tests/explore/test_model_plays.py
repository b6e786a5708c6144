"""Models that are lists of replies play: macros leave only keys, bare keys do the same tasks, hostile replies get no credit."""

import asyncio
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput
from test_model_replies import hostile
from test_oracle import has, instance_of

import interplay.record
from blockworld import Action, World, run
from interplay.agents.scripted.blocks import as_keys
from interplay.explore import facts
from interplay.explore.evaluation import macros, playing
from interplay.explore.evaluation.game import Game
from interplay.explore.evaluation.macros import ARGUMENTS, MACROS
from interplay.explore.evaluation.playing import Player
from interplay.explore.evaluation.replies import KINDS
from interplay.explore.evaluation.settings import Settings, instructions
from interplay.explore.instance import Instance
from interplay.explore.oracle.proving import prove
from interplay.record import verify
from interplay.tasks import Task

Call = tuple[str, dict[str, Any]]
DOWN = [0.5, 0.9]
"""A place of the picture: the ground some steps ahead."""
TRUNK = "/fill ~0 ~0 ~4 ~0 ~2 ~4 oak_log"
FARMER = (
    "/summon villager ~ ~ ~4 {NoAI:1b,VillagerData:{profession:farmer,level:2},"
    'Offers:{Recipes:[{buy:{id:"minecraft:wheat",Count:2b},sell:{id:"minecraft:emerald",Count:1b},maxUses:9}]}}'
)
TASKS: dict[str, tuple[Instance, list[Call]]] = {
    "crafting": (
        instance_of([TRUNK], has("oak_planks"), has("crafting_table"), has("wooden_pickaxe")),
        [
            ("mine", {"target": "oak_log", "count": 3}),
            ("craft", {"item": "oak_planks", "count": 12}),
            ("craft", {"item": "crafting_table"}),
            ("craft", {"item": "stick", "count": 4}),
            ("place", {"item": "crafting_table", "at": DOWN}),
            ("craft", {"item": "wooden_pickaxe"}),
        ],
    ),
    "furnace": (
        instance_of(["/setblock ~ ~ ~4 furnace", "/give @s chicken 2", "/give @s coal"], has("cooked_chicken")),
        [("smelt", {"item": "chicken", "fuel": "coal"})],
    ),
    "trade": (
        instance_of([FARMER, "/give @s wheat 4"], has("emerald", 2)),
        [("trade", {"item": "emerald", "give": "wheat", "count": 2})],
    ),
    "chest": (
        instance_of(['/setblock ~ ~ ~4 chest{Items:[{Slot:0b,id:"minecraft:diamond",Count:2b}]}'], has("diamond", 2)),
        [("take_from_chest", {"item": "diamond", "count": 2}), ("put_into_chest", {"item": "diamond"})],
    ),
}


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    """Nobody looks at the pictures here, and large ones take most of the time. And patience has no end."""
    monkeypatch.setattr(playing, "MOST_REFUSED", 10_000)
    task = Instance.task

    def small(self: Instance) -> Task:
        whole = task(self)
        return replace(whole, env=replace(whole.env, options={**whole.env.options, "size": (32, 18)}))

    monkeypatch.setattr(Instance, "task", small)


class Scripted:
    """Calls of a model that is a list of replies; then it ends the game."""

    def __init__(self, replies: Iterable[ModelOutput], end: ModelOutput) -> None:
        self.replies, self.end = iter(replies), end
        self.answers: list[str] = []

    async def ask(self, messages: list[ChatMessage], tools: Any = ()) -> ModelOutput:
        if messages and isinstance(messages[-1], ChatMessageTool):
            self.answers.append(messages[-1].text)
        return next(self.replies, self.end)


def called(name: str, arguments: dict[str, Any]) -> ModelOutput:
    return ModelOutput.for_tool_call("scripted", name, arguments, tool_call_id=f"{name}{next(NUMBERS)}")


NUMBERS = itertools.count()
END = ("act", {"keys": {"ESC": 1}})


def play(tmp_path, made: Instance, settings: Settings, replies: Iterable[ModelOutput], end: ModelOutput) -> dict[str, Any]:
    """Play a run, and say what came of it; every action that was recorded is one of the action space."""
    messages: list[ChatMessage] = []
    calls = Scripted(replies, end)
    with closing(interplay.record.open(tmp_path)) as archive:
        game = Game(
            archive,
            made,
            player="scripted",
            max_steps=settings.max_steps,
            episode_id=f"20260301T000000-{next(NUMBERS):08x}",
            created_at=datetime(2026, 3, 1, tzinfo=UTC),
        )
        space, step, played = game.env.action_space, game.env.step, []

        def watched(action: dict[str, Any]) -> Any:
            played.append(action)
            assert space.contains(action), action
            return step(action)

        game.env.step = watched  # type: ignore[method-assign]
        player = Player(game, calls, settings, instructions(made, settings), messages)  # type: ignore[arg-type]
        asyncio.run(player.play())
        game.finish(str(game.outcome))
        game.seal()
        (episode,) = archive.episodes()
        assert verify(episode).equal
        assert len(played) == episode.num_steps == game.num_steps
        return {
            "reached": game.reached,
            "answers": calls.answers,
            "replies": dict(player.notes.replies),
            "whys": player.notes.whys,
            "ticks": game.num_steps,
        }


@pytest.mark.parametrize("name", TASKS)
def test_macros_solve_a_task_and_leave_only_keys(name, tmp_path):
    made, calls = TASKS[name]
    came = play(tmp_path, made, Settings("assisted"), (called(*one) for one in calls), called(*END))
    assert set(came["reached"]) == {one.id for one in made.milestones}, came["answers"]
    assert all(said.startswith("Done. It took ") for said in came["answers"][: len(calls)]), came["answers"]
    assert came["replies"] == {"action": len(calls) + 1}


def test_the_same_calls_come_to_the_same_so_a_run_that_was_killed_goes_on(tmp_path):
    made, calls = TASKS["chest"]
    runs = [
        play(tmp_path / name, made, Settings("assisted"), (called(*one) for one in calls), called(*END)) for name in ("a", "b")
    ]
    assert runs[0] == runs[1]


def held(actions: Iterable[Action]) -> Iterator[dict[str, Any]]:
    """Actions of the oracle as replies: equal ones after another are one that is held.

    Where a click needs sneak a direction goes with it, which does nothing while a screen is open.
    """
    keys: list[dict[str, Any]] = []
    for action in actions:
        pressed = {name: int(bit) for name, bit in as_keys(action).items() if name != "camera" and bit}
        if pressed.get("sneak"):
            pressed["forward"] = 1
        turn = [float(degrees) for degrees in as_keys(action)["camera"]]
        keys.append(pressed | ({"camera": turn} if any(turn) else {}))
    for one, same in itertools.groupby(keys):
        times = len(list(same))
        most = 1 if "camera" in one else 20
        while times:
            yield {"keys": one, "ticks": min(most, times)}
            times -= min(most, times)


@pytest.mark.long_proof
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("protocol", ["tools", "hold"])
def test_bare_keys_solve_the_same_task(protocol, name, tmp_path):
    made, _ = TASKS[name]
    verdict = prove(made)
    assert verdict.solved
    replies = list(held(verdict.actions))
    if protocol == "tools":
        outputs = [called("act", one) for one in replies]
    else:
        outputs = [
            ModelOutput.from_content("scripted", json.dumps({"action": one["keys"], "ticks": one["ticks"]})) for one in replies
        ]
    came = play(tmp_path, made, Settings(protocol), outputs, outputs[-1])
    assert came["reached"] == {one.milestone: one.tick for one in verdict.milestones}
    assert came["replies"] == {"action": len(replies)}


def carried_out(world: World, name: str, most: int = 400, **arguments: Any) -> str:
    """Carry out a macro in a world; why it was not done."""
    doing = macros.doing(world, name, macros.read(name, arguments), seed=0)
    for _ in range(most):
        try:
            world.step(next(doing))
        except StopIteration as done:
            return done.value
    return "stopped"


def scene(*commands: str) -> World:
    world = World(0, "flat")
    world.time = 6000
    for line in ("/gamerule doMobSpawning false", "/kill @e[type=!player]", *commands):
        run(world, line)
    return facts.ready(world)


def test_what_the_picture_does_not_show_is_not_used():
    behind = scene("/setblock ~ ~ ~-4 oak_log", "/setblock ~ ~1 ~-5 chest", "/summon sheep ~2 ~ ~-5 {NoAI:1b}")
    walled = scene("/fill ~-9 ~ ~3 ~9 ~5 ~3 stone", "/setblock ~ ~ ~5 oak_log", "/summon sheep ~2 ~ ~6 {NoAI:1b}")
    for world in (behind, walled):
        for name in ("look_at", "walk_to", "mine"):
            assert carried_out(world, name, target="oak_log") == "no oak_log is in sight"
        assert carried_out(world, "attack", target="sheep") == "no sheep is in sight"
        assert carried_out(world, "take_from_chest", item="dirt") == "0 of 1 were taken"
        assert carried_out(world, "trade", item="emerald") == "no villager is in sight"
        assert carried_out(world, "place", item="dirt") == "you carry none"
        assert world.player.counts.get("mined", {}) == {}
    # no way is dug: the log is seen through the window, and stays
    window = scene("/fill ~-9 ~ ~3 ~9 ~5 ~3 bedrock", "/setblock ~ ~1 ~3 glass", "/setblock ~ ~1 ~9 oak_log")
    assert carried_out(window, "mine", target="oak_log") == "it could not be reached or broken"
    assert "glass" not in window.player.counts.get("mined", {})


def test_macros_for_places_and_mobs_do_what_they_say():
    world = scene(
        "/setblock ~6 ~ ~9 gold_block",
        "/summon sheep ~-3 ~ ~7 {NoAI:1b}",
        '/summon item ~1 ~ ~5 {Item:{id:"minecraft:apple",Count:3b}}',
        "/give @s dirt 3",
        "/give @s iron_sword",
    )
    me = world.player
    assert carried_out(world, "look_at", target="sheep") == ""
    assert facts.seen_at(world, (0.5, 0.5)).name == "sheep"  # type: ignore[union-attr]
    me.yaw, me.pitch = 0.0, 0.0
    assert carried_out(world, "walk_to", target="gold_block") == ""
    assert max(abs(me.x - 134.5), abs(me.z - 137.5)) < 1.6
    assert carried_out(world, "place", item="dirt") == "", "against the gold it looks at"
    assert me.counts["placed"] == {"dirt": 1}
    me.yaw, me.pitch = 110.0, 5.0
    assert carried_out(world, "attack", target="sheep") == ""
    assert me.counts["killed"] == {"sheep": 1}
    me.yaw, me.pitch = 180.0, 20.0
    assert carried_out(world, "pick_up", item="apple") == ""
    assert me.counts["picked_up"]["apple"] == 3
    at = (me.x, me.z)
    me.yaw, me.pitch = 0.0, 0.0
    assert carried_out(world, "walk_to", at=[0.5, 0.75]) == ""
    assert me.z - at[1] > 2
    assert abs(me.x - at[0]) < 1.5


def test_arguments_that_mean_nothing_are_refused():
    for name, arguments, said in [
        ("mine", {}, "needs either target or at"),
        ("mine", {"target": "oak_log", "at": [0.5, 0.5]}, "needs either target or at"),
        ("mine", {"target": "oak_lgo"}, "did you mean 'oak_log'"),
        ("mine", {"target": "\ud800" * 300}, "unknown block or mob"),
        ("mine", {"target": ["oak_log"]}, "must be a name"),
        ("mine", {"target": "oak_log", "count": 0}, "from 1 to 64"),
        ("mine", {"target": "oak_log", "count": True}, "from 1 to 64"),
        ("mine", {"target": "oak_log", "count": 10**400}, "from 1 to 64"),
        ("mine", {"target": "oak_log", "count": float("nan")}, "from 1 to 64"),
        ("mine", {"target": "oak_log", "x": 128}, "takes target, at, count, and not 'x'"),
        ("walk_to", {"at": [0.5, float("nan")]}, "two numbers from 0 to 1"),
        ("walk_to", {"at": [128, 64]}, "two numbers from 0 to 1"),
        ("walk_to", {"at": "here"}, "two numbers from 0 to 1"),
        ("smelt", {"item": "chicken"}, "needs fuel"),
        ("smelt", {"item": "chicken", "fuel": "coal", "count": 5}, "from 1 to 4"),
        ("craft", {"item": "sheep"}, "unknown item"),
    ]:
        with pytest.raises(macros.BadValueError, match=said.replace("(", r"\(")) as refused:
            macros.read(name, arguments)
        str(refused.value).encode()


def test_a_macro_stops_at_its_end_at_the_budget_and_at_death_and_bad_calls_are_counted(tmp_path):
    wall = instance_of([TRUNK], has("oak_log", 3))
    calls = [
        ("mine", {"target": "oak_lgo"}),
        ("mine", {"at": [7, 7]}),
        ("fly", {}),
        ("mine", {"target": "oak_log", "count": 3}),
    ]
    came = play(tmp_path / "budget", wall, Settings("assisted", 60), (called(*one) for one in calls), called(*END))
    assert came["ticks"] == 60, "the budget"
    assert came["replies"] == {"bad_value": 2, "unknown_tool": 1, "action": 1}
    assert "oak_lgo" in came["whys"].pop(0)
    assert came["whys"] == {1: "at is a place in the picture: two numbers from 0 to 1, [across, down]"}
    assert came["reached"] == {}

    smelting = instance_of(["/setblock ~ ~ ~4 furnace", "/give @s chicken 4", "/give @s coal"], has("cooked_chicken", 4))
    settings = Settings("assisted")
    object.__setattr__(settings, "macro_ticks", 90)
    calls = [("smelt", {"item": "chicken", "fuel": "coal", "count": 4})]
    came = play(tmp_path / "ticks", smelting, settings, (called(*one) for one in calls), called(*END))
    assert came["answers"][0].startswith("Not done: it was stopped after 90 ticks. It took 90 ticks.")

    lava = ["/fill ~-1 ~ ~-1 ~1 ~ ~1 lava", "/setblock ~ ~1 ~2 furnace", "/give @s chicken 4", "/give @s coal"]
    came = play(tmp_path / "death", instance_of(lava, has("diamond")), Settings("assisted"), [called(*calls[0])], called(*END))
    assert came["answers"] == [], "nobody is asked after death"
    assert came["ticks"] < 400


ITEMS = [
    "oak_log",
    "oak_planks",
    "stick",
    "crafting_table",
    "furnace",
    "coal",
    "chicken",
    "diamond",
    "emerald",
    "torch",
    "wheat",
]
TARGETS = ["oak_log", "grass_block", "chest", "furnace", "sheep", "villager", "zombie", "water", "glass", "torch", "bedrock"]


def test_no_call_of_a_macro_crashes_whatever_is_there():
    rng = random.Random(5)
    world = scene(
        TRUNK,
        FARMER.replace("~ ~ ~4", "~3 ~ ~6"),
        "/setblock ~-2 ~ ~3 chest",
        "/setblock ~-4 ~ ~3 furnace",
        "/setblock ~2 ~ ~3 crafting_table",
        "/fill ~-6 ~-1 ~6 ~-4 ~-1 ~8 water",
        "/summon sheep ~5 ~ ~5",
        "/summon zombie ~7 ~ ~9 {PersistenceRequired:1b}",
        *(f"/give @s {item} 5" for item in ITEMS),
    )
    done: dict[str, int] = dict.fromkeys(MACROS, 0)
    for number in range(77):
        name = list(MACROS)[number % len(MACROS)]
        takes = MACROS[name].takes
        names = {"target": TARGETS, "item": ITEMS, "fuel": ["coal", "stick", "diamond"], "give": ITEMS}
        arguments = {key: rng.choice(values) for key, values in names.items() if key in takes}
        if "at" in takes and rng.random() < 0.5:
            arguments = {key: value for key, value in arguments.items() if key != "target"}
            arguments["at"] = [rng.random(), rng.random()]
        if "count" in takes:
            arguments["count"] = rng.randrange(1, 5)
        why = carried_out(world, name, 60, **arguments)
        done[name] += why == ""
        world.player.health = 20.0
        if number % 3 == 0:
            world.player.yaw = rng.uniform(-60, 60)
    assert sum(map(bool, done.values())) >= 6, done


@pytest.mark.fuzz
def test_two_thousand_hostile_replies_get_no_credit_and_are_counted_by_kind(tmp_path):
    rng = random.Random(13)
    replies = (ModelOutput.from_content("scripted", hostile(rng, end="drop")) for _ in range(2000))
    end = ModelOutput.from_content("scripted", '{"action": {"ESC": 1}}')
    came = play(tmp_path, instance_of([TRUNK], has("oak_log")), Settings("paper"), replies, end)
    assert came["reached"] == {}
    assert sum(came["replies"].values()) == 2001
    assert came["replies"].keys() == KINDS.keys() - {"no_tool", "unknown_tool", "parallel_call"}


def test_a_conversation_sends_the_last_twenty_pictures_and_says_what_was_wrong_with_a_call(tmp_path, monkeypatch):
    pictures, said = [], []
    ask = Scripted.ask

    async def counted(self: Scripted, messages: list[ChatMessage], tools: Any = ()) -> ModelOutput:
        pictures.append(sum(part.type == "image" for one in messages if isinstance(one.content, list) for part in one.content))
        said.extend(one.text for one in messages[-2:] if isinstance(one, ChatMessageTool))
        return await ask(self, messages, tools)

    monkeypatch.setattr(Scripted, "ask", counted)
    cut = called("act", {})
    cut.message.tool_calls[0].parse_error = 'Error parsing: {"keys": {"forw'  # type: ignore[index]
    twice = called("look", {})
    twice.message.tool_calls *= 2  # type: ignore[operator]
    replies = [cut, twice, *(called("look", {}) for _ in range(24))]
    came = play(tmp_path, instance_of([TRUNK], has("oak_log")), Settings("tools"), replies, called(*END))
    assert (max(pictures), pictures[-1]) == (20, 20)
    assert came["replies"] == {"cut_json": 1, "action": 26, "parallel_call": 1}
    assert any("not whole JSON" in one and '{"keys": {"forw' in one for one in said)
    assert any("only the first was used" in one for one in said)


@pytest.mark.fuzz
def test_hostile_calls_of_tools_get_no_credit_and_are_counted_by_kind(tmp_path):
    rng = random.Random(17)
    values = [None, True, -1, 10**400, float("nan"), [1e6, -1e6], [0.5], {}, "", "oak_log\ud800", "x" * 200_000, "diamond", 3]
    names = ["act", "look", "inventory", *MACROS, "fly", "", "__class__", "give\ud800"]
    keys = [*ARGUMENTS, "keys", "ticks", "milestones", ""]
    calls = [
        called(rng.choice(names), {rng.choice(keys): rng.choice(values) for _ in range(rng.randrange(4))}) for _ in range(300)
    ]
    came = play(tmp_path, instance_of([TRUNK], has("oak_log")), Settings("assisted"), calls, called(*END))
    assert came["reached"] == {}
    assert sum(came["replies"].values()) == 301
    assert came["replies"].keys() <= {"action", "bad_value", "no_action", "unknown_tool"}
    assert min(came["replies"].values()) > 10
