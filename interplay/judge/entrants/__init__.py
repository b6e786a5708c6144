"""Entrants: who is ranked. Agents, uploaded videos and recorded play of people come in here, and tell the rest who they are."""
