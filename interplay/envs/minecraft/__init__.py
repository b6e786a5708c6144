"""The real Minecraft, through MineRL or MineStudio: `game` is what both share, one module for each of them."""
