"""The rooms of the block world know only those below them; its modules import at the top, and never in a circle."""

import ast
from pathlib import Path

import import_rules

import blockworld

PACKAGE = Path(blockworld.__file__).parent
ORDER = (
    *("errors", "state", "registry", "compiling", "grid", "terrain", "slots", "world_state"),
    *("blocks", "entities", "player", "events", "commands", "raycaster", "render", "scene", "tick", "world", "scenario"),
    *("env", "exercise", "__init__"),
)
"""From the ground up: each may import itself and those before it."""
MAY_USE = {room: set(ORDER[:place]) for place, room in enumerate(ORDER)}
IMPORTS = import_rules.imports(PACKAGE)
MODULES = import_rules.modules(PACKAGE)


def test_every_module_is_in_a_room_and_no_room_is_crowded():
    assert {import_rules.room_of(name) for name in MODULES} == set(ORDER)
    for room in ORDER:
        inside = [name for name in MODULES if import_rules.room_of(name) == room and not name.endswith("__init__")]
        assert len(inside) <= 15, f"{room} holds {len(inside)} modules: find a room inside it"


def test_rooms_know_only_those_below_them():
    assert import_rules.upward(IMPORTS, MAY_USE) == set(), "move down what both need, or up what asks for more"


def test_imports_stand_at_the_top():
    assert [one for one in IMPORTS if one.is_hidden] == [], "move these to the top of the module"


def test_no_modules_import_each_other_in_a_circle():
    assert import_rules.circles(IMPORTS) == set()


def test_the_block_world_knows_nothing_of_who_uses_it():
    used = {full for path in MODULES.values() for full, _ in import_rules.imported(import_rules.parsed(path))}
    assert not [name for name in used if name.partition(".")[0] in ("interplay", "bench", "tools", "tests")]


def test_the_rule_sees_every_form_of_import():
    text = "import a.b\nfrom a import c, Something\n"
    text += "if TYPE_CHECKING:\n    from a.d import Thing\nelse:\n    import other.d\n"
    text += (
        "class C:\n    def f():\n        try:\n            from a.e import x\n        except ImportError:\n            import a"
    )
    names = dict.fromkeys(("__init__", "b", "c", "d.__init__", "e"))
    found = [("b", False), ("c", False), ("__init__", False), ("d.__init__", False), ("e", True), ("__init__", True)]
    assert list(import_rules.imports_in(ast.parse(text), "a", names)) == found


def test_the_rule_finds_circles_and_what_points_upward():
    pairs = [("a.x", "b.y", False), ("b.y", "c", True), ("c", "a.x", False), ("d", "a.x", False), ("a.x", "a.z", False)]
    found = [import_rules.Import(*pair) for pair in pairs]
    assert import_rules.circles(found) == {("a.x", "b.y", "c")}
    assert import_rules.upward(found, {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a"}}) == {("a.x", "b.y"), ("b.y", "c")}
