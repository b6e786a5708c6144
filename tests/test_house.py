"""The house stands: imports run one way, heavy packages stay out of the way, nothing dangerous is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "interplay"

MAY_USE = {
    "errors": set(),
    "files": set(),
    "tables": {"errors"},
    "parallel": set(),
    "tasks": {"errors", "tables"},
    "rank": {"errors"},
    "world": {"errors"},
    "store": {"errors"},
    "envs": {"errors", "tasks", "world"},
    "record": {"errors", "files", "tasks", "envs", "store"},
    "agents": {"errors", "files", "parallel", "tasks", "envs", "store", "record", "world"},
    "play": {"errors", "parallel", "tasks", "envs", "store", "record", "agents"},
    "learn": {"errors", "files", "tasks", "envs", "store", "record", "agents"},
    "judge": {"errors", "files", "tables", "tasks", "store", "record", "rank"},
    "study": {"errors", "tables", "tasks", "store"},
    "report": {"errors", "tasks", "envs", "store", "record", "agents", "learn", "judge", "rank", "study"},
    "web": {
        "errors",
        "files",
        "parallel",
        "tables",
        "tasks",
        "envs",
        "store",
        "record",
        "agents",
        "play",
        "judge",
        "rank",
        "study",
    },
    "demo": {"errors", "tasks", "envs", "store", "record", "agents", "play", "learn", "judge", "rank"},
    "cli": {"errors", "parallel", "tasks", "envs", "store", "record", "agents", "play", "learn", "judge", "rank", "report"}
    | {"study", "web", "demo"},
    "__main__": {"cli"},
}
"""Room -> the rooms it may import (the story of the data, read from left to right)."""


def room_of(path: Path) -> str:
    """The room a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(tree: ast.AST) -> set[str]:
    """Rooms of the package that a module imports, wherever in the module."""
    rooms = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("interplay.")}
    return {room for room in rooms if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").exists()}


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    room = room_of(path)
    if room == "__init__":
        return
    assert room in MAY_USE, f"the room {room!r} is not in the plan of the house; say here what it may import"
    strangers = imported_rooms(ast.parse(path.read_text())) - MAY_USE[room] - {room}
    assert not strangers, f"{path.relative_to(ROOT)} imports {sorted(strangers)}; {room} may use {sorted(MAY_USE[room])}"


def test_the_import_test_sees_every_form_of_import():
    text = "import interplay.web.app\nfrom interplay import judge\nfrom interplay.rank import x\n"
    text += "def f():\n    from interplay.learn.bc import y"
    assert imported_rooms(ast.parse(text)) == {"web", "judge", "rank", "learn"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_uses_pickle_or_eval(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.split(".")[0] for alias in node.names} | {(getattr(node, "module", "") or "").split(".")[0]}
            assert not names & {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec"}


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import interplay.cli", ["numpy", "pyarrow", "sqlalchemy", "torch", "fastapi", "gymnasium"]),
        (
            "import interplay.record, interplay.judge, interplay.web.app, interplay.play",
            ["torch", "matplotlib", "scipy", "cv2", "av"],
        ),
    ],
)
def test_heavy_packages_are_imported_only_where_they_are_used(statement, unwanted):
    code = f"{statement}\nimport sys\nprint([name for name in {unwanted!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "[]"


def test_every_module_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
