"""The client of the Model Context Protocol works with the tools of an episode; what the agent says to the user goes by REST.

usage: mcp_client.py URL TOKEN [PROJECT]

The server must hold the project in `project/`.
"""

import asyncio
import json
import sys

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from checks import Api, check

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
PROJECT = sys.argv[3] if len(sys.argv) == 4 else "default"
ask = Api(URL, TOKEN).ask


def open_episode():
    order = {"name": "doors", "scenario": "open_left", "group": 0}
    return ask("POST", f"/projects/{PROJECT}/episodes", json=order)[0]["id"]


async def with_tools(episode, do):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers, timeout=90) as http:
        async with streamable_http_client(f"{URL}/api/v1/episodes/{episode}/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                return await do(session)


def text(result):
    return "\n".join(block.text for block in result.content)


async def main():
    episode = open_episode()

    async def open_left(session):
        tools = (await session.list_tools()).tools
        names = [tool.name for tool in tools]
        check(names == ["open_door", "ring_bell"], f"the tools are those of the playbook: {names}")
        schema = ask("GET", f"/episodes/{episode}")["tools"][0]["function"]["parameters"]
        check(tools[0].inputSchema == schema, "a tool's schema is that of the playbook")
        unknown = await session.call_tool("close_door", {"door": "left"})
        check("no tool" in text(unknown), f"an unknown tool is told to the agent: {text(unknown)!r}")
        answer = await session.call_tool("open_door", {"door": "left"})
        check(not answer.isError and json.loads(text(answer)) == {"door": "left", "state": "open"},
              f"the tool answers {text(answer)}")

    await with_tools(episode, open_left)
    standing = ask("GET", f"/episodes/{episode}")
    check(standing["reward_if_ended"] in (0, 1), f"the reward if it ended now is {standing['reward_if_ended']}")
    ended = ask("POST", f"/episodes/{episode}/messages", json={"content": "The left door is open."})
    check(ended["state"] == "ended" and ended["result"]["ending"] == "user_ended", "the user hears it by REST, and ends")
    check(ended["result"]["penalties"]["malformed_calls"] == 1, "the call of an unknown tool is counted")

    async def after_the_end(session):
        late = await session.call_tool("open_door", {"door": "left"})
        check(late.isError and "ended" in text(late), f"a call after the end is an error: {text(late)!r}")

    await with_tools(episode, after_the_end)

    episode = open_episode()
    await with_tools(episode, lambda session: session.call_tool("open_door", {"door": "left"}))
    ended = ask("POST", f"/episodes/{episode}/messages", json={"content": "The left door is open."})
    check(ended["result"]["reward"] == 1, f"an episode without mistakes has the reward {ended['result']['reward']}")

    # Agents make the calls of one message at once. Each has its own answer.
    doors = ["left", "right"] * 3
    at_once = lambda session: asyncio.gather(*(session.call_tool("open_door", {"door": door}) for door in doors))
    answers = [text(answer) for answer in await with_tools(open_episode(), at_once)]
    opened = [json.loads(answer).get("door") if answer.startswith("{") else answer for answer in answers]
    check(opened == doors, f"of calls that are made at once, each has its own answer: {answers}")


asyncio.run(main())
