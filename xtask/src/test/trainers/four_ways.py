"""One scenario, played with the same words in four ways: do tools, world and reward come out alike?

usage: four_ways.py URL TOKEN [PROJECT]

PROJECT must hold the playbook retail_bank as it is shipped, and the server must be started with
`--agent-urls http://127.0.0.1:`. The words of the agent are those of a run that `scripted` plays. They are said

1. by messages that are posted (REST),
2. by an endpoint that the server asks (REST, `agent`),
3. by the client of the Open Reward Standard,
4. by the client of the Model Context Protocol, and by REST where they are for the user.
"""

import asyncio
import json
import os
import sys
import time

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
PROJECT = sys.argv[3] if len(sys.argv) == 4 else "default"
os.environ.update(OPENREWARD_SESSION_URL=URL, OPENREWARD_DISABLE_UPDATE_CHECK="1")

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openreward import OpenReward

from checks import Api, check
from stub_endpoint import Endpoint

SCENARIO = "transfer_rent_to_payee"
SEED = 7
ORDER = {"playbooks": ["retail_bank"], "scenarios": [SCENARIO], "seed": SEED, "complexity": {"simple": 1.0}}
ask = Api(URL, TOKEN).ask


def scripted():
    """The id of a conversation that `scripted` plays."""
    run = ask("POST", f"/projects/{PROJECT}/runs", json={**ORDER, "n": 1})["id"]
    for _ in range(120):
        played = ask("GET", f"/runs/{run}/conversations")["items"]
        if played and played[0].get("outcome"):
            return played[0]["id"]
        time.sleep(0.5)
    check(False, f"run {run} has ended")


def events(conversation):
    """Kind and content of each event."""
    stored = ask("GET", f"/conversations/{conversation}")["events"]
    return [next(iter(entry["event"].items())) for entry in stored]


def turns_of(conversation):
    """What the agent says, as OpenAI messages."""
    spoken = [content for kind, content in events(conversation) if kind == "agent_spoke"]
    return [{"content": turn["content"], "reasoning_content": turn.get("reasoning"), "tool_calls": turn.get("tool_calls")}
            for turn in spoken]


def posted(turns):
    episode = ask("POST", f"/projects/{PROJECT}/episodes", json={"environment": ORDER, "scenario": SCENARIO, "group": 0})[0]
    for turn in turns:
        episode = ask("POST", f"/episodes/{episode['id']}/messages", json={**turn, "turn": episode["turn"]})
    return episode["id"]


def asked(turns):
    def answer(request):
        said = sum(message["role"] == "assistant" for message in request["messages"])
        return {name: value for name, value in turns[said].items() if value is not None}

    with Endpoint(answer) as endpoint:
        order = {"environment": ORDER, "scenario": SCENARIO, "group": 0, "agent": {"url": endpoint.url, "model": "stub", "api_key": "k"}}
        return ask("POST", f"/projects/{PROJECT}/episodes", json=order)[0]["id"]


def calls_of(turns):
    """Each call, and each text for the user, by itself: (tool, arguments), or (None, text)."""
    for turn in turns:
        for call in turn["tool_calls"] or []:
            yield call["function"]["name"], json.loads(call["function"]["arguments"])
        if not turn["tool_calls"]:
            yield None, turn["content"]


def by_ors(turns):
    name = f"four_ways_{int(time.time())}"
    ask("PUT", f"/projects/{PROJECT}/environments/{name}", json=ORDER)
    with OpenReward(base_url=URL, api_key=TOKEN) as client:
        environment = client.environments.get(f"{PROJECT}/{name}")
        splits = [split if isinstance(split, str) else split.name for split in environment.list_splits()]
        check(len(splits) == 1, f"a scenario alone is in one split: {splits}")
        with environment.session(split=splits[0], index=0) as session:
            for tool, given in calls_of(turns):
                output = session.call_tool(tool or "reply", given if tool else {"text": given})
            check(output.finished, f"ORS tells the end, with the reward {output.reward}")
            episode = session.sid
    ask("DELETE", f"/projects/{PROJECT}/environments/{name}")
    return episode, output.reward


async def by_mcp(turns):
    episode = ask("POST", f"/projects/{PROJECT}/episodes", json={"environment": ORDER, "scenario": SCENARIO, "group": 0})[0]["id"]
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=90) as http:
        async with streamable_http_client(f"{URL}/api/v1/episodes/{episode}/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                for tool, given in calls_of(turns):
                    if tool:
                        answer = await session.call_tool(tool, given)
                        check(not answer.isError, f"MCP: {tool} answers {answer.content[0].text[:60]}")
                    else:
                        ask("POST", f"/episodes/{episode}/messages", json={"content": given})
    return episode


def compared(conversation):
    """What must be alike, each under a name."""
    told = events(conversation)
    answered = [content for kind, content in told if kind == "tool_answered"]
    calls = {call["id"]: call["function"] for kind, content in told if kind == "agent_spoke" for call in content.get("tool_calls") or []}
    return {
        "tool calls": [(event["tool"], json.loads(calls[event["call_id"]]["arguments"])) for event in answered],
        "tool answers": [(event["content"], event["answer"]) for event in answered],
        "patches of the world": [event.get("patch") for event in answered],
        "words of the user": [content["content"] for kind, content in told if kind == "user_spoke"],
        "persona": next(content["persona"] for kind, content in told if kind == "started"),
        "ending": next(content["ending"] for kind, content in told if kind == "ended"),
        "checks of the verifier": next(content["verification"]["items"] for kind, content in told if kind == "verified"),
    }


def main():
    run = scripted()
    turns = turns_of(run)
    expected = compared(run)
    passed = all(item["passed"] for item in expected["checks of the verifier"])
    check(passed, f"the scripted conversation is right: {len(turns)} turns, {len(expected['tool calls'])} calls")
    ors, ors_reward = by_ors(turns)
    ways = {"posted messages": posted(turns), "an endpoint": asked(turns), "ORS": ors, "MCP": asyncio.run(by_mcp(turns))}
    for way, episode in ways.items():
        mine = compared(episode)
        for name, value in expected.items():
            size = f"{len(value)} " if isinstance(value, list) else ""
            check(mine[name] == value, f"{way}: {size}{name} as in the run" +
                  ("" if mine[name] == value else f":\n  {json.dumps(mine[name])}\n  {json.dumps(value)}"))
        reward = ask("GET", f"/episodes/{episode}")["result"]["reward"]
        check(reward == 1, f"{way}: the reward is {reward}")
    check(ors_reward == 1, f"ORS told the reward {ors_reward}")


main()
