"""The hand-written partners: each in its own game, in every seat, against players that draw their actions."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import interplay.record
from interplay import agents, envs, tasks
from interplay.agents.scripted import PARTNERS, Partner
from interplay.record import RecordedEpisode, verify

pytest.importorskip("pettingzoo")
pytest.importorskip("cogrid")
pytest.importorskip("multi_agent_ale_py")

FOR_TWO = {task.id: task for suite in tasks.builtin_suites() for task in suite.tasks if task.env.id in PARTNERS}
# Steps, the least that two partners earn together, and the most that two random players do, on the first held-out seed.
# Each game is fixed by seed and actions, so these are figures, not chances. A soup is worth 34 points to each cook.
FIGURES = {
    "overcooked/cramped_room": (100, 2 * 34, 12),
    "overcooked/asymmetric_advantages": (100, 2 * 34, 12),
    "overcooked/coordination_ring": (100, 2 * 34, 12),
    "overcooked/forced_coordination": (100, 2 * 34, 12),
    "overcooked/counter_circuit": (100, 2 * 34, 12),
    "together/cooperative_pong": (260, 2 * 28, 0),
    "together/knights_archers_zombies": (240, 8, 4),
    "atari-two/space_invaders_competitive": (5000, 1050, 950),
    "atari-two/space_invaders_cooperative": (5000, 1300, 700),
}


def earned(task: tasks.Task, names: tuple[str, str], max_steps: int) -> dict[str, float]:
    """What each seat earned, by the task's rule."""
    seed = task.held_out_seeds[0]
    env = envs.make(task)
    episode = RecordedEpisode(env, max_steps=max_steps)
    seated = {
        seat: agents.SeatedAgent(agents.find(name), task, rng=np.random.default_rng((seed, number)))
        for number, (seat, name) in enumerate(zip(task.seats, names, strict=True))
    }
    _, info = episode.start(seed)
    for seat, each in seated.items():
        each.sit(env, seat, info)
    total = dict.fromkeys(task.seats, 0.0)
    while episode.outcome is None:
        step = episode.step({seat: each.act() for seat, each in seated.items()})
        for seat, each in seated.items():
            total[seat] += step.rewards[seat]
            if episode.outcome is None:
                each.see(step.info)
    env.close()
    return total


def test_every_game_for_two_of_these_backends_has_a_partner() -> None:
    backends = ("ale2p", "cogrid", "pettingzoo")
    assert set(FOR_TWO) == set(FIGURES)
    shipped = {task.id for suite in tasks.builtin_suites() for task in suite.tasks if task.env.backend in backends}
    assert shipped == set(FOR_TWO)


@pytest.mark.long_proof
def test_a_pair_of_partners_earns_more_than_a_random_pair() -> None:
    for name in FIGURES:
        max_steps, least, most = FIGURES[name]
        partners = sum(earned(FOR_TWO[name], ("scripted", "scripted"), max_steps).values())
        drawn = sum(earned(FOR_TWO[name], ("random", "random"), max_steps).values())
        print(name, partners, drawn)
        assert drawn <= most < least <= partners


@pytest.mark.parametrize("seat", [0, 1])
def test_a_partner_beats_a_random_player_in_either_seat(seat: int) -> None:
    task = FOR_TWO["atari-two/space_invaders_competitive"]
    names = ("scripted", "random") if seat == 0 else ("random", "scripted")
    total = list(earned(task, names, 5000).values())
    assert total[seat] > total[1 - seat] + 150


@pytest.mark.parametrize("name", ["overcooked/forced_coordination", "atari-two/space_invaders_cooperative"])
def test_a_partner_keeps_the_protocol(name: str) -> None:
    agents.check_agent(Partner(), FOR_TWO[name])


def test_a_recorded_game_of_a_partner_and_a_random_player_verifies(tmp_path) -> None:
    task = FOR_TWO["overcooked/cramped_room"]
    pair = {"first": agents.find("scripted"), "second": agents.find("random")}
    with closing(interplay.record.open(tmp_path)) as archive:
        episode = agents.rollout(archive, task, pair, 1, rng=np.random.default_rng(0), max_steps=60)
        verdict = verify(episode)
        assert (verdict.equal, verdict.replayed) == (True, True)


def test_a_game_nobody_wrote_a_partner_for_is_refused_with_the_known_ones() -> None:
    task = FOR_TWO["overcooked/cramped_room"]
    other = replace(task, env=replace(task.env, id="cogrid:SearchRescue-Test-V0"))
    with pytest.raises(agents.AgentError, match=r"no scripted player for cogrid:SearchRescue-Test-V0 .*ale2p:space_invaders"):
        Partner().reset(other, rng=np.random.default_rng(0))


def test_a_partner_must_be_shown_its_game_first() -> None:
    partner = Partner()
    partner.reset(FOR_TWO["overcooked/cramped_room"], rng=np.random.default_rng(0))
    with pytest.raises(agents.AgentError, match=r"call attach\(env, seat\)"):
        partner.act(np.zeros((2, 2, 3), np.uint8))
