"""What can go wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


class GroundstateError(Exception):
    """Base of all exceptions of this package."""


class Unreachable(GroundstateError):
    """The server could not be reached, or the connection broke."""


class TookTooLong(GroundstateError):
    """It is still not the agent's turn. Wait again, or close the episode."""


@dataclass(frozen=True)
class FieldError:
    """One mistake in what was sent."""

    pointer: str
    """JSON pointer to the field, such as `/scenario`."""
    detail: str


class ApiError(GroundstateError):
    """The server refused a request. The message says why."""

    def __init__(self, status: int, title: str, detail: str, errors: list[FieldError]):
        places = [f"{error.pointer}: {error.detail}" for error in errors if error.detail != detail]
        super().__init__("\n".join([f"{status} {title}: {detail}", *places]))
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors


class Unauthorized(ApiError):
    """There is no token, or it is not valid."""


class Forbidden(ApiError):
    """The token may not do this."""


class NotFound(ApiError):
    """There is no such episode, environment or project."""


class Conflict(ApiError):
    """The state of the episode forbids it: it has ended, or it is not the agent's turn."""


class Invalid(ApiError):
    """A field has a value that is not allowed. `errors` names each."""


class Unavailable(ApiError):
    """The server is busy, or cannot work now. Try again later."""


BY_STATUS = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def of_response(response: httpx.Response) -> ApiError:
    """The exception that a problem document (RFC 9457) is."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    detail = str(problem.get("detail") or response.text.strip()[:500] or "the server gave no reason")
    title = str(problem.get("title") or response.reason_phrase)
    errors = [FieldError(str(error.get("pointer", "")), str(error.get("detail", "")))
              for error in problem.get("errors") or []]
    return BY_STATUS.get(response.status_code, ApiError)(response.status_code, title, detail, errors)
