"""Actions of a player: move, mine, place, use, carry, craft and click on screens."""
