"""Tables that people write: what can be meant is read, the rest is refused with file, key and remedy."""

import re
import tomllib

import pytest

from interplay.errors import InterplayError
from interplay.tables import Table, parse_toml, read_text, visible


class OddError(InterplayError):
    """What this file's tables raise."""


def table(text: str, where: str = "") -> Table:
    return Table(tomllib.loads(text), "my.toml", where, refuse=OddError)


def test_what_is_there_is_read():
    one = table('name = "a-1"\ntext = " x "\nparts = "a\\nb\\n\\nc"\nlist = ["a ", "b"]\nkind = "b"\nnum = 2\n[[inner]]\nx = 1')
    assert (one.name("name"), one.text("text"), one.paragraphs("parts")) == ("a-1", "x", ("a b", "c"))
    assert (one.texts("list"), one.choice("kind", ("a", "b")), one.number("num", low=0, high=3)) == (("a ", "b"), "b", 2)
    assert [inner.count("x") for inner in one.tables("inner")] == [1]
    assert (one.text("no", ""), one.optional("none"), one.number("nil", 0, low=1, high=2)) == ("", None, 0)
    one.nothing_else()


def test_what_cannot_be_meant_is_refused():
    for text, read, message in [
        ("", lambda one: one.table("pay"), "my.toml: pay: is missing\nRemedy: add [pay]."),
        ("[pay]", lambda one: one.table("pay").text("per"), "my.toml: pay.per: is missing\nRemedy: add per = ..."),
        ("x = true", lambda one: one.raw("x", int), "x: must be a whole number, got True\nRemedy: write a whole number there."),
        ('x = " "', lambda one: one.text("x"), "x: is empty\nRemedy: write what x should say."),
        ('x = ["a", " "]', lambda one: one.texts("x"), "x: must hold texts, got ['a', ' ']\nRemedy: write ["),
        (
            'x = "A"',
            lambda one: one.name("x"),
            "x: 'A' is not a name\nRemedy: use lower-case letters, digits, '_' and '-', at most 64.",
        ),
        (f'x = "{"a" * 65}"', lambda one: one.name("x"), "is not a name"),
        ('x = "lft"', lambda one: one.choice("x", ("left", "right")), "x: 'lft' is not known\nRemedy: did you mean 'left'."),
        ('x = "?"', lambda one: one.choice("x", ("left", "right")), "x: '?' is not known\nRemedy: write left or right."),
        ("x = nan", lambda one: one.number("x", low=0, high=1), "x: must lie between 0 and 1, got nan"),
        ("x = 0", lambda one: one.count("x"), "x: must lie between 1 and 10000, got 0"),
        ("x = [1]", lambda one: one.tables("x"), "x[0]: must be a table, got 1\nRemedy: write a table there."),
        ("[[x]]\ny = 1", lambda one: one.tables("x")[0].nothing_else(), "x[0].y: is not a known key\nRemedy: leave it out."),
        ("titel = 1", lambda one: one.nothing_else("title"), "titel: is not a known key\nRemedy: did you mean 'title'."),
        ("z = 1", lambda one: one.nothing_else("b", "a"), "z: is not a known key\nRemedy: known keys here are a, b."),
    ]:
        with pytest.raises(OddError, match=re.escape(message)):
            read(table(text))


def test_a_value_of_the_defaults_is_named_there_at_every_depth():
    one = table('a = 1\n[env]\nid = "x"', "task[0]").over({"b": 2, "env": {"id": "y", "size": "big"}, "list": [{"n": "?"}]})
    assert (one.raw("b", int), one.table("env").text("id"), one.is_own("a"), one.is_own("b")) == (2, "x", True, False)
    assert one.error("a", "is bad", "mend it").args == ("my.toml: task[0].a: is bad\nRemedy: mend it.",)
    for read, place in (
        (lambda: one.raw("b", str), "defaults.b"),
        (lambda: one.table("env").raw("size", int), "defaults.env.size"),
        (lambda: one.tables("list")[0].raw("n", int), "defaults.list[0].n"),
    ):
        with pytest.raises(OddError, match=re.escape(f"my.toml: {place}: must be")):
            read()


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbfa = '\xc3\x84'\nb = 1\n", b"a = '\xc3\x84'\r\nb = 1\r\n", b"a = '\xc3\x84'\rb = 1\r"]
)
def test_byte_order_marks_and_any_line_ends_are_read(tmp_path, content):
    (tmp_path / "my.toml").write_bytes(content)
    assert parse_toml(read_text(tmp_path / "my.toml", OddError, hint=""), "", OddError) == {"a": "\u00c4", "b": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "a = 1\n".encode("utf-16"),
            r"line 1: the text is UTF-16, not UTF-8\nRemedy: .*Out-File -Encoding utf8.*iconv -f utf16",
        ),
        ("a = 1\n".encode("utf-32"), r"line 1: the text is UTF-32, not UTF-8\nRemedy: .*iconv -f utf32"),
        (
            "a = 1\nb = 2".encode("utf-16-le"),
            "line 1: a zero byte, so this is not a text file\nRemedy: save it as text, in UTF-8",
        ),
        (b"\xef\xbb\xbfa = 1\nb = '\xe9'", r"line 2: byte 0xe9 is not UTF-8\nRemedy: .*iconv -f latin1"),
    ],
)
def test_other_encodings_are_named(tmp_path, content, said):
    (tmp_path / "my.toml").write_bytes(content)
    with pytest.raises(OddError, match=rf"my.toml: cannot be read as UTF-8 text: {said}"):
        read_text(tmp_path / "my.toml", OddError, hint="")


def test_files_that_a_mac_or_a_writer_left_are_not_seen(tmp_path):
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / ".parts").mkdir()
    for name in ("b.json", "a.json", "._a.json", "__MACOSX/a.json", ".parts/a.json"):
        (tmp_path / name).touch()
    assert visible(tmp_path.rglob("*.json"), tmp_path) == [tmp_path / "a.json", tmp_path / "b.json"]


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(OddError, match=r"none.toml: no such file\nBegin with another\.$"):
        read_text(tmp_path / "none.toml", OddError, hint="Begin with another.")
    with pytest.raises(OddError, match=r"is a folder; name a file in it\nBegin with another\.$"):
        read_text(tmp_path, OddError, hint="Begin with another.")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OddError, match=r"binary.toml: cannot be read as UTF-8 text"):
        read_text(tmp_path / "binary.toml", OddError, hint="")
    with pytest.raises(OddError, match=r"my.toml: not valid TOML: .*\nCheck quotes and brackets"):
        parse_toml("[x", "my.toml", OddError)
    for deep in (f"x = {'[' * 3000}", f"{'a.' * 3000}a = 1", f"[{'a.' * 3000}a]"):
        with pytest.raises(OddError, match=r"my.toml: lists or tables are nested too deeply\nRemedy: use fewer"):
            parse_toml(deep, "my.toml", OddError)
