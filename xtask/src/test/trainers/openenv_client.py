"""The client of OpenEnv 0.10 walks through an episode.

usage: openenv_client.py URL TOKEN [PROJECT]

The server must hold the project in `project/`.
"""

import json
import pathlib
import subprocess
import sys
import time

from openenv import GenericEnvClient

from checks import Api, check

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
PROJECT = sys.argv[3] if len(sys.argv) == 4 else "default"
PLACE = f"{URL}/openenv/{PROJECT}/doors"
ask = Api(URL, TOKEN).ask
OPEN = {"type": "call_tool", "tool_name": "open_door"}


def connect():
    return GenericEnvClient(base_url=PLACE, headers={"Authorization": f"Bearer {TOKEN}"}, message_timeout_s=60).sync()


def error_of(do):
    try:
        do()
    except RuntimeError as error:
        return str(error)
    return None


with connect() as env:
    check(error_of(lambda: env.step({"text": "Hello?"})), "a step before the first reset is an error, and the connection stays")
    first = env.reset(scenario="open_left", group=0)
    check("left door" in first.observation["text"] and not first.done and first.reward is None,
          f"reset: the user says {first.observation['text']!r}")
    tools = env.step({"type": "list_tools"}).observation["tools"]
    check([tool["name"] for tool in tools] == ["open_door", "ring_bell", "reply"], "the tools are those of the playbook, and reply")
    opened = env.step({**OPEN, "arguments": {"door": "left"}})
    check(json.loads(opened.observation["result"]) == {"door": "left", "state": "open"} and opened.reward is None,
          f"call: the tool answers {opened.observation['result']}")
    ended = env.step({"type": "call_tool", "tool_name": "reply", "arguments": {"text": "The left door is open."}})
    check(ended.done and ended.reward == 1, f"reply: done {ended.done}, reward {ended.reward}")
    episode = ended.metadata["episode"]
    ours = ask("GET", f"/episodes/{episode}")["result"]
    check(ours["reward"] == ended.reward and ours["ending"] == "user_ended", f"the API says the same of episode {episode}")
    state = env.state()
    steps = state["step_count"] if isinstance(state, dict) else state.step_count
    check(steps == 2, f"state counts {steps} steps")

    env.reset(scenario="open_left", group=0)
    env.step({**OPEN, "arguments": {"door": "right"}})
    wrong = env.step({"text": "The right door is open."})
    check(wrong.done and wrong.reward == 0, f"the other door, and words as text: done {wrong.done}, reward {wrong.reward}")

    env.reset(scenario="open_left", group=0)
    env.step({"tool_name": "ring_bell"})
    spoiled = env.step({"text": "Nobody hears me."})
    check(spoiled.done and spoiled.reward is None, f"a tool that cannot answer: done {spoiled.done}, reward {spoiled.reward}")

    for split in ("train", "golden"):
        observed = env.reset(split=split, index=0)
        check(observed.observation["text"], f"the first task of {split} is {observed.metadata['scenario']}")
    first, again = (env.reset(scenario="open_left", seed=seed).metadata["group"] for seed in (4_000_000_000, 4_000_000_000))
    check(first == again, f"a seed of any size names the same group each time: {first}")
    for wrong in ({"index": "0", "split": "train"}, {"split": 5, "index": 0}, {"seed": 2**64}, {"group": "a"}):
        check(error_of(lambda: env.reset(**wrong)), f"a reset with {wrong} is an error, and plays nothing else")
    # Clients pass on what a model writes, so a step that cannot be read is the agent's fault.
    malformed = env.step({**OPEN, "arguments": '{"door": "left"}'})
    check("invalid arguments" in malformed.observation["result"] and not malformed.done,
          f"arguments that are a text are refused by the tool: {malformed.observation['result']}")
    empty = env.step({"nothing": True})
    check("send `text`" in empty.observation["text"] and not empty.done,
          f"a step without words and call is refused: {empty.observation['text']}")
    opened = env.step({**OPEN, "arguments": {"door": "left"}})
    check(not opened.done, "and the episode goes on after it")
    left_open = opened.metadata["episode"]
for _ in range(50):
    state = ask("GET", f"/episodes/{left_open}")["state"]
    if state == "ended":
        break
    time.sleep(0.2)
check(state == "ended", f"the episode that was open when the client left has the state {state}")

# What takes an address and nothing else sends the token in it, as its password.
with GenericEnvClient(base_url=PLACE.replace("://", f"://x:{TOKEN}@")).sync() as env:
    check(not env.reset(scenario="open_left", group=0).done, "a token in the address opens an episode")

validate = [pathlib.Path(sys.executable).parent / "openenv", "validate", "--url", PLACE, "--json"]
done = subprocess.run(validate, capture_output=True, text=True, timeout=60)
report = json.loads(done.stdout)
failed = [item["id"] for item in report["criteria"] if not item["passed"]]
check(report["passed"] and not failed, f"openenv validate passes (without: {failed})")
