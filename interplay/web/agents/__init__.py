"""Agents over HTTP and as pages: access to agents, proposals, uploads of videos, and judges' answers about an agent."""
