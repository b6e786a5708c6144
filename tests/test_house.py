"""The house stands: imports run one way, heavy packages stay out of the way, nothing dangerous is used."""

import ast
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import import_rules
import pytest
from import_rules import parsed

import blockworld

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "interplay"
WORLD = Path(blockworld.__file__).parent

MAY_USE = {
    "errors": set(),
    "files": set(),
    "tables": {"errors"},
    "parallel": set(),
    "jobs": {"errors", "parallel"},
    "forking": set(),
    "logs": set(),
    "wording": set(),
    "statistics": {"errors"},
    "tasks": {"errors", "tables", "statistics"},
    "rank": {"errors", "tables"},
    "store": {"errors", "files"},
    "envs": {"errors", "tasks", "wording"},
    "record": {"errors", "files", "jobs", "tables", "statistics", "tasks", "envs", "store", "wording"},
    "agents": {"errors", "files", "jobs", "tasks", "envs", "store", "record"},
    "explore": {
        "errors",
        "files",
        "jobs",
        "tables",
        "tasks",
        "rank",
        "envs",
        "store",
        "record",
        "agents",
        "wording",
    },
    "starter": {"files", "tasks", "store", "record"},
    "play": {
        "errors",
        "files",
        "parallel",
        "forking",
        "logs",
        "statistics",
        "tasks",
        "envs",
        "store",
        "record",
        "agents",
        "wording",
    },
    "learn": {"errors", "files", "jobs", "tables", "tasks", "envs", "store", "record", "agents", "wording"},
    "judge": {"errors", "files", "tables", "tasks", "store", "record", "rank", "wording"},
    "model_judges": {"errors", "files", "tables", "tasks", "store", "record", "rank", "judge", "wording"},
    "study": {"errors", "tables", "tasks", "store", "wording"},
    "report": {
        "wording",
        "errors",
        "statistics",
        "tasks",
        "envs",
        "store",
        "record",
        "agents",
        "learn",
        "judge",
        "rank",
        "study",
        "explore",
    },
    "web": {
        "wording",
        "errors",
        "files",
        "logs",
        "parallel",
        "tables",
        "tasks",
        "envs",
        "store",
        "record",
        "agents",
        "starter",
        "play",
        "judge",
        "learn",
        "model_judges",
        "rank",
        "study",
        "explore",
    },
    "demo": {"errors", "jobs", "tasks", "envs", "store", "record", "agents", "play", "learn", "judge", "rank", "wording"},
    "cli": {
        "wording",
        "errors",
        "files",
        "jobs",
        "logs",
        "tasks",
        "envs",
        "store",
        "record",
        "agents",
        "play",
        "learn",
        "judge",
        "rank",
        "report",
    }
    | {"explore", "model_judges", "starter", "statistics", "study", "tables", "web", "demo"},
    "testing": {"store", "tasks"},
    "__main__": {"cli"},
}
"""Room -> the rooms it may import (the story of the data, read from left to right)."""

CIRCLES: dict[tuple[str, ...], str] = {}
"""Modules that import each other, directly or by way of others, and why. This list may only become shorter."""

_TORCH = "brings torch, which takes seconds"
HIDDEN_IMPORTS = {
    ("agents.find", "agents.policy"): _TORCH,
    ("agents.find", "agents.vpt.agent"): _TORCH,
    ("agents.description", "agents.networks.__init__"): _TORCH,
    ("agents.policy", "agents.networks.__init__"): _TORCH,
    ("learn.train", "learn.algorithms.__init__"): _TORCH,
    ("learn.train", "learn.latents"): _TORCH,
    ("learn.train", "learn.harness.run"): _TORCH,
    ("learn.reward.training", "learn.harness.learner"): _TORCH,
    ("learn.reward.training", "learn.harness.run"): _TORCH,
    ("learn.reward.training", "learn.reward.model"): _TORCH,
    ("learn.reward.storage", "learn.reward.model"): _TORCH,
    ("learn.online.__init__", "learn.online.run"): _TORCH,
    ("learn.train", "learn.plots"): "brings matplotlib",
    ("cli.__init__", "cli.output"): "brings rich; `interplay --help` answers in a tenth of a second",
    ("cli.rank.__init__", "cli.rank.results"): "brings the arithmetic, which `--help` need not load",
    ("envs.gymnasium_ids", "envs.base"): "brings Numba; runs in every program that imports gymnasium",
    ("envs.gymnasium_ids", "envs.voxel.__init__"): "brings Numba; runs in every program that imports gymnasium",
}
"""(module, sibling in the same room) of imports inside functions, and why. This list may only become shorter."""


def room_of(path: Path) -> str:
    """The room a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Millions of nodes, through which the garbage collector would go for the rest of the run."""
    yield
    parsed.cache_clear()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A module or statement and all statements below it, a tenth of its nodes."""
    yield node
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for child in getattr(node, name, ()):
            yield from statements(child)


MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS: dict[str, list[Path]] = {}
for module in MODULES:
    ROOMS.setdefault(room_of(module), []).append(module)


@pytest.fixture(scope="module")
def imports() -> list[import_rules.Import]:
    """All imports of our modules by each other."""
    return import_rules.imports(PACKAGE)


def test_imports_run_one_way(imports):
    assert set(ROOMS) - {"__init__"} == set(MAY_USE), "the plan of the house has one entry for each room"
    below = {**MAY_USE, "__init__": set(MAY_USE)}
    strangers = import_rules.upward([one for one in imports if one.of != "__init__"], below)
    assert strangers == set(), "MAY_USE says what a room may import: move down what both need, or up what asks for more"


def test_no_modules_import_each_other_in_a_circle(imports):
    found = import_rules.circles(imports)
    assert not found - CIRCLES.keys(), "these import each other: let one know only a protocol, or move down what both need"
    assert not CIRCLES.keys() - found, "these are no circles any more: take them off the list"


def test_imports_of_a_sibling_stand_at_the_top_of_a_module(imports):
    found = {
        (one.by, one.of) for one in imports if one.is_hidden and import_rules.room_of(one.by) == import_rules.room_of(one.of)
    }
    assert not found - HIDDEN_IMPORTS.keys(), "move these to the top of the module, or what is heavy to a module of its own"
    assert not HIDDEN_IMPORTS.keys() - found, "these are not hidden any more: take them off the list"


def test_only_the_public_parts_of_the_block_world_are_used():
    """What is in `blockworld` itself and in five of its rooms, and no module inside these."""
    public = {"blockworld", *(f"blockworld.{name}" for name in blockworld.__all__)}
    for room in ("registry", "grid", "terrain", "render", "scene"):
        offered = [node for node in parsed(WORLD / room / "__init__.py").body if isinstance(node, ast.ImportFrom)]
        public |= {f"blockworld.{room}.{alias.asname or alias.name}" for node in offered for alias in node.names}
    used = {full: path for path in MODULES for full, _ in import_rules.imported(parsed(path)) if full.startswith("blockworld")}
    assert used, "nothing was looked at"
    private = {full: str(path) for full, path in used.items() if full not in public}
    assert private == {}, "take it from blockworld itself, or let blockworld offer it"


def _is_pickle(node):
    return isinstance(node, ast.Name) and node.id == "pickle"


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_uses_pickle_or_eval(room):
    for path in ROOMS[room]:
        if (
            path == PACKAGE / "record" / "datasets" / "unpickler.py"
        ):  # reads foreign files, by an allow-list, in its own process
            used = {node.attr for node in ast.walk(parsed(path)) if isinstance(node, ast.Attribute) and _is_pickle(node.value)}
            assert used == {"_Unpickler"}
            continue
        for node in statements(parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names} | {(getattr(node, "module", "") or "").split(".")[0]}
                assert not names & {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}, path
        if re.search(r"\b(eval|exec)\b", unicodedata.normalize("NFKC", path.read_text())):  # without the word there is no call
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    assert node.func.id not in {"eval", "exec"}, path


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import interplay.cli", ["numpy", "pyarrow", "sqlalchemy", "torch", "fastapi", "gymnasium"]),
        (
            "import interplay.record, interplay.judge, interplay.web.app, interplay.play.server",
            ["torch", "matplotlib", "scipy", "cv2", "av", "obstore"],
        ),
    ],
)
def test_heavy_packages_are_imported_only_where_they_are_used(statement, unwanted):
    code = f"{statement}\nimport sys\nprint([name for name in {unwanted!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_defined_twice_under_one_name(room):
    for path in ROOMS[room]:
        for scope in statements(parsed(path)):
            if isinstance(scope, ast.Module | ast.ClassDef):
                functions = [node for node in scope.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
                names = [node.name for node in functions if not node.decorator_list]  # setters and overloads are decorated
                assert len(names) == len(set(names)), (path, sorted(names))


def test_every_text_file_is_opened_with_its_encoding():
    """Or what is read depends on the locale of the machine."""
    rule = ["check", "--isolated", "--preview", "--select", "PLW1514", "--output-format", "concise", str(PACKAGE)]
    result = subprocess.run([sys.executable, "-m", "ruff", *rule], capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def test_every_module_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT)) for path in MODULES if path.read_text().strip() and not ast.get_docstring(parsed(path))
    ]
    assert silent == []


def test_modules_of_tests_have_names_of_their_own():
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, number in names.items() if number > 1] == [], "pytest loads these as one module: rename one"
