"""`vf-eval` of verifiers 0.4 plays the doors with the taskset of `python/`: do its traces hold the rewards of the episodes?

usage: vf_eval.py URL TOKEN [ENDPOINT [MODEL]]

The server must hold the project in `project/`, and be started with `--agent-urls http://127.0.0.1:`. ENDPOINT is an
OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1; without one, a stub plays that earns 1, 0 and null on purpose.
Run it with the Python in which `verifiers` and `python/` are installed.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Api, check
from stub_endpoint import Endpoint, keep_doors

if len(sys.argv) not in (3, 4, 5):
    sys.exit(__doc__)
URL, TOKEN, *GIVEN = sys.argv[1:]
ROLLOUTS = 2
ask = Api(URL, TOKEN).ask
VF_EVAL = pathlib.Path(sys.executable).parent / "vf-eval"


def evaluate(endpoint, model, split, folder):
    """The lines of traces.jsonl."""
    options = ["--env.taskset.url", URL, "--env.taskset.environment", "doors", "--env.taskset.split", split,
               "--model", model, "--client.base-url", endpoint, "--client.api-key-var", "NO_KEY",
               "-r", str(ROLLOUTS), "-c", "4", "--sampling.max-tokens", "256",
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


with tempfile.TemporaryDirectory(prefix="vf-eval-") as folder:
    if GIVEN:
        episodes = evaluate(GIVEN[0], GIVEN[1] if len(GIVEN) > 1 else "default", "train", folder)
        compare(episodes, "a real model")
    else:
        with Endpoint(keep_doors) as stub:
            for model, split, reward in [("right", "train", 1), ("right", "golden", 1), ("wrong", "train", 0), ("bell", "train", None)]:
                episodes = evaluate(stub.url, model, split, folder)
                rewards = compare(episodes, f"{model}, {split}")
                check(rewards == [reward] * ROLLOUTS, f"{model}, {split}: earned {rewards} on purpose")
    # If what the model said came back to it changed, its tokens would belong to other messages than those it is trained on.
    check(all(leaves(episode) == 1 for episode in episodes), f"each trace is one conversation: {[leaves(e) for e in episodes]} ends")
