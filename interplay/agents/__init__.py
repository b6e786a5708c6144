"""Everything that acts: random, no-op and scripted players, trained policies, and your own.

An agent is told that an episode of a task begins, then asked for an action at each decision (`Agent`). `find("scripted")`
builds one by name, `check_agent` says whether one keeps the protocol, and `rollout` lets one play and records it.
"""

from interplay.agents.base import Agent, AgentError, check_agent
from interplay.agents.find import AgentName, find, names
from interplay.agents.rollout import rollout
from interplay.agents.scripted import ScriptedPlayer
from interplay.agents.simple import NoopAgent, RandomAgent

__all__ = [
    "Agent",
    "AgentError",
    "AgentName",
    "NoopAgent",
    "RandomAgent",
    "ScriptedPlayer",
    "check_agent",
    "find",
    "names",
    "rollout",
]
