"""Make t-SNE maps of plays: actions by channel (CrowdPlay's figure 3), and agents placed in people's maps (figures 6 and 8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.errors import install_line
from interplay.report.crowdplay.embedding import LEAST, MOST, PAPER, PLACING, Map, embed, nearness, place
from interplay.report.crowdplay.plays import Play, Quality
from interplay.report.plots import plot_map
from interplay.report.table import Column, Figure, Section, Table, number_columns, text_columns

_MOST_GROUPS = 10


class _Made(NamedTuple):
    """A finished map, with the facts for the table of parameters."""

    figure: Figure
    drawn: Map
    features: Sequence[str]
    num: int
    left_out: int


class _Near(NamedTuple):
    """How near an agent's plays are to people's plays in one map."""

    title: str
    agent: str
    num: int
    placed: float
    among: float


def maps_section(plays: Sequence[Play], quality: Quality, shares: dict[str, list[str]], *, seed: int) -> Section:
    """Make all maps, world by world; `shares`: world -> statistics that describe behaviour."""
    said = [
        "Each point is a play: what one owner did in one seat of one episode. Points that are near each other chose their "
        "actions in similar shares. Distances between far points, and the size of clusters, mean nothing in t-SNE.",
    ]
    made: list[_Made] = []
    near: list[_Near] = []
    missing: list[str] = []
    worlds: dict[str, list[Play]] = {}
    for play in plays:
        if play.actions:
            worlds.setdefault(play.held.env, []).append(play)
    for env, part in sorted(worlds.items()):
        found = _of_world(env, part, quality, shares.get(env, []), seed, near)
        made += found
        if not found:
            missing.append(f"{env} (n = {len(part)})")
    if missing:
        said.append(f"No map, because it needs {LEAST} plays or more: " + ", ".join(missing) + ".")
    if not worlds:
        said = ["There are no plays whose actions could be read, so there is no map."]
    blocks: list[Table | Figure] = [one.figure for one in made]
    if near:
        blocks.append(_nearness_table(near))
    if made:
        blocks.append(_parameters(made, seed))
    return Section("maps", "Maps of actions and behaviours", tuple(said), tuple(blocks))


def _of_world(
    env: str, plays: Sequence[Play], quality: Quality, shares: Sequence[str], seed: int, near: list[_Near]
) -> list[_Made]:
    people = [play for play in plays if play.is_person]
    agents = [play for play in plays if not play.is_person]
    good = [play for play in people if quality.is_good(play)]
    of_several = len(plays[0].task.seats) > 1
    name = re.sub("[^a-z0-9_]+", "-", env.lower())[:80]  # of a file, and in a page: recordings may come from anywhere
    title = " / ".join(sorted({play.task.title for play in plays}))
    made: list[_Made] = []

    def add(kind: str, what: str, drawn: Sequence[Play], group: Callable[[Play], str], by: str, **more: Any) -> None:
        one = _map(f"map-{name}-{kind}", f"{title}: {what}", drawn, group, by, seed=seed, **more)
        if one is not None:
            made.append(one)

    if of_several or len(people) < LEAST:
        add("actions", "actions of people and agents, in one map", plays, lambda play: _who(play, of_several), "who played")
        return made
    add("channel", "actions of people by channel", people, lambda play: play.channel, "channel")
    if 0 < len(good) < len(people):
        add("channel-good", "actions of people by channel, good plays only", good, lambda play: play.channel, "channel")
    known = [share for share in shares if any(share in play.held.statistics for play in people)]
    more = {"shares": known, "placed": agents, "near": near}
    if agents or len({play.behaviour for play in people}) > 1:
        add(
            "behaviour", "behaviours of people, and agents among them", people, lambda play: play.behaviour, "asked for", **more
        )
        if LEAST <= len(good) < len(people):
            add(
                "behaviour-good", "behaviours of people, good plays only, and agents among them", good,
                lambda play: play.behaviour, "asked for", **more,
            )  # fmt: skip
    return made


def _who(play: Play, of_several: bool) -> str:
    who = "people" if play.is_person else play.held.actor
    return f"{who}, {play.behaviour}" if of_several else who


def _map(
    id: str,
    title: str,
    plays: Sequence[Play],
    group: Callable[[Play], str],
    by: str,
    *,
    seed: int,
    shares: Sequence[str] = (),
    placed: Sequence[Play] = (),
    near: list[_Near] | None = None,
) -> _Made | None:
    fit = [play for play in plays if all(share in play.held.statistics for share in shares)]
    left_out = len(plays) - len(fit)
    if len(fit) < LEAST:
        return None
    if len(fit) > MOST:
        chosen = np.sort(np.random.default_rng(seed).choice(len(fit), MOST, replace=False))
        left_out += len(fit) - MOST
        fit = [fit[place] for place in chosen]
    names = list(dict.fromkeys(action for play in fit for action in play.actions))
    features = _features(fit, names, shares)
    drawn = embed(features, seed=seed)
    records = _records(fit, drawn.points, group, is_placed=False)
    note = ""
    new = [play for play in placed if all(share in play.held.statistics for share in shares)]
    if new:
        theirs = _features(new, names, shares)
        points = place(features, drawn, theirs, seed=seed)
        if points is None:
            remedy = install_line("maps")
            note = f" n = {len(new)} plays of agents are not placed, because the package openTSNE is missing: {remedy}."
        else:
            records += _records(new, points, lambda play: play.held.actor, is_placed=True)
            note = " Hollow: agents, placed by openTSNE beside the people who are most like them; see the table of distances."
            for agent in sorted({play.held.actor for play in new}):
                at = [place for place, play in enumerate(new) if play.held.actor == agent]
                about = nearness(features, theirs[at])
                if near is not None:
                    near.append(_Near(title, agent, len(at), about.placed, about.among))
    records = _few_groups(records)
    lost = f" {left_out} plays are left out: some of the statistics say nothing of them." if left_out and shares else ""
    lost = f" {left_out} plays are left out, drawn at random." if left_out and not shares else lost
    caption = (
        f"n = {len(fit)} plays. Features: {len(names)} shares of actions"
        + (f" and {', '.join(shares)}" if shares else "")
        + f". Colours: {by}.{note}{lost} Perplexity {drawn.parameters['perplexity']:.3g}"
        + (
            ""
            if drawn.parameters["perplexity"] == PAPER["perplexity"]
            else ", less than the paper's 30 because there are few plays"
        )
        + "; the other parameters are in the table below."
    )
    counts = Counter(row["group"] for row in records)
    alt = f"A map of {len(records)} plays: " + ", ".join(f"{name} {count}" for name, count in counts.most_common())
    figure = Figure(id, title, caption, records, plot_map, alt, height_in=4.2)
    return _Made(figure, drawn, [*names, *shares], len(fit), left_out)


def _features(plays: Sequence[Play], actions: Sequence[str], shares: Sequence[str]) -> np.ndarray:
    """Return the features of plays: float64, shape (number of plays, number of actions and shares)."""
    return np.nan_to_num(
        np.array(
            [
                [play.actions.get(name, 0.0) for name in actions] + [play.held.statistics[name] for name in shares]
                for play in plays
            ],
            np.float64,
        )
    )


def _records(
    plays: Sequence[Play], points: np.ndarray, group: Callable[[Play], str], *, is_placed: bool
) -> list[dict[str, Any]]:
    return [
        {
            "group": group(play),
            "placed": is_placed,
            "x": round(float(x), 3),
            "y": round(float(y), 3),
            "episode": play.held.episode if play.held.may_release else None,  # the table may leave the house
            "seat": play.held.seat,
        }
        for play, (x, y) in zip(plays, points, strict=True)
    ]


def _few_groups(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the smallest groups into "others" if there are more than ten groups, because there are ten colours."""
    common = [name for name, _ in Counter(row["group"] for row in records).most_common()]
    if len(common) <= _MOST_GROUPS:
        return records
    kept = set(common[: _MOST_GROUPS - 1])
    return [row if row["group"] in kept else row | {"group": "others"} for row in records]


def _nearness_table(near: Sequence[_Near]) -> Table:
    return Table(
        "map-distances",
        "How near agents are to people",
        (
            *text_columns("map", "agent"),
            Column("plays", "count"),
            *number_columns("agent to nearest person", "person to nearest person", digits=3),
        ),
        tuple(near),
        "Mean Euclidean distance in the space of the features. A map shows an agent beside the people most like it, however "
        "unlike they are: where the first number is much larger than the second, the agent does what no person did.",
    )


def _parameters(made: Sequence[_Made], seed: int) -> Table:
    names = ["perplexity", *(name for name in PAPER if name != "perplexity"), "random_state", "scikit-learn"]
    rows = []
    for name in names:
        values = list(dict.fromkeys(_text(one.drawn.parameters.get(name)) for one in made))
        rows.append((name, _text(PAPER.get(name, 0 if name == "random_state" else "1.0.1")), ", ".join(values)))
    rows[-2] = ("random_state", "not said", str(seed))
    rows += [(f"placing agents: {name}", "none", _text(value)) for name, value in PLACING.items()]
    return Table(
        "map-parameters",
        "Parameters of the maps (table 7)",
        (Column("parameter"), Column("the paper"), Column("here")),
        tuple(rows),
        "Of sklearn.manifold.TSNE, and of openTSNE where agents are placed. Features are not scaled. With fewer than 91 "
        "plays the perplexity is a third of them. One thread computes, so that the same plays and the same --seed give the "
        "same map.",
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "–" if value is None else str(value)
