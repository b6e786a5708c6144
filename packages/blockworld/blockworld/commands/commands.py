"""Commands of Minecraft 1.16 for building scenes, such as `/setblock ~1 ~ ~2 minecraft:oak_log[axis=x]`.

A command is read and checked completely before anything happens, so that an error leaves the world unchanged. `~` counts from
the player's place (`execute` changes that). The slash and `minecraft:` are optional.

Commands: clear, data merge block, difficulty, effect, execute (as, at, positioned, run), experience (xp), fill, gamemode,
gamerule, give, kill, replaceitem, setblock, setworldspawn, spawnpoint, summon, teleport (tp), time, weather.

Differences from the game:

* The world is finite: places outside it are refused, even if only a part of a fill lies outside.
* A fill may have 2,000,000 blocks; with `destroy`, which drops items, 32,768. Neighbours react afterwards.
* A command that finds or changes nothing is not an error; its result text says so.
* There is only one player, so that `spawnpoint` and `setworldspawn` have the same effect.

>>> from blockworld.world import World
>>> world = World(seed=1, kind="flat", inhabited=False)
>>> run(world, "/setblock ~1 ~ ~2 minecraft:oak_log[axis=x]")
'set 129 64 130 to oak_log[axis=x]'
>>> run(world, "/setblock ~1 ~ ~2 oak_plank")
Traceback (most recent call last):
    ...
blockworld.commands.arguments.CommandError: column 19 of `/setblock ~1 ~ ~2 oak_plank`: unknown block 'oak_plank'; did you mean 'oak_planks'?
"""  # noqa: E501

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from blockworld.commands import block_commands, entity_commands
from blockworld.commands.arguments import MAX_LENGTH, PLAYER, CommandError, Reader, Source
from blockworld.commands.block_commands import Deed, Prepared
from blockworld.commands.selectors import Selector, position_of, selector
from blockworld.errors import WorldError, unknown_name
from blockworld.state import DAY_TICKS
from blockworld.world_state import WorldState

__all__ = ["COMMANDS", "RULES", "CommandError", "Result", "rule_value", "run", "run_all"]

TIMES: Mapping[str, int] = {"day": 1000, "noon": 6000, "night": 13000, "midnight": 18000}
_UNITS = {"t": 1.0, "s": 20.0, "d": float(DAY_TICKS)}
WEATHERS = ("clear", "rain", "thunder")
DIFFICULTIES = ("peaceful", "easy", "normal", "hard")
MAX_SOURCES = 1024
"""Largest number of sources for which one `execute` may run."""
MAX_TICK_SPEED = 4096
_EXECUTE = re.compile(r"/?(?:minecraft:)?execute(?=\s|$)")

RULES: Mapping[str, str] = {
    "announceAdvancements": "true",
    "commandBlockOutput": "true",
    "disableElytraMovementCheck": "false",
    "disableRaids": "false",
    "doDaylightCycle": "true",
    "doEntityDrops": "true",
    "doFireTick": "true",
    "doImmediateRespawn": "false",
    "doInsomnia": "true",
    "doLimitedCrafting": "false",
    "doMobLoot": "true",
    "doMobSpawning": "true",
    "doPatrolSpawning": "true",
    "doTileDrops": "true",
    "doTraderSpawning": "true",
    "doWeatherCycle": "true",
    "drowningDamage": "true",
    "fallDamage": "true",
    "fireDamage": "true",
    "forgiveDeadPlayers": "true",
    "keepInventory": "false",
    "logAdminCommands": "true",
    "maxCommandChainLength": "65536",
    "maxEntityCramming": "24",
    "mobGriefing": "true",
    "naturalRegeneration": "true",
    "randomTickSpeed": "3",
    "reducedDebugInfo": "false",
    "sendCommandFeedback": "true",
    "showDeathMessages": "true",
    "spawnRadius": "10",
    "spectatorsGenerateChunks": "true",
    "universalAnger": "false",
}
"""Game rules of Minecraft 1.16, with their default values."""
ACTING_RULES = frozenset(
    {"doDaylightCycle", "doFireTick", "doMobLoot", "doMobSpawning", "doTileDrops", "keepInventory", "mobGriefing"}
    | {"naturalRegeneration", "randomTickSpeed"}
)
"""Game rules that have an effect in this world; the result text for other rules says that they have none."""

_OTHERS = frozenset(
    (
        *("advancement", "attribute", "ban", "ban-ip", "banlist", "bossbar", "clone", "datapack", "debug"),
        *("defaultgamemode", "deop", "enchant", "forceload", "function", "help", "kick", "list", "locate"),
        *("locatebiome", "loot", "me", "msg", "op", "pardon", "pardon-ip", "particle", "playsound", "publish"),
        *("recipe", "reload", "save-all", "save-off", "save-on", "say", "schedule", "scoreboard", "seed"),
        *("setidletimeout", "spectate", "spreadplayers", "stop", "stopsound", "tag", "team", "teammsg", "tell"),
        *("tellraw", "title", "tm", "trigger", "w", "whitelist", "worldborder"),
    )
)
"""Commands of Minecraft 1.16 that do not exist in this world."""


@dataclass(frozen=True)
class Result:
    """Outcome of one command.

    Attributes:
        line: Line number of the command, counted from 1.
        text: The command's effect in words, or the error.
    """

    line: int
    command: str
    text: str
    error: CommandError | None = None

    @property
    def worked(self) -> bool:
        return self.error is None


def run(world: WorldState, text: str) -> str:
    """Run one command as the player; return its effect as a line of text. CommandError, without changes, if it fails."""
    if not isinstance(text, str):
        raise CommandError(str(text)[:200], 1, f"a command is text, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise CommandError(text, MAX_LENGTH + 1, f"a command has at most {MAX_LENGTH} characters, got {len(text)}")
    half = next((at for at, letter in enumerate(text, 1) if "\ud800" <= letter <= "\udfff"), None)
    if half is not None:
        raise CommandError(text.encode("utf-8", "replace").decode(), half, "half a character (a lone surrogate)")
    read = Reader(text)
    prepared = _command(read)
    me = world.player
    chance = world.rng.bit_generator.state
    try:
        deed = prepared(world, Source(PLAYER, me.x, me.y, me.z, me.yaw, me.pitch))
    except WorldError:
        world.rng.bit_generator.state = chance  # @r may have drawn
        raise
    return deed()


def run_all(world: WorldState, lines: Iterable[str]) -> list[Result]:
    """Run commands in order, continuing after errors. Empty lines and lines that begin with # are skipped."""
    results = []
    for number, line in enumerate(lines, 1):
        text = line.strip() if isinstance(line, str) else line
        if isinstance(text, str) and (not text or text.startswith("#")):
            continue
        try:
            results.append(Result(number, text, run(world, text)))
        except CommandError as error:
            results.append(Result(number, str(text), str(error), error))
    return results


def _command(read: Reader) -> Prepared:
    read.skip_spaces()
    if read.peek() == "/":
        read.at += 1
    column = read.column
    name = read.word("a command").removeprefix("minecraft:")
    if name in COMMANDS:
        return COMMANDS[name](read)
    if name in _OTHERS:
        raise read.error(f"this world has no command {name!r}; it has {', '.join(sorted(COMMANDS))}", column)
    raise read.unknown("command", name, COMMANDS, column)


# execute


def _execute(read: Reader) -> Prepared:
    """Read `execute as|at|positioned ... run <command>`."""
    steps: list[Callable[[WorldState, Source], list[Source]]] = []
    column = read.column
    while True:
        read.space("as, at, positioned or run")
        word = read.choice("part of execute", ("as", "at", "positioned", "run"))
        if word == "run":
            read.space("a command")
            again = _EXECUTE.match(read.text, read.at)
            if again is None:
                break
            read.at = again.end()  # not one within the other: they may be many
        else:
            steps.append(_step(read, word))
    inner = _command(read)

    def prepare(world: WorldState, source: Source) -> Deed:
        sources = [source]
        for step in steps:
            sources = [new for one in sources for new in step(world, one)]
            if len(sources) > MAX_SOURCES:
                raise read.error(f"this would run more than {MAX_SOURCES} times; use limit", column)
        deeds = [inner(world, one) for one in sources]

        def do() -> str:
            texts = [deed() for deed in deeds]
            if not texts:
                return "nobody was found"
            return texts[0] if len(texts) == 1 else f"{len(texts)} times: {texts[0]}; ...; {texts[-1]}"

        return do

    return prepare


def _step(read: Reader, word: str) -> Callable[[WorldState, Source], list[Source]]:
    """Read one part of `execute`, after its `word`; return a function from a source to new sources."""
    read.space("whom" if word != "positioned" else "a place, or as")
    if word == "positioned" and read.peek() in "~^-+.0123456789":
        place = read.place()

        def positioned(world: WorldState, source: Source) -> list[Source]:
            x, y, z = place.point(source)
            return [dataclasses.replace(source, x=x, y=y, z=z)]

        return positioned
    if word == "positioned":
        column = read.column
        if read.word("a place, or as") != "as":
            raise read.error("expected a place, or as", column)
        read.space("whom")
    who = selector(read)

    def moved(world: WorldState, source: Source) -> list[Source]:
        found = who.find(world, source)
        if word == "as":
            return [dataclasses.replace(source, entity=one) for one in found]
        return [new for one in found if (new := _standing_at(world, source, one, turned=word == "at")) is not None]

    return moved


def _standing_at(world: WorldState, source: Source, one: int, *, turned: bool) -> Source | None:
    place = position_of(world, one)
    if place is None:
        return None
    here = dataclasses.replace(source, x=place[0], y=place[1], z=place[2])
    if not turned:
        return here
    if one == PLAYER:
        return dataclasses.replace(here, yaw=world.player.yaw, pitch=world.player.pitch)
    there = world.entities[world.row_of(one)]
    return dataclasses.replace(here, yaw=float(there["yaw"]), pitch=float(there["pitch"]))


# The world's settings


def _for_world(do: Callable[[WorldState], str]) -> Prepared:
    return lambda world, source: lambda: do(world)


def _time(read: Reader) -> Prepared:
    """Read `time set|add|query ...`."""
    read.space("set, add or query")
    what = read.choice("word", ("set", "add", "query"))
    read.space("a time")
    if what == "query":
        asked = read.choice("time", ("daytime", "gametime", "day"))
        read.end()
        if asked == "daytime":
            return _for_world(lambda world: f"daytime is {world.time}")
        return _for_world(lambda world: f"{asked} is {world.ticks // (DAY_TICKS if asked == 'day' else 1)}")
    if what == "set" and read.peek().isalpha():
        ticks = TIMES[read.choice("time", tuple(TIMES))]
    else:
        value = read.number("a time", 0, 1e9)
        unit = "t"
        if read.peek() and not read.peek().isspace():
            unit = read.choice("unit of time", tuple(_UNITS))
        ticks = round(value * _UNITS[unit])
    read.end()

    def do(world: WorldState) -> str:
        world.time = ((world.time if what == "add" else 0) + ticks) % DAY_TICKS
        return f"it is {world.time} of {DAY_TICKS}"

    return _for_world(do)


def _weather(read: Reader) -> Prepared:
    """Read `weather <kind> [seconds]`; the weather stays until it is changed."""
    read.space(f"a weather: {', '.join(WEATHERS)}")
    kind = read.choice("weather", WEATHERS)
    if not read.done:
        read.space("seconds")
        read.integer("seconds", 0, 1_000_000)
    read.end()

    def do(world: WorldState) -> str:
        world.weather = kind
        return f"the weather is {kind} until it is changed"

    return _for_world(do)


def _difficulty(read: Reader) -> Prepared:
    """Read `difficulty [level]`."""
    level = None
    if not read.done:
        read.space("a difficulty")
        level = read.choice("difficulty", DIFFICULTIES)
    read.end()

    def do(world: WorldState) -> str:
        world.difficulty = level or world.difficulty
        return f"the difficulty is {world.difficulty}"

    return _for_world(do)


def _is_switch(rule: str) -> bool:
    return RULES[rule] in ("true", "false")


def _most(rule: str) -> int:
    return MAX_TICK_SPEED if rule == "randomTickSpeed" else 2**31 - 1


def rule_value(rule: str, value: object) -> str:
    """Return a game rule's value as stored; UnknownNameError for an unknown rule, WorldError for an invalid value."""
    if rule not in RULES:
        raise unknown_name("game rule", rule, RULES)
    text = str(value).lower()
    if _is_switch(rule):
        if text not in ("true", "false"):
            raise WorldError(f"the game rule {rule} is true or false, got {value!r}")
    elif not text.isdecimal() or not text.isascii() or len(text) > 10 or int(text) > _most(rule):
        raise WorldError(f"the game rule {rule} is a whole number from 0 to {_most(rule)}, got {value!r}")
    return text


def _gamerule(read: Reader) -> Prepared:
    """Read `gamerule <rule> [value]`."""
    read.space("a game rule")
    rule = read.choice("game rule", tuple(RULES))
    value: str | None = None
    if not read.done:
        read.space("a value")
        if _is_switch(rule):
            value = "true" if read.flag(rule) else "false"
        else:
            value = str(read.integer(rule, 0, _most(rule)))
    read.end()

    def do(world: WorldState) -> str:
        if value is None:
            return f"{rule} is {world.rules.get(rule, RULES[rule])}"
        world.rules[rule] = value
        return f"{rule} is {value}" + ("" if rule in ACTING_RULES else "; nothing in this world reacts to it")

    return _for_world(do)


def _spawn(read: Reader, who: Selector | None) -> Prepared:
    """Read the rest of `setworldspawn [place] [angle]` or `spawnpoint [player] [place] [angle]`."""
    place = None
    if not read.done:
        read.space("a place: three numbers, such as ~ ~1 ~")
        place = read.place()
        if not read.done:
            read.space("an angle")
            read.angle("an angle", 360)
    read.end()

    def prepare(world: WorldState, source: Source) -> Deed:
        found = who is None or bool(who.find(world, source))
        here = int(source.x // 1), int(source.y // 1), int(source.z // 1)
        spawn = here if place is None else place.cell(world, source)

        def do() -> str:
            if not found:
                return "nobody was found"
            world.spawn = spawn
            world.player.bed = None
            return f"the player comes back at {spawn[0]} {spawn[1]} {spawn[2]}"

        return do

    return prepare


def _spawnpoint(read: Reader) -> Prepared:
    if read.done:
        return _spawn(read, None)
    read.space("who: @s, @p or @a")
    return _spawn(read, selector(read, players=True))


def _replaceitem(read: Reader) -> Prepared:
    """Read `replaceitem block|entity ...`."""
    read.space("block or entity")
    if read.choice("word", ("block", "entity")) == "block":
        return block_commands.replaceitem_block(read)
    return entity_commands.replaceitem_entity(read)


COMMANDS: Mapping[str, Callable[[Reader], Prepared]] = {
    "clear": entity_commands.clear,
    "data": block_commands.data,
    "difficulty": _difficulty,
    "effect": entity_commands.effect,
    "execute": _execute,
    "experience": entity_commands.experience,
    "fill": block_commands.fill,
    "gamemode": entity_commands.gamemode,
    "gamerule": _gamerule,
    "give": entity_commands.give,
    "kill": entity_commands.kill,
    "replaceitem": _replaceitem,
    "setblock": block_commands.setblock,
    "setworldspawn": lambda read: _spawn(read, None),
    "spawnpoint": _spawnpoint,
    "summon": entity_commands.summon,
    "teleport": entity_commands.teleport,
    "time": _time,
    "tp": entity_commands.teleport,
    "weather": _weather,
    "xp": entity_commands.experience,
}
"""Name of a command -> function that reads the rest of the command."""
