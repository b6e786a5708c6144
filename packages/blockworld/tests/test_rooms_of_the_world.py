"""The rooms of the block world know only those below them; its modules import at the top, and never in a circle."""

import ast
from collections.abc import Iterator
from pathlib import Path

import blockworld

ROOT = Path(blockworld.__file__).parent
ORDER = (
    *("errors", "state", "registry", "grid", "terrain", "blocks", "entities", "player", "commands"),
    *("raycaster", "render", "tick", "world", "scene"),
)
"""From the ground up: each may import itself and those before it. `compiling` lives a small life in a world, so that every
kernel is called, and `__init__` is the door: they stand above."""
ABOVE = ("compiling", "__init__")
UPWARD = {("world", "compiling"): "the first world of a machine compiles the kernels"}
"""(module, module) of imports that run upward, and why. This list may only become shorter."""
HIDDEN = {
    ("compiling", room): "the kernels are loaded only when a world is made, not to ask whether they are compiled"
    for room in ("state", "registry", "terrain", "entities", "render", "world", "scene")
}
"""(module, room) of imports inside functions, and why. This list may only become shorter."""

MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted(ROOT.rglob("*.py"))}


def room_of(module: str) -> str:
    return module.partition(".")[0]


def imports_of(tree: ast.AST, *, hidden: bool = False) -> Iterator[tuple[str, bool]]:
    """Modules of the world that are imported below a node, and whether in a function; those for types alone are left out."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            names = [f"{child.module}.{alias.name}" for alias in child.names]
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports_of(child, hidden=hidden or inside)
            continue
        for name in [one.removeprefix("blockworld.") for one in names if one.startswith("blockworld.")]:
            parent = name.rpartition(".")[0]
            yield name if name in MODULES else parent if parent in MODULES else "__init__", hidden


def imports() -> dict[str, list[tuple[str, bool]]]:
    """Module -> what it imports of the world, and whether in a function."""
    return {name: list(imports_of(ast.parse(path.read_text()))) for name, path in MODULES.items()}


def test_every_module_is_in_a_room_and_no_room_is_crowded():
    assert {room_of(name) for name in MODULES} == {*ORDER, *ABOVE}
    for room in ORDER:
        inside = [name for name in MODULES if room_of(name) == room and not name.endswith("__init__")]
        assert len(inside) <= 15, f"{room} holds {len(inside)} modules: find a room inside it"


def test_rooms_know_only_those_below_them():
    height = {room: place for place, room in enumerate((*ORDER, *ABOVE))}
    found = {
        (name, other)
        for name, others in imports().items()
        for other, _ in others
        if height[room_of(other)] > height[room_of(name)]
    }
    assert not found - UPWARD.keys(), "move down what both need, or up what asks for more"
    assert not UPWARD.keys() - found, "these do not run upward any more: take them off the list"


def test_imports_stand_at_the_top():
    found = {(name, room_of(other)) for name, others in imports().items() for other, hidden in others if hidden}
    assert not found - HIDDEN.keys(), "move these to the top of the module"
    assert not HIDDEN.keys() - found, "these are not hidden any more: take them off the list"


def test_no_modules_import_each_other_in_a_circle():
    known = {name: {other for other, hidden in others if not hidden} - {name} for name, others in imports().items()}

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        ahead = [name]
        while ahead:
            new = known[ahead.pop()] - found
            found |= new
            ahead.extend(new)
        return found

    assert [name for name in known if name in reached(name)] == []


def test_the_rule_sees_every_form_of_import():
    text = "import blockworld.state\nfrom blockworld import errors, World\n"
    text += "if TYPE_CHECKING:\n    from blockworld.world import World\n"
    text += "def f():\n    from blockworld.registry.blocks import AIR"
    found = [("state", False), ("errors", False), ("__init__", False), ("registry.blocks", True)]
    assert list(imports_of(ast.parse(text))) == found
