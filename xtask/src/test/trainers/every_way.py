"""Scenarios, each played in every way with the same words of the agent: do the events, the world and the reward come out alike?

usage: every_way.py URL TOKEN [SHIPPED]

The project `default` must hold the project in `project/`, and the project SHIPPED (default: `default`) the playbooks retail_bank and
telecom_support as they are shipped. The server must be started with `--agent-urls http://127.0.0.1:`. In each turn the agent makes one
call, or says something to the user, because some ways have no other turns. The agent is

1. the model of a run,
2. a program that posts messages (REST),
3. an endpoint that the server asks (REST, `agent`),
4. the client of the Open Reward Standard,
5. the client of the Model Context Protocol, and of REST where it speaks to the user,
6. the client of OpenEnv.
"""

import asyncio
import json
import math
import os
import sys
import time
from dataclasses import dataclass

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
SHIPPED = sys.argv[3] if len(sys.argv) == 4 else "default"
os.environ.update(OPENREWARD_SESSION_URL=URL, OPENREWARD_DISABLE_UPDATE_CHECK="1")

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openenv import GenericEnvClient
from openreward import OpenReward

from checks import Api, check
from stub_endpoint import DONE, RUDE, Endpoint, call, visit

SEED = 7
AGENT, USER = "every-way-agent", "every-way-user"
ask = Api(URL, TOKEN).ask


@dataclass(frozen=True)
class Turn:
    """A call of a tool, or a text for the user."""

    text: str | None = None
    tool: str | None = None
    arguments: dict | None = None

    def as_openai(self):
        return {"content": self.text, "tool_calls": [call(self.tool, self.arguments)] if self.tool else None}


def opens(door):
    return Turn(tool="open_door", arguments={"door": door})


@dataclass(frozen=True)
class Case:
    name: str
    scenario: str
    reward: int | None
    # Whose failure it is.
    blame: str | None = None
    # What the agent does; None: what the script of the scenario says.
    turns: list[Turn] | None = None
    # A tool that the agent does not call, although the script says so.
    without: str | None = None
    playbook: str = "doors"
    project: str = "default"
    # Default: any.
    personas: tuple[str, ...] = ()
    # Whether a stub plays the user, and not the script.
    has_stub_user: bool = False

    def order(self):
        """What a run and episodes are made of."""
        models = {"simulated_user": USER} if self.has_stub_user else {}
        return {"playbooks": [self.playbook], "scenarios": [self.scenario], "personas": list(self.personas), "seed": SEED,
                "complexity": {"simple": 1.0}, "models": models}


BANK = {"scenario": "transfer_rent_to_payee", "playbook": "retail_bank", "project": SHIPPED}
# Its user has tools of its own, and is asked three questions, which not everybody answers.
PHONE = {"scenario": "paperweight_set_to_3g", "playbook": "telecom_support", "project": SHIPPED, "personas": ("easygoing_traveller",)}
CASES = [
    Case("the rent is paid", reward=1, **BANK),
    Case("the agent says that it paid the rent", reward=0, blame="agent", without="make_transfer", **BANK),
    Case("the phone works again", reward=1, **PHONE),
    Case("the agent did not look for outages", reward=0, blame="agent", without="check_outages", **PHONE),
    Case("the right door", "open_left", reward=1, turns=[opens("left"), Turn(DONE)]),
    Case("the wrong door", "open_left", reward=0, blame="agent", turns=[opens("right"), Turn(DONE)]),
    Case("a call that no tool accepts, and then the right door", "open_left", reward=0, blame="agent",
         turns=[opens("top"), opens("left"), Turn(DONE)]),
    Case("a tool that cannot answer", "open_left", reward=None, blame="tool_simulator",
         turns=[Turn(tool="ring_bell", arguments={}), Turn(DONE)]),
    Case("the right door, by a stub of the user", "open_left", reward=1, turns=[opens("left"), Turn(DONE)], has_stub_user=True),
    Case("the right door, and a user that breaks off", "open_left", reward=None, blame="simulated_user",
         turns=[opens("left"), Turn(RUDE)], has_stub_user=True),
]


class Agent:
    """An endpoint that says the turns of the case that is played."""

    def __init__(self):
        self.turns = []

    def answer(self, request):
        said = sum(message["role"] == "assistant" for message in request["messages"])
        turn = self.turns[said] if said < len(self.turns) else Turn("I have said all that I had to say.")
        return {name: value for name, value in turn.as_openai().items() if value is not None}


def played(case, models):
    """A run of one conversation when it has ended: the ids of both."""
    order = {**case.order(), "n": 1, "retries": 0}
    run = ask("POST", f"/projects/{case.project}/runs", json={**order, "models": {**order["models"], **models}})["id"]
    for _ in range(240):
        page = ask("GET", f"/runs/{run}/conversations")["items"]
        if page and page[0].get("outcome"):
            return run, page[0]["id"]
        time.sleep(0.25)
    check(False, f"{case.name}: the run {run} has ended")


def scripted(case):
    """The turns of the script, as `scripted` plays them."""
    _, conversation = played(case, {})
    turns = []
    for kind, content in (event(entry) for entry in entries(conversation)):
        if kind == "agent_spoke":
            calls = [made["function"] for made in content.get("tool_calls", [])]
            turns += [Turn(tool=made["name"], arguments=json.loads(made["arguments"])) for made in calls]
            turns += [] if calls else [Turn(content["content"])]
    return turns


def turns_of(case):
    if case.turns is not None:
        return case.turns
    turns = scripted(case)
    left = [turn for turn in turns if case.without is None or turn.tool != case.without]
    check(len(left) == len(turns) - (case.without is not None), f"{case.name}: {len(left)} of the {len(turns)} turns of the script")
    return left


def entries(conversation):
    return ask("GET", f"/conversations/{conversation}")["events"]


def event(entry):
    (kind, content), = entry["event"].items()
    return kind, content


def comparable(entry):
    """An event without what it cost, which only some ways tell, and with arguments that do not depend on how JSON is written."""
    kind, content = event(entry)
    content = {name: value for name, value in content.items() if name not in ("usage", "sampling")}
    if "tool_calls" in content:
        content["tool_calls"] = [(made["id"], made["function"]["name"], json.loads(made["function"]["arguments"]))
                                 for made in content["tool_calls"]]
    return {"seq": entry["seq"], "ancestry": entry.get("ancestry", []), "kind": kind, **content}


# Each way gives the id of the conversation, and the reward that the program of the agent was told at the end.


def by_run(case, turns, agent, environment):
    run, conversation = played(case, {"agent": AGENT})
    for _ in range(40):
        group, = ask("GET", f"/runs/{run}/groups")["items"]
        sample, = group["samples"]
        if sample["status"] in ("accepted", "failed"):
            return conversation, sample.get("reward")
        time.sleep(0.25)
    check(False, f"{case.name}: the group of the run has ended: {group}")


def opened(case, **more):
    order = {"environment": case.order(), "scenario": case.scenario, "group": 0, **more}
    return ask("POST", f"/projects/{case.project}/episodes", json=order)[0]


def by_posts(case, turns, agent, environment):
    episode = opened(case)
    for turn in turns:
        episode = ask("POST", f"/episodes/{episode['id']}/messages", json={**turn.as_openai(), "turn": episode.get("turn")})
    return episode["id"], (episode.get("result") or {}).get("reward", "nothing")


def by_endpoint(case, turns, agent, environment):
    episode = opened(case, agent={"url": agent.url, "model": "stub", "api_key": "k"})
    return episode["id"], (episode.get("result") or {}).get("reward", "nothing")


def by_ors(case, turns, agent, environment):
    with OpenReward(base_url=URL, api_key=TOKEN) as client:
        tasks = client.environments.get(f"{case.project}/{environment}")
        splits = [split if isinstance(split, str) else split.name for split in tasks.list_splits()]
        check(len(splits) == 1, f"{case.name}: a scenario alone is in one split: {splits}")
        with tasks.session(split=splits[0], index=0) as session:
            for turn in turns:
                output = session.call_tool(turn.tool, turn.arguments) if turn.tool else session.call_tool("reply", {"text": turn.text})
            check(output.finished, f"{case.name}: ORS tells the end")
            # There, null is not-a-number.
            return session.sid, None if output.reward is not None and math.isnan(output.reward) else output.reward


def by_mcp(case, turns, agent, environment):
    episode = opened(case)["id"]

    async def play():
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=90) as http:
            async with streamable_http_client(f"{URL}/api/v1/episodes/{episode}/mcp", http_client=http) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    for turn in turns:
                        if turn.tool:
                            await session.call_tool(turn.tool, turn.arguments)
                        else:
                            told = ask("POST", f"/episodes/{episode}/messages", json={"content": turn.text})
                    return (told.get("result") or {}).get("reward", "nothing")

    return episode, asyncio.run(play())


def by_openenv(case, turns, agent, environment):
    place = f"{URL}/openenv/{case.project}/{environment}"
    with GenericEnvClient(base_url=place, headers={"Authorization": f"Bearer {TOKEN}"}, message_timeout_s=60).sync() as env:
        env.reset(scenario=case.scenario, group=0)
        for turn in turns:
            told = env.step({"tool_name": turn.tool, "arguments": turn.arguments} if turn.tool else {"text": turn.text})
        check(told.done, f"{case.name}: OpenEnv tells the end")
        return told.metadata["episode"], told.reward


WAYS = {"posted messages": by_posts, "an endpoint": by_endpoint, "ORS": by_ors, "MCP": by_mcp, "OpenEnv": by_openenv}


def world(conversation):
    """The last version of the world, and its hash."""
    last = ask("GET", f"/conversations/{conversation}/world")
    return last["version"], last["hash"]


def same_events(name, mine, expected):
    different = next((place for place, both in enumerate(zip(mine, expected)) if both[0] != both[1]), min(len(mine), len(expected)))
    same = mine == expected
    detail = "" if same else "".join(f"\n  {json.dumps(events[different:different + 1])}" for events in (mine, expected))
    check(same, f"{name}: {len(mine)} events as in the run{detail}")


def compare(case, agent_says, agent):
    """Plays a case in all ways."""
    turns = turns_of(case)
    agent_says.turns = turns
    environment = f"every_way_{time.time_ns()}"
    ask("PUT", f"/projects/{case.project}/environments/{environment}", json=case.order())
    run, reward = by_run(case, turns, agent, environment)
    expected = [comparable(entry) for entry in entries(run)]
    outcome = expected[-1]["outcome"]
    check((reward, outcome.get("blame")) == (case.reward, case.blame),
          f"{case.name}: {len(turns)} turns have the reward {reward}, blame {outcome.get('blame')}: {outcome.get('reason')}")
    for way, play in WAYS.items():
        name = f"{case.name}, {way}"
        episode, told = play(case, turns, agent, environment)
        same_events(name, [comparable(entry) for entry in entries(episode)], expected)
        check(world(episode) == world(run), f"{name}: the world has version and hash {world(episode)}, as in the run")
        result = ask("GET", f"/episodes/{episode}")["result"]
        check((result["reward"], result.get("blame")) == (reward, case.blame), f"{name}: the reward is {result['reward']}")
        check(told == reward, f"{name}: the agent was told the reward {told}")
    ask("DELETE", f"/projects/{case.project}/environments/{environment}")


says = Agent()
with Endpoint(says.answer) as agents, Endpoint(visit) as users:
    for model, stub in [(AGENT, agents), (USER, users)]:
        ask("PUT", f"/models/{model}", json={"replicas": [stub.url]})
    for case in CASES:
        compare(case, says, agents)
