"""The tables with which browsers draw a world: kept under a name that says what they hold, served for ever."""

import hashlib

from fastapi.testclient import TestClient

from interplay.play import tables
from interplay.web.app import create_app


def test_tables_are_served_under_their_own_name_and_may_be_kept(archive):
    name = tables.keep(archive.root, b"the tables")
    assert name == hashlib.sha256(b"the tables").hexdigest()[:16]
    assert tables.keep(archive.root, b"the tables") == name
    client = TestClient(create_app(archive))
    answer = client.get(tables.address(name))
    assert answer.status_code == 200
    assert answer.content == b"the tables"
    assert answer.headers["ETag"] == f'"{name}"'
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Type"] == "application/octet-stream"


def test_another_name_says_to_load_the_page_again(archive):
    (archive.root / "media" / "scene").mkdir(parents=True)
    (archive.root / "media" / "scene" / "secret.bin").write_bytes(b"no tables")
    client = TestClient(create_app(archive))
    for name in ("0" * 16, "secret", "..%2f..%2foperator.token", "0" * 300):
        answer = client.get(f"/api/scene/tables/{name}.bin")
        assert answer.status_code == 404, name
    assert "load the page again" in client.get(tables.address("0" * 16)).json()["message"]
