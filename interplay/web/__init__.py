"""The ASGI application: pages, their API, and static files.

A handler reads the request, calls one function of another room, and shapes the answer. `create_app(archive, play=...,
judging=...)` in `interplay.web.app` makes the application. No other room imports this one.
"""
