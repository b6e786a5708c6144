"""Documentation runs: Python blocks and `$ interplay` commands of every page are executed, links lead somewhere.

A block marked ```console no-run is shown, not run (it would serve for ever or take minutes).
"""

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from warm_process import READY, TO_EVALUATE, TO_LEARN, WarmProcess

import interplay.errors
from interplay.errors import install_line

LIMIT_S = 180
ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LEARNS = re.compile(r"interplay[ .]learn")
_EVALUATES = re.compile(r"^\$ interplay explore (run|make) ", re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The runnable blocks of a page in one language."""
    found = _BLOCK.findall(page.read_text())
    return [body for kind, options, body in found if kind == language and "no-run" not in options]


def runnable(page: Path) -> list[tuple[str, str]]:
    """All runnable blocks of a page in order, as (language, body)."""
    found = _BLOCK.findall(page.read_text())
    return [(kind, body) for kind, options, body in found if kind in ("python", "console") and "no-run" not in options]


def not_imported(code: str) -> set[str]:
    """Modules of ours that a text names with dots and does not import. Its process has loaded them, a reader's has not."""
    tree = ast.parse(code)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {name for name in named if name.startswith("interplay.") and is_module(name)}
    return {name for name in modules if not any(f"{one}.".startswith(f"{name}.") for one in imported)}


def is_module(name: str) -> bool:
    """Whether it is a module of ours, and not a function that its room offers under the same name."""
    room, _, last = name.rpartition(".")
    path = ROOT.joinpath(*name.split("."))
    is_file = path.is_dir() or path.with_suffix(".py").exists()
    return is_file and not callable(getattr(importlib.import_module(room), last, None))


def test_a_module_that_was_not_imported_is_found():
    code = "import interplay.envs.make\nimport numpy.random\ninterplay.record.open('x').close()\n"
    code += "interplay.envs.make('x')\ninterplay.envs.backends.load_compiled()"
    assert not_imported(code) == {"interplay.record", "interplay.envs.backends"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a command in a folder, in a process of its own that has loaded what the text asks for that it is in; its status and
    what it said."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", COLUMNS="100")
    outputs = tmp_path_factory.mktemp("outputs")

    def run(command: list[str], folder: Path, text: str) -> tuple[int, str]:
        program, *words = command
        arguments, loaded = words if program == "python" else ["-m", "interplay.cli", *words], READY
        if _LEARNS.search(text):
            loaded = *loaded, *TO_LEARN
        elif program != "python" and _EVALUATES.search(text):
            loaded = *loaded, *TO_EVALUATE
        said = outputs / "said"
        said.unlink(missing_ok=True)
        process = WarmProcess(arguments, stdout=said, stderr=said, env=environment, cwd=folder, loaded=loaded)
        try:
            return process.wait(LIMIT_S), said.read_text(errors="replace")
        finally:
            process.kill()

    return run


@pytest.mark.documentation
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, run, tmp_path):
    text = "".join(body for _, body in runnable(page))
    for language, body in runnable(page):
        if language == "python":
            assert not not_imported(body), f"{page.name}: import these where they are used"
            commands = [["python", "-c", body]]
        else:
            lines = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            assert {line.split()[0] for line in lines} == {"interplay"}, (
                f"{page.name}: a console block shows commands as '$ interplay ...'"
            )
            commands = [shlex.split(line, comments=True) for line in lines]
        for command in commands:
            status, said = run(command, tmp_path, text)
            assert status == 0, f"{page.name}: {' '.join(command)[:300]}\n{said}"


def test_the_command_is_installed_beside_its_python():
    result = subprocess.run(
        [Path(sys.executable).parent / "interplay", "--version"], capture_output=True, text=True, timeout=180
    )
    assert (result.returncode, result.stdout.split()[0]) == (0, "interplay")


def test_links_lead_to_files_that_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_pages_that_the_package_names_exist():
    named = {name for path in (ROOT / "interplay").rglob("*.py") for name in re.findall(r"\bdocs/[\w-]+\.md", path.read_text())}
    assert len(named) > 10
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def defined_by(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [getattr(node, "name", ""), *(target.id for target in targets if isinstance(target, ast.Name))]


def test_what_contributing_names_is_where_it_says():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`([\w.]+)` in \[[^]]+\]\(([^)]+\.py)\)", page)
    assert len(named) >= 5
    for name, file in named:
        tree: ast.AST = ast.parse((ROOT / file).read_text())
        for part in name.split("."):
            inside = [node for node in ast.iter_child_nodes(tree) if part in defined_by(node)]
            assert inside, f"CONTRIBUTING.md looks for {name} in {file}"
            tree = inside[0]


@pytest.mark.documentation
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_every_example_runs(example, run, tmp_path):
    assert not not_imported(example.read_text())
    status, said = run(["python", str(example)], tmp_path, example.read_text())
    assert status == 0, said


def test_examples_in_docstrings_hold():
    import doctest
    import inspect
    import pkgutil

    import interplay

    tried = 0
    for module in pkgutil.walk_packages(interplay.__path__, "interplay."):
        if module.name.endswith("__main__"):
            continue
        loaded = importlib.import_module(module.name)
        if ">>>" not in inspect.getsource(loaded):  # to look through the names of all others takes seconds
            continue
        result = doctest.testmod(loaded)
        assert result.failed == 0, module.name
        tried += result.attempted
    assert tried > 0


def test_the_line_that_installs_an_extra_is_written_in_one_place():
    files = [path for path in (ROOT / "interplay").rglob("*") if path.suffix in (".py", ".html", ".js", ".toml")]
    assert [path.name for path in files if re.search(r"install ['\"]interplay\[", path.read_text())] == ["errors.py"]
    assert install_line("explore") == "pip install -e '.[explore]'"


def test_without_a_checkout_that_line_names_the_package(monkeypatch):
    monkeypatch.setattr(interplay.errors, "__file__", "/usr/lib/python3/dist-packages/interplay/errors.py")
    assert install_line("explore") == "pip install 'interplay[explore]'"
