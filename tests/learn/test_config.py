"""Settings: checked when built, and read back as they were written."""

import json

import pytest

from interplay.errors import NotFoundError
from interplay.learn import BCConfig, ConfigError

TASK = "atari/space_invaders"


@pytest.mark.parametrize("config", [BCConfig(TASK), BCConfig.fast(TASK, actor=None, where=("score >= 200",), seed=5)])
def test_settings_come_back_as_they_were_written(tmp_path, config):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config.to_json()))
    assert BCConfig.read(path) == config


def test_settings_that_cannot_work_are_refused():
    for settings, text in [
        ({"updates": 0}, "updates must lie between 1 and 1e.09, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0 and at most 1, got 0.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"balance": 1.5}, "balance must lie between 0 and 1, got 1.5"),
        ({"offsets": (4,)}, r"offsets must be one or more frames from 0 to 3, got \[4\]"),
        ({"offsets": ()}, "offsets must be one or more frames from 0 to 3"),
    ]:
        with pytest.raises(ConfigError, match=text):
            BCConfig(TASK, **settings)


def test_anyone_is_the_actor_wherever_it_is_written():
    assert BCConfig(TASK, actor="any") == BCConfig(TASK, actor=None)
    assert BCConfig.from_json({"task": TASK, "actor": "any"}).actor is None


def test_an_unknown_device_offers_the_nearest():
    with pytest.raises(NotFoundError, match="unknown device 'cudo'; did you mean 'cuda'"):
        BCConfig(TASK, device="cudo")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"task": ', "cannot be read as JSON"),
        ("[]", "must hold one JSON object with settings, got list"),
        ("{}", "'task' is missing"),
        ('{"task": "t", "updtes": 3}', "unknown setting 'updtes'; did you mean 'updates'"),
        ('{"task": "t", "updates": "many"}', "updates must be a whole number, got 'many'"),
        ('{"task": "t", "seed": true}', "seed must be a whole number, got True"),
        ('{"task": "t", "offsets": 0}', "offsets must be a list, got 0"),
        ('{"task": "t", "actor": 3}', "actor must be a text or null, got 3"),
    ],
)
def test_a_file_that_holds_no_settings_says_where(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        BCConfig.read(path)
    assert str(path) in str(error.value)


def test_a_missing_file_says_where_settings_are_kept(tmp_path):
    with pytest.raises(ConfigError, match="no such file; a finished run keeps its settings"):
        BCConfig.read(tmp_path / "nothing.json")
