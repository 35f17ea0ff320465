"""Client for the episodes of a Groundstate server."""

from groundstate.client import Client, Environments, Split
from groundstate.episode import Check, Endpoint, Episode, Penalties, Result, Task, ToolCall
from groundstate.errors import (
    ApiError,
    Conflict,
    FieldError,
    Forbidden,
    GroundstateError,
    Invalid,
    NotFound,
    TookTooLong,
    Unauthorized,
    Unavailable,
    Unreachable,
)

__all__ = [
    "ApiError",
    "Check",
    "Client",
    "Conflict",
    "Endpoint",
    "Environments",
    "Episode",
    "FieldError",
    "Forbidden",
    "GroundstateError",
    "Invalid",
    "NotFound",
    "Penalties",
    "Result",
    "Split",
    "Task",
    "ToolCall",
    "TookTooLong",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
