"""The house stands: imports run one way, heavy packages stay out of the way, nothing dangerous is used."""

import ast
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "interplay"

MAY_USE = {
    "errors": set(),
    "files": set(),
    "tables": {"errors"},
    "parallel": set(),
    "forking": set(),
    "wording": set(),
    "statistics": {"errors"},
    "tasks": {"errors", "tables", "statistics"},
    "rank": {"errors", "tables"},
    "world": {"errors"},
    "store": {"errors", "files"},
    "envs": {"errors", "tasks", "world", "wording"},
    "record": {"errors", "files", "parallel", "tables", "statistics", "tasks", "envs", "store", "wording"},
    "agents": {"errors", "files", "parallel", "tasks", "envs", "store", "record", "world"},
    "explore": {
        "errors",
        "files",
        "parallel",
        "tables",
        "tasks",
        "rank",
        "envs",
        "store",
        "record",
        "agents",
        "world",
        "wording",
    },
    "starter": {"files", "tasks", "store", "record"},
    "play": {"errors", "files", "parallel", "forking", "statistics", "tasks", "envs", "store", "record", "agents", "wording"},
    "learn": {"errors", "files", "parallel", "tables", "tasks", "envs", "store", "record", "agents", "wording"},
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
    "demo": {"errors", "tasks", "envs", "store", "record", "agents", "play", "learn", "judge", "rank", "wording"},
    "cli": {
        "wording",
        "errors",
        "files",
        "parallel",
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
    | {"explore", "model_judges", "starter", "statistics", "study", "tables", "web", "world", "demo"},
    "testing": {"store", "tasks"},
    "__main__": {"cli"},
}
"""Room -> the rooms it may import (the story of the data, read from left to right)."""

CIRCLES = {}
"""Modules that import each other, directly or by way of others, and why. This list may only become shorter."""

_TORCH = "brings torch, which takes seconds"
_FILMS = "brings PyAV, which only films and stored videos need"
HIDDEN_IMPORTS = {
    ("agents.find", "agents.policy"): _TORCH,
    ("agents.find", "agents.vpt.agent"): _TORCH,
    ("agents.description", "agents.networks.__init__"): _TORCH,
    ("agents.policy", "agents.networks.__init__"): _TORCH,
    ("learn.train", "learn.algorithms.__init__"): _TORCH,
    ("learn.train", "learn.latents"): _TORCH,
    ("learn.train", "learn.harness.run"): _TORCH,
    ("learn.reward.training", "learn.harness.devices"): _TORCH,
    ("learn.reward.training", "learn.harness.run"): _TORCH,
    ("learn.reward.training", "learn.reward.model"): _TORCH,
    ("learn.reward.storage", "learn.reward.model"): _TORCH,
    ("learn.online.__init__", "learn.online.run"): _TORCH,
    ("learn.train", "learn.plots"): "brings matplotlib",
    ("record.seal", "record.video"): _FILMS,
    ("record.sealed", "record.video"): _FILMS,
    ("record.verify", "record.video"): _FILMS,
    ("cli.__init__", "cli.common"): "brings rich; `interplay --help` answers in a tenth of a second",
    ("cli.rank.__init__", "cli.rank.document"): "brings the arithmetic, which `--help` need not load",
    ("cli.rank.__init__", "cli.rank.tables"): "brings the arithmetic, which `--help` need not load",
    ("envs.gymnasium_ids", "envs.base"): "runs in every program that imports gymnasium",
    ("envs.gymnasium_ids", "envs.voxel.__init__"): "runs in every program that imports gymnasium",
}
"""(module, sibling in the same room) of imports inside functions, and why. This list may only become shorter."""


def room_of(path: Path) -> str:
    """The room a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree(path: Path) -> ast.Module:
    """A module, parsed."""
    return ast.parse(path.read_text())


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Millions of nodes, through which the garbage collector would go for the rest of the run."""
    yield
    tree.cache_clear()


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right below a module or statement, and its clauses: imports and definitions stand nowhere else."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        yield from getattr(node, name, ())


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A module or statement and all statements below it, a tenth of its nodes."""
    yield node
    for child in inside(node):
        yield from statements(child)


def imported_rooms(module: ast.AST) -> set[str]:
    """Rooms of the package that a module imports, wherever in the module."""
    rooms = set()
    for node in statements(module):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("interplay.")}
    return {room for room in rooms if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").exists()}


MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS: dict[str, list[Path]] = {}
for module in MODULES:
    ROOMS.setdefault(room_of(module), []).append(module)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_run_one_way(room):
    if room == "__init__":
        return
    assert room in MAY_USE, f"the room {room!r} is not in the plan of the house; say here what it may import"
    for path in ROOMS[room]:
        strangers = imported_rooms(tree(path)) - MAY_USE[room] - {room}
        assert not strangers, f"{path.relative_to(ROOT)} imports {sorted(strangers)}; {room} may use {sorted(MAY_USE[room])}"


def test_the_import_test_sees_every_form_of_import():
    text = "import interplay.web.app\nfrom interplay import judge\nfrom interplay.rank import x\n"
    text += "def f():\n    from interplay.learn.bc import y"
    assert imported_rooms(ast.parse(text)) == {"web", "judge", "rank", "learn"}


def name_of(path: Path) -> str:
    """A module's name without the package's: `play.seat`, `play.__init__`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


NAMES = {name_of(path): path for path in MODULES}


def imports_in(node: ast.AST, names: set[str], *, hidden: bool = False) -> Iterator[tuple[str, bool]]:
    """Which of these modules are imported below a node, also those imported only for types, and whether in a function."""
    for child in inside(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            start = getattr(child, "module", None)
            full = [f"{start}.{alias.name}" if start else alias.name for alias in child.names]
            for name in [one.removeprefix("interplay.") for one in full if one.startswith("interplay.")]:
                parent = name.rpartition(".")[0]
                candidates = (name, f"{name}.__init__", parent, f"{parent}.__init__")
                yield from [(one, hidden) for one in candidates if one in names][:1]
        else:
            in_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports_in(child, names, hidden=hidden or in_function)


def circles(imports: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """Groups of modules that reach each other by their imports, each sorted."""

    def reached(name: str) -> set[str]:
        found, ahead = set(), [name]
        while ahead:
            new = imports.get(ahead.pop(), set()) - found
            found |= new
            ahead.extend(new)
        return found

    reach = {name: reached(name) for name in imports}
    return {tuple(sorted(other for other in reach[name] if name in reach[other])) for name in imports if name in reach[name]}


@pytest.fixture(scope="module")
def imports() -> dict[str, list[tuple[str, bool]]]:
    """Module -> what it imports of ours, and whether in a function; without the inside of the world."""
    return {name: list(imports_in(tree(path), set(NAMES))) for name, path in NAMES.items() if room_of(path) != "world"}


def test_no_modules_import_each_other_in_a_circle(imports):
    found = circles({name: {other for other, hidden in found if not hidden} - {name} for name, found in imports.items()})
    assert not found - CIRCLES.keys(), "these import each other: let one know only a protocol, or move down what both need"
    assert not CIRCLES.keys() - found, "these are no circles any more: take them off the list"


def test_imports_of_a_sibling_stand_at_the_top_of_a_module(imports):
    found = {
        (name, other)
        for name, found in imports.items()
        for other, hidden in found
        if hidden and other.startswith(f"{name.partition('.')[0]}.")
    }
    assert not found - HIDDEN_IMPORTS.keys(), "move these to the top of the module, or what is heavy to a module of its own"
    assert not HIDDEN_IMPORTS.keys() - found, "these are not hidden any more: take them off the list"


def test_circles_are_found_in_every_form_of_import():
    text = "import interplay.a.b\nif TYPE_CHECKING:\n    from interplay.c import d\ndef f():\n    from interplay.a import e"
    found = set(imports_in(ast.parse(text), {"a.__init__", "a.b", "a.e", "c.__init__"}))
    assert found == {("a.b", False), ("c.__init__", False), ("a.e", True)}
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == {("a", "b", "c")}


def _is_pickle(node):
    return isinstance(node, ast.Name) and node.id == "pickle"


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_uses_pickle_or_eval(room):
    for path in ROOMS[room]:
        if path == PACKAGE / "record" / "unpickler.py":  # reads files of others, by an allow-list, in a process of its own
            used = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute) and _is_pickle(node.value)}
            assert used == {"_Unpickler"}
            continue
        for node in statements(tree(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.split(".")[0] for alias in node.names} | {(getattr(node, "module", "") or "").split(".")[0]}
                assert not names & {"pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}, path
        if re.search(r"\b(eval|exec)\b", unicodedata.normalize("NFKC", path.read_text())):  # without the word there is no call
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    assert node.func.id not in {"eval", "exec"}, path


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import interplay.cli", ["numpy", "pyarrow", "sqlalchemy", "torch", "fastapi", "gymnasium"]),
        (
            "import interplay.record, interplay.judge, interplay.web.app, interplay.play.server",
            ["torch", "matplotlib", "scipy", "cv2", "av"],
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
        for scope in statements(tree(path)):
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
    silent = [str(path.relative_to(ROOT)) for path in MODULES if path.read_text().strip() and not ast.get_docstring(tree(path))]
    assert silent == []


def test_modules_of_tests_have_names_of_their_own():
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, number in names.items() if number > 1] == [], "pytest loads these as one module: rename one"
