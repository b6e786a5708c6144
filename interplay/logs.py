"""The log of a server and of the processes beside it: lines for people, or one JSON object a line for programs.

Processes that a server starts inherit its environment, and so its format.
"""

from __future__ import annotations

import logging
import os
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

FORMAT_VARIABLE = "INTERPLAY_LOG_FORMAT"
"""Environment variable with the format, `text` or `json`."""
NODE_VARIABLE = "INTERPLAY_NODE"
"""Environment variable with the name of the server."""
KNOWN_IN_A_RECORD = ("game", "session", "request")
"""What `extra` of a record, or the context, may tell about it."""

_context: ContextVar[dict[str, Any]] = ContextVar("logged", default={})  # noqa: B039  never changed in place


def configure(words: str, *, level: int, process: str) -> None:
    """Set up the log of this process, on stderr.

    Args:
        words: Format of a line for people, as `logging.Formatter` takes it.
        level: The lowest level that is logged.
        process: Name of the process in JSON.
    """
    logging.basicConfig(format=words, level=level)
    if is_json():
        logging.captureWarnings(True)
        for handler in logging.getLogger().handlers:
            handler.setFormatter(_json_formatter(process))


def is_json() -> bool:
    return os.environ.get(FORMAT_VARIABLE) == "json"


def bind(**known: Any) -> None:
    """Add to what is known in this context: all later records of the current task, and of tasks that it starts, show it."""
    _context.set(_context.get() | known)


def _json_formatter(process: str) -> logging.Formatter:
    import structlog  # takes a tenth of a second
    from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
    from structlog.tracebacks import ExceptionDictTransformer

    def add_place(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        node = os.environ.get(NODE_VARIABLE)
        place = {"process": process, "pid": os.getpid()} | ({"node": node} if node else {})
        event.update(place | _context.get())
        return event

    return ProcessorFormatter(
        foreign_pre_chain=[
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            add_log_level,
            add_logger_name,
            add_place,
            ExtraAdder(allow=KNOWN_IN_A_RECORD),
            # Without the values of variables: there are tokens and passwords among them.
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.EventRenamer("message"),
        ],
        processors=[ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
