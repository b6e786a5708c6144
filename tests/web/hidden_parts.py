"""What players of an instance of `explore` must not be told: every text of it that is not in its goal."""

from interplay.explore import published


def hidden_parts(task: str) -> list[str]:
    """Commands, names and words of milestones and edges, of which none may be sent."""
    instance = published.instances()[task]
    milestones = [text for one in instance.milestones for text in (one.id, one.description)]
    rules = [rule.type for one in instance.milestones for rule in one.rules]
    parts = [*instance.commands, *milestones, *rules, *(edge.reason for edge in instance.edges)]
    parts += [instance.scene_name, instance.scene_description, "spawn_relative", "reasoning_graph"]
    return [part for part in parts if part and part not in instance.task_text]
