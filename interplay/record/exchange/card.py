"""Write the card of a data set: a README that says what it holds, who may use it and how people's consent was applied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interplay.record.exchange.rows import Description
from interplay.wording import amount


@dataclass(frozen=True)
class Release:
    """Facts of a release that its card states.

    Attributes:
        license: Name of the licence on the Hugging Face Hub, such as `cc-by-4.0`; `unknown` if none is given.
        num_withheld: Number of requested episodes that were left out because a person in them did not agree.
        query: The saved query that the data set was made from, `name@version`, and its hash; or empty.
    """

    license: str = "unknown"
    num_withheld: int = 0
    query: str = ""


def write_card(
    folder: Path,
    description: Description,
    release: Release,
    files: Mapping[str, str],
    *,
    num_episodes: int,
    num_steps: int,
    tags: Sequence[str] = (),
    columns: str = "",
) -> None:
    """Write `README.md`. `files` maps configurations to patterns of files, the default first; `columns` is Markdown text."""
    task = description.task
    quoted = json.dumps(f"{task.title} ({task.id})")  # YAML reads JSON's texts
    front = ["---", f"license: {json.dumps(release.license)}", f"pretty_name: {quoted}", "task_categories:"]
    front += ["- reinforcement-learning", "tags:", *(f"- {tag}" for tag in ("interplay", *tags))]
    front += ["configs:"]
    for name, pattern in files.items():
        front += [f"- config_name: {name}", "  data_files:", "  - split: train", f"    path: {pattern}"]
        front += ["  default: true"] if name == next(iter(files)) and len(files) > 1 else []
    front += ["---"]
    lines = [
        f"# {task.title}",
        "",
        f"Episodes of the task `{task.id}`, recorded with Interplay: "
        f"{amount(num_episodes, 'episode')}, {amount(num_steps, 'step')}.",
        "",
        task.goal,
        "",
        "## What is in it",
        "",
        "| what | value |",
        "| --- | --- |",
        f"| environment | `{task.env.id}` |",
        f"| version of the task | `{task.content_hash}` |",
        f"| seats | {', '.join(description.action_spaces)} |",
        f"| steps a second | {task.frame_rate_hz:g} |",
        f"| pictures | {description.pictures}, {description.height} x {description.width} |",
        *([f"| saved query | {release.query} |"] if release.query else []),
        "",
        *([columns, ""] if columns else []),
        "## People",
        "",
        "Every episode passed one check: each person in it agreed to a release, in the study they played in, or by the rule "
        "that the operator set for open play. Names of people are pseudonyms, made with a secret key: the same person has the "
        "same one in every data set of the same server, and nobody without the key can go back.",
        "",
        f"Episodes that were asked for and left out, because somebody in them did not agree: {release.num_withheld:,}."
        if release.num_withheld
        else "No episode that was asked for was left out for want of consent.",
        "",
        f"## License\n\n{release.license}",
    ]
    (folder / "README.md").write_text("\n".join([*front, "", *lines]) + "\n", encoding="utf-8")
