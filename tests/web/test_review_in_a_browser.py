"""Two people review two instances in a real Chromium, on a real server: one by keys, one by clicks."""

import json
import re

from study_world import enrolments, open_study

from interplay.explore.make.reviews import agreement, verdicts_of
from interplay.study.review.reviews import Reviews
from interplay.study.studies import Studies


def instance(name: str, log: str, episode: str) -> dict:
    """A sound instance of two tasks whose proof is the film of some episode."""
    reason = f"nobody can craft planks here before they carry a {log}, for the scene holds no other source of wood"
    tasks = [f"mine {log}_log", f"craft {log}_planks"]
    done = [
        {
            "task": task,
            "milestone_id": task.replace(" ", "_"),
            "description": "It is carried.",
            "rules": [{"type": "inventory_has", "params": {"item": task.split(" ")[1], "min_count": 1}}],
        }
        for task in tasks
    ]
    edges = [{"from": tasks[0], "to": tasks[1], "reason": reason}]
    return {
        "schema": 1,
        "name": name,
        "selected_tasks": tasks,
        "reasoning_graph": {"nodes": tasks, "edges": edges},
        "milestones": done,
        "task_text": f"Carry planks of {log}.",
        "atomic_tasks_ordered": tasks,
        "commands": [f"/fill ~0 ~0 ~4 ~0 ~2 ~4 {log}_log", "/give @p stone_axe"],
        "source": {"made": {"mode": "multi" if log == "oak" else "single", "pair": "p"}},
        "proofs": [{"episode": episode, "milestones": {"mine_oak_log": 60}, "hops": {"edges": []}}],
    }


PLAYS = """() => new Promise((yes) => {
  const video = document.querySelector("[data-proof]");
  const look = () => (video.readyState > 1 ? yes() : setTimeout(look, 50));
  look();
})"""
STUDY = """
[study]
id = "sound"
title = "Review of tasks"
summary = "Look at tasks and say whether they are sound."
kind = "review"
minutes = 5
instructions = "Look at each task."
[review]
raters = 2
instances = INSTANCES
[channels.open]
"""


def test_two_people_review_two_instances_blind_and_their_agreement_is_counted(windows, recorded, picture, tmp_path):
    episode = recorded.episodes(task="atari/breakout")[0].id
    for name, log in (("one", "oak"), ("two", "birch")):
        (tmp_path / f"{name}.json").write_text(json.dumps(instance(name, log, episode)))
    open_study(recorded, STUDY.replace("INSTANCES", json.dumps([str(tmp_path)])))
    for page, by_keys in zip(windows, (True, False), strict=True):
        page.goto("/studies/sound")
        page.get_by_role("button", name=re.compile("begin|start", re.IGNORECASE)).click()
        for place in (1, 2):
            page.get_by_text(f"{place} of 2", exact=True).wait_for()
            page.get_by_text("Still open: questions").wait_for()
            told = [mode for mode in ("multi", "single") if mode in page.content()]
            assert told == [], "the page tells who made it"
            is_oak = "planks of oak" in page.locator(".the-goal").inner_text()
            play = page.locator("[data-play]")
            assert play.is_disabled()
            assert page.evaluate("[...document.querySelectorAll('.scene-views img')].length") == 6
            if by_keys:
                for key in "yynyy":
                    page.keyboard.press(key)
                assert page.locator("[data-still]").inner_text() == "Still open: the verdict"
                page.keyboard.press("Space")
                page.locator("[data-proof]").wait_for()
                page.evaluate(PLAYS)
                picture(page, "review")
                page.keyboard.press("v" if is_oak else "x")
                page.keyboard.press("Control+Enter")
            else:
                for question in page.locator("[data-question]").all():
                    question.get_by_role("radio", name="Yes").check()
                page.get_by_role("button", name=re.compile("Submit")).click()
                assert page.locator("[data-still]").inner_text() == "Still open: the verdict"
                page.get_by_role("radio", name="Valid", exact=True).check()
                page.get_by_label("Why?").fill("It can be done.")
                page.set_viewport_size({"width": 390, "height": 844})
                assert page.evaluate("document.documentElement.scrollWidth") <= 390
                page.emulate_media(color_scheme="dark")
                picture(page, f"review_phone_dark_{place}")
                page.get_by_role("button", name=re.compile("Submit")).click()
        page.get_by_role("heading", name=re.compile("Thank", re.IGNORECASE)).wait_for()
    assert [one.outcome for one in enrolments(recorded, "sound")] == ["done", "done"]
    found = Reviews(recorded.database, Studies(recorded.database)).of_study("sound")
    assert sorted((one.instance, one.is_valid, one.has_played) for one in found) == [
        ("one", True, False),
        ("one", True, True),
        ("two", False, True),
        ("two", True, False),
    ]
    assert not any(one.answers["scene"] for one in found if one.has_played)
    rows = verdicts_of([(one.instance, one.reviewer, one.is_valid) for one in found])
    assert agreement(rows).table == (1, 0, 1)
