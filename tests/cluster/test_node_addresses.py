"""Addresses of one server of a cluster, through the in-process client."""

import warnings
from contextlib import closing
from itertools import product

import pytest

import interplay.record
from interplay.play.limits import PlayError
from interplay.play.server import PlayServer
from interplay.web.app import create_app
from interplay.web.http.security import Hosts

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient, WebSocketDenialResponse
    from starlette.websockets import WebSocketDisconnect

SECRET = b"x" * 32


@pytest.fixture
def client(here):
    """Server `a` of a cluster."""
    play = PlayServer(here, secret=SECRET, node="a", num_workers=1)
    return TestClient(create_app(here, play=play, hosts=Hosts.of("127.0.0.1", ["testserver"])))


def test_an_address_with_the_name_of_the_server_is_the_address_without_it(client):
    for path in ("/healthz", "/play/atari/breakout", "/static/js/connection.js", "/api/openapi.json", "/nowhere"):
        plain, named = client.get(path), client.get(f"/n/a{path}")
        assert (named.status_code, named.headers.get("etag")) == (plain.status_code, plain.headers.get("etag")), path
        assert len(named.content) == len(plain.content), path
    assert client.get("/n/a/static/js/connection.js").status_code == 200
    with client.websocket_connect("/n/a/api/play", subprotocols=["interplay.v1"]) as socket:
        socket.send_json({"type": "hello", "token": "another"})
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
    assert (closed.value.code, "not signed by this server" in closed.value.reason) == (4401, True)


def test_an_address_of_another_server_is_refused_and_only_a_name_is_repeated(client):
    refused = client.get("/n/b/healthz")
    assert (refused.status_code, refused.json()["error"]) == (421, "other_server")
    assert refused.json()["message"] == "this is the server a; the proxy must pass /n/b/ to the server b"
    assert refused.headers["x-content-type-options"] == "nosniff"
    for name in ("%3Cscript%3E", "b%0Ac", "b" * 61, ""):
        refused = client.get(f"/n/{name}/healthz")
        assert refused.status_code == 421
        assert refused.json()["message"] == "this is the server a, and no server has the name in this address"
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect("/n/b/api/play", subprotocols=["interplay.v1"]),
    ):
        pass
    assert type(closed.value) is WebSocketDisconnect, "closed before it is accepted, and no page is sent"


def test_host_and_origin_are_checked_at_addresses_of_one_server_too(client):
    evil = {"Host": "evil.example"}
    for node, path in product("ab", ("/healthz", "/api/sessions")):
        refused = client.get(f"/n/{node}{path}", headers=evil)
        assert (refused.status_code, "evil.example" in refused.text) == (421, True)
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/n/a/api/play", subprotocols=["interplay.v1"], headers=evil),
    ):
        pass
    assert denied.value.status_code == 421
    for node in "ab":
        answer = client.post(f"/n/{node}/api/sessions", json={}, headers={"Origin": "http://evil.example"})
        assert (answer.status_code, answer.json()["error"]) == (403, "cross_site")


def test_a_server_that_is_in_no_cluster_has_no_such_addresses(here, tmp_path):
    alone = PlayServer(here, secret=SECRET, num_workers=1)
    with closing(interplay.record.open(tmp_path / "file")) as archive:
        of_a_file = PlayServer(archive, secret=SECRET, node="a", num_workers=1)
        for play in (alone, of_a_file):
            client = TestClient(create_app(play.archive, play=play))
            assert [client.get(f"/n/{name}/healthz").status_code for name in (play.node, "b")] == [404, 404]


@pytest.mark.parametrize("name", ["", "a/b", "a b", "a\n", "ä", "a" * 61])
def test_a_name_that_cannot_be_in_an_address_is_refused(here, name):
    with pytest.raises(PlayError, match="letters, digits and hyphens, at most 60, got") as refused:
        PlayServer(here, secret=SECRET, node=name, num_workers=1)
    assert repr(name) in str(refused.value)
