"""OpenPipe's ART 0.5 reads the trajectory groups of an export: are they the conversations and rewards that were played?

usage: load_art.py   (after export_groups.py, in the same working directory)
"""

import json
import math
import os
import statistics

# Without it, one of its packages asks the network for prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import art
from art.trajectories import PydanticException
from art.types import Tools
from art.utils.trajectory_migration import deserialize_trajectory_groups
from openai.types.chat.chat_completion import Choice
from pydantic import TypeAdapter

from checks import check
from exported import FILES, check_all, groups, scored

TOOLS = TypeAdapter(Tools)


def read(text):
    """Groups as docs/exports.md says. ART's own reader gives trajectories, but neither tools nor anything of the group."""
    found = []
    for line, group in zip(text.splitlines(), deserialize_trajectory_groups(text), strict=True):
        record = json.loads(line)
        for trajectory, saved in zip(group, record["trajectories"], strict=True):
            trajectory.tools = TOOLS.validate_python(saved["tools"])
        made = art.TrajectoryGroup(group.trajectories, metadata=record["metadata"], metrics=record["metrics"])
        made.exceptions = [PydanticException.model_validate(one) for one in record["exceptions"]]
        found.append(made)
    return found


def as_logged(message):
    """A message as ART logs it: it tells which ones the model is trained on."""
    return {**message, "trainable": message["role"] == "assistant"}


def without_reasoning(message):
    return {key: value for key, value in message.items() if key != "reasoning_content"}


def compare(trajectory, sample, group):
    logged = trajectory.for_logging()["messages"]
    given = [{key: value for key, value in message.items() if value is not None} for message in trajectory.messages()]
    choices = [item for item in trajectory.messages_and_choices if isinstance(item, Choice)]
    check_all(
        f"sample {sample['sample']}: {len(logged)} messages, the reward {trajectory.reward}",
        messages_and_which_are_trained_on=logged == [as_logged(message) for message in sample["messages"]],
        messages_without_reasoning=given == [without_reasoning(message) for message in sample["messages"]],
        tools=trajectory.tools == group["tools"],
        reward=trajectory.reward == sample["reward"],
        metrics=trajectory.metrics == {**sample["reward_components"], **sample["penalties"]},
        group=trajectory.metadata["group_id"] == group["group_id"],
        off_policy=trajectory.metadata["off_policy"] is True and choices and not any(choice.logprobs for choice in choices))


expected = groups()
found = read((FILES / "art.jsonl").read_text())
check([group.metadata["group_id"] for group in found] == list(expected), f"ART reads {len(found)} groups")
for made in found:
    id = made.metadata["group_id"]
    group = expected[id]
    samples = scored(group)
    check(len(made) == len(samples), f"{id}: {len(made)} trajectories, one for each sample with a reward")
    blames = [sample["blame"] for number, sample in group["by_sample"].items() if number not in samples]
    check([exception.type for exception in made.exceptions] == blames, f"{id}: the exceptions are by {blames}")
    for trajectory in made:
        compare(trajectory, samples[trajectory.metadata["sample"]], group)
    if samples:
        mean = statistics.mean(trajectory.reward for trajectory in made)
        check(math.isclose(mean, made.metrics["solve_rate"]) and math.isclose(mean, group["solve_rate"]), f"{id}: the mean is {mean}")
