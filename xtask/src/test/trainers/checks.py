"""What the scripts here share: checks that say what they checked, and requests to the API."""

import sys
import time

import httpx

STARTED = time.monotonic()


def check(holds, what):
    """Prints one line, and exits if it does not hold."""
    print(f"{'ok    ' if holds else 'FAILED'} {what} ({time.monotonic() - STARTED:.0f} s)", flush=True)
    if not holds:
        sys.exit(1)


class Api:
    def __init__(self, url, token):
        self.url = url.rstrip("/")
        self.http = httpx.Client(base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=90)

    def ask(self, method, path, **options):
        answer = self.http.request(method, path, **options)
        if answer.is_error:
            check(False, f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None
