"""SNBT, as Minecraft 1.16 reads it (minecraft.wiki, "NBT format": SNBT)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockworld.commands.nbt import MAX_DEPTH, MAX_LENGTH, Array, Byte, Float, Long, NbtError, Short, parse_at, plain
from blockworld.errors import WorldError


def parse(text):
    """The value with which a text begins."""
    return parse_at(text, 0)[0]


def written(value):
    """A value as commands have it."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(key)}:{written(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ("I;" if isinstance(value, Array) else "") + ",".join(map(written, value)) + "]"
    if isinstance(value, float):
        return f"{float(value)!r}{'f' if isinstance(value, Float) else 'd'}"
    return f"{int(value)}{ {Byte: 'b', Short: 's', Long: 'L', int: ''}[type(value)] }"


def test_values_have_the_type_that_is_written():
    for text, value, kind in [
        ("1b", 1, Byte),
        ("-128B", -128, Byte),
        ("true", 1, Byte),
        ("False", 0, Byte),
        ("2s", 2, Short),
        ("3L", 3, Long),
        ("-9223372036854775808l", -(2**63), Long),
        ("42", 42, int),
        ("+7", 7, int),
        ("1.5f", 1.5, Float),
        ("1f", 1.0, Float),
        ("2d", 2.0, float),
        (".5", 0.5, float),
        ("3.", 3.0, float),
        ("1.5e3", 1500.0, float),
        ("-2.5e-1d", -0.25, float),
        ("stone", "stone", str),
        ("1.2.3", "1.2.3", str),
        ("007", "007", str),  # the game, too, takes a number with leading zeros for a string
        ('"a b"', "a b", str),
        ("'say \"hi\"'", 'say "hi"', str),
        (r'"a \"b\" \\ c"', 'a "b" \\ c', str),
    ]:
        read = parse(text)
        assert read == value
        assert type(read) is kind


def test_compounds_lists_and_arrays_nest():
    value = parse(
        ' { Items : [ {Slot:0b,id:"minecraft:oak_planks",Count:4b} , {Slot:1b} ], "a key" : [I;1,2], b:[B;1b], l:[L;] , } '
    )
    assert value["Items"][0] == {"Slot": Byte(0), "id": "minecraft:oak_planks", "Count": Byte(4)}
    assert value["a key"] == Array("I", [1, 2])
    assert value["b"] == Array("B", [1])
    assert value["l"] == Array("L", [])
    assert plain(value)["a key"] == [1, 2]


def test_plain_values_are_those_of_json():
    value = plain(parse("{a:1b,b:[1.5f,2f],c:[I;3],d:{e:text}}"))
    assert value == {"a": 1, "b": [1.5, 2.0], "c": [3], "d": {"e": "text"}}
    assert [type(part) for part in (value["a"], value["b"][0], value["c"])] == [int, float, list]


def test_a_value_within_a_command_ends_where_it_ends():
    value, end = parse_at("stone{a:1} 3", 5)
    assert value == {"a": 1}
    assert end == 10


def test_errors_name_the_column_and_what_is_expected():
    for text, column, words in [
        ("", 1, "expected a value, got the end"),
        ("{", 2, "expected a name or }"),
        ("{a", 3, "expected : after 'a'"),
        ("{a:}", 4, "expected a value, got '}'"),
        ("{a:1", 5, "expected }, got the end"),
        ("{a:1 b:2}", 6, "expected , or }, got 'b'"),
        ('{"":1}', 2, "a name cannot be empty"),
        ("[1,2", 5, "expected ], got the end"),
        ("[1,2b]", 4, "a list has values of one type, got byte among int"),
        ("[X;1]", 2, "an array is [B; ...], [I; ...] or [L; ...], got 'X'"),
        ("[B;1]", 4, "an array [B;] has numbers of type byte (b), got int"),
        ('"abc', 1, 'this string has no closing "'),
        (r'"a\n"', 4, "after a backslash, got 'n'"),
        ("128b", 1, "a byte (b) is from -128 to 127, got 128b"),
        ("99999999999", 1, "a whole number is from -2147483648 to 2147483647"),
        ("9" * 5000, 1, "a whole number is from"),
        ("1e999d", 1, "1e999d is not a finite number"),
        ("[" * (MAX_DEPTH + 2), MAX_DEPTH + 2, f"more than {MAX_DEPTH} deep"),
    ]:
        with pytest.raises(NbtError) as error:
            parse(text)
        assert error.value.column == column
        assert words in error.value.what
        assert f"column {column} of" in str(error.value)
        assert isinstance(error.value, WorldError)


def test_a_text_that_is_too_long_is_refused():
    with pytest.raises(NbtError, match=f"at most {MAX_LENGTH} are read"):
        parse("[" + "1," * MAX_LENGTH + "]")


NUMBERS = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-128, 127).map(Byte),
    st.integers(-32768, 32767).map(Short),
    st.integers(-(2**63), 2**63 - 1).map(Long),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False).map(Float),
)


def lists(of: st.SearchStrategy) -> st.SearchStrategy:
    """Lists whose values have one type."""
    return st.lists(of).map(lambda values: [value for value in values if type(value) is type(values[0])])


VALUES = st.recursive(
    NUMBERS | st.text(max_size=20) | st.builds(Array, st.just("I"), st.lists(st.integers(-(2**31), 2**31 - 1))),
    lambda inner: lists(inner) | st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=5),
    max_leaves=20,
)


def typed(value):
    """A value with its types, to compare."""
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if isinstance(value, list):
        return (type(value).__name__, getattr(value, "kind", ""), [typed(part) for part in value])
    return (type(value).__name__, value)


@given(VALUES)
def test_what_is_written_is_read_again_with_its_types(value):
    assert typed(parse(written(value))) == typed(value)


@given(st.text(alphabet="{}[]:;,\"\\'abBILsd.-+e019 ", max_size=60))
def test_any_text_is_read_or_refused_with_a_column_inside_it(text):
    try:
        parse(text)
    except NbtError as error:
        column = error.column
    else:
        column = 1
    assert 1 <= column <= len(text) + 1
