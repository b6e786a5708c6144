"""Agents over HTTP and as pages: who may know of which, proposing one, its videos, and the answers of judges about it."""
