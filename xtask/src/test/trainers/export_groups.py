"""Plays a run with samples, and exports it in every profile that trainers load groups from. The scripts `load_*.py` read the files.

usage: export_groups.py URL TOKEN

The server must hold the project in `project/`. Stubs stand in for the models: the seed of a request decides how the agent plays, so
that groups have rewards of 1, 0 and null. Only in the groups of the left door does its endpoint return tokens. The files lie in the
folder `exports` of the working directory.
"""

import json
import pathlib
import sys
import time

import stub_tokens
from checks import Api, check
from stub_endpoint import DONE, RUDE, Endpoint, call, visit

if len(sys.argv) != 3:
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1:]
GROUPS, SAMPLES = 4, 6
FILES = pathlib.Path("exports")
# A name of a file, and its profile with what differs from the profile's defaults.
EXPORTS = {
    "groups.jsonl": ("groups", {}),
    "verifiers/traces.jsonl": ("verifiers", {}),
    "art.jsonl": ("art", {}),
    "trl_kto.jsonl": ("trl_kto", {}),
    "verl_groups.parquet": ("verl_groups", {}),
    "verl_groups.jsonl": ("verl_groups", {"data": "jsonl"}),
    "verl.parquet": ("verl", {}),
}
ask = Api(URL, TOKEN).ask

# What the agent says when it opens a door tells how it plays: a request knows nothing of the one before it.
RIGHT, WRONG, IMPATIENT = "One moment, please.", "Let me see.", "If you must."
AGENT = "export-agent"
# The endpoint tells the model and the version of its weights.
POLICY = f"{AGENT} {stub_tokens.WEIGHTS}"


def wanted(messages):
    user = next(message["content"] for message in messages if message["role"] == "user")
    return "left" if "left" in user else "right"


def agent(asked):
    """Opens the right door, or the other one, or says something to which the user has no answer."""
    messages = asked["messages"]
    if messages[-1]["role"] == "tool":
        rude = any(message.get("content") == IMPATIENT for message in messages)
        return {"content": RUDE if rude else DONE}
    style = [RIGHT, WRONG, IMPATIENT][asked["seed"] % 3]
    door = {"left": "right", "right": "left"}[wanted(messages)] if style == WRONG else wanted(messages)
    calls = [call("open_door", {"door": door}, id) for id in (["a", "b"] if style == RIGHT else ["a"])]
    # Where there are tokens, turns without thoughts are one sequence with what follows them, and turns with thoughts are not.
    thinks = style == WRONG or wanted(messages) == "right"
    thoughts = {"reasoning_content": f"The door on the {wanted(messages)} is wanted."} if thinks else {}
    return {"content": style, "tool_calls": calls, **thoughts}


def tokens(asked, message):
    return stub_tokens.of_reply(asked["messages"], message) if wanted(asked["messages"]) == "left" else None


def play():
    """The id of the run."""
    with Endpoint(agent, tokens=tokens) as agents, Endpoint(visit) as users:
        ask("PUT", f"/models/{AGENT}", json={"replicas": [agents.url], "token_ids": True})
        ask("PUT", "/models/export-user", json={"replicas": [users.url]})
        run = ask("POST", "/projects/default/runs", json={
            "playbooks": ["doors"], "n": GROUPS, "samples": SAMPLES, "seed": 3, "complexity": {"simple": 1.0}, "retries": 0,
            "models": {"agent": AGENT, "simulated_user": "export-user"}})["id"]
        for _ in range(240):
            state = ask("GET", f"/runs/{run}")
            if state["state"] != "running":
                break
            time.sleep(0.5)
    check(state["state"] == "finished", f"the run of {GROUPS} groups with {SAMPLES} samples is {state['state']}")
    return run


def export(run, name):
    profile, toggles = EXPORTS[name]
    order = {"source": {"run": {"id": run}}, "profile": profile, "toggles": toggles}
    first = ask("POST", "/projects/default/exports/preview", json=order)["record"]
    check(first is not None, f"{name}: the preview has a record")
    made = ask("POST", "/projects/default/exports", json=order)
    for _ in range(120):
        made = ask("GET", f"/exports/{made['id']}")
        if made["state"] != "building":
            break
        time.sleep(0.25)
    check(made["state"] == "ready", f"{name}: {made['rows']} records of the profile {profile}")
    content = api.http.get(f"/exports/{made['id']}/file").content
    (FILES / name).parent.mkdir(parents=True, exist_ok=True)
    (FILES / name).write_bytes(content)
    if name.endswith(".jsonl"):
        lines = [json.loads(line) for line in content.splitlines()]
        check(len(lines) == made["rows"] and lines[0] == first, f"{name}: {len(lines)} lines, the first one as in the preview")
    return made


def compare(run, exported):
    """The groups of the file with those that the server counts."""
    groups = [json.loads(line) for line in (FILES / "groups.jsonl").read_text().splitlines()]
    ours = ask("GET", f"/runs/{run}/groups", params={"limit": 200})["items"]
    by_task = {f"{group['scenario']}/{group['group']}": group for group in ours}
    check(sorted(by_task) == sorted(group["task_key"] for group in groups), f"{len(groups)} groups, as on the server")
    for group in groups:
        server = by_task[group["task_key"]]
        same = all(group[name] == server.get(name) for name in ("scored", "solve_rate", "reward_std"))
        rewards = [completion["reward"] for completion in group["completions"]]
        check(same, f"a group with the rewards {rewards} has the solve rate {group['solve_rate']}, as on the server")
        compare_tokens(group)
    rewards = {completion["reward"] for group in groups for completion in group["completions"]}
    check(rewards == {1, 0, None}, f"all kinds of rewards are there: {rewards}")
    shapes = {len(completion["sequences"]) for group in groups for completion in group["completions"] if "sequences" in completion}
    check(shapes == {1, 2}, f"conversations with tokens have {sorted(shapes)} sequences")
    report = exported["report"]["parts"][0]["groups"]
    nulls = sum(completion["reward"] is None for group in groups for completion in group["completions"])
    check(report["samples"] == GROUPS * SAMPLES and report["without_reward"] == nulls,
          f"the report has {report['samples']} samples, {nulls} of them without a reward")


def compare_tokens(group):
    """With those that the endpoint returned."""
    has_tokens = group["task_key"].startswith("open_left/")
    for completion in group["completions"]:
        expected = stub_tokens.sequences(group["prompt"] + completion["messages"], POLICY) if has_tokens else None
        found = completion.get("sequences")
        check(found == expected, f"{group['task_key']}, sample {completion['sample']}: {len(found or [])} sequences of tokens" +
              ("" if found == expected else f":\n  {json.dumps(found)}\n  {json.dumps(expected)}"))
    check(group["off_policy"] is not has_tokens, f"{group['task_key']}: off-policy is {group['off_policy']}")


api = Api(URL, TOKEN)
run = play()
exports = {name: export(run, name) for name in EXPORTS}
compare(run, exports["groups.jsonl"])
