"""The commands that build a scene, such as `/setblock` and `/summon`, as Minecraft 1.16 reads them."""
