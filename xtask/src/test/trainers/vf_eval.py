"""`vf-eval` of verifiers 0.4 plays the doors with the taskset of `python/`: do its traces hold the rewards of the episodes?

usage: vf_eval.py URL TOKEN [LLAMA_SERVER MODEL]

The server must hold the project in `project/`, and be started with `--agent-urls http://127.0.0.1:`. LLAMA_SERVER is the address of
llama.cpp's server, such as http://127.0.0.1:8080, started with `--jinja --metrics`: its model plays then. Without it, a stub plays
that earns 1, 0 and null on purpose. Run it with the Python in which `verifiers` and `python/` are installed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import httpx

from checks import Api, check
from stub_endpoint import Endpoint, keep_doors

if len(sys.argv) not in (3, 5):
    sys.exit(__doc__)
URL, TOKEN, *REAL = sys.argv[1:]
ROLLOUTS = 2
ask = Api(URL, TOKEN).ask
VF_EVAL = pathlib.Path(sys.executable).parent / "vf-eval"


def evaluate(endpoint, model, split, folder, *more):
    """The lines of traces.jsonl."""
    options = ["--env.taskset.url", URL, "--env.taskset.environment", "doors", "--env.taskset.split", split,
               "--model", model, "--client.base-url", endpoint, "--client.api-key-var", "NO_KEY",
               "-r", str(ROLLOUTS), "-c", "4", *more,
               "--no-push", "--no-rich", "-o", str(folder), "--run.name", f"{model}-{split}".replace("/", "-")]
    done = subprocess.run([VF_EVAL, "groundstate-verifiers", *options], env={**os.environ, "GROUNDSTATE_TOKEN": TOKEN},
                          capture_output=True, text=True, timeout=300, cwd=folder)
    traces = list(pathlib.Path(folder).glob(f"{model}-{split}".replace("/", "-") + "/traces.jsonl"))
    check(done.returncode == 0 and traces, f"vf-eval played the split {split} with the model {model}" +
          ("" if traces else f":\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"))
    return [json.loads(line) for line in traces[0].read_text().splitlines()]


def compare(episodes, name):
    """Our rewards, after a check that the traces say the same."""
    check(episodes, f"{name}: {len(episodes)} rollouts")
    rewards = []
    for episode in episodes:
        trace = episode["traces"][0]
        told = trace.get("info", {}).get("groundstate")
        check(told is not None, f"{name}: the trace names its episode" + ("" if told else f": {episode.get('errors')} {trace.get('errors')}"))
        ours = ask("GET", f"/episodes/{told['episode']}")["result"]
        score = trace["rewards"].get("groundstate", {}).get("score")
        same = score == ours["reward"] and episode["ok"] == (ours["reward"] is not None)
        check(same, f"{name}: the episode's reward is {ours['reward']}; in verifiers it is {score}, and ok is {episode['ok']}")
        components = {rule: trace["metrics"].get(rule) for rule in ours["reward_components"]}
        check(components == ours["reward_components"], f"{name}: the metrics are the reward's components: {components}")
        rewards.append(ours["reward"])
    return rewards


def leaves(episode):
    nodes = episode["traces"][0]["nodes"]
    return len(nodes) - len({node["parent"] for node in nodes if node.get("parent") is not None})


def real(server, model, folder):
    """A model of llama.cpp is the agent in one task. What it earns is its own affair."""
    wait_for(server)
    before = written(server)
    short = ["-n", "1", "--sampling.max-tokens", "48", "--sampling.temperature", "0"]
    episodes = evaluate(f"{server}/v1", model, "train", folder, *short)
    rewards = compare(episodes, model)
    check(len(rewards) == ROLLOUTS and all(reward in (0, 1, None) for reward in rewards), f"{model}: the rewards are {rewards}")
    calls, words = [], []
    for episode in episodes:
        trace = episode["traces"][0]
        ours = ask("GET", f"/episodes/{trace['info']['groundstate']['episode']}")
        said = [message.get("content") or "" for message in ours["messages"] if message["role"] == "assistant"]
        # The server asks again if a reply is no turn: then the model has said more than the conversation has.
        sampled = iter([node["message"].get("content") or "" for node in trace["nodes"] if node.get("sampled")])
        check(all(one in sampled for one in said), f"{model}: what the agent says in our episode is what verifiers sampled: {said}")
        calls += trace["calls"]
        words += said
    check(any(words), f"{model}: it says something in {len(words)} turns")
    tokens = sum((call.get("usage") or {}).get("completion_tokens", 0) for call in calls)
    exact = all(call.get("usage") for call in calls)
    theirs = written(server) - before
    check(tokens == theirs if exact else 0 < tokens < theirs, f"{model}: llama-server wrote {theirs} tokens, and the traces have {tokens}")


def wait_for(server):
    for _ in range(240):
        try:
            if httpx.get(f"{server}/health").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    check(False, f"{server} is ready")


def written(server):
    """Tokens that llama-server has written since it was started."""
    return int(re.search(r"^llamacpp:tokens_predicted_total (\d+)", httpx.get(f"{server}/metrics").text, re.MULTILINE)[1])


with tempfile.TemporaryDirectory(prefix="vf-eval-") as folder:
    if REAL:
        real(*REAL, folder)
    else:
        with Endpoint(keep_doors) as stub:
            for model, split, reward in [("right", "train", 1), ("right", "golden", 1), ("wrong", "train", 0), ("bell", "train", None)]:
                episodes = evaluate(stub.url, model, split, folder, "--sampling.max-tokens", "256")
                rewards = compare(episodes, f"{model}, {split}")
                check(rewards == [reward] * ROLLOUTS, f"{model}, {split}: earned {rewards} on purpose")
        # If what the model said came back to it changed, its tokens would belong to other messages than those it is trained on.
        check(all(leaves(episode) == 1 for episode in episodes), f"each trace is one conversation: {[leaves(e) for e in episodes]} ends")
