"""A player's page and a server that is killed: the game goes on in the same page, from the recorded step."""

import signal
from pathlib import Path

import pytest
from test_pages_in_a_browser import until
from warm_process import WarmProcess

import interplay.record
from interplay.play.connections.sockets import listen

FIRST_START_S = 150


class Server:
    """A real `interplay serve` that can be killed, and started again at the same address."""

    def __init__(self, data: Path) -> None:
        self.data = data
        with listen("127.0.0.1", 0) as listener:
            self.port = listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = ["-m", "interplay.cli", "serve", "--port", str(self.port), "--workers", "1", "--empty"]
        self.process = WarmProcess([*command, "--data", str(self.data)])
        assert "http" in self.process.stdout.readline()

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.wait(120)
        self.process.stdout.close()


@pytest.fixture
def killable(tmp_path):
    """The server of this module's pages."""
    server = Server(tmp_path)
    server.start()
    yield server
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(120)
    server.process.stdout.close()


@pytest.fixture
def page(chromium, killable):
    """A page whose scripts meet no error; that a connection failed the browser says by itself."""
    context = chromium.new_context(base_url=killable.address, viewport={"width": 1240, "height": 860})
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.mark.parametrize(
    ("task", "number"),
    [
        ("atari/space_invaders", signal.SIGKILL),
        ("atari/space_invaders", signal.SIGTERM),
        pytest.param(
            "basalt/find_cave", signal.SIGKILL, marks=pytest.mark.journey("the block world, any Gymnasium environment")
        ),
    ],
)
def test_the_same_page_goes_on_from_the_recorded_step_after_the_server_has_gone(page, killable, task, number):
    player = page.locator("#player")

    def step() -> int:
        return int(player.get_attribute("data-step") or 0)

    def play_until(wanted: int) -> None:
        until(page, f"Number(document.querySelector('#player').dataset.step) >= {wanted}", within_s=60)

    page.goto(f"/play/{task}")
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
    play_until(50)
    killable.end(number)
    page.get_by_text("Connecting again").first.wait_for()
    seen = step()
    killable.start()
    page.get_by_text("The server was restarted").first.wait_for(timeout=60_000)
    words = page.locator("[data-cover] p").inner_text()
    assert words.startswith("Your game continues from step ")
    recorded = int(words.removeprefix("Your game continues from step ").removesuffix("."))
    rate = 20 if task.startswith("basalt") else 60
    assert recorded > 0
    lost = rate if number == signal.SIGKILL else 0
    assert recorded >= seen - lost, "how much more there is depends on what the page painted"
    assert player.get_attribute("data-state") == "paused"
    page.get_by_role("button", name="Resume", exact=True).press("p")  # any key resumes, also while a button has the focus
    page.locator("#player[data-state=playing]").wait_for()
    play_until(recorded + 30)
    page.locator("[data-finish]").click()
    page.locator("[data-ask-yes]").click()
    page.locator("[data-end-title]").wait_for(timeout=60_000)
    archive = interplay.record.open(killable.data)
    episode = archive.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])
    archive.close()
    assert episode.num_steps >= recorded + 30
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
