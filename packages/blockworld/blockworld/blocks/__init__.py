"""Changes that blocks make without a player: they fall, burn, grow, flow and break when nothing holds them."""
