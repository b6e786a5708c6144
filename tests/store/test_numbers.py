"""What the database adds up equals what is counted one by one, in SQLite and in PostgreSQL."""

import math
import random
from collections import defaultdict
from datetime import timedelta

import pytest
from sqlalchemy import insert

from interplay import testing
from interplay.store import (
    Database,
    Enrolment,
    EpisodeRow,
    EpisodeSeat,
    EpisodeStatistic,
    EpisodeVerdict,
    Participant,
    PayEvent,
    PlaySession,
    SeatStatistic,
    StudyRow,
    StudyVersion,
    summary,
)
from interplay.store.episodes import Condition, EpisodeQuery
from interplay.store.study import numbers as study_numbers
from interplay.store.summary import Spread
from interplay.tasks import find

TASKS = [find("atari/breakout"), find("atari/qbert"), find("gymnasium/taxi")]
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@pytest.fixture(scope="module")
def rows():
    """By table, what is put into each database: 60 games of people and agents, 24 visits, and a ledger."""
    rng = random.Random(4)
    people = [{"id": number, "key": f"key-{number}", "created_at": testing.START} for number in range(1, 9)]
    visits = [
        {
            "id": f"{number:024x}", "study": "games", "study_hash": "v1", "participant_id": 1 + number % 8,
            "channel": rng.choice(["open", "prolific"]), "worker": f"w{number}", "assignment": f"a{number}", "arrival": {},
            "arrived_at": testing.START + timedelta(hours=number), "consented_at": None,
            "ended_at": None, "outcome": rng.choice([None, "done", "done", "withdrawn"]),
            "variant": rng.choice(["plain", "rule"]), "accepted_s": 60.0,
        }
        for number in range(24)
    ]  # fmt: skip
    found = {Participant: people, Enrolment: visits}
    for model in (EpisodeRow, EpisodeSeat, EpisodeStatistic, SeatStatistic, PlaySession, EpisodeVerdict, PayEvent):
        found[model] = []
    for number in range(60):
        task, visit = rng.choice(TASKS), rng.choice(visits) if number % 3 else None
        person = visit["participant_id"] if visit else rng.randrange(1, 9)
        is_human = number % 4 != 0 or visit is not None
        name, kind = (f"participant-{person}", "human") if is_human else ("random", "agent")
        steps = rng.randrange(100, 4000)
        values = testing.episode_values(
            task, name, number, id=f"e{number:02}", actor_kind=kind, num_steps=steps,
            duration_s=steps / task.frame_rate_hz * rng.uniform(0.99, 1.2), total_reward=float(rng.randrange(50)),
            created_at=testing.START + timedelta(hours=7 * number), participant_id=person if is_human else None,
        )  # fmt: skip
        found[EpisodeRow].append(values)
        seat = {"episode_id": values["id"], "seat": task.seats[0], "actor": name}
        found[EpisodeSeat].append(
            seat | {"actor_kind": kind, "num_steps": steps, "total_reward": values["total_reward"], "position": 0,
                    "participant_id": values["participant_id"]}
        )  # fmt: skip
        if number % 5:
            found[EpisodeStatistic].append(
                {"episode_id": values["id"], "name": "latency_ms", "number": rng.uniform(20, 90), "text": None}
            )
        found[SeatStatistic].append(
            seat | {"name": "active_time", "kind": "duration", "number": rng.uniform(0, 1) * steps / task.frame_rate_hz,
                    "counts": {"all": rng.randrange(9)}}
        )  # fmt: skip
        found[PlaySession].append(
            {"id": f"s{number}", "task": task.id, "task_hash": task.content_hash, "seed": number, "actor": name,
             "created_at": values["created_at"], "actor_kind": kind, "participant_id": values["participant_id"],
             "episode_id": values["id"], "state": "ended", "seat": task.seats[0],
             "enrolment_id": visit["id"] if visit else None}
        )  # fmt: skip
        if number % 7 == 0:  # they left the seat and came back to it
            found[PlaySession].append(found[PlaySession][-1] | {"id": f"again{number}"})
        for verdict in rng.sample([True, False], rng.randrange(3)):
            found[EpisodeVerdict].append(
                {"episode_id": values["id"], "is_equal": verdict, "reason": "", "created_at": testing.START}
            )
    for visit in visits:
        if visit["outcome"] == "done":
            earned = {"enrolment_id": visit["id"], "currency": "USD", "detail": "{}", "created_at": testing.START}
            found[PayEvent].append(
                earned
                | {"kind": "earned", "state": "due", "amount_cents": rng.randrange(400), "request": f"earned:{visit['id']}"}
            )
            for kind, request in (("reward", f"reward:{visit['id']}"), ("bonus", f"pay:earned:{visit['id']}")):
                cents = rng.randrange(1, 400)
                for state in ("planned", rng.choice(["sent", "failed"]))[: rng.randrange(3)]:
                    found[PayEvent].append(earned | {"kind": kind, "state": state, "amount_cents": cents, "request": request})
    return found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def session(request, rows, tmp_path_factory):
    sqlite = f"sqlite:///{tmp_path_factory.mktemp('numbers')}/interplay.db"
    database = Database.open(sqlite if request.param == "sqlite" else request.getfixturevalue("new_postgres_url")())
    with database.write() as session:
        for task in TASKS:
            testing.add_task(session, task)
        session.add(StudyVersion(content_hash="v1", study="games", definition={"id": "games"}, created_at=testing.START))
        session.flush()
        session.add(StudyRow(id="games", content_hash="v1", opened_at=testing.START))
        session.flush()
        for model, values in rows.items():
            session.execute(insert(model), values)
    with database.read() as session:
        yield session
        session.rollback()
    database.close()


def given(rows, visit_of=None):
    """Episode -> the visit that it was played in."""
    visits = {one["id"]: one for one in rows[Enrolment]}
    return {one["episode_id"]: visits[one["enrolment_id"]] for one in rows[PlaySession] if one["enrolment_id"]}


def spread(values) -> Spread:
    """By the definition: what so many of 100 do not exceed, nearest rank."""
    order = sorted(values)
    return Spread(len(order), *(order[max(0, math.ceil(share * len(order)) - 1)] for share in SHARES))


def close(found: dict[str, Spread], expected: dict[str, list[float]]) -> bool:
    return found.keys() == expected.keys() and all(
        found[part] == pytest.approx(spread(values), rel=1e-6) for part, values in expected.items()
    )


def test_hours_of_every_day_task_and_channel(session, rows):
    played = given(rows)
    for study in (None, "games"):
        expected = defaultdict(lambda: [0.0, 0])
        for one in rows[EpisodeRow]:
            visit = played.get(one["id"])
            if study is not None and visit is None:
                continue
            channel = visit["channel"] if visit else "no study" if one["actor_kind"] == "human" else "agents"
            sums = expected[one["created_at"].strftime("%Y-%m-%d"), one["task"], channel]
            sums[0] += one["duration_s"] / 3600
            sums[1] += 1
        found = summary.hours_by_day(session, study=study)
        assert {one[:3]: list(one[3:]) for one in found} == {key: pytest.approx(sums) for key, sums in expected.items()}
        assert [one.day for one in found] == sorted(one.day for one in found)


def test_measures_of_peoples_games_and_the_farthest_of_each_task(session, rows):
    rates = {task.content_hash: task.frame_rate_hz for task in TASKS}
    turns = {task.id for task in TASKS if task.takes_turns}
    latency = {one["episode_id"]: one["number"] for one in rows[EpisodeStatistic]}
    active = {one["episode_id"]: one["number"] for one in rows[SeatStatistic]}
    for study in (None, "games"):
        of_people = [
            one for one in rows[EpisodeRow] if one["actor_kind"] == "human" and (study is None or one["id"] in given(rows))
        ]
        expected = {name: defaultdict(dict) for name in ("latency_ms", "lost_share", "active_share", "score", "length_s")}
        for one in of_people:
            task, name, rate = one["task"], one["id"], rates[one["task_hash"]]
            if name in latency:
                expected["latency_ms"][task][name] = latency[name]
            if task not in turns:
                expected["lost_share"][task][name] = max(0.0, 1 - one["num_steps"] / (one["duration_s"] * rate))
            expected["active_share"][task][name] = active[name] * rate / one["num_steps"]
            expected["score"][task][name] = one["total_reward"]
            expected["length_s"][task][name] = one["duration_s"]
        found = summary.measures(session, study=study)
        for name, tasks in expected.items():
            assert close(found[name], {task: list(values.values()) for task, values in tasks.items()}), (study, name)
        far = summary.extremes(session, study=study)["latency_ms"]
        for task, values in expected["latency_ms"].items():
            largest = sorted(values, key=lambda episode, values=values: (-values[episode], episode))[:3]
            assert [one.episode for one in far if one.task == task] == largest


def test_outcomes_verdicts_totals_and_histograms(session, rows):
    people = {one["id"] for one in rows[EpisodeRow] if one["actor_kind"] == "human"}
    newest = {one["episode_id"]: one["is_equal"] for one in rows[EpisodeVerdict] if one["episode_id"] in people}
    equal = sum(newest.values())
    assert summary.verdicts(session) == (equal, len(newest) - equal, len(people) - len(newest))
    assert {name for name, _ in summary.different(session)} == {name for name, same in newest.items() if not same}
    ends = summary.outcomes(session)
    assert sum(sum(one.values()) for one in ends.values()) == sum(one["actor_kind"] == "human" for one in rows[EpisodeRow])
    query = EpisodeQuery(where=[Condition("score", ">=", 20)])
    fits = [one for one in rows[EpisodeRow] if one["total_reward"] >= 20]
    sums = summary.totals(session, query)
    assert (sums.num_episodes, sums.num_steps) == (len(fits), sum(one["num_steps"] for one in fits))
    assert sums.hours == pytest.approx(sum(one["duration_s"] for one in fits) / 3600)
    assert sums.num_participants == len({one["participant_id"] for one in fits} - {None})
    bins = summary.bins(session, query, EpisodeRow.total_reward)
    low, high = min(one["total_reward"] for one in fits), max(one["total_reward"] for one in fits)
    assert (bins.low, bins.high, sum(bins.counts)) == (low, high, len(fits))
    assert bins.counts[-1] >= sum(one["total_reward"] == high for one in fits)
    assert summary.bins(session, EpisodeQuery(ids=["e01"]), EpisodeRow.total_reward) is None


def test_people_and_how_far_they_get(session, rows):
    played = {visit["id"] for visit in given(rows).values()}
    done = sum(one["outcome"] == "done" for one in rows[Enrolment])
    assert study_numbers.funnel(session, "games") == (24, 24, len(played), done)
    page = study_numbers.people(session, "games", limit=10, offset=10)
    newest_first = sorted(rows[Enrolment], key=lambda one: one["arrived_at"], reverse=True)
    assert [one.enrolment for one in page] == [one["id"] for one in newest_first[10:20]]
    for one in page:
        games = [name for name, visit in given(rows).items() if visit["id"] == one.enrolment]
        assert one.games == len(games)
        assert one.play_s == pytest.approx(sum(row["duration_s"] for row in rows[EpisodeRow] if row["id"] in games))
    working = study_numbers.people(session, "games", outcome="working", limit=50, offset=0)
    assert len(working) == study_numbers.count_people(session, "games", "working")
    assert {one.outcome for one in working} == {"working"}


@pytest.mark.parametrize("statistic", ["games", "score", "time", "active_time", "active_time.all"])
def test_what_visits_reach(session, rows, statistic):
    rates = {task.content_hash: task.frame_rate_hz for task in TASKS}
    seat = {one["episode_id"]: one for one in rows[SeatStatistic]}
    sums = defaultdict(float)
    for one in rows[EpisodeRow]:
        visit = given(rows).get(one["id"])
        if visit is not None:
            value = {
                "games": 1, "score": one["total_reward"], "time": one["num_steps"] / rates[one["task_hash"]],
                "active_time": seat[one["id"]]["number"], "active_time.all": seat[one["id"]]["counts"]["all"],
            }[statistic]  # fmt: skip
            sums[visit["variant"], visit["id"]] += value
    expected = defaultdict(list)
    for (variant, _), total in sums.items():
        expected[variant].append(total)
    assert close(study_numbers.reached(session, "games", statistic), expected)
    middle = sorted(sums.values())[len(sums) // 2] - 1e-9
    met = {variant: (sum(total >= middle for total in totals), len(totals)) for variant, totals in expected.items()}
    assert study_numbers.num_met(session, "games", statistic, middle) == met


def test_money_is_added_up_to_the_cent_and_the_newest_line_counts(session, rows):
    channel = {one["id"]: one["channel"] for one in rows[Enrolment]}
    newest = {one["request"]: one for one in rows[PayEvent]}
    expected = defaultdict(int)
    for one in newest.values():
        expected[channel[one["enrolment_id"]], one["kind"], one["state"]] += one["amount_cents"]
    found = study_numbers.money(session, "games")
    assert {(one.channel, one.kind, one.state): one.cents for one in found} == expected
    dues = defaultdict(int)
    for one in newest.values():
        paid = newest.get(f"pay:{one['request']}")
        if one["state"] == "due" and (paid is None or paid["state"] == "failed"):
            dues["games", channel[one["enrolment_id"]], "USD"] += one["amount_cents"]
    assert study_numbers.unpaid_dues(session, {"done"}) == dues
    unsent = sum(
        one["outcome"] == "done" and newest.get(f"reward:{one['id']}", {}).get("state", "failed") == "failed"
        for one in rows[Enrolment]
    )
    assert sum(one.num for one in study_numbers.unpaid_rewards(session, "games")) == unsent
