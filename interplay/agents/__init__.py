"""Agents that play: random, no-op and scripted players, trained policies, and your own.

An agent is told that a game of a task begins; then it is asked for a decision at each observation. The short form
(`SimpleAgent`) plays one game at a time from pictures; the full form (`Agent`) plays any number of games from mappings.
`find("scripted")` builds an agent by name, `check_agent` tests the protocol, and `rollout` lets an agent play and records it.
"""

from interplay.agents.base import Agent, AgentError, Decision, SeatedAgent, SimpleAgent, check_agent, decide
from interplay.agents.find import AgentName, find, names
from interplay.agents.rollout import rollout
from interplay.agents.scripted import ScriptedPlayer
from interplay.agents.simple import NoopAgent, RandomAgent

__all__ = [
    "Agent",
    "AgentError",
    "AgentName",
    "Decision",
    "NoopAgent",
    "RandomAgent",
    "ScriptedPlayer",
    "SeatedAgent",
    "SimpleAgent",
    "check_agent",
    "decide",
    "find",
    "names",
    "rollout",
]
