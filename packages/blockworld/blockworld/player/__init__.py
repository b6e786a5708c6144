"""What a player does: move, mine, place, use, carry, craft and click on screens."""
