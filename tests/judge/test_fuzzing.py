"""The judging API, attacked from its own description: whatever is sent, the answer is one the description promises."""

import re

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from judging_world import AT_ONCE, fill, form
from schemathesis.generation import GenerationMode
from starlette.testclient import TestClient

import interplay.record
from interplay.judge import Judging
from interplay.store import judging as store
from interplay.web.app import create_app

pytestmark = pytest.mark.fuzz

OPERATIONS = 9
"""Of the judging API: serve, show, video, heartbeat, release, answer, preview and its video."""
UNDESCRIBED = {405}
"""What the server itself says to methods nobody described."""


@pytest.fixture(scope="module")
def apps(new_postgres_url, tmp_path_factory):
    """The server on SQLite and on PostgreSQL."""
    archives = [interplay.record.open(tmp_path_factory.mktemp("fuzzing"), database=url) for url in (None, new_postgres_url())]
    for archive in archives:
        fill(archive, num_seeds=5)
    yield [create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0), rules=AT_ONCE)) for archive in archives]
    for archive in archives:
        archive.database.close()


@pytest.fixture(scope="module")
def clients(apps):
    return [TestClient(app, raise_server_exceptions=False) for app in apps]


@pytest.fixture(scope="module")
def judging_api(apps):
    config = schemathesis.Config.from_dict({"generation": {"mode": "all"}})
    return schemathesis.openapi.from_asgi("/api/openapi.json", apps[0], config=config).include(path_regex="^/api/judge/")


def test_all_of_the_judging_api_is_described(judging_api):
    operations = [result.ok() for result in judging_api.get_all_operations()]
    assert len(operations) == OPERATIONS
    for operation in operations:
        declared = set(operation.responses.status_codes)
        assert {"404", "422"} <= declared, operation.label
        if operation.method == "post":
            assert {"400", "401", "403", "409", "413", "415"} <= declared, operation.label


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("place", range(OPERATIONS))
def test_every_answer_is_one_the_description_promises(judging_api, clients, place, mode):
    operation = sorted((result.ok() for result in judging_api.get_all_operations()), key=lambda one: one.label)[place]
    declared = {int(code) for code in operation.responses.status_codes if code.isdigit()}

    @settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), is_real=st.booleans())
    def attack(case, is_real):
        for client in clients:  # to think of a request takes longer than to answer it: each goes to both
            send(case, client, is_real)

    def send(case, client, is_real):
        if is_real and "match" in case.path_parameters:  # about a match this judge really has
            case.path_parameters["match"] = client.post("/api/judge/matches", json={}).json()["match"]
        response = case.call(session=client)
        assert response.status_code < 500, response.text
        promised = declared | UNDESCRIBED
        assert response.status_code in promised, f"{case.method} {case.path}: {response.status_code} {response.text}"
        if response.status_code >= 400 and case.method != "HEAD" and response.status_code != 416:
            assert {"error", "message"} <= set(response.json())

    try:
        attack()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, f"{operation.label} has nothing that could be right"


@pytest.mark.parametrize("place", [0, 1], ids=["sqlite", "postgresql"])
def test_after_the_attack_judging_goes_on(apps, clients, place):
    match = clients[place].post("/api/judge/matches", json={}).json()
    answered = clients[place].post(f"/api/judge/matches/{match['match']}/answer", json=form(match["task"]))
    assert answered.status_code == 201
    with apps[place].state.services.archive.database.read() as session:
        for answer in store.answers(session):
            assert re.fullmatch(r"participant-\d+", answer.judge)
