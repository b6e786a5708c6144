"""Agents in the seats of live games: who can be one for a task, and how each decides, in the worker or in a process beside."""
