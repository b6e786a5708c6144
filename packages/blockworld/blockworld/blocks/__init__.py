"""What blocks do by themselves: they fall, burn, grow, flow and break when nothing holds them."""
