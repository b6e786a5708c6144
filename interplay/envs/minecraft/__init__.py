"""The real Minecraft, through MineRL or MineStudio: `game` is their common base."""
