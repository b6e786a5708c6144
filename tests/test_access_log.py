"""The log of requests: addresses as they came, without the tokens in them."""

import logging
import threading
import time

import httpx
import uvicorn

from interplay.cli.serve import hide_secrets


async def hello(scope, receive, send):
    """An application that says nothing."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_the_tokens_of_participants_and_teachers_are_never_logged(caplog):
    server = uvicorn.Server(uvicorn.Config(hello, port=0, log_config=None, log_level="info", lifespan="off"))
    log = logging.getLogger("uvicorn.access")
    log.addFilter(hide_secrets)
    thread = threading.Thread(target=server.run, daemon=True)
    try:
        with caplog.at_level(logging.INFO, "uvicorn.access"):
            thread.start()
            while not server.started:
                time.sleep(0.01)
            address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
            httpx.get(f"{address}/studies/basalt/next?enrolment=SECRET.abc_1-2&page=3")
            httpx.get(f"{address}/operator?next=/judge%3Fenrolment%3DSECRET")
            httpx.get(f"{address}/classes/QX7?key=SECRET")
    finally:
        server.should_exit = True
        thread.join(timeout=60)
        log.removeFilter(hide_secrets)
    assert "/studies/basalt/next?enrolment=...&page=3" in caplog.text
    assert "/classes/QX7?key=..." in caplog.text
    assert "SECRET" not in caplog.text
