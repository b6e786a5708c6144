"""Pages of agents, of moderation and of the API on a phone and on a desk: nothing in their tables is cut off."""

from __future__ import annotations

import pytest
from board_world import fill
from conftest import serving

import interplay.record
from interplay.play.tokens import operator_token

TASKS = ["basalt/find_cave", "basalt/make_waterfall", "basalt/create_village_animal_pen", "basalt/build_village_house"]
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
    fill(archive, tasks=TASKS, num_answers=3000)
    token = operator_token(archive.root)
    archive.close()
    with serving(archive.root, tmp_path_factory.mktemp("serve-narrow"), {}) as served:
        yield served, token


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_in_a_table_is_cut_off(address, chromium, screenshots, width):
    served, token = address
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    context.request.post(f"{served}/operator", form={"token": token}, headers={"Origin": served})
    try:
        for path in ("/moderation", "/agents", "/agents/yamato.kataoka", "/api/docs"):
            page.goto(served + path)
            assert page.url == served + path
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.screenshot(path=screenshots / f"narrow-{path.strip('/').replace('/', '-')}-{width}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate(CUT) == [], path
            assert page.locator("td:visible").count() > 3, path
    finally:
        context.close()
