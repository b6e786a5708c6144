"""The ASGI application: pages, their API and static files. Handlers parse, call one function of a room, shape the reply.

`create_app(archive, play=..., judging=...)` in `interplay.web.app` makes it; no other room imports this one.
"""
