"""Changes of blocks without a player: blocks fall, burn, grow and flow, and break when they lose their support."""
