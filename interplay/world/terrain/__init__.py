"""How a land is made from its seed: hills, caves, trees, plants, villages."""
