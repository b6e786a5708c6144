"""Videos over HTTP: every part of one is what the file holds there, small or large."""

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from interplay.web.videos import AT_ONCE_BYTES, video_response

SIZE = 3 * AT_ONCE_BYTES + 17
CONTENT = bytes(number * number % 251 for number in range(SIZE))
OWN = {"ETag": '"mine"', "Last-Modified": "Sun, 01 Mar 2026 12:00:00 GMT", "Cache-Control": "private, max-age=60"}


@pytest.fixture
def client(tmp_path):
    path = tmp_path / "seen.mp4"
    path.write_bytes(CONTENT)
    app = FastAPI()

    @app.api_route("/video", methods=["GET", "HEAD"])
    def video(request: Request):
        return video_response(request, path, OWN)

    return TestClient(app)


def fetched(client, wanted: str, method: str = "GET", **headers: str):
    return client.request(method, "/video", headers={"Range": wanted} | headers)


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=10-99", 10, 99),
        (f"bytes=7-{AT_ONCE_BYTES + 6}", 7, AT_ONCE_BYTES + 6),  # as much as is read at once
        (f"bytes=7-{AT_ONCE_BYTES + 7}", 7, AT_ONCE_BYTES + 7),  # and more
        ("bytes=0-", 0, SIZE - 1),
        (f"bytes={SIZE - 5}-", SIZE - 5, SIZE - 1),
        (f"bytes={SIZE - 5}-{SIZE + 10**9}", SIZE - 5, SIZE - 1),
        ("bytes=-5", SIZE - 5, SIZE - 1),
    ],
)
def test_a_part_is_what_the_file_holds_there_whichever_way_it_goes(client, wanted, first, last):
    answer = fetched(client, wanted)
    assert answer.status_code == 206
    assert answer.content == CONTENT[first : last + 1]
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{SIZE}"
    assert int(answer.headers["content-length"]) == last - first + 1
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["accept-ranges"] == "bytes"
    assert {name: answer.headers[name] for name in OWN} == OWN


@pytest.mark.parametrize(
    ("wanted", "status"),
    [(f"bytes={SIZE}-", 416), (f"bytes={10**17}-{10**17 + 5}", 416), ("bytes=9-3", 400), ("bytes=x-", 400), ("lines=1-2", 400)],
)
def test_a_part_that_is_not_there_is_refused(client, wanted, status):
    assert fetched(client, wanted).status_code == status


def test_whole_videos_heads_and_parts_of_another_version(client):
    assert client.get("/video").content == CONTENT
    head = client.head("/video")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(SIZE))
    assert fetched(client, "bytes=2-5", **{"If-Range": '"mine"'}).content == CONTENT[2:6]
    assert fetched(client, "bytes=2-5", **{"If-Range": '"yours"'}).content == CONTENT
    part = fetched(client, "bytes=2-5", "HEAD")
    assert (part.status_code, part.content, part.headers["content-length"]) == (206, b"", "4")
