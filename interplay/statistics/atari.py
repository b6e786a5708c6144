"""The statistics of CrowdPlay's Atari tasks (Gerstgrasser et al. 2022, appendix A.2), read from the console's memory.

In Space Invaders 36 invaders stand in six rows and six columns. An invader of the lowest row gives 5 points, an invader of the
highest row 30. Bytes 0x12 to 0x17 hold the rows, lowest first, one bit for each column. When the leftmost column is dead, the
console moves all rows by one bit, so bit 0 is always the leftmost column that still has invaders.

Differences: CrowdPlay counted every bit that became 0, even if the bit only moved (12 of 29 "hits" in one game), and took bits
for columns. Here a hit is a reward of 5 to 30 points in the same frame. The reward tells its row. Its column is the bit of this
row that became 0, plus the number of bits by which the rows have moved so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from interplay.statistics.statistic import Collector, SeenStep, Setting, Statistic, StatisticError, share

ROWS = COLUMNS = 6
_FIRST_ROW = 0x12
_CANNONS = (0x1C, 0x1D)
_LEFTMOST, _RIGHTMOST = 0x23, 0x75
_MISSILES = (0x55, 0x56)
_FIRED = 0x55
"""Value of a missile's byte in the frame in which it leaves the cannon."""
_OWNER, _FIRST_OWNS = 0x18, 0x08
"""In the game for two: the byte and the bit that say whether the first missile is the first player's."""
_BONUS = 200
"""Points that one player gets in the game for two when the other is hit."""
_SHIP = {1: 200, 2: 100}
"""Points for the ship at the top of the screen, by number of players."""


class Hit(NamedTuple):
    """One invader that was shot.

    Attributes:
        seat: The seat that shot it.
        row: 0 is the lowest.
        column: 0 is the leftmost; None if the console's memory does not show it.
        before: For each row the columns that still had an invader before the shot, as bits.
    """

    seat: str
    row: int
    column: int | None
    before: tuple[int, ...]


class _SpaceInvaders(Collector):
    """Base of the collectors of Space Invaders."""

    needs = ("ram",)

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        if setting.env.partition(":")[2] != "space_invaders" or len(setting.seats) not in _SHIP:
            raise StatisticError(f"it is a statistic of ale:space_invaders and ale2p:space_invaders, not of {setting.env}")
        self._seats = setting.seats
        self._ship = _SHIP[len(setting.seats)]

    def points(self, step: SeenStep, seat: str) -> float:
        """Return the points that a seat earned by shooting, without the bonus for the lost life of the other player."""
        earned = step.earned[seat]
        return earned - _BONUS if earned >= _BONUS and len(self._seats) == 2 else earned


class _Invaders(_SpaceInvaders):
    watches = ("ram", _FIRST_ROW, _FIRST_ROW + ROWS)

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        self.memory = {"board": None, "moved": 0}

    def see(self, step: SeenStep) -> None:
        for hit in self._hits(step, step.readings["ram"][_FIRST_ROW : _FIRST_ROW + ROWS]):
            self.judge(hit)

    def judge(self, hit: Hit) -> None:
        raise NotImplementedError

    def _hits(self, step: SeenStep, board: bytes) -> Iterator[Hit]:
        """Yield the invaders shot in this step, and remember which are left."""
        memory = self.memory
        before, moved = memory["board"] or list(board), memory["moved"]
        shift = _moved(before, board)
        memory["board"] = list(board)
        memory["moved"] = 0 if shift is None else moved + shift
        out = [old & ~(new << (shift or 0)) for old, new in zip(before, board, strict=True)]
        shots = [(seat, self.points(step, seat)) for seat in self._seats]
        shots = [(seat, points) for seat, points in shots if 5 <= points <= 30 and points % 5 == 0]
        ram = step.readings["ram"]
        if len(shots) == 2 and shots[0][1] == shots[1][1] and ram[_CANNONS[0]] > ram[_CANNONS[1]]:
            shots.reverse()  # two in one row: the further left cannon shot the further left one
        for seat, points in shots:
            row = int(points) // 5 - 1
            bit = out[row] & -out[row]
            out[row] ^= bit
            yield Hit(seat, row, bit.bit_length() - 1 + moved if bit else None, tuple(old << moved for old in before))


def _moved(before: Sequence[int], now: Sequence[int]) -> int | None:
    """Return by how many bits the console has moved all rows. None for a new wave: invaders stand where none stood before.

    >>> _moved([0b111110, 0b111010], [0b011111, 0b011101])
    1
    >>> _moved([0b000000, 0b000100], [0b111111, 0b111111])
    """
    for shift in range(COLUMNS):
        if not any((new << shift) & ~old for old, new in zip(before, now, strict=True)):
            return shift
    return None


class AliensHit(_Invaders):
    """Number of invaders shot; the ship at the top of the screen is not an invader."""

    statistic = Statistic("aliens_hit", "Invaders shot", "int", "", "higher", description="How many invaders you shot.")

    def judge(self, hit: Hit) -> None:
        self.counts[hit.seat]["count"] += 1


class _InOrder(_Invaders):
    """Invaders shot in the right order: their share of all invaders shot or, with `count`, their number."""

    name: ClassVar[str]
    title: ClassVar[str]
    turn: ClassVar[str]
    """End of a sentence that says which hits are good."""
    count_names = ("good", "all")

    def __init__(self, count: bool = False) -> None:
        if not isinstance(count, bool):
            raise StatisticError(f"count must be true or false, got {count!r}")
        self._counts_hits = count
        self.statistic = (
            Statistic(f"{self.name}_hits", f"{self.title}, hits", "int", "", "higher", description=f"Hits {self.turn}.")
            if count
            else Statistic(self.name, self.title, "float", "", "higher", True, f"The share of your hits {self.turn}.")
        )

    def judge(self, hit: Hit) -> None:
        counts = self.counts[hit.seat]
        counts["all"] += 1
        counts["good"] += self.is_good(hit)

    def is_good(self, hit: Hit) -> bool:
        raise NotImplementedError

    def value(self, counts: Mapping[str, float]) -> float | None:
        return counts["good"] if self._counts_hits else share(counts["good"], counts["all"])


class RowByRow(_InOrder):
    """Invaders shot row by row from below: a hit is good if all rows below its own row are empty."""

    name, title = "row_by_row", "Row by row"
    turn = "for which all rows below were empty"

    def is_good(self, hit: Hit) -> bool:
        return not any(hit.before[: hit.row])


class OutsideIn(_InOrder):
    """Invaders shot from the outside in: a hit is good if all columns further out on its side (three columns) are empty."""

    name, title = "outside_in", "From the outside in"
    turn = "for which all columns further out on that side were empty"

    def is_good(self, hit: Hit) -> bool:
        return hit.column is not None and _is_empty(
            hit, range(hit.column) if hit.column < COLUMNS // 2 else range(hit.column + 1, COLUMNS)
        )


class InsideOut(_InOrder):
    """Invaders shot from the inside out: a hit is good if no invader is further in on its side of three columns."""

    name, title = "inside_out", "From the inside out"
    turn = "for which all columns further in on that side were empty"

    def is_good(self, hit: Hit) -> bool:
        half = COLUMNS // 2
        return hit.column is not None and _is_empty(
            hit, range(hit.column + 1, half) if hit.column < half else range(half, hit.column)
        )


def _is_empty(hit: Hit, columns: range) -> bool:
    mask = sum(1 << column for column in columns)
    return not any(row & mask for row in hit.before)


class Accuracy(_SpaceInvaders):
    """Share of all shots that hit an invader or the ship. A shot counts in the frame in which it leaves the cannon.

    Differences: CrowdPlay's statistic works for one player and one game only.
    """

    statistic = Statistic(
        "accuracy",
        "Shots that hit",
        "float",
        "",
        "higher",
        is_share=True,
        description="The share of your shots that hit an invader or the ship.",
    )
    count_names = ("hits", "shots")

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        self.memory = {"fired": []}

    def see(self, step: SeenStep) -> None:
        ram = step.readings["ram"]
        if ram[_MISSILES[0]] == _FIRED or ram[_MISSILES[1]] == _FIRED:
            # A missile whose neighbour is gone moves to the first place, perhaps while it still stands at the cannon.
            fired = [[place, ram[byte + 2]] for place, byte in enumerate(_MISSILES) if ram[byte] == _FIRED]
            known = [column for _, column in self.memory["fired"]]
            for place, column in fired:
                if column not in known:
                    self.counts[self._shooter(ram, place)]["shots"] += 1
            self.memory["fired"] = fired
        elif self.memory["fired"]:
            self.memory["fired"] = []
        for seat in self._seats:
            if step.earned[seat]:
                points = self.points(step, seat)
                self.counts[seat]["hits"] += 5 <= points <= 30 or points == self._ship

    def _shooter(self, ram: bytes, place: int) -> str:
        if len(self._seats) == 1:
            return self._seats[0]
        return self._seats[place ^ (0 if ram[_OWNER] & _FIRST_OWNS else 1)]

    def value(self, counts: Mapping[str, float]) -> float | None:
        return share(counts["hits"], counts["shots"])


class Side(Collector):
    """Share of all steps in which the player is on one side of the screen.

    In Space Invaders the middle belongs to both sides. In River Raid a band of `band` pixels to either side of the middle also
    belongs to both (CrowdPlay's band is 11 pixels wide).
    """

    needs = ("ram",)
    count_names = ("there", "steps")

    def __init__(self, side: str, band: float = 5) -> None:
        if side not in ("left", "right"):
            raise StatisticError(f"side must be 'left' or 'right', got {side!r}")
        if not isinstance(band, int | float) or isinstance(band, bool) or not 0 <= band <= 80:
            raise StatisticError(f"band must be a number of pixels from 0 to 80, got {band!r}")
        self._sign = -1 if side == "left" else 1
        self._band = band
        self.statistic = Statistic(
            f"{side}_side", f"Time on the {side}", "float", "", None, is_share=True,
            description=f"The share of the time in which you were on the {side} of the screen. The middle counts for both.",
        )  # fmt: skip

    def begin(self, setting: Setting, info: Mapping[str, Any]) -> None:
        super().begin(setting, info)
        name = setting.env.partition(":")[2]
        if name not in _PLAYERS or len(setting.seats) > len(_PLAYERS[name].bytes):
            raise StatisticError(
                f"the player's side of the screen is known only in {', '.join(_PLAYERS)}, not in {setting.env}"
            )
        player = _PLAYERS[name]
        self._places = tuple(zip(setting.seats, player.bytes, strict=False))
        self._middle, self._slack = player.middle, self._band if player.has_band else 0

    def see(self, step: SeenStep) -> None:
        ram = step.readings["ram"]
        for seat, byte in self._places:
            counts = self.counts[seat]
            counts["steps"] += 1
            if self._sign * (ram[byte] - self._middle) >= -self._slack:
                counts["there"] += 1

    def value(self, counts: Mapping[str, float]) -> float | None:
        return share(counts["there"], counts["steps"])


class _Player(NamedTuple):
    """Where the players of a game are: the bytes of the console's memory that hold their columns, one for each seat; the middle
    of the screen; and whether the game has a band in the middle that belongs to both sides."""

    bytes: tuple[int, ...]
    middle: float
    has_band: bool


_PLAYERS = {"space_invaders": _Player(_CANNONS, (_LEFTMOST + _RIGHTMOST) / 2, False), "riverraid": _Player((0x33,), 0x4C, True)}
