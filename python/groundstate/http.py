"""Requests to the server."""

from __future__ import annotations

import os
import time
from typing import Any

import httpx

from groundstate import errors

URL = "http://127.0.0.1:7878"
# The server answers a request that waits after 50 seconds at the latest.
TIMEOUT = httpx.Timeout(90, connect=10)
# A busy server is asked so many times.
ATTEMPTS = 5
LONGEST_PAUSE = 10.0


class Api:
    """A server and a token."""

    def __init__(self, url: str | None, token: str | None, transport: httpx.BaseTransport | None = None):
        self.url = (url or os.environ.get("GROUNDSTATE_URL") or URL).rstrip("/")
        self.token = token or os.environ.get("GROUNDSTATE_TOKEN") or ""
        if not self.token:
            raise errors.GroundstateError(
                "no token: pass `token`, or set GROUNDSTATE_TOKEN; "
                "`groundstate tokens create --user NAME --name TEXT --scope run` makes one"
            )
        self._http = httpx.Client(base_url=self.url, timeout=TIMEOUT, transport=transport)

    def close(self) -> None:
        self._http.close()

    def api(self, method: str, path: str, *, body: Any = None, params: dict[str, Any] | None = None) -> Any:
        """A request below `/api/v1`."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return self._send(method, f"/api/v1{path}", headers, body, params)

    def ors(self, path: str, body: Any, deployment: str) -> Any:
        """A request of the Open Reward Standard."""
        headers = {"X-API-Key": self.token, "X-Deployment": deployment}
        return self._send("POST", path, headers, body, None)

    def _send(self, method: str, path: str, headers: dict[str, str], body: Any, params: Any) -> Any:
        attempt = 1
        while True:
            try:
                response = self._http.request(method, path, headers=headers, json=body, params=params)
            except httpx.HTTPError as error:
                raise errors.Unreachable(f"{method} {self.url}{path}: {error or type(error).__name__}") from error
            if not response.is_error:
                return response.json() if response.content else None
            # These say that nothing was done.
            if response.status_code not in (429, 503) or attempt == ATTEMPTS:
                raise errors.of_response(response)
            time.sleep(pause(response, attempt))
            attempt += 1


def pause(response: httpx.Response, attempt: int) -> float:
    """Seconds until the next attempt."""
    try:
        asked_for = float(response.headers["retry-after"])
    except (KeyError, ValueError):
        asked_for = 0.5 * 2**attempt
    return min(max(asked_for, 0.0), LONGEST_PAUSE)
