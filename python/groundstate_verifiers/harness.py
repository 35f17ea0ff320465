"""How a rollout is played: the server asks the model, through the endpoint of verifiers that records what it says."""

import asyncio
import contextlib
import os
import time
from urllib.parse import quote
from uuid import uuid4

import httpx
import verifiers.v1 as vf
from groundstate.errors import Unavailable, of_response

# The key under which a trace's `info` holds what the episode came to.
INFO = "groundstate"
# Seconds between looks at an episode that is played.
POLL = 0.5
# Seconds that a restart of the server may take.
RESTART = 60
# The server answers a request that waits after 50 seconds at the latest.
TIMEOUT = httpx.Timeout(90, connect=10)


class GroundstateHarnessConfig(vf.HarnessConfig):
    """Nothing of its own."""


class GroundstateHarness(vf.Harness[GroundstateHarnessConfig]):
    # The server writes the system prompt.
    APPENDS_SYSTEM_PROMPT = True
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data) -> vf.ProgramResult:
        order = {
            # The same request again is about the same episode.
            "id": str(uuid4()),
            "name": data.environment,
            "scenario": data.scenario,
            "group": data.group,
            # verifiers puts the name of its model and its sampling in place of what the server sends.
            "agent": {"url": endpoint, "model": "agent", "api_key": secret},
        }
        headers = {"Authorization": f"Bearer {os.environ['GROUNDSTATE_TOKEN']}"}
        async with httpx.AsyncClient(base_url=f"{data.url}/api/v1", headers=headers, timeout=TIMEOUT) as http:
            try:
                episode = await played(http, quote(data.project, safe=""), order)
            except BaseException:
                # Whoever waited is gone: nobody needs the episode any more.
                with contextlib.suppress(httpx.HTTPError):
                    await asyncio.shield(http.delete(f"/episodes/{order['id']}"))
                raise
        trace.info[INFO] = {"episode": episode["id"], "run": episode["run"], **episode["result"]}
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


async def played(http: httpx.AsyncClient, project: str, order: dict):
    """The episode of an order when it has ended. It is played on after a restart of the server."""
    episode, begun, reached = None, False, time.monotonic()
    while episode is None or episode["state"] != "ended":
        try:
            # It waits for its agent if a restart interrupted it: the server keeps no keys of endpoints.
            if episode is None or episode["state"] == "waiting":
                episode = body(await http.post(f"/projects/{project}/episodes", json=order))[0]
            else:
                await asyncio.sleep(POLL)
                episode = body(await http.get(f"/episodes/{order['id']}", params={"skip": len(episode["messages"])}))
            begun, reached = True, time.monotonic()
        except (httpx.TransportError, Unavailable) as error:
            # A server that was never there may have another address.
            begun = begun or not isinstance(error, httpx.ConnectError)
            if not begun or time.monotonic() - reached > RESTART:
                raise
            await asyncio.sleep(POLL)
    return episode


def body(response: httpx.Response):
    if response.is_error:
        raise of_response(response)
    return response.json()
