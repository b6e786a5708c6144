"""Make the fact tables of the embedded world from those of the `minecraft-data` project (MIT licence).

    pip download --no-deps --no-binary :all: minecraft-data==3.20.0 && tar xzf minecraft_data-3.20.0.tar.gz
    python packages/blockworld/tools/world_tables.py minecraft_data-3.20.0/minecraft_data/data/data/pc

Names, ids and numbers of Minecraft 1.16.2, each table one JSON document with a line for each entry. That package holds every
version of the game, a hundred megabytes; these tables are one, and small enough to ship.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "interplay" / "world" / "data"


def main(source: Path) -> None:
    """Write every table."""

    def read(version: str, name: str) -> Any:
        return json.loads((source / version / f"{name}.json").read_text())

    items = {item["id"]: item for item in read("1.16.2", "items")}
    shapes = read("1.16.1", "blockCollisionShapes")
    write("blocks", [_block(block, items, shapes["blocks"]) for block in read("1.16.2", "blocks")])
    write("shapes", [shapes["shapes"][str(index)] for index in range(len(shapes["shapes"]))])
    write("items", [_item(item) for item in items.values()])
    recipes = [_recipe(recipe, items) for alternatives in read("1.16.2", "recipes").values() for recipe in alternatives]
    write("recipes", recipes)
    foods = read("1.16.1", "foods")
    write("foods", [{"name": f["name"], "food": f["foodPoints"], "saturation": f["saturation"]} for f in foods])
    mobs = [entity for entity in read("1.16.2", "entities") if "category" in entity]
    write("entities", [{"name": e["name"], "width": e["width"], "height": e["height"], "kind": e["type"]} for e in mobs])
    loot = read("1.16.2", "entityLoot")
    write("entity_loot", [{"entity": e["entity"], "drops": [_drop(d) for d in e["drops"]]} for e in loot])


def write(name: str, entries: list[Any]) -> None:
    """One table: a list, an entry a line."""
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    (OUT / f"{name}.json").write_text(f"[\n{lines}\n]\n")


def _block(block: dict[str, Any], items: dict[int, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    properties = {state["name"]: _values(state) for state in block["states"]}
    shape = shapes[block["name"]]
    entry = {
        "name": block["name"],
        "state": block["minStateId"],
        "default": block["defaultState"] - block["minStateId"],
        "properties": properties,
        "hardness": block["hardness"] if block["diggable"] else None,
        "resistance": block["resistance"],
        "material": block.get("material"),
        "tools": sorted(items[int(item)]["name"] for item in block.get("harvestTools", {})),
        "shape": shape,
    }
    return {key: value for key, value in entry.items() if value not in ({}, [], 0) or key in ("state", "shape", "hardness")}


def _values(state: dict[str, Any]) -> list[str]:
    if state["type"] == "bool":
        return ["true", "false"]
    if "values" in state:
        return [str(value) for value in state["values"]]
    return [str(value) for value in range(state["num_values"])]


def _item(item: dict[str, Any]) -> dict[str, Any]:
    entry = {"name": item["name"], "stack": item["stackSize"]}
    if "maxDurability" in item:
        entry["durability"] = item["maxDurability"]
    return entry


def _recipe(recipe: dict[str, Any], items: dict[int, Any]) -> dict[str, Any]:
    def name(entry: Any) -> str | None:
        number = entry["id"] if isinstance(entry, dict) else entry
        return None if number is None or number < 0 else items[number]["name"]

    result = {"item": name(recipe["result"]["id"]), "count": recipe["result"]["count"]}
    if "inShape" in recipe:
        return result | {"shape": [[name(entry) for entry in row] for row in recipe["inShape"]]}
    return result | {"ingredients": sorted(str(name(entry)) for entry in recipe["ingredients"])}


def _drop(drop: dict[str, Any]) -> dict[str, Any]:
    low, high = drop["stackSizeRange"]
    entry = {"item": drop["item"], "low": low, "high": high}
    return entry | ({"by_player": drop["playerKill"]} if "playerKill" in drop else {})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
