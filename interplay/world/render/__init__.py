"""What a player sees: blocks by casting rays, bodies, and the bars and screens in front; no rule is here."""
