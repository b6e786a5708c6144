"""Flat pictures of things that are no blocks: silhouettes in letters, coloured and shaded by rule.

A mask is sixteen rows of letters (`data/sprites.json`); every letter is a region of one colour. `shaded` gives each region a
lit upper left edge and a darker lower right one, so that a silhouette is all there is to draw.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache

import numpy as np

from interplay.world.registry.facts import table
from interplay.world.render.skins import WOOL, Colour

SIZE = 16

WOODS: Mapping[str, Colour] = {
    "oak": (176, 142, 88), "spruce": (118, 86, 50), "birch": (206, 188, 128), "jungle": (172, 122, 82), "acacia": (180, 96, 50),
    "dark_oak": (76, 50, 26), "crimson": (134, 56, 86), "warped": (52, 124, 118),
}  # fmt: skip
METALS: Mapping[str, Colour] = {
    "wooden": (142, 106, 58),
    "stone": (138, 138, 138),
    "golden": (250, 214, 70),
    "iron": (216, 216, 218),
    "diamond": (76, 226, 212),
    "netherite": (78, 68, 72),
    "leather": (148, 92, 58),
    "chainmail": (142, 146, 152),
    "turtle": (72, 168, 74),
}
STICK: Colour = (126, 92, 50)


PALETTE: Mapping[str, Colour] = {
    "s": STICK,
    "w": (244, 244, 240),
    "k": (46, 42, 46),
    "r": (204, 48, 44),
    "g": (92, 156, 56),
    "y": (236, 190, 70),
    "b": (70, 120, 214),
    "f": (130, 190, 240),
    "t": (230, 60, 50),
}


@cache
def masks() -> Mapping[str, list[str]]:
    """Name -> sixteen rows of sixteen letters: `data/sprites.json`."""
    return {mask["name"]: mask["rows"] for mask in table("sprites")}


def rows_of(mask: str) -> list[str]:
    """The sixteen rows of a mask, each sixteen letters."""
    return list(masks()[mask])


def shaded(rows: list[str], colours: Mapping[str, Colour], seed: str = "") -> np.ndarray:
    """A mask in colour: uint8, shape (16, 16, 4). `n` is a darker `m` unless it has a colour of its own."""
    palette = {**PALETTE, **colours}
    main = palette.get("m", (160, 160, 160))
    palette.setdefault("n", tuple(int(c * 0.74) for c in main))  # type: ignore[arg-type]
    letters = np.array([list(row) for row in rows])
    solid = letters != "."
    picture = np.zeros((SIZE, SIZE, 4))
    for letter in sorted(set(letters[solid].tolist())):
        picture[letters == letter, :3] = palette.get(letter, main)
    picture[solid, 3] = 255
    wide = np.pad(solid, 1)
    up, left, down, right = wide[:-2, 1:-1], wide[1:-1, :-2], wide[2:, 1:-1], wide[1:-1, 2:]
    light = (~up).astype(float) * 0.16 + (~left) * 0.10
    dark = (~down).astype(float) * 0.30 + (~right) * 0.22
    same = np.pad(letters, 1, constant_values=".")
    light += 0.07 * (solid & (same[:-2, 1:-1] != letters))
    dark += 0.08 * (solid & (same[2:, 1:-1] != letters))
    grain = np.random.default_rng(zlib.crc32(seed.encode())).normal(0, 0.035, (SIZE, SIZE))
    slope = 0.06 * (7.5 - np.add.outer(np.arange(SIZE), np.arange(SIZE)) / 2) / 7.5
    factor = (1 + light * (1 - np.minimum(dark, 1)) - dark + grain + slope)[..., None]
    picture[..., :3] = np.where(solid[..., None], np.clip(picture[..., :3] * factor + 18 * light[..., None], 0, 255), 0)
    return picture.astype(np.uint8)


def sprite(mask: str, seed: str = "", **colours: Colour) -> np.ndarray:
    """A mask by name in these colours."""
    return shaded(rows_of(mask), colours, seed or mask)


_WATER, _LAVA, _MILK, _STONE, _IRON, _GOLD = (
    (52, 96, 220),
    (232, 106, 24),
    (246, 246, 242),
    (130, 130, 130),
    METALS["iron"],
    METALS["golden"],
)

THINGS: Mapping[str, tuple[str, dict[str, Colour]]] = {
    "scute": ("scute", {"m": (76, 170, 78)}),
    "flint_and_steel": ("flint_and_steel", {"m": (196, 198, 202), "f": (70, 68, 72)}),
    "apple": ("apple", {"m": (216, 40, 44)}),
    "golden_apple": ("apple", {"m": (248, 208, 66)}),
    "enchanted_golden_apple": ("apple", {"m": (244, 176, 232), "n": (224, 170, 60), "w": (255, 250, 200)}),
    "bow": ("bow", {"m": (150, 110, 62), "s": (136, 98, 52), "w": (228, 228, 228)}),
    "crossbow": ("crossbow", {"m": (150, 150, 156), "w": (228, 228, 228)}),
    "arrow": ("arrow", {"m": (150, 150, 156)}),
    "spectral_arrow": ("arrow", {"m": (246, 214, 90), "w": (250, 224, 140)}),
    "tipped_arrow": ("arrow", {"m": (62, 116, 226), "w": (190, 206, 240)}),
    "coal": ("lump", {"m": (50, 48, 52), "w": (104, 102, 108)}),
    "charcoal": ("lump", {"m": (74, 60, 48), "w": (122, 106, 90)}),
    "diamond": ("gem", {"m": (80, 226, 216), "n": (40, 168, 176)}),
    "emerald": ("emerald", {"m": (40, 198, 92), "n": (20, 132, 62), "w": (190, 250, 208)}),
    "quartz": ("shard", {"m": (238, 230, 222)}),
    "lapis_lazuli": ("lump", {"m": (44, 76, 190), "w": (120, 150, 236)}),
    "flint": ("shard", {"m": (74, 72, 78)}),
    "prismarine_shard": ("shard", {"m": (122, 196, 178)}),
    "prismarine_crystals": ("dust", {"m": (188, 222, 208), "w": (240, 252, 244)}),
    "iron_ingot": ("ingot", {"m": _IRON, "n": (156, 156, 162)}),
    "gold_ingot": ("ingot", {"m": _GOLD, "n": (206, 150, 40)}),
    "netherite_ingot": ("ingot", {"m": (92, 82, 86), "n": (58, 52, 56)}),
    "brick": ("ingot", {"m": (188, 104, 82), "n": (140, 70, 58)}),
    "nether_brick": ("ingot", {"m": (76, 38, 44), "n": (50, 24, 30)}),
    "netherite_scrap": ("lump", {"m": (98, 74, 64), "w": (150, 122, 106)}),
    "iron_nugget": ("nugget", {"m": _IRON}),
    "gold_nugget": ("nugget", {"m": _GOLD}),
    "stick": ("stick", {}),
    "blaze_rod": ("stick", {"s": (246, 178, 40)}),
    "debug_stick": ("stick", {"s": (196, 120, 210)}),
    "bowl": ("bowl", {"s": (142, 104, 62), "f": (84, 58, 34)}),
    "mushroom_stew": ("bowl", {"s": (142, 104, 62), "f": (206, 152, 120)}),
    "rabbit_stew": ("bowl", {"s": (142, 104, 62), "f": (206, 116, 48)}),
    "beetroot_soup": ("bowl", {"s": (142, 104, 62), "f": (176, 30, 44)}),
    "suspicious_stew": ("bowl", {"s": (142, 104, 62), "f": (92, 146, 98)}),
    "string": ("string", {"m": (228, 228, 226)}),
    "feather": ("feather", {"m": (238, 238, 236), "n": (176, 176, 176)}),
    "gunpowder": ("dust", {"m": (98, 98, 98), "w": (146, 146, 146)}),
    "redstone": ("dust", {"m": (196, 16, 12), "w": (255, 92, 80)}),
    "glowstone_dust": ("dust", {"m": (240, 196, 80), "w": (255, 246, 180)}),
    "sugar": ("dust", {"m": (240, 240, 244), "w": (255, 255, 255)}),
    "blaze_powder": ("dust", {"m": (250, 148, 30), "w": (255, 226, 90)}),
    "bone_meal": ("dye", {"m": (232, 232, 224), "b": (244, 244, 236), "w": (255, 255, 255)}),
    "wheat_seeds": ("seeds", {"m": (98, 158, 50)}),
    "pumpkin_seeds": ("seeds", {"m": (232, 220, 168)}),
    "melon_seeds": ("seeds", {"m": (74, 58, 44)}),
    "beetroot_seeds": ("seeds", {"m": (184, 152, 110)}),
    "nether_wart": ("seeds", {"m": (158, 30, 38)}),
    "cocoa_beans": ("cocoa", {"m": (134, 82, 44)}),
    "wheat": ("wheat", {"m": (224, 192, 92), "s": (176, 146, 60)}),
    "bread": ("bread", {"m": (198, 142, 62), "w": (228, 186, 110)}),
    "porkchop": ("chop", {"m": (240, 150, 150), "w": (252, 226, 220)}),
    "cooked_porkchop": ("chop", {"m": (196, 142, 88), "w": (236, 214, 176)}),
    "mutton": ("chop", {"m": (206, 84, 78), "w": (240, 214, 206)}),
    "cooked_mutton": ("chop", {"m": (146, 92, 62), "w": (232, 208, 180)}),
    "beef": ("steak", {"m": (206, 62, 58), "w": (242, 196, 186)}),
    "cooked_beef": ("steak", {"m": (124, 70, 44), "w": (168, 110, 74)}),
    "rotten_flesh": ("steak", {"m": (150, 92, 54), "w": (112, 128, 66)}),
    "rabbit": ("steak", {"m": (230, 158, 140), "w": (248, 206, 192)}),
    "cooked_rabbit": ("steak", {"m": (190, 128, 74), "w": (224, 178, 120)}),
    "chicken": ("drumstick", {"m": (244, 202, 184)}),
    "cooked_chicken": ("drumstick", {"m": (196, 124, 60)}),
    "cod": ("fish", {"m": (186, 160, 122), "w": (224, 208, 180)}),
    "salmon": ("fish", {"m": (180, 60, 54), "w": (128, 146, 110), "n": (120, 60, 52)}),
    "tropical_fish": ("fish", {"m": (244, 130, 34), "w": (250, 250, 246), "n": (230, 100, 20)}),
    "pufferfish": ("puffer", {"m": (236, 196, 60)}),
    "cooked_cod": ("fish", {"m": (220, 194, 146), "w": (244, 230, 200)}),
    "cooked_salmon": ("fish", {"m": (206, 110, 62), "w": (230, 160, 110)}),
    "cookie": ("cookie", {"m": (206, 138, 70), "k": (84, 48, 28)}),
    "melon_slice": ("slice", {"m": (222, 58, 50), "k": (56, 30, 26)}),
    "glistering_melon_slice": ("slice", {"m": (240, 130, 60), "k": (255, 226, 110), "g": (226, 184, 60)}),
    "pumpkin_pie": ("pie", {"m": (216, 124, 44), "s": (214, 168, 96)}),
    "cake": ("cake", {"m": (204, 140, 70)}),
    "carrot": ("carrot", {"m": (244, 132, 24), "w": (250, 172, 80)}),
    "golden_carrot": ("carrot", {"m": (250, 206, 60), "w": (255, 244, 170)}),
    "potato": ("potato", {"m": (212, 172, 92), "k": (166, 126, 60)}),
    "baked_potato": ("potato", {"m": (206, 142, 60), "k": (240, 212, 130)}),
    "poisonous_potato": ("potato", {"m": (172, 176, 84), "k": (104, 124, 50)}),
    "beetroot": ("beetroot", {"m": (160, 36, 52), "r": (176, 60, 70)}),
    "dried_kelp": ("hide", {"m": (62, 76, 42), "w": (86, 104, 56)}),
    "sweet_berries": ("berries", {"m": (196, 30, 46), "w": (244, 140, 140)}),
    "chorus_fruit": ("fruit", {"m": (142, 96, 142), "w": (196, 160, 196)}),
    "popped_chorus_fruit": ("fruit", {"m": (176, 138, 178), "w": (110, 74, 112)}),
    "honeycomb": ("comb", {"m": (240, 168, 44), "k": (190, 112, 22)}),
    "spider_eye": ("eye", {"m": (150, 34, 50), "f": (214, 90, 96), "k": (70, 12, 24)}),
    "fermented_spider_eye": ("eye", {"m": (196, 140, 150), "f": (150, 70, 90), "k": (96, 46, 60)}),
    "ender_pearl": ("ball", {"m": (28, 116, 106), "w": (130, 220, 200)}),
    "ender_eye": ("eye", {"m": (98, 160, 86), "f": (216, 238, 140), "k": (30, 62, 42)}),
    "magma_cream": ("ball", {"m": (196, 130, 52), "w": (240, 226, 130), "n": (150, 70, 30)}),
    "slime_ball": ("ball", {"m": (124, 200, 104), "w": (210, 246, 196)}),
    "clay_ball": ("ball", {"m": (162, 168, 182), "w": (200, 204, 216)}),
    "snowball": ("ball", {"m": (238, 246, 250), "w": (255, 255, 255), "n": (192, 210, 222)}),
    "fire_charge": ("ball", {"m": (84, 62, 50), "w": (252, 176, 44), "n": (190, 78, 22)}),
    "ink_sac": ("lump", {"m": (40, 38, 52), "w": (86, 84, 104)}),
    "heart_of_the_sea": ("ball", {"m": (40, 110, 200), "w": (150, 220, 246)}),
    "firework_star": ("ball", {"m": (120, 120, 124), "w": (230, 120, 60)}),
    "ghast_tear": ("egg", {"m": (208, 226, 228), "w": (255, 255, 255)}),
    "egg": ("egg", {"m": (226, 206, 158), "w": (246, 236, 206)}),
    "bucket": ("bucket", {"m": (190, 192, 198), "f": (88, 88, 94)}),
    "water_bucket": ("bucket", {"m": (190, 192, 198), "f": _WATER}),
    "lava_bucket": ("bucket", {"m": (190, 192, 198), "f": _LAVA}),
    "milk_bucket": ("bucket", {"m": (190, 192, 198), "f": _MILK}),
    "minecart": ("minecart", {"m": (136, 138, 146), "f": (60, 60, 66)}),
    "chest_minecart": ("minecart", {"m": (136, 138, 146), "f": (172, 122, 56)}),
    "furnace_minecart": ("minecart", {"m": (136, 138, 146), "f": (110, 104, 100)}),
    "tnt_minecart": ("minecart", {"m": (136, 138, 146), "f": (214, 56, 40)}),
    "hopper_minecart": ("minecart", {"m": (136, 138, 146), "f": (40, 40, 44)}),
    "command_block_minecart": ("minecart", {"m": (136, 138, 146), "f": (204, 140, 96)}),
    "saddle": ("saddle", {"m": (150, 82, 42), "w": (210, 210, 214)}),
    "leather": ("hide", {"m": (176, 96, 52), "w": (200, 122, 74)}),
    "rabbit_hide": ("hide", {"m": (196, 158, 112), "w": (224, 192, 150)}),
    "phantom_membrane": ("hide", {"m": (204, 200, 182), "w": (170, 166, 196)}),
    "rabbit_foot": ("foot", {"m": (206, 168, 120)}),
    "paper": ("paper", {"m": (238, 238, 232), "f": (206, 208, 206)}),
    "book": ("book", {"m": (140, 84, 46), "f": (166, 108, 64)}),
    "writable_book": ("book", {"m": (124, 70, 52), "f": (232, 226, 210)}),
    "written_book": ("book", {"m": (82, 92, 150), "f": (230, 200, 96)}),
    "enchanted_book": ("book", {"m": (150, 66, 160), "f": (244, 214, 110)}),
    "knowledge_book": ("book", {"m": (64, 150, 76), "f": (170, 226, 150)}),
    "map": (
        "map",
        {"m": (206, 188, 144), "w": (236, 224, 188), "f": (228, 214, 176), "b": (230, 218, 180), "k": (228, 214, 176)},
    ),
    "filled_map": (
        "map",
        {"m": (206, 188, 144), "w": (226, 210, 166), "f": (104, 160, 72), "b": (76, 124, 206), "k": (204, 40, 36)},
    ),
    "compass": ("round", {"m": (154, 156, 164), "w": (64, 66, 74), "k": (236, 236, 240), "r": (220, 40, 36)}),
    "clock": ("round", {"m": (246, 206, 70), "w": (58, 92, 178), "k": (255, 240, 140), "r": (40, 46, 90)}),
    "fishing_rod": ("rod", {"w": (226, 226, 226), "m": (170, 172, 178)}),
    "carrot_on_a_stick": ("rod", {"w": (226, 226, 226), "m": (244, 132, 24)}),
    "warped_fungus_on_a_stick": ("rod", {"w": (226, 226, 226), "m": (40, 176, 160)}),
    "shears": ("shears", {"m": (206, 208, 214), "r": (168, 46, 46)}),
    "lead": ("lead", {"m": (190, 142, 84)}),
    "name_tag": ("tag", {"m": (206, 190, 150), "k": (126, 106, 76)}),
    "painting": ("painting", {}),
    "item_frame": ("frame", {"m": (196, 148, 102)}),
    "armor_stand": ("stand", {"m": (164, 164, 164), "s": (178, 140, 88)}),
    "trident": ("trident", {"m": (96, 176, 164), "s": (60, 130, 124)}),
    "shield": ("shield", {"m": (150, 152, 158), "s": (132, 96, 54), "w": (160, 122, 74)}),
    "elytra": ("wings", {"m": (140, 134, 156)}),
    "totem_of_undying": ("totem", {"m": (240, 206, 92), "g": (60, 170, 80)}),
    "shulker_shell": ("scute", {"m": (152, 104, 152)}),
    "nautilus_shell": ("shell", {"m": (214, 190, 168), "w": (150, 92, 82)}),
    "firework_rocket": ("rocket", {"m": (206, 52, 48)}),
    "nether_star": ("star", {"m": (214, 224, 230), "w": (252, 252, 214)}),
    "end_crystal": ("crystal", {"m": (206, 168, 218), "f": (226, 96, 190), "k": (60, 54, 64)}),
    "glass_bottle": ("bottle", {"w": (206, 226, 232), "f": (150, 184, 196), "k": (150, 116, 74)}),
    "potion": ("bottle", {"w": (206, 226, 232), "f": (56, 98, 222), "k": (150, 116, 74)}),
    "honey_bottle": ("bottle", {"w": (240, 214, 150), "f": (236, 152, 34), "k": (150, 116, 74)}),
    "dragon_breath": ("bottle", {"w": (226, 206, 232), "f": (206, 92, 190), "k": (90, 74, 94)}),
    "experience_bottle": ("bottle", {"w": (226, 240, 206), "f": (150, 226, 60), "k": (150, 116, 74)}),
    "splash_potion": ("splash", {"w": (206, 226, 232), "f": (56, 98, 222)}),
    "lingering_potion": ("splash", {"w": (230, 206, 236), "f": (96, 82, 214)}),
    "bone": ("bone", {"m": (236, 234, 220)}),
    # Blocks that look better flat
    "brewing_stand": ("brewing_stand", {"m": (110, 108, 110), "f": (200, 70, 160), "w": (210, 226, 232)}),
    "cauldron": ("cauldron", {"m": (72, 70, 74), "f": (40, 38, 42)}),
    "hopper": ("hopper", {"m": (84, 82, 86), "k": (40, 38, 42)}),
    "flower_pot": ("pot", {"m": (158, 84, 62), "k": (86, 58, 40)}),
    "lantern": ("lantern", {"m": (240, 170, 70), "w": (255, 236, 150), "k": (62, 66, 78)}),
    "soul_lantern": ("lantern", {"m": (70, 190, 206), "w": (190, 246, 250), "k": (62, 66, 78)}),
    "bell": ("bell", {"m": (246, 204, 72)}),
    "chain": ("chain", {"m": (70, 74, 88)}),
    "campfire": ("campfire", {"f": (240, 130, 30), "w": (255, 226, 90), "s": (110, 82, 48)}),
    "soul_campfire": ("campfire", {"f": (40, 180, 206), "w": (180, 246, 250), "s": (110, 82, 48)}),
    "lever": ("lever", {"m": (124, 122, 122)}),
    "sugar_cane": ("reeds", {"m": (148, 198, 104), "g": (110, 168, 74)}),
    "bamboo": ("reeds", {"m": (110, 156, 44), "g": (86, 150, 40)}),
    "repeater": ("machine", {"m": (166, 166, 166)}),
    "comparator": ("machine", {"m": (190, 186, 180), "r": (236, 226, 214)}),
    "torch": ("torch", {"f": (255, 220, 90), "m": (240, 160, 50)}),
    "soul_torch": ("torch", {"f": (120, 236, 240), "m": (50, 180, 200)}),
    "redstone_torch": ("torch", {"f": (255, 60, 40), "m": (180, 20, 16)}),
}
"""Item -> its mask and the colours it takes."""

SPAWN: Mapping[str, tuple[Colour, Colour]] = {
    "bat": ((78, 64, 48), (20, 18, 18)),
    "bee": ((238, 196, 62), (66, 42, 28)),
    "blaze": ((246, 180, 40), (255, 246, 140)),
    "cat": ((240, 200, 144), (148, 108, 82)),
    "cave_spider": ((14, 66, 80), (170, 16, 20)),
    "chicken": ((164, 164, 164), (250, 36, 32)),
    "cod": ((194, 164, 122), (230, 202, 150)),
    "cow": ((70, 54, 40), (162, 162, 162)),
    "creeper": ((24, 164, 30), (10, 12, 10)),
    "dolphin": ((36, 60, 80), (248, 248, 250)),
    "donkey": ((86, 70, 60), (134, 118, 102)),
    "drowned": ((142, 242, 214), (122, 154, 80)),
    "elder_guardian": ((206, 204, 186), (120, 118, 148)),
    "enderman": ((24, 24, 26), (110, 40, 130)),
    "endermite": ((26, 24, 28), (112, 108, 112)),
    "evoker": ((150, 154, 154), (30, 28, 26)),
    "fox": ((214, 182, 160), (206, 106, 34)),
    "ghast": ((248, 248, 248), (188, 188, 188)),
    "guardian": ((92, 130, 114), (240, 126, 50)),
    "hoglin": ((198, 112, 88), (96, 110, 52)),
    "horse": ((192, 158, 126), (238, 228, 0)),
    "husk": ((122, 118, 96), (230, 204, 148)),
    "llama": ((192, 158, 126), (154, 94, 64)),
    "magma_cube": ((54, 12, 10), (252, 252, 0)),
    "mooshroom": ((162, 18, 16), (184, 184, 184)),
    "mule": ((28, 8, 4), (82, 52, 28)),
    "ocelot": ((240, 222, 126), (86, 72, 52)),
    "panda": ((232, 232, 232), (28, 28, 36)),
    "parrot": ((14, 166, 32), (252, 20, 16)),
    "phantom": ((68, 82, 140), (136, 252, 42)),
    "pig": ((240, 166, 162), (220, 100, 98)),
    "piglin": ((152, 96, 70), (250, 244, 164)),
    "piglin_brute": ((90, 42, 18), (250, 244, 164)),
    "pillager": ((84, 48, 54), (150, 154, 154)),
    "polar_bear": ((242, 242, 242), (150, 150, 144)),
    "pufferfish": ((246, 178, 44), (56, 196, 242)),
    "rabbit": ((152, 96, 58), (116, 74, 50)),
    "ravager": ((118, 116, 112), (92, 80, 74)),
    "salmon": ((160, 14, 14), (14, 132, 116)),
    "sheep": ((230, 230, 230), (254, 182, 182)),
    "shulker": ((148, 104, 148), (78, 56, 82)),
    "silverfish": ((110, 110, 110), (48, 48, 48)),
    "skeleton": ((194, 194, 194), (74, 74, 74)),
    "skeleton_horse": ((104, 104, 80), (230, 230, 216)),
    "slime": ((82, 160, 62), (126, 192, 110)),
    "spider": ((52, 46, 40), (168, 14, 16)),
    "squid": ((34, 58, 78), (112, 138, 154)),
    "stray": ((98, 118, 120), (222, 232, 232)),
    "strider": ((156, 52, 54), (78, 74, 78)),
    "trader_llama": ((234, 164, 50), (70, 86, 150)),
    "tropical_fish": ((240, 106, 22), (255, 250, 240)),
    "turtle": ((232, 232, 226), (0, 176, 176)),
    "vex": ((122, 144, 164), (232, 238, 240)),
    "villager": ((86, 62, 52), (190, 140, 114)),
    "vindicator": ((150, 154, 154), (40, 96, 98)),
    "wandering_trader": ((70, 86, 150), (234, 164, 50)),
    "witch": ((52, 0, 0), (82, 160, 62)),
    "wither_skeleton": ((20, 20, 20), (72, 78, 78)),
    "wolf": ((216, 212, 212), (206, 176, 150)),
    "zoglin": ((198, 112, 88), (230, 230, 230)),
    "zombie": ((0, 176, 176), (122, 158, 102)),
    "zombie_horse": ((50, 82, 52), (152, 194, 134)),
    "zombie_villager": ((86, 62, 52), (122, 158, 102)),
    "zombified_piglin": ((234, 148, 148), (76, 114, 42)),
}
"""Mob -> shell and spots of its egg."""

DISCS: Mapping[str, Colour] = {
    "13": (236, 190, 80),
    "cat": (110, 220, 60),
    "blocks": (220, 100, 50),
    "chirp": (170, 30, 30),
    "far": (150, 220, 90),
    "mall": (140, 100, 190),
    "mellohi": (200, 120, 220),
    "stal": (60, 56, 60),
    "strad": (236, 236, 236),
    "ward": (40, 130, 70),
    "11": (90, 80, 90),
    "wait": (90, 170, 220),
    "pigstep": (226, 160, 60),
}

PATTERNS: Mapping[str, tuple[str, ...]] = {
    "flower_banner_pattern": ("..kk..", "kkrrkk", "krrrrk", "kkrrkk", "..kk..", "..g..."),
    "creeper_banner_pattern": ("gg..gg", "gg..gg", "..gg..", ".gggg.", ".gggg.", ".g..g."),
    "skull_banner_pattern": (".kkkk.", "kk..kk", "k.kk.k", "kkkkkk", ".k..k.", ".kkkk."),
    "mojang_banner_pattern": ("r...r.", ".r.r..", "..r...", ".r.r..", "r...r.", "......"),
    "globe_banner_pattern": (".bbbb.", "bggbbb", "bggggb", "bbbggb", "bgbbbb", ".bbbb."),
    "piglin_banner_pattern": ("y....y", "yyyyyy", "ykyyky", "yyyyyy", "yykkyy", ".yyyy."),
}
_FISH: Mapping[str, Colour] = {
    "pufferfish": (236, 196, 60),
    "salmon": (190, 66, 58),
    "cod": (200, 176, 138),
    "tropical_fish": (244, 130, 34),
}


def of_item(name: str) -> np.ndarray | None:
    """The flat picture of a thing, uint8, shape (16, 16, 4); None if it has none here."""
    if name in THINGS:
        mask, colours = THINGS[name]
        return sprite(mask, name, **colours)
    first, _, last = name.rpartition("_")
    if last in ("sword", "pickaxe", "axe", "shovel", "hoe") and first in METALS:
        return sprite(last, name, m=METALS[first])
    if last in ("helmet", "chestplate", "leggings", "boots") and first in METALS:
        picture = sprite(last, name, m=METALS[first])
        if first == "chainmail":
            picture[::2, ::2, :3] = (picture[::2, ::2, :3] * 0.55).astype(np.uint8)
        return picture
    if name.endswith("_horse_armor"):
        return sprite("horse_armor", name, m=METALS[name.removesuffix("_horse_armor")])
    if last == "dye":
        colour = WOOL[first]
        return sprite("dye", name, m=colour, b=colour, w=tuple(min(255, c + 50) for c in colour))  # type: ignore[arg-type]
    if name.endswith("_spawn_egg"):
        shell, spots = SPAWN.get(name.removesuffix("_spawn_egg"), ((200, 200, 200), (90, 90, 90)))
        return sprite("spawn_egg", name, m=shell, s=spots)
    if name.startswith("music_disc_"):
        return sprite("disc", name, m=DISCS.get(name.removeprefix("music_disc_"), (200, 200, 200)), k=(54, 52, 58))
    if name in PATTERNS:
        rows = rows_of("pattern")
        for r, row in enumerate(PATTERNS[name], 5):
            rows[r] = rows[r][:5] + "".join("m" if c == "." else c for c in row) + rows[r][11:]
        return shaded(rows, {"m": (234, 226, 204)}, name)
    if last == "bucket" and first in _FISH:
        picture = sprite("bucket", name, m=(190, 192, 198), f=_WATER)
        fish = sprite("fish", name, m=_FISH[first])[3:12:2, 1:14:2]
        area = picture[1:6, 5:12]
        area[fish[..., 3] > 0] = fish[fish[..., 3] > 0]
        return picture
    if last == "boat":
        return sprite("boat", name, m=WOODS[first])
    if last == "sign":
        return sprite("sign", name, m=WOODS[first], s=tuple(int(c * 0.7) for c in WOODS[first]))  # type: ignore[arg-type]
    if last == "door":
        if first == "iron":
            return sprite("door", name, m=(206, 206, 206), w=(150, 152, 156), k=(90, 90, 90))
        glass = {"oak": (150, 200, 222), "birch": (230, 236, 228), "jungle": (96, 66, 42), "acacia": (222, 206, 176)}
        return sprite("door", name, m=WOODS[first], w=glass.get(first, tuple(int(c * 0.6) for c in WOODS[first])))  # type: ignore[arg-type]
    if last == "bed":
        return sprite("bed", name, m=WOOL[first])
    if last == "banner":
        return sprite("banner", name, m=WOOL[first])
    return None


__all__ = ["METALS", "SIZE", "WOODS", "masks", "of_item", "shaded", "sprite"]
