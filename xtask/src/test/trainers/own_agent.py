"""`groundstate episodes try` runs the examples of `python/examples` as the agent: does its report hold what they earned?

usage: own_agent.py URL TOKEN GROUNDSTATE_PROGRAM

The server must hold the project in `project/`. A stub stands in for the model of the agents: it earns 1, 0 and null on purpose.
"""

import os
import pathlib
import re
import subprocess
import sys

from checks import Api, check
from stub_endpoint import Endpoint, keep_doors

if len(sys.argv) != 4:
    sys.exit(__doc__)
URL, TOKEN, PROGRAM = sys.argv[1:]
EPISODES = 2
PACKAGE = pathlib.Path(__file__).parents[4] / "python"
ask = Api(URL, TOKEN).ask


def tried(example, model, endpoint):
    """The exit code of `episodes try`, and its report."""
    command = [PROGRAM, "episodes", "try", "--server", URL, "--environment", "doors", "-n", str(EPISODES), "--timeout", "120",
               "--", sys.executable, "-B", str(PACKAGE / "examples" / example)]
    variables = {"GROUNDSTATE_TOKEN": TOKEN, "OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "none", "MODEL": model,
                 "PYTHONPATH": str(PACKAGE)}
    # What the example says of its troubles goes to our own stderr.
    done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, timeout=300)
    return done.returncode, done.stdout


def offered(asked):
    """The tools that a model was asked with: parameters by name."""
    return {tool["function"]["name"]: tool["function"]["parameters"] for tool in asked["tools"]}


def compare(example, model, reward):
    name = f"{example}, {model}"
    with Endpoint(keep_doors) as stub:
        code, report = tried(example, model, stub)
    check(code == (1 if reward is None else 0), f"{name}: `episodes try` ends with {code}")
    told = re.findall(r"^([01-])  (\S+)  (\S+)", report, re.MULTILINE)
    rewards = [None if mark == "-" else int(mark) for mark, _, _ in told]
    check(rewards == [reward] * EPISODES, f"{name}: the rewards are {rewards}" + ("" if len(told) == EPISODES else f":\n{report}"))
    means = re.findall(r"^mean reward +(\S+) of (\d+) ", report, re.MULTILINE)
    check(means == ([] if reward is None else [(f"{reward:.4f}", str(EPISODES))]), f"{name}: the mean reward is {means}")
    for _, scenario, id in told:
        episode = ask("GET", f"/episodes/{id}")
        check(episode["result"]["reward"] == reward, f"{name}: the server says the same of {scenario}")
    if reward is None:
        return
    instructions = episode["messages"][0]["content"]
    tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in episode["tools"]}
    check(stub.requests[0]["messages"][0] == {"role": "system", "content": instructions}, f"{name}: the model reads the instructions")
    check(offered(stub.requests[0]) == tools, f"{name}: the model has the tools {list(tools)} as the playbook declares them")
    roles = [message["role"] for message in episode["messages"]]
    check(roles == ["system", "user", "assistant", "tool", "assistant"] and episode["result"]["ending"] == "user_ended",
          f"{name}: the conversation is {roles}, and the user ended it")


for example in ("langgraph_agent.py", "agents_sdk_agent.py"):
    compare(example, "right", 1)
    compare(example, "wrong", 0)
compare("agents_sdk_agent.py", "bell", None)
