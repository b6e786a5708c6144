"""What moves besides players: mobs, items on the ground, arrows; how they walk, breed and trade."""
