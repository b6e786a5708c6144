"""The block world does and shows what it did, bit for bit; `golden.py` says what that is and how to write it anew."""

import json

import golden
import pytest

pytestmark = pytest.mark.long_proof


@pytest.fixture(scope="module")
def expected() -> dict:
    return json.loads(golden.GOLDEN.read_text())


def test_what_pictures_are_made_of_is_as_it_was(expected):
    assert golden.looks() == expected["looks"]


def test_twelve_scenes_are_as_they_were(expected):
    assert {name: golden.look_of(world) for name, world in golden.every_scene().items()} == expected["scenes"]
    assert len(expected["scenes"]) == 12


@pytest.mark.parametrize("task", golden.TASKS)
def test_random_play_goes_as_it_went(task, expected):
    assert list(golden.play(task)) == expected["play"][task]
    assert len(set(expected["play"][task])) == golden.NUM_STEPS // golden.EVERY


@pytest.mark.parametrize("name", golden.SESSIONS)
def test_random_clicks_on_screens_do_what_they_did(name, expected):
    assert list(golden.session(name)) == expected["screens"][name]
