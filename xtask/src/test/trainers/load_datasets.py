"""The package `datasets` reads the groups of an export, as most trainers do first: are they what stands in the file?

usage: load_datasets.py   (after export_groups.py, in the same working directory)
"""

import math
import os
import tempfile
from datetime import datetime

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

from datasets import load_dataset

from checks import check
from exported import FILES, check_all, lines


def same(found, expected):
    """Whether a row is a record. Where `datasets` gives all records the same fields, one that a record has not is None."""
    if isinstance(found, dict):
        expected = expected or {}
        return isinstance(expected, dict) and all(same(found.get(name), expected.get(name)) for name in {*found, *expected})
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, float) and isinstance(expected, float):
        # It reads ten digits.
        return math.isclose(found, expected, rel_tol=1e-9)
    if isinstance(found, datetime) and isinstance(expected, str):
        # It takes a text for a time if all texts of a field look like one.
        return found == datetime.fromisoformat(expected).replace(tzinfo=None)
    return found == expected


def load(name):
    return load_dataset("json", data_files=str(FILES / name), split="train", cache_dir=tempfile.mkdtemp())


for name in ("groups.jsonl", "trl_kto.jsonl", "verl_groups.jsonl"):
    records, rows = lines(name), load(name)
    check(len(rows) == len(records) > 0, f"{name}: datasets reads {len(rows)} rows with the columns {rows.column_names}")
    different = [place for place, row in enumerate(rows) if not same(row, records[place])]
    check(not different, f"{name}: the rows are the records of the file" + (f", but for {different}" if different else ""))
rows = load("groups.jsonl")
rewards = [completion["reward"] for row in rows for completion in row["completions"]]
check(set(rewards) == {1, 0, None}, f"rewards of 1 and 0 stay what they are, and null is None: {rewards}")
for row in rows:
    with_tokens = [completion for completion in row["completions"] if completion.get("sequences")]
    check_all(
        f"{row['task_key']}: {len(with_tokens)} of {len(row['completions'])} completions have tokens",
        off_policy=row["off_policy"] is (len(with_tokens) < len(row["completions"])),
        as_many_of_each=all(len({len(sequence[name]) for name in ("token_ids", "mask", "logprobs")}) == 1
                            for completion in with_tokens for sequence in completion["sequences"]))
