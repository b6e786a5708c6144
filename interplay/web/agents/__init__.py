"""Agents over HTTP and as pages: who may know of which, proposing one, its videos, and what judges said of it."""
