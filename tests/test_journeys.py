"""`make test` proves every feature of the README by a journey, and `make test-all` runs every test that it leaves out."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def features() -> list[str]:
    """What the table of the README says works now, a text for each that stands between semicolons."""
    table = (ROOT / "README.md").read_text().partition("| | works now | not yet |\n")[2].partition("\n\n")[0]
    cells = [row.split(" | ")[1] for row in table.splitlines()[1:]]
    return [re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", one) for cell in cells for one in cell.split("; ")]


def journeys() -> set[str]:
    """The words of all marks `journey`."""
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    return {words for text in texts for words in re.findall(r'\bjourney\w*\(\s*"([^"]+)"', text)}


def test_every_feature_of_the_readme_has_a_journey():
    assert len(features()) > 20
    assert [one for one in features() if not any(words in one for words in journeys())] == []


def test_every_journey_names_a_feature_of_the_readme():
    assert [words for words in journeys() if sum(words in one for one in features()) != 1] == []


def test_what_make_test_leaves_out_is_what_make_test_all_runs():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    marks = [re.match(r"\w+", line)[0] for line in settings["markers"]]
    makefile = (ROOT / "Makefile").read_text()
    assert set(re.search(r"^LEFT_OUT := (.*)$", makefile, re.MULTILINE)[1].split(" or ")) == set(marks) - {"journey"}
    assert re.findall(r'-m "(.*journey.*)"', makefile) == ["journey or not ($(LEFT_OUT))", "not journey and ($(LEFT_OUT))"]
