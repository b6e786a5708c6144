import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blockworld.errors import UnknownNameError, WorldError
from blockworld.slots import inventory
from blockworld.state import NUM_SLOTS, OFFHAND, Player, Stack


def empty() -> list[Stack | None]:
    return [None] * NUM_SLOTS


def test_things_go_onto_stacks_of_the_same_then_into_the_hotbar_then_the_main_slots():
    slots = empty()
    slots[20] = Stack("dirt", 60)
    assert inventory.add(slots, Stack("dirt", 10)) is None
    assert (slots[20].count, slots[0].count) == (64, 6)
    for index in range(9):
        slots[index] = slots[index] or Stack("stone", 64)
    slots[0].count = 64
    assert inventory.add(slots, Stack("dirt", 1)) is None
    assert slots[9] == Stack("dirt", 1)


def test_the_selected_slot_and_the_other_hand_are_topped_up_first():
    slots = empty()
    slots[2], slots[5], slots[OFFHAND] = Stack("torch", 1), Stack("torch", 63), Stack("torch", 63)
    inventory.add(slots, Stack("torch", 3), selected=5)
    assert (slots[5].count, slots[OFFHAND].count, slots[2].count) == (64, 64, 2)


def test_what_does_not_fit_comes_back_and_armour_slots_stay_free():
    slots = empty()
    left = inventory.add(slots, Stack("egg", 16 * 36 + 5))
    assert left == Stack("egg", 5)
    assert slots[36:] == [None] * 5
    assert inventory.room_for(slots, Stack("egg")) == 0
    slots[3] = None
    slots[4].count = 10
    assert inventory.room_for(slots, Stack("egg")) == 22


def test_worn_and_enchanted_things_do_not_share_a_slot():
    slots = [Stack("honey_bottle", 1, tag={"name": "mine"}), None, None]
    inventory.add(slots, Stack("honey_bottle", 1))
    assert inventory.room_for(slots, Stack("honey_bottle", 1)) == 15 + 16
    inventory.add(slots, Stack("iron_axe", 1, damage=3))
    assert [slot.item for slot in slots] == ["honey_bottle", "honey_bottle", "iron_axe"]


def test_added_stacks_are_not_shared_with_the_giver():
    given_stack = Stack("dirt", 3, tag={"a": [1]})
    slots = [None]
    inventory.add(slots, given_stack)
    slots[0].tag["a"].append(2)
    assert given_stack == Stack("dirt", 3, tag={"a": [1]})


def test_armour_slots_take_their_own_piece_only():
    slots = empty()
    slots[0], slots[1], slots[2] = Stack("iron_helmet"), Stack("dirt"), Stack("carved_pumpkin", 5)
    inventory.swap(slots, 0, 39)
    assert inventory.armour_points(slots) == (2, 0)
    with pytest.raises(WorldError, match="slot 38 takes armour of its own kind only, got dirt"):
        inventory.swap(slots, 38, 1)
    with pytest.raises(WorldError, match="there is no slot 41; slots are 0 to 40"):
        inventory.swap(slots, 1, 41)
    with pytest.raises(WorldError, match="there is no slot -1"):
        inventory.swap(slots, -1, 1)
    with pytest.raises(WorldError, match="slot 39 takes armour of its own kind only, got dirt"):
        inventory.swap(slots, 1, 39)
    with pytest.raises(WorldError, match="slot 39 takes one piece of armour, got 5 of carved_pumpkin"):
        inventory.swap(slots, 2, 39)
    assert slots[39] == Stack("iron_helmet")


def test_taking_leaves_the_rest_and_an_empty_slot_has_nothing_to_take():
    slots = [Stack("stone", 7)]
    assert inventory.take(slots, 0, 4) == Stack("stone", 4)
    assert slots == [Stack("stone", 3)]
    assert inventory.take(slots, 0) == Stack("stone", 3)
    with pytest.raises(WorldError, match="slot 0 is empty"):
        inventory.take(slots, 0)


def test_tools_wear_and_break():
    slots = [Stack("wooden_pickaxe", damage=57), Stack("dirt", 2), None]  # durability 59
    assert not inventory.wear(slots, 0)
    assert slots[0].damage == 58
    assert inventory.wear(slots, 0)
    assert slots[0] is None
    assert not inventory.wear(slots, 1)
    assert not inventory.wear(slots, 2)


def test_a_slot_is_selected_and_dropped_from():
    player = Player()
    inventory.select(player, 8)
    assert player.hotbar == 8
    with pytest.raises(WorldError, match="the hotbar has slots 0 to 8, got 9"):
        inventory.select(player, 9)
    player.slots[8] = Stack("dirt", 5)
    assert inventory.drop(player.slots, 8) == Stack("dirt", 1)
    assert inventory.drop(player.slots, 8, whole=True) == Stack("dirt", 4)
    assert inventory.drop(player.slots, 8) is None


def test_slots_survive_being_written_as_json():
    slots = [Stack("iron_axe", 1, 7, {"name": "x"}), None, Stack("dirt", 64)]
    assert inventory.load(inventory.dump(slots)) == slots
    with pytest.raises(WorldError, match=r"\['dirt'\] is not a stack"):
        inventory.load([["dirt"]])
    with pytest.raises(UnknownNameError, match="unknown item 'dirtt'"):
        inventory.load([["dirtt", 1, 0, None]])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["dirt", "egg", "iron_axe"]), st.integers(1, 64)), max_size=30),
    st.lists(st.tuples(st.sampled_from(["take", "swap", "drop"]), st.integers(0, 40), st.integers(0, 40)), max_size=30),
)
def test_no_operation_makes_or_loses_items(given_stacks, operations):
    slots, expected = empty(), {}
    for item, number in given_stacks:
        left = inventory.add(slots, Stack(item, number))
        added = number - (left.count if left else 0)
        if added:
            expected[item] = expected.get(item, 0) + added
    for operation, a, b in operations:
        try:
            if operation == "swap":
                inventory.swap(slots, a, b)
                continue
            out = inventory.take(slots, a, b) if operation == "take" else inventory.drop(slots, a, whole=b > 20)
            rest = None if out is None else inventory.add(slots, out)
            if rest is not None:
                expected[rest.item] -= rest.count
        except WorldError:
            pass
    contents = inventory.contents(slots)
    assert contents == {item: number for item, number in expected.items() if number}
