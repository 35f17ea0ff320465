"""OpenPipe's ART 0.5 reads the trajectory groups of an export: are they the conversations, tokens and rewards that were played?

usage: load_art.py   (after export_groups.py, in the same working directory)
"""

import json
import math
import os
import statistics
import sys
from types import SimpleNamespace

# Without it, one of its packages asks the network for prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import art
from art.trajectories import PydanticException
from art.types import Tools
from art.utils.trajectory_migration import deserialize_trajectory_groups
from openai.types.chat.chat_completion import Choice
from pydantic import TypeAdapter

# What ART trains on is made by a module that names classes of packages with gigabytes. It gets by without them.
for name, classes in {
    "torch": ["Tensor"],
    "transformers": [],
    "transformers.image_processing_utils": ["BaseImageProcessor"],
    "transformers.tokenization_utils_base": ["BatchEncoding", "PreTrainedTokenizerBase"],
    "PIL": ["Image"],
}.items():
    sys.modules[name] = SimpleNamespace(**{stand_in: type(stand_in, (), {}) for stand_in in classes})
from art.preprocessing.tokenize import tokenize_trajectory

import stub_tokens
from checks import check
from exported import FILES, check_all, groups, policies, scored

TOOLS = TypeAdapter(Tools)


class Letters:
    """A tokenizer for the tokens of the stub: each is a letter."""

    chat_template = ""
    vocab_size = 1 << 9

    def decode(self, id):
        return chr(id)

    def apply_chat_template(self, messages, tokenize=True, **_):
        text = "".join(stub_tokens.rendered(message) for message in messages)
        return stub_tokens.ids_of(text) if tokenize else text


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


def trained_on(trajectory):
    """The tokens that ART trains on, and their log-probabilities. None if it trains on nothing of the trajectory."""
    history = art.trajectories.History(messages_and_choices=trajectory.messages_and_choices, tools=trajectory.tools)
    made = tokenize_trajectory(Letters(), None, history, 1.0, False, trajectory)
    if made is None:
        return None
    tokens = list(zip(made.token_ids, made.logprobs, made.assistant_mask, strict=True))
    if not all(math.isnan(logprob) for _, logprob, trained in tokens if not trained):
        return "log-probabilities of tokens that it does not train on"
    return [(id, logprob) for id, logprob, trained in tokens if trained]


def sampled(sample):
    """The tokens of all turns of a sample, with their log-probabilities. None if they are not known."""
    turns = [stub_tokens.of_message(message) for message in sample["messages"] if message["role"] == "assistant"]
    return [token for turn in turns for token in zip(*turn, strict=True)] if sample["sequences"] else None


def as_logged(message):
    """A message as ART logs it: it tells which ones the model is trained on."""
    return {**message, "trainable": message["role"] == "assistant"}


def without_reasoning(message):
    return {key: value for key, value in message.items() if key != "reasoning_content"}


def compare(trajectory, sample, group):
    logged = trajectory.for_logging()["messages"]
    given = [{key: value for key, value in message.items() if value is not None} for message in trajectory.messages()]
    choices = [item for item in trajectory.messages_and_choices if isinstance(item, Choice)]
    tokens, has_tokens = trained_on(trajectory), bool(sample["sequences"])
    check_all(
        f"sample {sample['sample']}: {len(logged)} messages, {len(tokens or [])} tokens to train on, the reward {trajectory.reward}",
        messages_and_which_are_trained_on=logged == [as_logged(message) for message in sample["messages"]],
        messages_without_reasoning=given == [without_reasoning(message) for message in sample["messages"]],
        tools=trajectory.tools == group["tools"],
        reward=trajectory.reward == sample["reward"],
        metrics=trajectory.metrics == {**sample["reward_components"], **sample["penalties"]},
        group=trajectory.metadata["group_id"] == group["group_id"],
        tokens=tokens == sampled(sample),
        log_probabilities=choices and all((choice.logprobs is not None) is has_tokens for choice in choices),
        off_policy=trajectory.metadata["off_policy"] is not has_tokens,
        policy_version=trajectory.metadata.get("policy_version", "") == ", ".join(policies(sample)))


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
