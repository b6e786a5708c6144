"""`interplay study` for studies of play: checking, simulating, listing answers, explaining pay and drawing a raffle."""

import json

import pytest
from play_world import STUDY, PlayWorld

STUDY = STUDY.replace("[pay]", "[raffle]\nwinners = 1\nprize = 20\n[pay]")  # what `run` writes into its folder


@pytest.fixture
def world(opened, tmp_path):
    """The study of `caves.toml`, open, and Ada, who has finished it."""
    world = PlayWorld(opened, STUDY)
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 100, "inside_out.all": 100}, seconds=100)
    world.play(ada, {"inside_out.good": 50, "inside_out.all": 100}, seconds=200)
    world.ada = world.finish(ada)
    return world


def test_a_study_of_play_is_checked_and_summed_up(run, tmp_path):
    status, out, _ = run("check caves.toml")
    assert status == 0
    assert "a visit    one game, as often as needed, about 10 min" in out
    assert "variant    inside_out: atari/space_invaders; time played 5:00; 0.75 USD + up to 1.50" in out
    (tmp_path / "bad.toml").write_text(STUDY.replace("atari/space_invaders", "atari/space_invader"))
    status, _, err = run("check bad.toml")
    assert status == 1
    assert "unknown task 'atari/space_invader'; did you mean 'atari/space_invaders'?" in err
    assert "It stands in bad.toml: variants[0].task" in err


def test_statistics_that_a_task_does_not_measure_and_shares_are_refused(run, tmp_path):
    (tmp_path / "bad.toml").write_text(STUDY.replace('"inside_out.good"', '"insid_out.good"'))
    status, _, err = run("check bad.toml")
    assert status == 1
    assert "unknown statistic 'insid_out.good'; did you mean 'inside_out.good'?" in err
    assert "variants[0] of bad.toml; atari/space_invaders does not measure it" in err
    (tmp_path / "share.toml").write_text(STUDY.replace('"inside_out.good"', '"inside_out"'))
    status, _, err = run("check share.toml")
    assert status == 1
    assert "inside_out is a share, which cannot be added up over games" in err
    assert "Remedy: name inside_out.good and inside_out.all instead." in err
    turns = STUDY.replace("atari/space_invaders", "gymnasium/taxi").replace('"time"', '"active_time"')
    (tmp_path / "turns.toml").write_text(turns.partition("[bonus]")[0] + "[[variants]]" + turns.partition("[[variants]]")[2])
    assert "unknown statistic 'active_time'" in run("check turns.toml")[2], "where each step is a turn nobody measures it"


def test_opening_a_study_of_play_prints_no_preview_of_pairs(run):
    status, out, _ = run("open caves.toml --address https://lab.example")
    assert status == 0
    assert "preview" not in out
    assert "prolific  https://lab.example/studies/orders?PROLIFIC_PID=" in out


def test_a_simulation_says_how_near_accepted_time_comes_to_its_targets(run):
    status, out, _ = run("simulate crowdplay --arrivals 1000 --dropout 0.3 --seeds 20 --json")
    document = json.loads(out)
    assert status == 0
    assert document["is_within"]
    assert document["spread_ratio"] <= 0.5
    assert len(document["runs"]) == 40
    targets = document["targets_min"]
    assert targets["riverraid_left"] == 300
    for method in ("balanced", "random"):
        found = [one["accepted_min"] for one in document["runs"] if one["method"] == method]
        deviation = max(abs(minutes / targets[name] - 1) for one in found for name, minutes in one.items())
        assert document[method]["largest_deviation"] == pytest.approx(deviation)
    few = json.loads(run("simulate crowdplay --arrivals 900 --dropout 0.5 --seeds 2 --json")[1])
    assert not few["is_within"], "who misses all targets evenly misses them"
    assert few["balanced"]["mean_turned_away"] == 0
    status, out, _ = run("simulate crowdplay --arrivals 30 --seeds 1")
    assert "Spread between variants: " in out


def test_only_studies_of_play_can_be_simulated(run):
    status, _, err = run("simulate atari")
    assert status == 1
    assert 'atari is a study of comparisons, so it has no variants\nRemedy: name a study with kind = "play".' in err


def test_every_cent_of_a_visit_is_explained(run, world):
    status, out, _ = run(f"pay orders --explain {world.ada.id}")
    assert status == 0
    for text in (
        "variant inside_out (given because: target)",
        "1.50 x min(1, inside_out.good / 200) x max(0, 2 x (inside_out.good / inside_out.all - 1/2)), rounded up",
        "owed 1.32 USD (0.75 reward + 0.57 earned or won); the ledger says that 0.00 was sent.",
        "The rules give the amount in the ledger.",
        f"earned:{world.ada.id}",
    ):
        assert text in " ".join(out.split()), out
    document = json.loads(run(f"pay orders --explain {world.ada.id} --json")[1])
    assert document["totals"] == {"time": 300.0, "inside_out.good": 150.0, "inside_out.all": 200.0}
    assert [line["kind"] for line in document["ledger"]] == ["earned"]
    status, _, err = run("pay orders --explain nobody")
    assert status == 2
    assert "unknown enrolment 'nobody'" in err


def test_participants_of_a_study_of_play_are_listed_with_what_they_played(run, world):
    (row,) = json.loads(run("participants orders --json")[1])
    assert (row["variant"], row["accepted_min"], row["outcome"]) == ("inside_out", 5.0, "done")
    out = run("participants orders")[1]
    assert world.ada.id in out, "for --explain"
    assert "inside_out" in out


def test_partners_need_a_second_seat_and_agents_that_are_there(run, tmp_path):
    (tmp_path / "alone.toml").write_text(STUDY.replace("[[variants]]", '[[variants]]\npartner = "scripted"'))
    status, _, err = run("check alone.toml")
    assert status == 1
    assert "variants[0] of alone.toml: atari/space_invaders has only one seat, and no seat for 'scripted'" in err
    assert "Remedy: leave partner and fallback out." in err
    two = STUDY.partition("[bonus]")[0] + "[[variants]]" + STUDY.partition("[[variants]]")[2]
    two = two.replace("atari/space_invaders", "together/cooperative_pong").replace(
        "[[variants]]", '[[variants]]\nfallback = "scriptd"'
    )
    two = two.replace("[pay]", "[waiting]\npay = 0.40\n[pay]")
    (tmp_path / "two.toml").write_text(two)
    (tmp_path / "right.toml").write_text(two.replace("scriptd", "scripted"))
    status, out, _ = run("check right.toml")
    assert status == 0
    assert "together/cooperative_pong; scripted where nobody comes" in out
    assert "waiting    after 60 s without a partner: 0.40 USD" in out
    assert "codes has no code for no_partner, so Prolific asks those people to return the submission" in out
    for verb in ("check", "open"):
        status, _, err = run(f"{verb} two.toml")
        assert status == 2
        assert "unknown agent 'scriptd'; did you mean 'scripted'?" in err
        assert "It stands in variants[0]." in err


def test_answers_about_partners_are_listed_and_written_as_csv(run, opened):
    world = PlayWorld(opened, STUDY.replace("[pay]", '[questions]\nuse = "person_or_agent"\n[pay]'))
    assert "Nobody has answered questions about partners in orders." in run("answers orders")[1]
    ada = world.come("ada")
    world.visits.give(ada)
    episode = world.play(ada, {}, partner="scripted")
    world.visits.answer(ada, f"partner:{episode}", {"person_or_agent": "4"})
    episode = world.play(ada, {}, partner="scripted")
    world.visits.answer(ada, f"partner:{episode}", None)
    rows = json.loads(run("answers orders --json")[1])
    assert [(row["game"], row["value"], row["label"]) for row in rows] == [(1, "4", "rather an agent"), (2, None, None)]
    assert (rows[0]["enrolment"], rows[0]["partner"]) == (ada.id, "scripted")
    table = run("answers orders")[1]
    assert "rather an agent" in table
    assert "skipped" in table
    head, first, second = run("answers orders --csv")[1].splitlines()
    assert head.startswith("enrolment,participant,variant,form,game,episode,partner,")
    assert ",4,rather an agent," in first
    assert ",,," in second


def test_waiting_is_explained(run, opened):
    world = PlayWorld(opened, STUDY.replace("[pay]", "[waiting]\nafter_s = 120\npay = 0.40\n[pay]"))
    ada = world.come("ada")
    world.visits.give(ada)
    world.wait(ada, 130)
    world.studies.leave(ada)
    out = " ".join(run(f"pay orders --explain {ada.id}")[1].split())
    assert "no_partner" in out
    assert "Waited 2:10 for a partner, and nobody came; 2:00 is enough for 0.40." in out
    assert "owed 0.40 USD (0.00 reward + 0.40 earned or won)" in out
    assert "The rules give the amount in the ledger." in out


def test_what_is_owed_is_listed_with_the_reward(run, world):
    status, out, _ = run("pay orders --json")
    assert status == 0
    rows = json.loads(out)["payments"]
    assert [(row["kind"], row["amount_cents"], row["request"]) for row in rows] == [
        ("reward", 75, f"reward:{world.ada.id}"),
        ("bonus", 57, f"pay:earned:{world.ada.id}"),
    ]


def test_a_raffle_is_drawn_by_command_and_shown_again(run, world):
    assert "orders is open, and people may still finish" in run("raffle orders")[2]
    assert run("close orders")[0] == 0
    status, out, _ = run("raffle orders --seed 2026")
    assert status == 0
    assert "Drawn from 1 entries with the seed 2026." in out
    document = json.loads(run("raffle orders --json")[1])
    assert (document["is_new"], document["seed"], document["winners"][0]["worker"]) == (False, 2026, "ada")
    assert 2000 in [row["amount_cents"] for row in json.loads(run("pay orders --json")[1])["payments"]]
