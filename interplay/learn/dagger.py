"""Train in rounds: the learner plays and an expert says what to do. "DAgger" (Ross, Gordon & Bagnell 2011, "A reduction of
imitation learning and structured prediction to no-regret online learning", algorithm 3.1).

A clone learns only from states that its demonstrator reached. Its own mistakes lead it to other states, about which it knows
nothing. So in each round the newest policy plays, the expert labels the states that it reaches, and a policy is trained on the
labels of all rounds. In round 1 the expert plays alone (behaviour cloning). In round n the expert makes a share of the
decisions itself, `expert_share ** (n - 1)`: beta_n in the paper. With share 0, the schedule is 1, then 0.

With an agent as expert, labels are part of the episodes: the learner owns the steps, and `Episode.labels()` has the actions
that the expert would have taken. With people as experts, the learner shares a wheel with a person; the person's actions after
taking over are the labels ("HG-DAgger", Kelly et al. 2019, without its measure of risk).

Differences from the paper: each policy is trained from fresh weights. The paper returns the best policy; here no policy
is called the best, because agents are compared on held-out seeds. A decision of the learner may last several steps; its
label is the action that the expert would have taken for most of these steps, as for demonstrations.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.agents.description import read_description
from interplay.agents.policy import action_space_of, is_policy_folder
from interplay.agents.rollout import Asked
from interplay.envs import pipeline
from interplay.files import write_bytes, write_json
from interplay.learn.config import CHECKPOINT, ConfigError
from interplay.learn.reading import owners_of, starts_of, stream_of
from interplay.learn.settings import DaggerConfig
from interplay.learn.train import check_seat, check_torch, claimed, model_folder, train
from interplay.learn.transitions import Owner, TransitionError, require_discrete
from interplay.record import Archive, Episode
from interplay.tasks import Task, find

_LOOK_EVERY_S = 2.0
_WORLDS = 6
"""Part of the seed of the generators that draw the worlds' seeds and the players' random choices."""

Report = Callable[[str, int, int], None]
"""Called with the name of the present work, the amount done, and the total amount."""


class Game(NamedTuple):
    """An episode of a round: `num_labels` decisions have a label of the expert; in `num_own` steps the learner acted and the
    expert was asked; in `num_matched` of these steps both chose the same action."""

    episode: str
    seed: int
    num_labels: int
    num_own: int
    num_matched: int
    total_reward: float


@dataclass(frozen=True)
class Round:
    """One round: `player` is the expert in round 1, later the agent of the previous round; `agent` is trained at its end."""

    number: int
    agent: str
    player: str
    share: float
    games: tuple[Game, ...] = ()
    is_complete: bool = False

    @property
    def num_labels(self) -> int:
        return sum(game.num_labels for game in self.games)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"games": [game._asdict() for game in self.games]}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Round:
        rest = {name: value for name, value in document.items() if name != "games"}
        return cls(games=tuple(Game(**game) for game in document["games"]), **rest)


def dagger(
    archive: Archive,
    config: DaggerConfig,
    name: str,
    *,
    report: Report = lambda what, done, total: None,
    say: Callable[[str], None] = lambda text: None,
    pause: Callable[[], None] = lambda: time.sleep(_LOOK_EVERY_S),
) -> list[dict[str, Any]]:
    """Learn in rounds; afterwards the policy of round n is an agent called `name.n`.

    The same call continues a stopped run; on one CPU the weights are then equal bit for bit. A call with more rounds adds the
    missing rounds. `models/<name>/` has `config.json`, `rounds.json` (the games of each round) and `metrics.jsonl`, with one
    line for each round; these lines are returned.

    Args:
        say: Is called with instructions to people, if people are the expert.
        pause: Waits a moment before the run looks again for new games of people.
    Raises:
        ConfigError: If the name cannot be used, another process works on the run, or the run was begun with other settings.
        AgentError: If the expert cannot play the task, or cannot be asked for labels.
        TransitionError: If people have not played yet and the run does not wait for them.
        MissingTorchError: If PyTorch is missing; the text has the command that installs it.
    """
    folder = model_folder(archive, name)
    model_folder(archive, f"{name}.{config.rounds}")  # refuses what would be too long
    if is_policy_folder(folder):
        raise ConfigError(f"there is a policy {name!r} in {folder} already\nChoose another name, or delete that folder first.")
    task = find(config.task)
    check_seat(config, task)
    require_discrete(action_space_of(task, config.seat), task, config.algorithm)
    expert = None if config.by_person else find_agent(config.expert, archive).name
    check_torch()
    with claimed(folder, name, resume=True):
        rounds, lines = _begun(folder, config, name), []
        for number in range(1, config.rounds + 1):
            if number > len(rounds):
                player = (expert or config.expert) if number == 1 else rounds[-1].agent
                rounds.append(Round(number, f"{name}.{number}", player, config.expert_share ** (number - 1)))
            now = number - 1
            if not rounds[now].is_complete:
                played = (
                    _learner_plays(archive, task, config, rounds[now], report)
                    if expert is not None
                    else _people_play(archive, task, config, rounds[now], report, say, pause)
                )
                for rounds[now] in played:
                    write_json(folder / "rounds.json", [one.to_json() for one in rounds], indent=1)
            _train(archive, config, name, expert, rounds[:number], report)
            lines = _log(archive, folder, rounds[:number])
        return lines


def _begun(folder: Path, config: DaggerConfig, name: str) -> list[Round]:
    """Return the rounds of a run so far; write its settings, or compare them with the stored ones."""
    rounds: list[Round] = []
    if (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run of another algorithm that was stopped\nChoose another name.")
    written = DaggerConfig.read(folder / "config.json") if (folder / "config.json").exists() else config
    if (folder / "rounds.json").exists():  # until something was played, settings may change
        before, now = written.fixed(), config.fixed()
        if different := [setting for setting in now if before.get(setting) != now[setting]]:
            setting = different[0]
            raise ConfigError(
                f"the run {name!r} in {folder} was begun with {setting} {before.get(setting)!r}, "
                f"and now it is {now[setting]!r}\n"
                f"Continue with the old settings:  interplay learn dagger --out {name} --data {folder.parent.parent} --resume\n"
                "Or choose another name."
            )
        try:
            rounds = [Round.from_json(one) for one in json.loads((folder / "rounds.json").read_text(encoding="utf-8"))]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{folder / 'rounds.json'} is damaged: {type(error).__name__}: {error}\n"
                "Put it back from a copy, or choose another name; the games and the agents of its rounds are kept."
            ) from None
        if len(rounds) > config.rounds:
            raise ConfigError(
                f"the run {name!r} in {folder} is in round {len(rounds)}, but rounds is {config.rounds} now; "
                "the agents of its rounds are kept\n"
                f"Ask for {len(rounds)} rounds or more, or choose another name."
            )
    write_json(folder / "config.json", config.to_json(), indent=2)
    return rounds


# Who plays


def _learner_plays(archive: Archive, task: Task, config: DaggerConfig, one: Round, report: Report) -> Iterator[Round]:
    """Let the learner play a round while an agent gives a label at every step; yield the round after each game."""
    skip = pipeline(config.observation).frame_skip
    seat = config.seat or task.seats[0]
    what = f"round {one.number}: {one.player} plays"
    agents: dict[str, Any] = {each: find_agent(config.expert, archive) for each in task.seats}
    if one.number > 1:
        agents[seat] = Asked(find_agent(one.player, archive), agents[seat], one.share)
    while one.num_labels < config.labels:
        report(what, one.num_labels, config.labels)
        number = len(one.games)
        rng = np.random.default_rng((config.seed, _WORLDS, one.number, number))
        seed = task.draw_seed(rng)
        episode = rollout(archive, task, agents, seed, rng=rng, max_steps=(config.labels - one.num_labels) * skip)
        one = replace(one, games=(*one.games, game_of(episode, seat, one.player, len(starts_of(episode.ended(seat)[0], skip)))))
        one = replace(one, is_complete=one.num_labels >= config.labels)
        yield one
    report(what, config.labels, config.labels)


def _people_play(
    archive: Archive,
    task: Task,
    config: DaggerConfig,
    one: Round,
    report: Report,
    say: Callable[[str], None],
    pause: Callable[[], None],
) -> Iterator[Round]:
    """Wait until people have played enough of a round; then yield the round with their games."""
    skip = pipeline(config.observation).frame_skip
    seat = config.seat or task.seats[0]
    what = f"round {one.number}: people play"
    advice = f"Open {config.url}/play/{task.id}"
    if one.number == 1:
        advice += " and play"
    else:
        advice += f"?wheel={one.player} and take the wheel from {one.player} wherever it goes wrong"
    known: dict[str, Game] = {}
    is_told = False
    while True:
        for episode in _people_in(archive, task, config, one):
            if episode.id not in known:
                known[episode.id] = game_of(episode, seat, one.player, _decisions_of_people(episode, seat, config.actor, skip))
        played = replace(one, games=tuple(game for game in known.values() if game.num_labels))
        report(what, min(played.num_labels, config.labels), config.labels)
        if played.num_labels >= config.labels or (not config.wait and played.num_labels):
            yield replace(played, is_complete=True)
            return
        if not config.wait:
            raise TransitionError(
                f"no person has played in round {one.number} of {task.id} yet\n{advice}; then run this again.\n"
                f"The server:  interplay serve --data {archive.root}"
            )
        if not is_told:
            say(f"Round {one.number} of {config.rounds}. {advice}, until there are {config.labels} decisions.")
            is_told = True
        pause()


def _people_in(archive: Archive, task: Task, config: DaggerConfig, one: Round) -> list[Episode]:
    """People's games of a round, oldest first, without held-out seeds. In round 1, no agent may have acted in the seat.
    In later rounds, the round's player must have acted in the seat, too."""
    seat = config.seat or task.seats[0]
    found = archive.episodes(task=task.id, actor=config.actor or "human", where=list(config.where))
    games = []
    for episode in sorted(found, key=lambda each: (each.created_at, each.id)):
        agents = {held.actor for held in episode.seats if held.seat == seat and held.actor_kind != "human" and held.num_steps}
        wanted = not agents if one.number == 1 else one.player in agents
        if wanted and episode.num_steps and episode.seed not in task.held_out_seeds:
            games.append(episode)
    return games


def _decisions_of_people(episode: Episode, seat: str, actor: str | None, skip: int) -> int:
    """Number of decisions of an episode in which a person acted at every step."""
    names: dict[Owner, int] = {}
    ended = episode.ended(seat)
    owners = stream_of(episode, seat, ended, starts_of(ended[0], skip), names)["owners"]
    people = [code for owner, code in names.items() if owner.kind == "human" and actor in (None, "human", owner.name)]
    return int(np.isin(owners, people).sum())


def game_of(episode: Episode, seat: str, player: str, num_labels: int) -> Game:
    labels = episode.labels(seat)
    num_own = num_matched = 0
    if labels is not None:
        names: dict[Owner, int] = {}
        num_steps, _ = episode.ended(seat)  # what is pressed afterwards does nothing
        owners = owners_of(episode, seat, names)[:num_steps]
        own = np.isin(owners, [code for owner, code in names.items() if owner.name == player])
        num_own, num_matched = int(own.sum()), int((own & (episode.actions(seat) == labels)[:num_steps]).sum())
    earned = sum(held.total_reward for held in episode.seats if held.seat == seat)
    return Game(episode.id, episode.seed, num_labels, num_own, num_matched, earned)


# What comes of it


def _train(
    archive: Archive, config: DaggerConfig, name: str, expert: str | None, rounds: Sequence[Round], report: Report
) -> None:
    last = rounds[-1]
    folder = archive.root / "models" / last.agent
    origin = {
        "run": name,
        "round": last.number,
        "expert": config.expert,
        "expert_share": last.share,
        "labels": sum(one.num_labels for one in rounds),
        "labels_by_round": [one.num_labels for one in rounds],
    }
    if (folder / "model.json").exists():
        if read_description(folder).get("dagger") != origin:
            raise ConfigError(f"there is a policy {last.agent!r} in {folder} that is not of this run\nChoose another name.")
        if not (folder / CHECKPOINT).exists():
            return
    is_begun = (folder / "config.json").exists()
    if is_begun:
        DaggerConfig.read(folder / "config.json")  # refuses a run of another algorithm
    what = f"round {last.number}: training {last.agent}"
    train(
        archive,
        config if last.number > 1 else replace(config, equal_shares=False),  # nobody has taken over yet
        last.agent,
        resume=is_begun,
        episodes=[archive.get(game.episode) for one in rounds for game in one.games],
        expert=expert,
        notes={"dagger": origin},
        on_update=lambda done, total: report(what, done, total),
    )


def _log(archive: Archive, folder: Path, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    lines = []
    for one in rounds:
        num_own = sum(game.num_own for game in one.games)
        metrics = read_description(archive.root / "models" / one.agent).get("metrics", {})
        lines.append(
            {
                "round": one.number,
                "agent": one.agent,
                "player": one.player,
                "games": len(one.games),
                "labels": one.num_labels,
                "matched": sum(game.num_matched for game in one.games) / num_own if num_own else None,
                "mean_return": float(np.mean([game.total_reward for game in one.games])),
                "loss": metrics.get("training_loss_last"),
            }
        )
    write_bytes(folder / "metrics.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
    return lines
