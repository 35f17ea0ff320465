"""How a rollout is played: the server asks the model, through the endpoint of verifiers that records what it says."""

import asyncio
import os
from urllib.parse import quote

import httpx
import verifiers.v1 as vf
from groundstate.errors import of_response

# The key under which a trace's `info` holds what the episode came to.
INFO = "groundstate"
# Seconds between looks at an episode that is played.
POLL = 0.5
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
            "name": data.environment,
            "scenario": data.scenario,
            "group": data.group,
            # verifiers puts the name of its model and its sampling in place of what the server sends.
            "agent": {"url": endpoint, "model": "agent", "api_key": secret},
        }
        headers = {"Authorization": f"Bearer {os.environ['GROUNDSTATE_TOKEN']}"}
        async with httpx.AsyncClient(base_url=f"{data.url}/api/v1", headers=headers, timeout=TIMEOUT) as http:
            opened = await http.post(f"/projects/{quote(data.project, safe='')}/episodes", json=order)
            episode = body(opened)[0]
            try:
                while episode["state"] != "ended":
                    await asyncio.sleep(POLL)
                    episode = body(await http.get(f"/episodes/{episode['id']}", params={"skip": len(episode["messages"])}))
            except BaseException:
                # Whoever waited is gone: nobody needs the episode any more.
                await asyncio.shield(http.delete(f"/episodes/{episode['id']}"))
                raise
        trace.info[INFO] = {"episode": episode["id"], "run": episode["run"], **episode["result"]}
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def body(response: httpx.Response):
    if response.is_error:
        raise of_response(response)
    return response.json()
