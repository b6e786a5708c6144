"""The edges are thin: pages and commands open no transaction of the database themselves; a service or a query does."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "interplay"
EDGES = ("cli", "web")
SESSIONS = {"read", "write", "look"}


def sessions_in(tree: ast.AST) -> list[str]:
    """The function (or `<module>`) of every call that opens a session of a database, with `with` or without."""
    found = []

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and opens_session(node.func):
            found.append(function)
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(tree, "<module>")
    return found


def opens_session(called: ast.expr) -> bool:
    """Whether this is `DATABASE.read`, `.write` or `.look`, or SQLAlchemy's own `Session`."""
    if isinstance(called, ast.Name):
        return called.id in {"Session", "sessionmaker"}
    if not isinstance(called, ast.Attribute) or called.attr not in SESSIONS:
        return False
    owner = called.value
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return name.lstrip("_") in {"database", "db"}


def places() -> Counter[str]:
    """`module:function` -> how many sessions it opens, of all modules at the edges."""
    found: Counter[str] = Counter()
    for edge in EDGES:
        for path in sorted((PACKAGE / edge).rglob("*.py")):
            module = path.relative_to(PACKAGE).with_suffix("").as_posix()
            found.update(f"{module}:{function}" for function in sessions_in(ast.parse(path.read_text())))
    return found


def test_pages_and_commands_open_no_session_of_the_database():
    assert places() == {}, "move it into a service, or into a query function of the room it belongs to"


def test_pages_and_commands_are_handed_no_session_either():
    strangers = [
        str(path.relative_to(PACKAGE))
        for edge in EDGES
        for path in sorted((PACKAGE / edge).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom | ast.Import)
        and any(
            name.startswith("sqlalchemy.orm") for name in (getattr(node, "module", "") or "", *(a.name for a in node.names))
        )
    ]
    assert strangers == []


def test_every_way_to_open_a_session_is_seen():
    for line in [
        "with archive.database.read() as session: pass",
        "with closing(open(data)) as archive, archive.database.write(sync=False) as session: pass",
        "session = stack.enter_context(request.app.state.archive.database.look())",
        "with database.read() as session: pass",
        "with self._database.read() as session: pass",
        "with Session(engine) as session: pass",
    ]:
        assert sessions_in(ast.parse(f"def page():\n    {line}")) == ["page"]


def test_files_are_no_databases():
    assert sessions_in(ast.parse("text = file.read()\nfile.write(text)")) == []
