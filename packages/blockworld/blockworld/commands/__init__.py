"""Commands that build a scene, such as `/setblock` and `/summon`, in the syntax of Minecraft 1.16."""
