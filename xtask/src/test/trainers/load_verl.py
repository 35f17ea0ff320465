"""verl's RLHFDataset reads the prompts of an export: are they those that were played, with solve rates and ground truth?

usage: load_verl.py   (after export_groups.py, in the same working directory)
"""

import json
import os
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false", HF_DATASETS_DISABLE_PROGRESS_BARS="1",
                  RAY_USAGE_STATS_ENABLED="0")

from omegaconf import OmegaConf
from torch.utils.data import DataLoader
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

from checks import check
from exported import FILES, check_all, groups
from tiny_model import tokenizer

TOKENS = tokenizer()


def read(name):
    config = OmegaConf.create({
        "cache_dir": tempfile.mkdtemp(), "prompt_key": "prompt", "max_prompt_length": 4096, "filter_overlong_prompts": True,
        "filter_overlong_prompts_workers": 1, "return_raw_chat": True})
    dataset = RLHFDataset(str(FILES / name), TOKENS, config)
    rows = [dataset[place] for place in range(len(dataset))]
    check(rows, f"{name}: verl reads {len(rows)} prompts")
    batch = next(iter(DataLoader(dataset, batch_size=2, collate_fn=collate_fn)))
    check(len(batch["raw_prompt"]) == min(2, len(rows)), f"{name}: verl makes a batch of them")
    for row in rows:
        check_all(
            f"{name}: {row['extra_info']['id']}",
            prompt=[list(message) for message in row["raw_prompt"]] == [["role", "content"]] * 2,
            data_source=row["data_source"] == "groundstate/doors",
            agent_name=row["agent_name"] == "tool_agent",
            ground_truth=row["reward_model"]["style"] == "rule" and "world" in truth(row))
    return rows


def truth(row):
    return json.loads(row["reward_model"]["ground_truth"])


def compare(rows, expected, name):
    check([row["extra_info"]["id"] for row in rows] == list(expected), f"{name}: a prompt for each of {len(rows)} groups")
    for row, group in zip(rows, expected.values()):
        extra, first = row["extra_info"], next(iter(group["by_sample"].values()))
        figures = ("solve_rate", "reward_std", "samples", "scored", "dead", "split")
        solved = any(sample["reward"] == 1 for sample in group["by_sample"].values())
        check_all(
            f"{name}: the solve rate {extra['solve_rate']}, the calls that solved it {truth(row)['calls']}",
            figures=all(extra[figure] == group[figure] for figure in figures),
            prompt=row["raw_prompt"] == first["messages"][:2],
            tools=json.loads(row["tools"]) == group["tools"],
            tool_selection=extra["tool_selection"] == [tool["function"]["name"] for tool in group["tools"]],
            ground_truth=(truth(row)["calls"] is not None) == solved)


expected = groups()
for name in ("verl_groups.parquet", "verl_groups.jsonl"):
    compare(read(name), expected, name)
accepted = [row["extra_info"]["id"] for row in read("verl.parquet")]
solved = [sample["id"] for group in expected.values() for sample in group["by_sample"].values() if sample["reward"] == 1]
check(set(accepted) <= set(solved), f"verl.parquet: {len(accepted)} prompts, one for each accepted conversation")
