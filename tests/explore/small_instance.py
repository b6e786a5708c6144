"""A small instance that has nothing wrong."""

from typing import Any

FIRST_LOG: dict[str, Any] = {
    "schema": 1,
    "name": "first_log",
    "selected_tasks": ["mine oak_log"],
    "reasoning_graph": {"nodes": ["mine oak_log"], "edges": []},
    "milestones": [
        {
            "task": "mine oak_log",
            "milestone_id": "mine_oak_log",
            "description": "A log in the inventory: the player begins with none.",
            "rules": [{"type": "inventory_has", "params": {"item": "oak_log", "min_count": 1}}],
        }
    ],
    "scene_name": "one_trunk",
    "scene_description": "A trunk of three logs on open ground, four steps ahead.",
    "task_text": "Get a log of oak.",
    "atomic_tasks_ordered": ["mine oak_log"],
    "commands": ["/fill ~0 ~0 ~4 ~0 ~2 ~4 minecraft:oak_log"],
}
