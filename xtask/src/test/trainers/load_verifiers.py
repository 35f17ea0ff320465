"""verifiers 0.4 reads the traces of an export, as `vf-replay` and prime-rl do: are they the conversations, tokens and rewards that were
played?

usage: load_verifiers.py   (after export_groups.py, in the same working directory)
"""

import math
import pathlib
import statistics
import tempfile
from collections import defaultdict

from verifiers.v1.configs.agent import WireAgentConfig
from verifiers.v1.state import State
from verifiers.v1.task import WireTaskData
from verifiers.v1.trace import Trace
from verifiers.v1.utils.trace_store import read_episodes, write_episode

from checks import check
from exported import FILES, check_all, groups, policies, scored

TRACE = Trace[WireTaskData, State, WireAgentConfig]


def as_openai(message):
    """A message of verifiers, as OpenAI writes it."""
    said = message.model_dump(exclude_none=True)
    said["content"] = said.get("content") or ""
    if "tool_calls" in said:
        said["tool_calls"] = [
            {"id": call["id"], "type": call["type"], "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in said["tool_calls"]]
    return said


def tokens_of(branch):
    """What verifiers trains on of a branch, in our words."""
    return {"token_ids": branch.token_ids, "mask": [int(sampled) for sampled in branch.sampled_mask], "logprobs": branch.logprobs}


def compare(episode, group):
    trace, = episode.traces
    sample = group["by_sample"][trace.info["sample"]]
    tools = [{"type": "function", "function": {key: getattr(tool, key) for key in ("name", "description", "parameters")}}
             for tool in trace.tools]
    reward = trace.reward if trace.rewards else None
    turns = sum(message["role"] == "assistant" for message in sample["messages"])
    sequences, branches = sample["sequences"], trace.branches
    expected = [{name: sequence[name] for name in ("token_ids", "mask", "logprobs")} for sequence in sequences]
    check_all(
        f"sample {sample['sample']}: {len(trace.messages)} messages, {sum(len(branch.token_ids) for branch in branches)} tokens in "
        f"{len(branches)} branches, the reward {reward}, ok is {episode.ok}",
        messages=[as_openai(message) for message in trace.messages] == sample["messages"],
        a_branch_for_each_sequence=len(branches) == max(1, len(sequences)),
        tokens=[tokens_of(branch) for branch in branches if branch.token_ids] == expected,
        each_branch_is_trained_on=all(branch.trainable for branch in branches),
        turns_of_the_model=trace.num_turns == turns,
        tools=tools == group["tools"],
        reward=reward == sample["reward"],
        ok=episode.ok == (sample["reward"] is not None),
        errors=bool(episode.errors) == (reward is None),
        metrics=trace.metrics == {**sample["reward_components"], **sample["penalties"]},
        off_policy=trace.info["off_policy"] is not bool(sequences),
        policy_versions=trace.info.get("policy_versions", []) == policies(sample))


expected = groups()
episodes = read_episodes(FILES / "verifiers", TRACE)
by_group = defaultdict(list)
for episode in episodes:
    by_group[episode.group.id].append(episode)
check(set(by_group) == set(expected), f"verifiers reads {len(episodes)} episodes of {len(by_group)} groups")
for id, members in by_group.items():
    group = expected[id]
    check(len(members) == len(group["by_sample"]), f"{id}: {len(members)} samples")
    for episode in members:
        compare(episode, group)
    check({episode.task.key for episode in members} == {group["task_key"]}, f"{id}: the task is {group['task_key']}")
    rewards = [episode.traces[0].reward for episode in members if episode.ok]
    check(len(rewards) == len(scored(group)), f"{id}: {len(rewards)} rewards")
    if rewards:
        check(math.isclose(statistics.mean(rewards), group["solve_rate"]), f"{id}: their mean is the solve rate {group['solve_rate']}")
with_tokens = sum(not episode.traces[0].info["off_policy"] for episode in episodes)
check(0 < with_tokens < len(episodes), f"{with_tokens} of {len(episodes)} traces have tokens, and the others say that they are off-policy")
with tempfile.TemporaryDirectory() as folder:
    for episode in episodes:
        write_episode(pathlib.Path(folder), episode)
    again = read_episodes(pathlib.Path(folder), TRACE)
    check([one.to_record() for one in again] == [one.to_record() for one in episodes], "verifiers writes and reads them again")
