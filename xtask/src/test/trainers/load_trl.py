"""TRL's KTOTrainer trains on the labelled turns of an export: does it learn the agent's words, and nobody else's?

usage: load_trl.py   (after export_groups.py, in the same working directory)
"""

import json
import os
import tempfile

os.environ.update(TRL_EXPERIMENTAL_SILENCE="1", HF_HUB_OFFLINE="1", HF_HUB_DISABLE_PROGRESS_BARS="1", CUDA_VISIBLE_DEVICES="",
                  TOKENIZERS_PARALLELISM="false", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

import torch
from datasets import load_dataset
from transformers import PrinterCallback
from trl import KTOConfig, KTOTrainer

from checks import check
from exported import FILES, groups, lines, scored
from tiny_model import model, tokenizer

TURN = "<|im_start|>"


def train(tokens, dataset):
    """The trainer after one step, and the weights before."""
    config = KTOConfig(
        output_dir=tempfile.mkdtemp(prefix="kto-"), use_cpu=True, bf16=False, fp16=False, gradient_checkpointing=False,
        per_device_train_batch_size=4, gradient_accumulation_steps=1, max_steps=1, max_length=None, learning_rate=1e-2,
        lr_scheduler_type="constant", warmup_steps=0, logging_steps=1, save_strategy="no", report_to="none",
        train_sampling_strategy="sequential", dataloader_num_workers=0, seed=0, disable_tqdm=True)
    trainer = KTOTrainer(model=model(tokens), ref_model=model(tokens), args=config, processing_class=tokens,
                         train_dataset=dataset)
    trainer.remove_callback(PrinterCallback)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.train()
    return trainer, before


expected = groups()
turns = lines("trl_kto.jsonl")
labels = {}
for group in expected.values():
    for sample in scored(group).values():
        for place, message in enumerate(sample["messages"]):
            if message["role"] == "assistant":
                labels[group["group_id"], sample["sample"], place] = sample["reward"] == 1
told = [json.loads(turn["metadata"]) for turn in turns]
check([(one["group_id"], one["sample"], one["turn"]) for one in told] == list(labels), f"{len(turns)} turns of all samples that have a reward")
check([turn["label"] for turn in turns] == list(labels.values()) and len(set(labels.values())) == 2,
      f"{sum(labels.values())} of them are good, as their samples have the reward 1")
check(all(one["off_policy"] is True for one in told), "each says that it is off-policy")

tokens = tokenizer()
dataset = load_dataset("json", data_files=str(FILES / "trl_kto.jsonl"), split="train", cache_dir=tempfile.mkdtemp())
trainer, before = train(tokens, dataset)
check(len(trainer.train_dataset) == len(turns), f"TRL prepares all {len(turns)} turns")
for turn, row in zip(turns, trainer.train_dataset):
    whole = tokens.decode(row["prompt_ids"] + row["completion_ids"])
    rendered = tokens.apply_chat_template(turn["prompt"] + turn["completion"], tools=json.loads(turn["tools"]), tokenize=False)
    if whole != rendered:
        check(False, f"TRL renders the turn as it stands in the file:\n{whole}\n{rendered}")
    learned = tokens.decode(row["completion_ids"])
    said, = turn["completion"]
    names = [call["function"]["name"] for call in said.get("tool_calls", [])]
    alone = TURN not in learned and "<tool_response>" not in learned
    if not (alone and said["content"] in learned and said.get("reasoning_content", "") in learned and all(name in learned for name in names)):
        check(False, f"TRL learns the agent's turn alone: {learned!r}")
    if row["label"] != turn["label"]:
        check(False, f"the label is {turn['label']}")
check(True, f"TRL learns the agent's turn alone in each, with its calls: {learned!r}")
step = next(entry for entry in trainer.state.log_history if "loss" in entry)
changed = sum(not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters()))
check(changed > 0, f"KTOTrainer makes a step: loss {step['loss']:.4f}, {changed} of {len(before)} weights change")
