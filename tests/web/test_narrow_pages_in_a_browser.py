"""Pages of agents, of moderation and of the API on a phone and on a desk: nothing in their tables is cut off."""

from __future__ import annotations

import re

import pytest
from board_world import NAMES, fill
from web_server import serving

import interplay.record
from interplay.play.connections.tokens import operator_token

TASKS = ["basalt/find_cave", "basalt/make_waterfall", "basalt/create_village_animal_pen", "basalt/build_village_house"]
LONG = [f"behaviour-cloning-from-demonstrations-v{number}" for number in (1, 2)]
CUT = """() => [...document.querySelectorAll('.card :is(td, th, .chip, button, input)')]
  .filter((one) => {
    const box = one.getBoundingClientRect(), card = one.closest('.card').getBoundingClientRect();
    const isOut = box.right > card.right + 1 || box.left < card.left - 1;
    return box.width && (isOut || (one.matches('td, th') && one.scrollWidth > one.clientWidth + 1));
  })
  .map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server whose log has many answers of many judges."""
    archive = interplay.record.open(tmp_path_factory.mktemp("narrow"))
    fill(archive, tasks=TASKS, agents=(*NAMES, *LONG), num_answers=3000)
    token = operator_token(archive.root)
    archive.close()
    with serving(archive.root, tmp_path_factory.mktemp("serve-narrow"), {}) as served:
        yield served, token


@pytest.mark.parametrize("width", [375, 620, 800, 970, 1000, 1030, 1280])
def test_nothing_in_a_table_is_cut_off(address, chromium, picture, width):
    served, token = address
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    context.request.post(f"{served}/operator", form={"token": token}, headers={"Origin": served})
    try:
        for path in ("/leaderboard", "/moderation", "/agents", "/agents/yamato.kataoka", f"/agents/{LONG[0]}", "/api/docs"):
            page.goto(served + path)
            assert page.url == served + path
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            picture(page, f"narrow-{path.strip('/').replace('/', '-')}-{width}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate(CUT) == [], path
            assert page.locator("td:visible").count() > 3, path
    finally:
        context.close()


@pytest.mark.parametrize("width", [375, 1280])
def test_long_names_stand_below_the_plot_in_full(address, chromium, width):
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    try:
        page.goto(f"{address[0]}/leaderboard")
        page.locator(".history svg.chart").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        room = page.locator(".history").bounding_box()
        for name in (*LONG, "BC-Baseline", "GoUp"):
            label = page.locator(".history .legend li").filter(has_text=re.compile(f"^{name}$"))
            box = label.bounding_box()
            assert room["x"] <= box["x"]
            assert box["x"] + box["width"] <= room["x"] + room["width"], name
            assert label.evaluate("one => one.scrollWidth <= one.clientWidth"), name
        chart, legend = (page.locator(f".history {part}").bounding_box() for part in ("svg.chart", ".legend"))
        assert room["x"] <= chart["x"]
        assert chart["x"] + chart["width"] <= room["x"] + room["width"]
        assert room["y"] < chart["y"]
        assert chart["y"] + chart["height"] <= legend["y"]
    finally:
        context.close()


def test_the_letters_of_a_wide_graph_can_be_read_on_a_phone(address, chromium, picture):
    served, token = address
    context = chromium.new_context(viewport={"width": 360, "height": 800})
    page = context.new_page()
    context.request.post(f"{served}/operator", form={"token": token}, headers={"Origin": served})
    try:
        page.goto(f"{served}/explore/tasks/hard_0004")
        picture(page, "narrow-graph-360")
        shrunk = page.locator(".graph").evaluate("(one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width")
        assert 13 * shrunk > 9.5
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, "it scrolls inside its box"
    finally:
        context.close()
