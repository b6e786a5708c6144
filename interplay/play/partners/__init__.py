"""Agents in the seats of live games: which agents can play a task, and where each decides: in the worker or in a separate
process."""
