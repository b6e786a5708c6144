"""Updates of the world for one browser, as the payloads of scene and land frames (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blockworld.errors import WorldError
from blockworld.grid.changes import News, differences
from blockworld.player import mining
from blockworld.render import display, figures, pieces
from blockworld.render.daylight import brightness, of_sky
from blockworld.render.renderer import Renderer
from blockworld.scene import land, packing, sight
from blockworld.scene.shared import Shared
from blockworld.state import DAY_TICKS
from blockworld.world_state import WorldState

SKY_TICKS = 20
"""Ticks after which the colours of the sky are sent again while the time of day advances normally."""
SECTIONS_A_FRAME = 32
"""Largest number of sections in a land frame when unseen land is hidden."""


class SceneEncoder:
    """Encoder for one client, which remembers what has been sent to it.

    Args:
        world: The world that the client draws.
        seat: Seat of the player whose view the client draws.
        gamma, fov: As in `Renderer`.
        hide_land: Whether to send only sections that the player could have seen.
        has_land: Whether the client already has the land as generated (`generated_land`) and may know all of it (replays).

    Raises:
        WorldError: If the seat is empty, or a number is out of its range.
    """

    def __init__(
        self,
        world: WorldState,
        seat: int,
        *,
        gamma: float = 0.0,
        fov: float = 70.0,
        hide_land: bool = False,
        has_land: bool = False,
    ) -> None:
        if not 0 <= seat < len(world.players):
            raise WorldError(f"the seats of this world are 0 to {len(world.players) - 1}, got {seat}")
        self.world, self.seat = world, seat
        self._renderer = Renderer((16, 9), fov, gamma=gamma)
        self._hides, self._has_land = hide_land and not has_land, has_land
        self._shared = Shared.of(world)
        self._pending = self._shared.join()
        self._num_rays, self._rays_a_tick = 0, sight.NUM_RAYS
        self._seen = np.zeros([-(-side // land.SECTION) for side in world.grid.size], np.bool_)
        self._forget()

    def _forget(self) -> None:
        self._sent = np.full_like(self._seen, self._has_land)
        self._parts = [] if self._has_land else land.parts_of(self.world.grid.size)
        self._told: dict[str, Any] = {}
        self._sky: tuple[int, int, str] | None = None
        self._figures: dict[int, bytes] = {}
        self._hand: bytes | None = None
        self._num_left: int | None = None
        self._models: set[int] = set()
        self._sprites: set[str] = set()

    # The scene

    def scene(self, fresh: bool = False, turned: bool = False) -> bytes:
        """Return all changes since the last call: the payload of a scene frame, deflated.

        Args:
            fresh: Whether to send everything again, to a client that forgets its copy. This also happens if too many changes
                are pending. The document then has `size`, or `again` if the client keeps the land as generated.
            turned: Whether the world, and not the player, turned the view since the last call.
        """
        world = self.world
        self._shared.gather()
        is_new = fresh or self._pending.is_lost or not self._told
        news = self._pending.take()
        document: dict[str, Any] = {"tick": world.ticks, "time": world.time, "weather": world.weather}
        arrays: dict[str, np.ndarray] = {}
        if is_new:
            self._forget()
            if self._has_land:
                (cells, states), (lit, lights), _ = differences(world.first, world.grid)
                document["again"], news = True, News(cells, states, lit, lights)
            else:
                document["size"] = world.grid.size
        with world.acting(self.seat):
            document["me"] = self._me(turned)
            self._tell(document, "selected", self._selected())
            self._tell(document, "crack", self._crack())
            self._tell_figures(document, arrays)
            self._tell_display(document, arrays)
            if self._hides:
                self._look()
                self._tell(document, "left", self._num_frames())
            self._tell_sky(arrays)
        self._tell_cells(arrays, "cells", news.cells, "states", news.states)
        self._tell_cells(arrays, "lit", news.lit, "lights", news.lights)
        return packing.deflate(packing.pack(document, arrays))

    def _tell(self, document: dict[str, Any], key: str, value: Any) -> bool:
        """Put a value into the document if it has changed; return whether it has changed."""
        if key in self._told and self._told[key] == value:
            return False
        self._told[key] = document[key] = value
        return True

    def _me(self, turned: bool) -> dict[str, Any]:
        me, screen = self.world.player, self.world.screen
        return {
            **{name: round(float(getattr(me, name)), 5) for name in ("x", "y", "z", "yaw", "pitch")},
            "eye": round(me.eye_y - me.y, 5),
            "fov": self._renderer.fov,
            "mode": me.game_mode,
            "dead": me.dead,
            "sleeping": bool(me.sleeping),
            "gui": None if screen is None else screen.kind,
            "turned": turned,
        }

    def _selected(self) -> list[int] | None:
        looked_at = mining.target(self.world)
        return None if looked_at is None else [int(value) for value in looked_at[:3]]

    def _crack(self) -> list[int] | None:
        begun = self.world.player.mining
        return None if begun is None else [*map(int, begun[:3]), min(9, int(begun[3] * 10))]

    def _tell_sky(self, arrays: dict[str, np.ndarray]) -> None:
        """Send the numbers of the sky for the ray-caster, and the brightness of light: in the first frame, `SKY_TICKS` after
        they were last sent, and when time or weather was set."""
        world = self.world
        if self._sky is not None:
            ticks, time, weather = self._sky
            passed = world.ticks - ticks
            goes_on = world.time == (time + passed) % DAY_TICKS and passed < SKY_TICKS
            if weather == world.weather and (goes_on or world.time == time):
                return
        self._sky = world.ticks, world.time, world.weather
        bright = brightness(of_sky(world.time, world.weather), self._renderer.gamma)
        camera = self._renderer.camera(world)
        arrays["numbers"] = self._renderer.numbers(world.grid, camera, world.time, world.ticks, world.weather, bright)
        arrays["bright"] = np.asarray(bright, np.float32)

    def _tell_figures(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Send rows of changed figures and ids of figures that are gone, and note the models that these rows need."""
        world, me = self.world, self.world.player
        ids, rows = figures.standing(world, None if self._has_land else (me.x, me.eye_y, me.z))
        data, size = rows.tobytes(), figures.ROW * rows.itemsize
        now = {number: data[i * size : i * size + size] for i, number in enumerate(ids.tolist())}
        before, self._figures = self._figures, now
        news = [i for i, (number, row) in enumerate(now.items()) if before.get(number) != row]
        self._wanted = set()
        if news:
            arrays["figures"], arrays["figure_ids"] = rows[news], ids[news]
            self._wanted.update(arrays["figures"][:, figures.MODEL].astype(int).tolist())
        if before.keys() != now.keys() and (gone := [number for number in before if number not in now]):
            arrays["gone"] = np.array(gone, np.uint32)

    def _tell_display(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Send drawing operations and the hand if they have changed, with sprites and models that the client lacks."""
        operations = display.operations(self.world)
        names: list[str] = []
        if self._tell(document, "display", operations):
            self._wanted.update(int(one[3][figures.MODEL]) for one in operations if one[0] == "portrait")
            names = sorted(display.sprites(operations) - self._sprites)
        hand = display.hand(self.world, self._renderer.gamma)
        held = b"" if hand is None else hand.tobytes()
        if held != self._hand:
            self._hand = held
            self._tell(document, "hand", None if hand is None else [round(value, 3) for value in hand.tolist()])
            if hand is not None:
                self._wanted.add(int(hand[figures.MODEL]))
        models = sorted(self._wanted - self._models)
        if models:
            self._models.update(models)
            document["models"], found = figures.WARDROBE.definitions(models)
            arrays.update(found)
        if names:
            self._sprites.update(names)
            document["sprites"], arrays["sprite_pixels"] = pieces.sheet(names)

    def _tell_cells(self, arrays: dict[str, np.ndarray], place: str, at: np.ndarray, key: str, values: np.ndarray) -> None:
        if not len(at):
            return
        _, sy, sz = self.world.grid.size
        column, y = np.divmod(at, sy)
        x, z = np.divmod(column, sz)
        known = self._sent[x >> 4, y >> 4, z >> 4]
        if known.any():
            arrays[place], arrays[key] = at[known], values[known]

    # The land

    def land_parts(self, num_parts: int) -> list[bytes]:
        """Return the payloads of up to `num_parts` land frames that the client lacks, nearest land first, each deflated."""
        if not self._told:
            return []  # it has not been told of a land
        self._shared.gather()  # what is sent now must be what the next changes are against
        return [self._land_frame() for _ in range(min(num_parts, self._num_frames()))]

    def _num_frames(self) -> int:
        if not self._hides:
            return len(self._parts)
        if self._num_left is None:
            self._num_left = -(-int(np.count_nonzero(self._seen & ~self._sent)) // SECTIONS_A_FRAME)
        return self._num_left

    def _land_frame(self) -> bytes:
        me, grid = self.world.players[self.seat], self.world.grid
        if self._hides:
            left = np.argwhere(self._seen & ~self._sent)
            away = ((left * land.SECTION + land.SECTION / 2 - (me.x, me.eye_y, me.z)) ** 2).sum(1)
            nearest = left[np.argsort(away, kind="stable")[:SECTIONS_A_FRAME]]
            wanted = [(int(x), int(y), int(z)) for x, y, z in nearest]
            body = land.sections(grid, wanted)
        else:
            nearest_part = min(self._parts, key=lambda part: land.away(part, me.x, me.z))
            self._parts.remove(nearest_part)
            wanted = land.sections_of(grid.size, nearest_part)
            body = land.part(self.world, nearest_part)
        self._sent[tuple(np.array(wanted).T)] = True
        self._num_left = None
        left = self._told["left"] = self._num_frames()
        return land.message({"tick": self.world.ticks, "left": left}, body)

    def _look(self) -> None:
        me = self.world.player
        x, y, z = self._renderer.camera(self.world).axes[2]
        eye, axis = (me.x, me.eye_y, me.z), (float(x), float(y), float(z))
        number = self._rays_a_tick if self._num_rays else sight.FIRST_RAYS
        self._rays_a_tick = max(sight.LEAST_RAYS, self._rays_a_tick // 2)
        for _ in range(sight.MOST_BATCHES):
            num_new = sight.look(self.world.grid, eye, axis, self._seen, self._num_rays, number)
            self._num_rays += number
            number = sight.MORE_RAYS
            if not num_new:
                break
            self._num_left, self._rays_a_tick = None, sight.NUM_RAYS


def generated_land(world: WorldState) -> Iterator[bytes]:
    """Yield the payloads of all land frames of a land as generated, each deflated; the first one has the land's `size`."""
    size = world.first.size
    parts = land.parts_of(size)
    heads: list[dict[str, Any]] = [{"tick": 0, "left": left} for left in reversed(range(len(parts)))]
    heads[0]["size"] = size
    for head, part in zip(heads, parts, strict=True):
        yield land.message(head, land.generated(world, part))
