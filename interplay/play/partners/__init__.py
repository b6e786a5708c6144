"""Agents in the seats of live games: agents that can play a task, and how each decides, in the worker or in a process
beside."""
