"""Entrants: agents, uploaded videos and recorded play of people that are ranked."""
