"""Several seats in one episode: who held them, their inputs and returns, in the file, in the catalogue and in conditions."""

import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from interplay.cli import main
from interplay.envs import make
from interplay.errors import NotFoundError
from interplay.record import (
    Archive,
    Episode,
    InputTiming,
    Owner,
    RecordedEpisode,
    RecordingError,
    SeatHeld,
    resume,
    verify,
)
from interplay.record.format.schema import METADATA_KEY
from interplay.record.replay import play_again
from interplay.store import EpisodeSeat
from interplay.tasks import KeyMap, Task, find

pytest.importorskip("pettingzoo", reason="games of several seats need interplay[pettingzoo]")

SITTING = {"left": Owner("participant-5", "human", 5), "right": Owner("random", "agent")}


@pytest.fixture
def pong() -> Task:
    keys = KeyMap(
        ("UP", "DOWN"), {"KeyW": "UP", "KeyS": "DOWN"}, {frozenset(): 0, frozenset({"UP"}): 1, frozenset({"DOWN"}): 2}
    )
    document = find("atari/breakout").to_json() | {"id": "lab/pong", "max_steps": 900, "frame_rate_hz": 15.0}
    document |= {"env": {"id": "pettingzoo:butterfly/cooperative_pong-v6", "options": {}}}
    return Task.from_json(document | {"keys": keys.to_json(), "seats": ["left", "right"], "held_out_seeds": [8, 9]})


@pytest.fixture
def blocks() -> Task:
    """Two in the block world, with a small picture each."""
    document = find("together/build_shelter").to_json() | {"id": "lab/blocks", "seats": ["left", "right"]}
    return Task.from_json(document | {"env": {"id": "voxel:lab", "options": {"size": [64, 36], "kind": "flat"}}})


@pytest.fixture(params=["pong", "blocks"])
def game(request) -> Task:
    return request.getfixturevalue(request.param)


def joint(task: Task, step: int) -> dict[str, Any]:
    """What both seats do in a step."""
    if task.env.backend == "voxel":
        turn = np.array([0.0, step % 7 - 3.0], np.float32)
        return {
            "left": task.keys.action(0) | {"forward": step // 4 % 2, "camera": turn},
            "right": task.keys.action(0) | {"back": step // 3 % 2, "attack": 1},
        }
    return {"left": step // 4 % 3, "right": step // 3 % 3}


def begin(archive: Archive, task: Task, *, seed: int = 8, owners=SITTING) -> RecordedEpisode:
    """A game of two that has been started."""
    env = make(task)
    episode = RecordedEpisode(env, archive.recorder(task, env, seed=seed, owners=owners))
    episode.start(seed)
    return episode


def go_on(episode: RecordedEpisode, until: int, takeover_at: int | None = None) -> list[dict[str, float]]:
    """Play on; from `takeover_at` a fallback agent acts for the left seat. Returns the rewards of each step."""
    rewards = []
    while episode.num_steps < until and episode.outcome is None:
        step = episode.num_steps
        timing = {"left": InputTiming(step, step * 66.0, step * 66_000, 1 << step % 2, 12.5), "right": None}
        taken = takeover_at is not None and step >= takeover_at
        rewards.append(
            dict(
                episode.step(
                    joint(episode.env.task, step), owners={"left": "noop"} if taken else None, timing=None if taken else timing
                ).rewards
            )
        )
    return rewards


@pytest.fixture
def taken_over(archive, pong) -> tuple[Episode, list[dict[str, float]]]:
    """Forty steps of two; from step 25 on an agent holds the left seat."""
    played = begin(archive, pong)
    rewards = go_on(played, 40, takeover_at=25)
    return archive.seal(played.recorder.finish("quit")), rewards


def test_every_step_says_who_acted_and_when_each_input_was_made(taken_over):
    episode, rewards = taken_over
    steps = episode.steps()
    assert steps.column("owner.left").to_pylist() == ["participant-5"] * 25 + ["noop"] * 15 + [None]
    assert steps.column("owner.right").to_pylist() == ["random"] * 40 + [None]
    assert steps.column("input.left.painted_step").to_pylist() == [*range(25), *[None] * 16]
    assert steps.column("input.left.buttons").to_pylist()[:3] == [1, 2, 1]
    assert steps.column("input.right.client_ms").null_count == 41
    for seat in ("left", "right"):
        assert episode.actions(seat).tolist() == [joint(episode.task, step)[seat] for step in range(40)]
        assert episode.rewards(seat).tolist() == [reward[seat] for reward in rewards]


def test_each_owner_has_their_steps_and_their_return(archive, taken_over):
    """Also as the catalogue says it, and as the file does when the database is lost."""
    episode, rewards = taken_over
    left = [reward["left"] for reward in rewards]
    assert [(held.seat, held.actor, held.actor_kind, held.participant_id, held.num_steps) for held in episode.seats] == [
        ("left", "participant-5", "human", 5, 25),
        ("left", "noop", "agent", None, 15),
        ("right", "random", "agent", None, 40),
    ]
    assert episode.seats[0].total_reward == pytest.approx(sum(left[:25]))
    assert episode.seats[1].total_reward == pytest.approx(sum(left[25:]))
    assert episode.total_reward == pytest.approx(sum(left))
    assert Episode.open(episode.path).seats == episode.seats
    in_catalogue = archive.get(episode.id).seats
    assert [held.actor for held in in_catalogue] == ["participant-5", "noop", "random"]
    assert in_catalogue[0].participant_id is None  # nobody of that number in this database
    assert in_catalogue[1:] == episode.seats[1:]


def test_a_game_of_two_verifies_and_replays(archive, game):
    played = begin(archive, game)
    go_on(played, 40, takeover_at=25)
    episode = archive.seal(played.recorder.finish("quit"))
    verdict = verify(archive.get(episode.id))
    assert (verdict.equal, verdict.replayed) == (True, True), verdict.reason
    assert play_again(episode) == episode.total_reward


def test_a_game_that_goes_on_knows_what_each_did_who_sat_there_at_the_start(archive, pong):
    cut = begin(archive, pong)
    rewards = go_on(cut, 30, takeover_at=25)
    cut.recorder.flush()
    cut.recorder.abandon()
    state = resume(archive, cut.recorder.episode_id).state
    totals = {seat: pytest.approx(sum(r[seat] for r in rewards[:num])) for seat, num in (("left", 25), ("right", 30))}
    assert state.own == {"left": (25, totals["left"]), "right": (30, totals["right"])}
    assert state.is_own == {"left": False, "right": True}


@pytest.mark.parametrize("terminated", [False, True])
def test_a_seat_ends_live_as_it_ends_in_the_recording(archive, pong, terminated):
    """A world may list all seats as done without a word on who was cut off, and may end a game in both ways at once."""
    episode = begin(archive, pong)
    step = episode.env.step

    def last_step(action):
        observation, rewards, _, _, info = step(action)
        return observation, rewards, terminated, True, info | {"seats_done": ["left", "right"]}

    episode.step(joint(pong, 0))
    episode.env.step = last_step
    last = episode.step(joint(pong, 1))
    sealed = archive.seal(episode.recorder.finish(episode.outcome))
    episode.env.close()
    for seat in pong.seats:
        assert sealed.ended(seat) == (2, last.end_of(seat)) == (2, (terminated, not terminated))


def test_a_game_of_two_goes_on_after_its_process_died(archive, game):
    """As if nothing had happened: same actions, same rewards, whoever held the seats."""
    whole = begin(archive, game)
    rewards = go_on(whole, 60)
    expected = archive.seal(whole.recorder.finish("quit"))
    cut = begin(archive, game)
    go_on(cut, 30)
    cut.recorder.flush()
    cut.recorder.abandon()
    env, recorder, state = resume(archive, cut.recorder.episode_id)
    assert state.num_steps == 30
    assert state.total_rewards == {seat: pytest.approx(sum(r[seat] for r in rewards[:30])) for seat in ("left", "right")}
    assert state.total_reward == state.total_rewards["left"]
    again = RecordedEpisode(env, recorder, num_steps=state.num_steps)
    go_on(again, 60)
    episode = archive.seal(recorder.finish("quit"))
    assert episode.seats == expected.seats
    assert episode.steps().column("frame_hash").to_pylist() == expected.steps().column("frame_hash").to_pylist()
    assert verify(episode).equal


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("seat.actor = random", {"ada-random", "random-ada"}),
        ("seat.left.actor = random", {"random-ada"}),
        ("seat.right.actor = random", {"ada-random"}),
        ("seat.actor = nobody", set()),
        ("seat.actor_kind = human", {"ada-random", "random-ada"}),
        ("seat.right.actor_kind = agent", {"ada-random"}),
        ("seat.left.num_steps >= 20", {"random-ada"}),
        ("seat.left.total_reward < 0", set()),
        ("held_out = 1", {"ada-random"}),
        ("held_out = 0", {"random-ada"}),
    ],
)
def test_conditions_reach_the_seats(archive, pong, condition, found):
    ada, random = Owner("ada", "human"), Owner("random", "agent")
    names = {}
    for left, right, seed, num_steps in ((ada, random, 8, 10), (random, ada, 7, 20)):
        played = begin(archive, pong, seed=seed, owners={"left": left, "right": right})
        go_on(played, num_steps)
        names[archive.seal(played.recorder.finish("quit")).id] = f"{left.name}-{right.name}"
    assert {names[episode.id] for episode in archive.episodes(where=[condition])} == found
    assert {names[episode.id] for episode in archive.episodes(actor="human")} == set(names.values())
    assert {names[episode.id] for episode in archive.episodes(agent="random")} == set(names.values())
    assert archive.episodes(agent="ada") == []  # a person


def test_a_seat_that_no_episode_has_is_refused_with_the_nearest(archive, taken_over):
    with pytest.raises(NotFoundError, match=r"seat.lefd.actor(.|\n)*seat.left.actor"):
        archive.episodes(where=["seat.lefd.actor = random"])
    with pytest.raises(RecordingError, match=r"seat\.left\.num_steps is a number and 'many' is not"):
        archive.episodes(where=["seat.left.num_steps > many"])


@pytest.mark.parametrize("owners", [{}, {"left": SITTING["left"]}, SITTING | {"middle": Owner("a", "agent")}])
def test_a_game_starts_only_when_every_seat_has_an_owner(archive, pong, owners):
    with pytest.raises(RecordingError, match="task lab/pong has the seats left, right; owners were given for"):
        archive.recorder(pong, make(pong), seed=1, owners=owners)


def test_the_command_line_names_every_seat(archive, taken_over, capsys):
    episode, _ = taken_over
    with pytest.raises(SystemExit):
        main(["episodes", "list", "--data", str(archive.root)])
    assert "left=participant-5,noop right=random" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["episodes", "show", episode.id, "--data", str(archive.root)])
    shown = capsys.readouterr().out
    assert "  left          participant-5 (human), 25 steps, return " in shown
    assert "  right         random (agent), 40 steps, return " in shown
    with pytest.raises(SystemExit):
        main(["episodes", "show", episode.id, "--data", str(archive.root), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert shown["seats"] == ["left", "right"]
    assert [SeatHeld(**held).actor for held in shown["held"]] == ["participant-5", "noop", "random"]


def test_a_corrected_entry_replaces_its_seats(archive, taken_over):
    """Entering the same file again leaves one row for each seat and owner."""
    episode, _ = taken_over
    archive.catalogue(episode)
    with archive.database.read() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(EpisodeSeat)) == 3


def test_a_recording_of_before_0_2_0_is_refused_in_words(taken_over, tmp_path):
    """Its summary did not say who held which seat."""
    whole = pq.read_table(taken_over[0].path)
    kept = dict(pq.read_metadata(taken_over[0].path).metadata)
    document = json.loads(kept[METADATA_KEY])
    del document["summary"]["seats"]
    document["header"]["schema_version"] = 1
    old = tmp_path / "old.parquet"
    pq.write_table(whole.replace_schema_metadata({METADATA_KEY: json.dumps(document).encode()}), old)
    with pytest.raises(
        RecordingError,
        match=r"old\.parquet has schema version 1; this Interplay reads version 2\. It stays as it is\.\nRead it with",
    ):
        Episode.open(old)
