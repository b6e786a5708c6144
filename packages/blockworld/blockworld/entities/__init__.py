"""Mobs, items on the ground and arrows: how they move, fight, breed and trade."""
