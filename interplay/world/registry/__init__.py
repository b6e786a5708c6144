"""What there is: blocks, items, creatures, biomes, recipes, drops and trades, as Minecraft 1.16 has them. Facts only."""
