"""Skills of the block world, by keys and camera only; each skill is a generator of actions.

    from interplay.agents.skills import Body, come_to, craft

    body = Body(world, rng)                      # looks into the world, and never changes it
    for action in come_to(body, cell):           # one `world.Action` a tick
        world.step(action)

`body` walks, looks, mines, places and holds; `reaching` reaches blocks that are far away, hidden or over an edge; `crafts`
makes, smelts and takes items with the cursor of a screen; `mobs` goes to mobs, fights, trades, and picks up items; `navigation`
finds ways.
"""

from interplay.agents.skills.body import Acts, Body
from interplay.agents.skills.crafts import craft, put, smelt, take
from interplay.agents.skills.mobs import fight, meet, pick_up, trade
from interplay.agents.skills.navigation import Routes
from interplay.agents.skills.reaching import come_to, place_at, set_down

__all__ = [
    "Acts",
    "Body",
    "Routes",
    "come_to",
    "craft",
    "fight",
    "meet",
    "pick_up",
    "place_at",
    "put",
    "set_down",
    "smelt",
    "take",
    "trade",
]
