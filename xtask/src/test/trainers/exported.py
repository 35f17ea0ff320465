"""What the scripts `load_*.py` share: the groups in our own shape, to which the records of packages are compared."""

import json
import pathlib

from checks import check

FILES = pathlib.Path("exports")


def lines(name):
    return [json.loads(line) for line in (FILES / name).read_text().splitlines()]


def groups():
    """Groups by their id. Under `by_sample` are their samples by number, each with its whole conversation as `messages`, and with its
    tokens as `sequences`, which are none if the endpoint returned none."""
    found = {}
    for group in lines("groups.jsonl"):
        samples = {one["sample"]: {"sequences": [], **one, "messages": group["prompt"] + one["messages"]} for one in group["completions"]}
        found[group["group_id"]] = {**group, "by_sample": samples}
    return found


def scored(group):
    """The samples of a group that have a reward."""
    return {number: sample for number, sample in group["by_sample"].items() if sample["reward"] is not None}


def policies(sample):
    """The versions of the weights that a sample was played by, each once."""
    return list(dict.fromkeys(policy for sequence in sample["sequences"] for policy in sequence["policy_versions"]))


def check_all(what, **facts):
    """One line for several checks, which names those that do not hold."""
    wrong = [name for name, holds in facts.items() if not holds]
    check(not wrong, what + (f": {', '.join(wrong)}" if wrong else ""))
