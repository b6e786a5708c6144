"""The real Minecraft, through MineRL or MineStudio; `game` is the common base of both."""
