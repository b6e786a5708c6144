"""The page of the command line says what the commands say."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_page_of_the_command_line_is_current():
    tool = runpy.run_path(str(ROOT / "tools" / "command_line_page.py"))
    assert tool["PAGE"].read_text() == tool["page"](), "make it anew:  python tools/command_line_page.py"


def test_the_page_of_the_command_line_shows_arguments_choices_and_defaults():
    page = (ROOT / "docs" / "command-line.md").read_text()
    assert "`interplay judge add-agent NAME DIR`" in page
    assert "| `--port N` | Port; 0 takes any free one. Default: `8000`. |" in page
    assert "### interplay tasks show\n\n`interplay tasks show TASK`" in page
