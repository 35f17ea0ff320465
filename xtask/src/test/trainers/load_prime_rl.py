"""The traces of an export as prime-rl would train on them: it cannot be installed without GPUs, so its records are checked by a schema,
and its samples are made here as it makes them.

usage: load_prime_rl.py   (after export_groups.py, in the same working directory)

`prime_rl_episode.schema.json` names the version of prime-rl that was read.
"""

import json
import pathlib
from collections import defaultdict

import jsonschema

from checks import check
from exported import check_all, groups, lines

SCHEMA = json.loads((pathlib.Path(__file__).parent / "prime_rl_episode.schema.json").read_text())


def branches(nodes):
    """Each path from a beginning to a node that nothing follows, as places of nodes (`Trace.branches` of verifiers)."""
    followed = {node["parent"] for node in nodes}
    for leaf in (place for place in range(len(nodes)) if place not in followed):
        path = [leaf]
        while (parent := nodes[path[0]]["parent"]) is not None:
            if not parent < path[0]:
                check(False, f"the parent {parent} of node {path[0]} comes before it")
            path.insert(0, parent)
        yield path


def training_samples(trace):
    """`trace_to_samples` in orchestrator/trajectories.py: one for each branch. A node in several branches is trained on once, and branches
    without a sampled token are left out."""
    trained = set()
    for path in branches(trace["nodes"]):
        sample = {"token_ids": [], "mask": [], "logprobs": []}
        for place in path:
            node = trace["nodes"][place]
            ids, mask, logprobs = (node.get(name, []) for name in ("token_ids", "mask", "logprobs"))
            # `assign_advantages` in algo/routing.py refuses a trace in which they differ.
            if len(ids) != len(mask) or len(logprobs) != sum(mask) or (any(mask) and not node["sampled"]):
                check(False, f"node {place} has {len(ids)} tokens, {len(mask)} marks and {len(logprobs)} log-probabilities")
            is_new = node["sampled"] and any(mask) and place not in trained
            if is_new:
                trained.add(place)
            sample["token_ids"] += ids
            sample["mask"] += [int(sampled and is_new) for sampled in mask]
            left = iter(logprobs)
            sample["logprobs"] += [next(left) if sampled else 0 for sampled in mask]
        if any(sample["mask"]):
            yield sample


def is_trained_on(episode, trace):
    """`iter_trainable_traces` in algo/base.py. The traces of an episode that is not ok count as failed (orchestrator/envs.py)."""
    return episode["ok"] and trace["ok"] and trace["agent"].get("trainable", True)


def reward_of(trace):
    return sum(reward["score"] * reward.get("weight", 1) for reward in trace["rewards"].values())


def compare(episode, group):
    trace, = episode["traces"]
    sample = group["by_sample"][trace["info"]["sample"]]
    found, counts = list(training_samples(trace)), is_trained_on(episode, trace)
    expected = [{name: sequence[name] for name in ("token_ids", "mask", "logprobs")} for sequence in sample["sequences"]]
    check_all(
        f"sample {sample['sample']}: {len(found)} training samples of {sum(sum(one['mask']) for one in found)} tokens, "
        f"the reward {reward_of(trace) if counts else None}",
        tokens=found == expected,
        reward=(reward_of(trace) if counts else None) == sample["reward"],
        off_policy=trace["info"]["off_policy"] is not bool(found))
    return counts and bool(found)


validator = jsonschema.Draft202012Validator(SCHEMA)
episodes = lines("verifiers/traces.jsonl")
for number, episode in enumerate(episodes):
    error = jsonschema.exceptions.best_match(validator.iter_errors(episode))
    if error:
        check(False, f"line {number} of traces.jsonl is a record of prime-rl: {error.json_path}: {error.message}")
check(episodes, f"all {len(episodes)} lines of traces.jsonl are records of prime-rl")
expected, by_group = groups(), defaultdict(list)
for episode in episodes:
    by_group[episode["group"]["id"]].append(episode)
check(set(by_group) == set(expected), f"prime-rl reads {len(by_group)} groups")
trained = {id: sum([compare(episode, expected[id]) for episode in members]) for id, members in by_group.items()}
for id, count in trained.items():
    group = expected[id]
    may = [sample for sample in group["by_sample"].values() if sample["reward"] is not None and sample["sequences"]]
    check(count == len(may), f"{id}: it trains on {count} of {len(group['by_sample'])} samples: those with a reward and with tokens")
check(any(trained.values()) and not all(trained.values()), f"it trains on {sum(map(bool, trained.values()))} of {len(trained)} groups")
