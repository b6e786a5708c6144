"""`interplay explore make`: what it refuses, and from where it takes tasks."""

import json

import pytest
import typer

from interplay.cli.explore.make import make, tasks_of
from interplay.errors import InterplayError
from interplay.explore.make import bank
from interplay.explore.make.scripted import NEEDS


def test_options_that_cannot_be_meant_are_refused():
    for options, error in [
        ({}, "--model is missing"),
        ({"model": "scripted/maker", "mode": "trio"}, "--mode takes multi, single, both or planner; got 'trio'"),
        ({"model": "m", "key_env": "KEY"}, "--key-env needs --address"),
        ({"model": "m", "address": "localhost"}, "--address takes the address of a server"),
        ({"model": "m", "role_models": ["judge=m"]}, "--role takes ROLE=MODEL, where ROLE is one of selector"),
        ({"mode": "planner", "hops": 9}, "makes instances of 1 to 4 hops; got 9"),
    ]:
        with pytest.raises(typer.BadParameter, match=error):
            make(**options)


def test_tasks_come_from_a_bank_from_the_filter_or_line_by_line(tmp_path):
    assert tasks_of(None, "scripted/maker") == tuple(NEEDS)
    assert set(NEEDS) < set(tasks_of(None, "openai/one")) == set(bank.drawn())
    analysis = {"mine_oak_log": {"requires_domain_knowledge": "No"}, "brew potion": {"requires_domain_knowledge": "Yes"}}
    (tmp_path / "task_analysis.json").write_text(json.dumps(analysis))
    assert tasks_of(tmp_path / "task_analysis.json", "m") == ("mine oak_log",)
    (tmp_path / "names.txt").write_text("mine oak_log\n\nCraft to stick\n")
    assert tasks_of(tmp_path / "names.txt", "m") == ("mine oak_log", "craft to stick")
    (tmp_path / "none.json").write_text("[1]")
    for name in ("none.json", "nothing_there.txt"):
        with pytest.raises(InterplayError, match=name):
            tasks_of(tmp_path / name, "m")
