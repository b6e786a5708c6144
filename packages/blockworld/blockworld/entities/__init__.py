"""Mobs, items on the ground and arrows: how they walk, breed and trade."""
