"""`interplay judge list-agents, approve, decline, withdraw, restore, token`: what they change and what they say."""

import json

import pytest
from judging_world import START, TASKS, fill

from interplay.cli.options import DEFAULT_DATA, place_options
from interplay.store import entrants as store
from interplay.store.tokens import token_row


def test_agents_are_listed_with_where_they_stand(judge, archive):
    assert "No agents yet" in judge("list-agents")[1]
    fill(archive, tasks=TASKS[:2])
    with archive.database.write() as session:
        store.propose(session, name="red", task=TASKS[0], kind="PPO", description="", proposed_by="team", now=START)
    status, text, _ = judge("list-agents", "--task", TASKS[0])
    assert status == 0
    assert [line.split() for line in text.splitlines()[1:]][-1] == ["red", TASKS[0], "PPO", "waiting", "0", "team"]
    rows = json.loads(judge("list-agents", "--json")[1])
    assert [(row["agent"], row["state"]) for row in rows if row["task"] == TASKS[1]] == [
        ("ada", "approved"),
        ("bob", "approved"),
        ("cyd", "approved"),
    ]
    assert rows[0]["num_episodes"] == 3


def test_an_agent_is_declined_approved_withdrawn_and_restored(judge, archive):
    with archive.database.write() as session:
        store.propose(session, name="red", task=TASKS[0], kind="PPO", description="", proposed_by="team", now=START)
    assert "red is declined in 1 task." in judge("decline", "red", "--reason", "Too dark.")[1]
    document = json.loads(judge("approve", "red", "--json")[1])
    assert document == {"agent": "red", "changed": 1, "states": {TASKS[0]: "approved"}}
    assert "withdrawn" in judge("withdraw", "red", "--task", TASKS[0])[1]
    assert "approved" in judge("restore", "red")[1]
    assert "Nothing to change for red." in judge("restore", "red")[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("withdraw", "adda"), "unknown agent 'adda'; did you mean 'ada'?"),
        (("withdraw", "ada", "--task", "atari/breakot"), "unknown task of this agent 'atari/breakot'; did you mean"),
        (("decline", "ada", "--reason", " "), "declining needs a reason"),
        (("token", "create", "team", "--scope", "all"), "there is no scope 'all'\nChoose one:  --scope agents|judge|read"),
        (("token", "create", "participant-1", "--scope", "judge"), "a token cannot be named 'participant-1'"),
        (("token", "revoke", "team"), "unknown token 'team'"),
    ],
)
def test_mistakes_are_named_with_the_remedy(judge, archive, arguments, says):
    fill(archive)
    status, _, errors = judge(*arguments)
    assert status == 2
    assert says in errors


def test_a_token_is_shown_once(judge, archive):
    document = json.loads(judge("token", "create", "team", "--scope", "agents", "--json")[1])
    with archive.database.read() as session:
        row = token_row(session, document["token"])
    assert row is not None
    assert (row.name, row.scope) == ("team", "agents")
    listed = judge("token", "list")[1]
    assert "team" in listed
    assert document["token"] not in listed
    assert "opens nothing any more" in judge("token", "revoke", "team")[1]
    assert "was revoked before" in judge("token", "revoke", "team")[1]
    assert json.loads(judge("token", "list", "--json")[1])[0]["revoked_at"] is not None


def test_hints_look_in_the_same_folder(judge, archive):
    place = f"--data {archive.root}"
    nobody = judge("list-agents")[1]
    assert f"interplay judge add-agent NAME FOLDER {place}, or interplay play TASK --agent AGENT {place}" in nobody
    assert f"interplay judge token create NAME {place}" in judge("token", "list")[1]
    assert f"interplay judge token revoke red {place}" in judge("token", "create", "red", "--scope", "judge")[1]
    assert f"interplay judge list-agents {place}" in judge("withdraw", "nobody")[2]
    assert f"interplay judge judges {place}" in judge("bans")[1]
    assert f"interplay judge judges {place}" in judge("unban")[2]
    assert f"interplay judge calibrate --name mine {place}" in judge("by-model", "--name", "mine")[2]


def test_a_hint_names_a_folder_with_a_space_so_that_it_can_be_pasted_and_hides_the_databases_password(tmp_path):
    assert place_options(tmp_path / "my data", None) == f" --data '{tmp_path}/my data'"
    assert place_options(DEFAULT_DATA, "postgresql://ada:secret@db/x") == " --database ADDRESS"
    assert place_options(DEFAULT_DATA, None) == ""
