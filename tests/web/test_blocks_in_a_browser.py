"""The block world in a real Chromium, by key and mouse alone: a cave is found, and a pickaxe is made."""

import json
import time

import httpx
import pytest
from block_player import Hands, Shadow, deep_inside, next_leg, with_small_pictures
from test_pages_in_a_browser import LOOKS, check_that_all_controls_are_on_the_screen, locks_pointer, look, page  # noqa: F401 (fixtures)
from web_server import serving

import interplay.record
from interplay.envs import make
from interplay.envs.minerl_actions import KEYS
from interplay.play.connections.tokens import operator_token
from interplay.record import Archive, Episode
from interplay.tasks import Task, builtin_suites, find, parse_suite

CAVE_SEED = 57
"""A land whose nearest cave lies 30 blocks away in a hillside; one has to turn and to jump on the way."""
FIRST_START_S = 300
"""A machine that has never run the block world compiles it first, which takes a minute."""

NO_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"/>'

CRAFT_SUITE = f"""
[suite]
id = "craft"
title = "Crafting"

[[task]]
name = "pickaxe"
title = "Make a pickaxe"
goal = "Make a wooden pickaxe."
instructions = "You carry three logs. Make planks, a crafting table, sticks and a pickaxe."
frame_rate_hz = 20
time_limit_s = 300
held_out_seeds = [1, 2]
env.id = "voxel:craft"
[task.env.options]
kind = "flat"
size = [160, 90]
commands = ["/give @p minecraft:oak_log 3"]
[task.keys]
compose = true
buttons = {json.dumps(KEYS)}
pointer = "camera"
[task.keys.bindings]
KeyW = "forward"
ShiftLeft = "sneak"
MouseLeft = "attack"
MouseRight = "use"
KeyE = "inventory"
Digit1 = "hotbar.1"
Digit2 = "hotbar.2"
Digit3 = "hotbar.3"
Enter = "ESC"
[[task.questions]]
id = "overall"
factor = "overall"
kind = "overall"
text = "Who made it better?"
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The server's data folder."""
    archive = interplay.record.open(tmp_path_factory.mktemp("blocks"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def server(archive, tmp_path_factory):
    """The address of a real `interplay serve` with the suite above on offer."""
    with serving(archive.root, tmp_path_factory.mktemp("serve-blocks"), {"craft": CRAFT_SUITE}) as address:
        yield address


@pytest.fixture
def sit_down(page, archive):  # noqa: F811
    """A function that starts a task with a known seed, by a click on the button, until the mouse is caught."""
    shadows: list[Shadow] = []

    def sit_down(task: Task, seed: int) -> Hands:
        grants: list[dict] = []

        def as_operator(route) -> None:
            """Let the page's own request for a seat name the seed."""
            wanted = route.request.post_data_json | {"seed": seed, "countdown_s": 1}
            headers = route.request.headers | {"authorization": f"Bearer {operator_token(archive.root)}"}
            answer = route.fetch(headers=headers, post_data=json.dumps(wanted))
            grants.append(answer.json())
            route.fulfill(response=answer)

        page.route("**/api/sessions", as_operator)
        # The server would draw a picture for the card, in a world of its own: seconds of a core that the game needs.
        page.route("**/picture.png", lambda route: route.fulfill(content_type="image/svg+xml", body=NO_PICTURE))
        page.set_viewport_size({"width": 700, "height": 600})  # few pixels
        page.goto(f"/play/{task.id}")
        page.locator("[data-start]:not([disabled])").wait_for()
        box = page.locator("[data-start]").bounding_box()
        at = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
        page.mouse.click(*at)
        shadow = Shadow(archive.root, task, seed)  # takes its time while the server does the same
        shadows.append(shadow)
        begun = page.locator("#player:is([data-state=playing], [data-state=paused], [data-state=failed])")
        begun.wait_for(timeout=FIRST_START_S * 1000)
        assert begun.get_attribute("data-state") == "playing", page.locator("[data-cover]").inner_text()
        shadow.follow(grants[0]["session"])
        hands = Hands(page, shadow, task, at)
        hands.catch_pointer()
        return hands

    yield sit_down
    for shadow in shadows:
        shadow.close()


def test_the_world_made_while_one_reads_is_there_at_start(page, archive, server):  # noqa: F811
    def workers() -> list[dict]:
        headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
        return httpx.get(f"{server}/api/play/statistics", headers=headers).json()["workers"]

    page.goto("/play/basalt/find_cave")
    for _ in range(FIRST_START_S * 4):  # while the instructions are read
        if ready := [worker["pid"] for worker in workers() if worker["ready_worlds"]]:
            break
        page.wait_for_timeout(250)
    begin = time.monotonic()
    page.locator("[data-start]:not([disabled])").press("Enter")
    page.locator("#player:is([data-state=countdown], [data-state=playing])").wait_for()
    took_s = time.monotonic() - begin
    assert took_s < 60.0  # a second or two, on a machine that has time
    (game,) = [worker for worker in workers() if worker["seats"]]
    assert game["alone"]
    assert [game["pid"]] == ready
    page.locator("#player[data-state=playing]").wait_for()
    page.keyboard.press("Escape")
    page.locator("[data-ask-yes]").click()
    episode = ended(page, archive)
    assert episode.seed not in episode.task.held_out_seeds
    assert interplay.record.verify(episode).equal
    assert [worker["pid"] for worker in workers() if worker["alone"]] == [game["pid"]], "it waits for the next game"
    print(f"countdown {took_s:.2f} s after Start")


def test_on_a_phone_every_control_of_the_block_world_is_on_the_screen(chromium, server, archive, picture):
    context = chromium.new_context(base_url=server, **LOOKS["phone"])
    phone = context.new_page()
    phone.set_default_timeout(60_000)
    phone.goto("/play/basalt/find_cave")
    phone.locator("[data-start]:not([disabled])").tap()
    phone.locator("#player[data-state=playing]").wait_for(timeout=FIRST_START_S * 1000)
    check_that_all_controls_are_on_the_screen(phone)
    assert phone.locator(".slots [data-button]").count() == 9
    assert phone.locator(".actions [data-button]").count() == 3
    phone.locator("[data-act=more]").tap()
    check_that_all_controls_are_on_the_screen(phone)
    picture(phone, "blocks-phone", full_page=False)
    phone.locator(".more [data-act=end]").tap()
    phone.locator("[data-end-yes]").tap()
    assert ended(phone, archive).outcome == "terminated"
    context.close()


def say_done(page, hands: Hands) -> None:  # noqa: F811
    """End the task: the key asks, and the same key confirms."""
    hands.tap("ESC")
    page.locator("[data-end-yes]").wait_for()
    page.keyboard.press("Enter")


def is_playing(page) -> bool:  # noqa: F811
    """Whether the game runs, and nothing is asked."""
    return page.locator("#player").get_attribute("data-state") == "playing" and not page.locator("dialog[open]").count()


def ended(page, archive: Archive) -> Episode:  # noqa: F811
    """The episode, once its page says that it is sealed."""
    page.locator("[data-end-title]").wait_for()
    return archive.get(page.locator("[data-end-link]").get_attribute("href").rsplit("/", 1)[-1])


@locks_pointer
def test_a_cave_is_found_by_keyboard_and_mouse(page, archive, sit_down):  # noqa: F811
    hands = sit_down(find("basalt/find_cave", builtin_suites()), CAVE_SEED)
    world = hands.shadow.world
    for _ in range(40):
        with hands.pausing():
            if deep_inside(world):
                break
            leg = next_leg(world)
        assert leg is not None, f"no way into a cave from {world.player.x}, {world.player.y}, {world.player.z}"
        hands.look(leg.yaw, 8.0)
        hands.press(*leg.buttons, steps=leg.steps)
        hands.wait(lambda: world.player.on_ground and abs(world.player.vx) + abs(world.player.vz) < 0.01, "standing still")
    assert deep_inside(world)
    hands.look(world.player.yaw + 150.0, -5.0)  # back to where one came from
    page.shoot("blocks-cave")
    say_done(page, hands)
    episode = ended(page, archive)
    said = episode.statistics
    assert (said["automatic_inside_cave"], said["automatic_success"]) == (1, 1)
    assert episode.actor_kind == "human"
    actions = list(episode.actions())
    assert sum(int(action["forward"]) for action in actions) > 80
    assert any(action["jump"] for action in actions)
    assert sum(abs(float(action["camera"][1])) for action in actions) > 90.0  # no key was pressed that turns
    verdict = interplay.record.verify(episode)
    assert verdict.equal, verdict
    assert verdict.replayed


@locks_pointer
def test_planks_a_table_and_a_pickaxe_are_made_with_the_mouse(page, archive, sit_down):  # noqa: F811
    task = parse_suite(CRAFT_SUITE).tasks[0]
    hands = sit_down(task, 5)
    world, me = hands.shadow.world, hands.shadow.world.player

    hands.press("inventory")
    hands.take("oak_log")
    hands.click("craft", 0)
    hands.click("result", quick=True)  # all that three logs give
    hands.take("oak_planks")
    for place in range(4):
        hands.click("craft", place, right=True)
    hands.lay_down("oak_planks", 8)
    hands.click("result")
    hands.click("player", 1)
    page.keyboard.press("Escape")  # as a key, while the pointer is locked
    hands.wait(lambda: world.screen is None, "Escape closes the inventory")
    assert is_playing(page)
    assert page.evaluate("document.pointerLockElement !== null")

    hands.press("hotbar.2")
    assert me.in_hand is not None
    assert me.in_hand.item == "crafting_table"
    hands.look(me.yaw + 20.0, 45.0)
    hands.press("use")
    assert me.in_hand is None
    hands.press("use")
    assert world.screen is not None
    assert world.screen.kind == "crafting_table"

    hands.take("oak_planks")
    hands.click("craft", 1, right=True)
    hands.click("craft", 4, right=True)
    hands.lay_down("oak_planks", 6)
    hands.click("result", quick=True)
    hands.take("oak_planks")
    for place in range(3):
        hands.click("craft", place, right=True)
    hands.lay_down("oak_planks", 3)
    hands.take("stick")
    hands.click("craft", 4, right=True)
    hands.click("craft", 7, right=True)
    page.shoot("blocks-table")
    hands.lay_down("stick", 2)
    hands.click("result")
    hands.click("player", 2)
    # As browsers have it: they release the pointer, and the key may come after that.
    page.evaluate("document.exitPointerLock()")
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', { code: 'Escape', bubbles: true }))")
    hands.wait(lambda: world.screen is None, "Escape closes the table")
    assert is_playing(page)
    assert page.locator("[data-hint]").inner_text() == "Click to look with the mouse"
    hands.catch_pointer()
    hands.press("hotbar.3")
    assert me.in_hand is not None
    assert me.in_hand.item == "wooden_pickaxe"
    page.shoot("blocks-pickaxe")
    say_done(page, hands)

    episode = ended(page, archive)
    env = make(with_small_pictures(episode.task))
    _, info = env.reset(seed=episode.seed)
    for action in episode.actions():
        info = env.step({"player": action})[-1]
    env.close()
    assert info["counts"]["crafted"] == {"oak_planks": 12, "crafting_table": 1, "stick": 4, "wooden_pickaxe": 1}
    assert info["inventory"] == {"oak_planks": 3, "stick": 2, "wooden_pickaxe": 1}
    assert interplay.record.verify(episode).equal
