"""Houses, farms and pens of villages: drawings in characters, and the blocks of the characters in each style.

A house is drawn from above, front (with the door) at the bottom, one drawing a storey. `#` is wall, `L` a post, `G` a window,
`D` the door, `C` a chimney, `A` wall of another stuff; `.` is floor; `_` is outside. Indoors: `b` `B` a
bed (head, foot), `h` chest, `F` furnace, `T` crafting table, `w` the tool of the trade, `k` bookshelves, `t` table, `s` chair,
`c` carpet, `a` barrel, `o` flower pot, `l` ladder, `*` torch on the wall, `J` lantern below the roof, `H` hay. Outside: `p`
porch, `P` porch with a post, `V` bush, `f` fence, `g` gate, `=` log in the ground, `u` field, `~` water, `e` ground as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

STYLES = ("plains", "desert", "savanna", "taiga", "snowy")


@dataclass(frozen=True)
class Style:
    """Materials of a style: block names, or states as `blocks.parse` reads them.

    Attributes:
        walls: Lowest, middle and highest course of a storey.
        post: Corners, upright; `beam` lies in walls between storeys.
        stairs, slab, full: Of roofs; `verge` the stairs at their ends.
        lamp: On top of a lamp post.
    """

    wood: str
    walls: tuple[str, str, str]
    accent: str
    post: str
    beam: str
    base: str
    floor: str
    stairs: str
    slab: str
    full: str
    verge: str
    fence: str
    chimney: str
    paths: tuple[str, ...]
    lamp: str
    bed: tuple[str, ...]
    carpet: str
    bush: str
    flowers: tuple[str, ...]
    crops: tuple[str, ...]
    rim: str


STYLE: dict[str, Style] = {
    "plains": Style(
        wood="oak", walls=("cobblestone", "oak_planks", "oak_planks"), accent="white_terracotta", post="oak_log",
        beam="oak_log", base="cobblestone", floor="oak_planks", stairs="oak_stairs", slab="oak_slab", full="oak_planks",
        verge="cobblestone_stairs", fence="oak_fence", chimney="cobblestone", paths=("grass_path",), lamp="lantern",
        bed=("white", "yellow"), carpet="yellow_carpet", bush="oak_leaves[persistent=true,distance=7]",
        flowers=("potted_dandelion", "potted_poppy", "potted_oxeye_daisy"), crops=("wheat", "wheat", "carrots", "potatoes"),
        rim="oak_log",
    ),
    "desert": Style(
        wood="jungle", walls=("cut_sandstone", "smooth_sandstone", "orange_terracotta"), accent="terracotta",
        post="cut_sandstone", beam="chiseled_sandstone", base="sandstone", floor="smooth_sandstone",
        stairs="sandstone_stairs", slab="sandstone_slab", full="smooth_sandstone",
        verge="smooth_sandstone_stairs", fence="jungle_fence", chimney="white_terracotta",
        paths=("smooth_sandstone", "cut_sandstone", "smooth_sandstone", "sandstone"), lamp="lantern", bed=("lime", "cyan"),
        carpet="cyan_carpet", bush="dead_bush", flowers=("potted_cactus", "potted_dead_bush"),
        crops=("wheat", "beetroots"), rim="smooth_sandstone",
    ),
    "savanna": Style(
        wood="acacia", walls=("orange_terracotta", "acacia_planks", "acacia_planks"), accent="yellow_terracotta",
        post="acacia_log", beam="acacia_log", base="orange_terracotta", floor="acacia_planks", stairs="acacia_stairs",
        slab="acacia_slab", full="acacia_planks", verge="acacia_stairs", fence="acacia_fence", chimney="terracotta",
        paths=("grass_path",), lamp="lantern", bed=("orange", "red"), carpet="orange_carpet",
        bush="acacia_leaves[persistent=true,distance=7]",
        flowers=("potted_orange_tulip", "potted_red_tulip", "potted_acacia_sapling"),
        crops=("wheat", "wheat", "carrots"), rim="acacia_log",
    ),
    "taiga": Style(
        wood="spruce", walls=("cobblestone", "spruce_planks", "spruce_planks"), accent="mossy_cobblestone", post="spruce_log",
        beam="stripped_spruce_log", base="cobblestone", floor="spruce_planks", stairs="spruce_stairs", slab="spruce_slab",
        full="spruce_planks", verge="cobblestone_stairs", fence="spruce_fence", chimney="cobblestone", paths=("grass_path",),
        lamp="lantern", bed=("purple", "blue"), carpet="purple_carpet", bush="spruce_leaves[persistent=true,distance=7]",
        flowers=("potted_fern", "potted_spruce_sapling", "potted_poppy"), crops=("potatoes", "wheat", "beetroots"),
        rim="spruce_log",
    ),
    "snowy": Style(
        wood="spruce", walls=("packed_ice", "snow_block", "snow_block"), accent="stripped_spruce_log", post="spruce_log",
        beam="stripped_spruce_log", base="packed_ice", floor="spruce_planks", stairs="spruce_stairs", slab="spruce_slab",
        full="snow_block", verge="stone_brick_stairs", fence="spruce_fence", chimney="stone_bricks", paths=("grass_path",),
        lamp="lantern", bed=("light_blue", "blue"), carpet="light_blue_carpet",
        bush="spruce_leaves[persistent=true,distance=7]",
        flowers=("potted_fern", "potted_blue_orchid", "potted_spruce_sapling"), crops=("potatoes", "carrots", "beetroots"),
        rim="spruce_log",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Template:
    """One design.

    Attributes:
        storeys: Drawings, lowest first, all of one size.
        roofs: Kind, storey it covers, and the rectangle of its walls (x0, z0, x1, z1; None: all of the drawing). Kinds:
            `gable_x` and `gable_z` (ridge east-west, north-south), `hip`, `low_x`, `low_z`, `low_hip` (half as
            steep), `flat`, `dome`.
        professions: Drawn from for its residents.
    """

    name: str
    storeys: tuple[str, ...]
    roofs: tuple[tuple[str, int, tuple[int, int, int, int] | None], ...]
    professions: tuple[str, ...] = ("none",)


TOOL_OF = {
    "farmer": "composter", "librarian": "lectern", "toolsmith": "smithing_table", "armorer": "blast_furnace",
    "weaponsmith": "grindstone",
    "butcher": "smoker", "fletcher": "fletching_table", "shepherd": "loom", "mason": "stonecutter", "leatherworker": "cauldron",
    "cartographer": "cartography_table", "cleric": "brewing_stand", "fisherman": "barrel", "none": "crafting_table",
}  # fmt: skip
"""Profession -> block it works at."""

_CRAFTS = ("fletcher", "shepherd", "mason", "leatherworker", "cartographer", "fisherman")

_PLAINS = (
    Template("cottage", ("""
        L##G##L
        #b...h#
        #B.*..G
        G..cc.#
        #o...TG
        LG#D#GL
        _V_._V_""",), (("gable_x", 0, (0, 0, 6, 5)),), ("farmer", "none")),
    Template("hut", ("""
        L#G#L
        #b.h#
        #B..G
        #T.F#
        L#D#L""",), (("gable_z", 0, None),), ("farmer", "none")),
    Template("corner house", ("""
        L#GG#L___
        #b..b#___
        #B..B#___
        G....L#GL
        G.cc....#
        #*....TFC
        L#GD#G##L
        _V_.__V__""",), (("gable_z", 0, (0, 0, 5, 6)), ("gable_x", 0, (4, 3, 8, 6))), ("farmer", "none")),
    Template("library", ("""
        L##G#G##L
        #kkk.kkk#
        #*.....*#
        G..ts...G
        #....cc.#
        #kk...wh#
        L#G#D#G#L
        _VV_._VV_""",), (("gable_x", 0, (0, 0, 8, 6)),), ("librarian", "cartographer")),
    Template("tall house", ("""
        L#G##L
        #l.Fh#
        #....G
        G.tsT#
        #*...G
        L#D#GL""", """
        L#GG#L
        #lb.b#
        G.B.BG
        #....#
        G*co.G
        L#GG#L"""), (("gable_z", 1, None),), ("shepherd", "fletcher")),
    Template("smithy", ("""
        L#G#C###L
        #b..F.wh#
        #B.*F...#
        G..o..aa#
        L#D#L#G#L
        ppppppppp
        Ppp.ppppP""",), (("gable_x", 0, (0, 0, 8, 6)),), ("toolsmith", "weaponsmith", "armorer")),
    Template("workshop", ("""
        L#G#G#L
        #b*..h#
        #B...w#
        G....TG
        L#D#G#L
        ppppppp
        Pp.pppP""",), (("gable_x", 0, (0, 0, 6, 6)),), (*_CRAFTS, "butcher")),
)  # fmt: skip

_DESERT = (
    Template("small house", ("""
        L#G#L
        #b.h#
        #B.*G
        #T.o#
        L#D#L""",), (("flat", 0, None),), ("farmer", "none")),
    Template("wide house", ("""
        L#G#G#L
        #b...b#
        #B.*.B#
        G.cc..G
        #h..TF#
        L#GDG#L
        _V_.__V""",), (("flat", 0, (0, 0, 6, 5)),), ("farmer", "none")),
    Template("roof house", ("""
        L#G#GAL
        #l..hF#
        #....TG
        G.tsc.#
        #*....#
        LAG#D#L""", """
        ___L#GL
        _l_#b.#
        ___GB.G
        ___D.o#
        ___#*.#
        ___LG#L"""), (("flat", 0, (0, 0, 5, 5)), ("flat", 1, (3, 0, 6, 5))), ("fletcher", "mason")),
    Template("court house", ("""
        L#G##L#G#L
        #b...L..h#
        #B.*.D.wT#
        G....L...G
        L##D#L#G#L
        f~_____e_f
        fe__..eV_f
        ffffgffff_""",), (("flat", 0, (0, 0, 5, 4)), ("flat", 0, (5, 0, 9, 4))), ("leatherworker", "cartographer")),
    Template("temple", ("""
        LA#G#AL
        AwJ..kA
        #.....#
        G.c.c.G
        #.c.c.#
        A..J..A
        LAGDGAL
        _V_._V_""", """
        _______
        _LAGAL_
        _A...A_
        _G...G_
        _A...A_
        _LAGAL_
        _______
        _______"""), (("flat", 0, (0, 0, 6, 6)), ("dome", 1, (1, 1, 5, 5))), ("cleric", "librarian")),
    Template("forge", ("""
        L##G#L
        #b.*h#
        #B..a#
        G..FwC
        L#D##L
        pppppp
        Pp.ppP""",), (("flat", 0, (0, 0, 5, 6)),), ("weaponsmith", "armorer", "toolsmith")),
)  # fmt: skip

_SAVANNA = (
    Template("small house", ("""
        L#G#L
        #b.h#
        #B..G
        #*.o#
        L#D#L
        Pp.pP""",), (("low_x", 0, (0, 0, 4, 5)),), ("farmer", "none")),
    Template("long house", ("""
        L#G##G#L
        #b.b..h#
        #B.B.*T#
        G..cc..G
        L#GAD#GL
        pppp.ppp
        Pppp.ppP""",), (("low_x", 0, (0, 0, 7, 6)),), ("farmer", "none")),
    Template("round house", ("""
        __L#L__
        _L#.#L_
        L#b.h#L
        G.B..TG
        L#*.c#L
        _L#.#L_
        __LDL__""",), (("low_hip", 0, (0, 0, 6, 6)),), ("shepherd", "fletcher")),
    Template("stilt house", ("""
        L##G#L
        #l.Fh#
        GA..TG
        #*...#
        L#GD#L
        __V.__""", """
        L#GG#L
        #lb.b#
        G.B.BG
        #.co*#
        LA#G#L
        ______"""), (("low_z", 1, (0, 0, 5, 4)),), ("leatherworker", "mason")),
    Template("workshop", ("""
        LAG#GAL
        Ab*..hA
        #B...w#
        G....TG
        LA#D#AL
        Pp.ppPf
        f_____f""",), (("low_x", 0, (0, 0, 6, 5)),), (*_CRAFTS, "butcher")),
    Template("corner house", ("""
        L#GG#L___
        #bbhT#___
        #BB..#___
        G..*.LAAL
        G.cc..wk#
        #.......G
        L#GD#GAAL
        _V_.__V__""",), (("low_z", 0, (0, 0, 5, 6)), ("low_x", 0, (4, 3, 8, 6))), ("cartographer", "librarian", "cleric")),
)  # fmt: skip

_TAIGA = (
    Template("cabin", ("""
        L##G##L
        #b..Fh#
        #B...TC
        G..cc.G
        #o...*#
        L#GD#GL
        Pp_._pP""",), (("gable_z", 0, (0, 0, 6, 5)),), ("farmer", "none")),
    Template("hut", ("""
        L#G#L
        #b.h#
        GB..G
        #T*.#
        L#D#L""",), (("gable_x", 0, None),), ("farmer", "none")),
    Template("lodge", ("""
        L#GC#G#L
        #l.FF.h#
        #......G
        G.tscc.#
        G*...kT#
        L#G#D#GL
        _VV_.VV_""", """
        L#GC#G#L
        #l.b.b##
        #..B.B.G
        G......#
        Gco.*.h#
        L#GG#GGL
        ________"""), (("gable_x", 1, (0, 0, 7, 5)),), ("fletcher", "shepherd")),
    Template("woodshed", ("""
        L#G#L===
        #b.h#ppP
        #B*.#pp=
        G.w.Dppp
        #T..#pp=
        L#D#LppP
        _V.V____""",), (("gable_z", 0, (0, 0, 4, 5)), ("gable_z", 0, (4, 0, 7, 5))), (*_CRAFTS,)),
    Template("cross house", ("""
        __L#GL__
        __#kk#__
        LG#..#GL
        #b.*..h#
        #B....T#
        G..cc.wG
        L#GD#G#L
        _V_.__V_""",), (("gable_x", 0, (0, 2, 7, 6)), ("gable_z", 0, (2, 0, 5, 6))), ("librarian", "cartographer", "cleric")),
    Template("smithy", ("""
        L##G##L
        #b.*.h#
        #B...aC
        GFF..wC
        LAADAAL
        p=p.p=p
        Pp_._pP""",), (("hip", 0, (0, 0, 6, 6)),), ("armorer", "toolsmith", "weaponsmith")),
)  # fmt: skip

_SNOWY = (
    Template("igloo", ("""
        __###__
        _##G##_
        ##b.h##
        #GB.*G#
        ##T.c##
        _##.##_
        __#D#__""",), (("dome", 0, None),), ("fisherman", "none")),
    Template("cottage", ("""
        L#G#G#L
        #b...h#
        #B.*.TG
        G.cc..#
        LAADA#L
        _V_._V_""",), (("gable_x", 0, (0, 0, 6, 4)),), ("farmer", "none")),
    Template("hall", ("""
        LAG#GAL
        Ab...bA
        #B.*.B#
        G..c..G
        #..c..#
        #h..TF#
        G.....C
        LAGDGAL
        _V_._V_""",), (("gable_z", 0, (0, 0, 6, 7)),), ("shepherd", "leatherworker", "none")),
    Template("tower", ("""
        L#G#L
        #l.w#
        G...G
        #T.*#
        L#D#L""", """
        LAGAL
        Al.hA
        G.b.G
        A*B.A
        LAGAL"""), (("hip", 1, None),), ("cleric", "librarian", "cartographer")),
    Template("workshop", ("""
        L#GC##L
        #b.F.h#
        #B*..w#
        G....TG
        L#D#G#L
        ppppppp
        Pp.pppP""",), (("gable_x", 0, (0, 0, 6, 6)),), (*_CRAFTS, "toolsmith", "armorer")),
    Template("corner house", ("""
        LAGAL___
        AbobA___
        AB.BLG#L
        G..*...#
        #.cc.hT#
        L#DAG##L
        _V.__V__""",), (("gable_z", 0, (0, 0, 4, 5)), ("gable_x", 0, (3, 2, 7, 5))), ("farmer", "none")),
)  # fmt: skip

HOUSES: dict[str, tuple[Template, ...]] = {
    "plains": _PLAINS,
    "desert": _DESERT,
    "savanna": _SAVANNA,
    "taiga": _TAIGA,
    "snowy": _SNOWY,
}
"""Style -> designs of its houses."""

FARMS = (
    Template("farm", ("""
        =======
        =uu~uu=
        =uu~uu=
        =uu~uu=
        =uu~uu=
        =uu~uu=
        =uu~uu=
        =======""",), (), ("farmer",)),
    Template("field", ("""
        ==========
        =uuuuuuuu=
        =~~~~~~~~=
        =uuuuuuuu=
        ==========
        e_H____w_e""",), (), ("farmer",)),
)  # fmt: skip

PENS = (
    Template("pen", ("""
        ffffffff
        feHeeeef
        feeeeeef
        feeeee~f
        feeeeeef
        fffgffff""",), ()),
    Template("yard", ("""
        fffffff
        f~eeeef
        feeeeef
        feeeeef
        feeeHef
        feeeeef
        ffgffff""",), ()),
)  # fmt: skip
