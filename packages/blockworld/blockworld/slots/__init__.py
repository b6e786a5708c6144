"""Slots, their stacks, and their places on screens."""
