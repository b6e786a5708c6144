"""The page in a real Chromium: light, dark, and as wide as a phone."""

import pytest

from interplay.report import bedd_report
from interplay.report.bedd.demonstrations import Effort
from interplay.report.write import html


@pytest.fixture(scope="module")
def address(answers, forms, tmp_path_factory):
    efforts = [Effort("FindCave", 900 + 50 * place, place, 700 + place, True) for place in range(9)]
    report = bedd_report(answers[:500], forms, efforts=efforts, effort_source="trial files")
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(report), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)])
def test_the_page_is_readable(chromium, address, picture, scheme, width):
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("requestfailed", lambda request: faults.append(request.url))
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "wide tables scroll inside their card"
    ink, paper = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
    assert (brightness(ink) > 400, brightness(paper) < 200) == ((True, True) if scheme == "dark" else (False, False))
    label = page.locator("#figure-timing svg text").first
    assert label.evaluate("element => getComputedStyle(element).fill") == ink
    assert label.evaluate("element => element.getBoundingClientRect().height") >= 8, "labels stay legible"
    last = page.locator("nav a").last if width > 640 else page.locator("nav > details > ol > li > a").last
    last.click()
    assert page.locator("#inconsistencies").evaluate("element => element.getBoundingClientRect().top") < 900
    page.evaluate("window.scrollTo(0, 0)")
    picture(page, f"report-{scheme}-{width}")
    assert faults == []
    page.close()


def brightness(colour: str) -> int:
    """Sum of the channels of `rgb(r, g, b)`."""
    return sum(int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))
