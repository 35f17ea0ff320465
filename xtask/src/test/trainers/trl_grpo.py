"""TRL's GRPOTrainer trains on episodes of this server, by its OpenRewardSpec: does it see the rewards that the server counts?

usage: trl_grpo.py URL TOKEN [PROJECT]

The server must hold the project in `project/`. A tiny model with random weights chooses between whole turns of an agent. In the
first training its choices are made for it, so that rewards of 1, 0 and null are earned on purpose; in the second one it learns
which door to open. The rewards are those of `groundstate.trl.verified_reward`, and beside them those that TRL itself hears. Prints one
line for each check, and exits with 1 at the first one that fails. Run it with the Python in which `trl` and `python/` are installed.
"""

import json
import math
import os
import pathlib
import sys
import tempfile
import time

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
PROJECT = sys.argv[3] if len(sys.argv) == 4 else "default"
# Without the session URL, the client of ORS connects to http://sessions.HOST.
os.environ.update(OPENREWARD_SESSION_URL=URL, OPENREWARD_DISABLE_UPDATE_CHECK="1", TRL_EXPERIMENTAL_SILENCE="1",
                  HF_HUB_OFFLINE="1", HF_HUB_DISABLE_PROGRESS_BARS="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")

import numpy
import torch
from groundstate.trl import verified_reward
from transformers import LogitsProcessor, LogitsProcessorList, PrinterCallback
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.openreward import OpenRewardSpec

from checks import Api, check
from stub_endpoint import DONE, RUDE, Endpoint, visit
from tiny_model import model, tokenizer

SAMPLES = 8
LEARNING_STEPS = 12
# How many tokens a turn has at most; what tools answer counts, too.
LONGEST = 512
ask = Api(URL, TOKEN).ask


def call(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call><|im_end|>"


TURNS = {
    "left": call("open_door", door="left"),
    "right": call("open_door", door="right"),
    # A tool that nobody can answer: an episode that stops there has no reward, because the agent could not help it.
    "bell": call("ring_bell"),
    # The user has what it wanted, and ends the conversation.
    "tell": call("reply", text=DONE),
    # The user breaks off, against its rules. That takes back a reward of 1 that was told before.
    "rude": call("reply", text=RUDE),
    "stop": "Done.<|im_end|>",
}


class Turns(LogitsProcessor):
    """Lets the model write nothing but the turns that are allowed in each row."""

    def __init__(self, tokens, start, allowed):
        self.start = start
        self.allowed = [[tokens(TURNS[name], add_special_tokens=False)["input_ids"] for name in names] for names in allowed]
        self.pad = tokens.pad_token_id

    def __call__(self, input_ids, scores):
        out = torch.full_like(scores, -math.inf)
        for row, written in enumerate(input_ids[:, self.start:].tolist()):
            turns = [turn for turn in self.allowed[row] if turn[:len(written)] == written and len(turn) > len(written)]
            for token in {turn[len(written)] for turn in turns} or {self.pad}:
                out[row, token] = scores[row, token]
        return out


def train(spec, tokens, learner, steps, rate, turns_of):
    """`turns_of(step, row, answers)`: names of the turns that a row may write after so many answers of tools. Returns the log,
    and for each step the episodes, rewards and advantages that TRL had, and the rewards that it heard by itself."""
    config = GRPOConfig(
        output_dir=tempfile.mkdtemp(prefix="grpo-"), use_cpu=True, bf16=False, fp16=False, gradient_checkpointing=False,
        per_device_train_batch_size=SAMPLES, gradient_accumulation_steps=1, num_generations=SAMPLES, shuffle_dataset=False,
        max_completion_length=LONGEST, max_tool_calling_iterations=4, max_steps=steps, learning_rate=rate,
        lr_scheduler_type="constant", warmup_steps=0, logging_steps=1, save_strategy="no", report_to="none",
        dataloader_num_workers=0, seed=0, disable_tqdm=True,
        # What TRL hears by itself is logged, and counts nothing.
        reward_weights=[1.0, 0.0])
    trainer = GRPOTrainer(model=learner, args=config, processing_class=tokens, train_dataset=spec.train_dataset,
                          environment_factory=spec.environment_factory, reward_funcs=[verified_reward, spec.reward_funcs])
    trainer.remove_callback(PrinterCallback)
    answer, seen, playing = tokens.convert_tokens_to_ids("<tool_response>"), [], []
    plain, score = trainer.model.generate, trainer._calculate_rewards

    def generate(**given):
        answers = (given["input_ids"] == answer).sum(dim=1).tolist()
        # After the first turn, TRL goes on with the rows that called something.
        rows = playing if any(answers) else range(len(answers))
        allowed = [turns_of(trainer.state.global_step, row, count) for row, count in zip(rows, answers, strict=True)]
        playing[:] = [row for row, turns in zip(rows, allowed) if turns != ["stop"]]
        processor = Turns(tokens, given["input_ids"].shape[1], allowed)
        return plain(**given, logits_processor=LogitsProcessorList([processor]))

    def calculate_rewards(*args, **kwargs):
        if seen:
            seen[-1]["advantages"] = list(trainer._logs["advantages"])
        rewards = score(*args, **kwargs)
        episodes = [environment._session.sid for environment in trainer.environments]
        verified, told = ([none_if_nan(reward) for reward in of_one] for of_one in rewards.T.tolist())
        seen.append({"episodes": episodes, "rewards": verified, "heard": told})
        return rewards

    trainer.model.generate, trainer._calculate_rewards = generate, calculate_rewards
    trainer.train()
    trainer.model.generate = plain
    # TRL closes the sessions of a slot when it opens the next ones, and the last ones never.
    for environment in trainer.environments:
        environment._close()
    log = [entry for entry in trainer.state.log_history if "step_time" in entry]
    seen[-1]["advantages"] = list(trainer._logs["advantages"])
    return log, seen


def none_if_nan(number):
    return None if number is None or math.isnan(number) else number


def groups_of(run, count):
    """The groups of the run by number, once all their episodes have ended."""
    for _ in range(40):
        page = ask("GET", f"/runs/{run}/groups", params={"limit": 200})
        groups = {group["group"]: group for group in page["items"]}
        ended = [all(sample["status"] in ("accepted", "failed") for sample in groups[number]["samples"])
                 for number in range(count) if number in groups]
        if len(ended) == count and all(ended):
            return groups
        time.sleep(0.5)
    check(False, f"the groups of run {run} have ended: {json.dumps(groups)}")


def compare(log, seen, rows):
    """Each step of TRL is one group of ours."""
    run = ask("GET", f"/episodes/{seen[0]['episodes'][0]}")["run"]
    groups = groups_of(run, len(seen))
    for step, theirs in enumerate(seen):
        group = groups[rows[step]["group"]]
        ours = [ask("GET", f"/episodes/{episode}")["result"]["reward"] for episode in theirs["episodes"]]
        check(ours == theirs["rewards"], f"step {step}: the episodes have the rewards {ours}, and TRL has {theirs['rewards']}")
        scored = [reward for reward in ours if reward is not None]
        check((group["scored"], len(group["samples"])) == (len(scored), SAMPLES),
              f"step {step}: {group['scored']} of the {len(group['samples'])} episodes of the group count, as for TRL")
        logged, mean = none_if_nan(log[step].get("reward")), group.get("solve_rate")
        # TRL computes with 32 bits.
        same = logged is None if mean is None else logged is not None and numpy.float32(logged) == numpy.float32(mean)
        check(same, f"step {step}: the mean reward that TRL logs is {logged}, the solve rate of the group {mean}")
        if len(scored) > 1:
            logged, deviation = log[step]["reward_std"], group["reward_std"]
            same = math.isclose(logged, deviation, rel_tol=1e-6)
            check(same, f"step {step}: the deviation that TRL logs is {logged:.6f}, that of the group {deviation:.6f}")


def environment(name, seed, groups, models):
    order = {"playbooks": ["doors"], "seed": seed, "groups": groups, "complexity": {"simple": 1.0}, "models": models}
    ask("PUT", f"/projects/{PROJECT}/environments/{name}", json=order)
    # TRL probes the tools in an episode of its own: in a group that is not trained on.
    return OpenRewardSpec(URL, env_name=f"{PROJECT}/{name}", api_key=TOKEN, task_tools_discovery_index=groups - 1)


def earn_on_purpose(tokens, learner, seed):
    """Steps in which each row plays a part. A user that is a model may break off, which a scripted one never does."""
    name = f"trl_on_purpose_{seed}"
    with Endpoint(visit) as users:
        ask("PUT", "/models/trl-user", json={"replicas": [users.url]})
        spec = environment(name, seed, 5, {"simulated_user": "trl-user"})
        rows = list(spec.train_dataset)
        check(len(rows) == 5 and all(row["playbook"] == "doors" for row in rows), f"TRL reads {len(rows)} tasks of the split train")
        right = rows[0]["scenario"].removeprefix("open_")
        wrong = {"left": "right", "right": "left"}[right]
        # A part: its turns before it stops, its reward, and what TRL hears of it by itself.
        parts = {
            "right": ([right], 1, 1),
            "wrong": ([wrong], 0, 0),
            "bell": (["bell"], None, None),
            "tell": ([right, "tell"], 1, 1),
            "spoiled": ([right, "rude"], None, None),
            # It calls nothing at all: only the server knows that it has earned 0.
            "idle": ([], 0, None),
        }
        steps = [
            ["right", "right", "right", "wrong", "wrong", "bell", "bell", "bell"],
            ["bell"] * SAMPLES,
            ["tell"] + ["right"] * (SAMPLES - 1),
            ["right", "idle", "idle", "spoiled", "wrong", "spoiled", "tell", "idle"],
        ]

        def turns_of(step, row, answers):
            turns = parts[steps[step][row]][0]
            return [turns[answers]] if answers < len(turns) else ["stop"]

        log, seen = train(spec, tokens, learner, len(steps), 0.0, turns_of)
    for step, (played, theirs) in enumerate(zip(steps, seen, strict=True)):
        rewards, heard = theirs["rewards"], theirs["heard"]
        check(rewards == [parts[part][1] for part in played], f"step {step}: rewards were earned on purpose: {rewards}")
        check(heard == [parts[part][2] for part in played], f"step {step}: TRL by itself has heard {heard}")
    compare(log, seen, rows)
    ending = ask("GET", f"/episodes/{seen[2]['episodes'][0]}")["result"]["ending"]
    check(ending == "user_ended", f"the episode in which the agent spoke to the user has the ending {ending}")
    for row, ending, blame in [(1, "agent_ended", "agent"), (3, None, "simulated_user")]:
        result = ask("GET", f"/episodes/{seen[3]['episodes'][row]}")["result"]
        check((result.get("ending"), result.get("blame")) == (ending, blame), f"{steps[3][row]}: {result.get('ending')}, {result.get('reason')}")
    check(all(advantage == 0 for advantage in seen[2]["advantages"]), "a group with equal rewards has no advantages")
    moved = [advantage != 0 for advantage in seen[3]["advantages"]]
    counted = [reward is not None for reward in seen[3]["rewards"]]
    check(moved == counted, f"all episodes with a reward move the model, and no others: {seen[3]['advantages']}")
    ask("DELETE", f"/projects/{PROJECT}/environments/{name}")


def learn(tokens, learner, seed):
    name = f"trl_learning_{seed}"
    spec = environment(name, seed, LEARNING_STEPS + 1, {})
    rows = list(spec.train_dataset)
    log, seen = train(spec, tokens, learner, LEARNING_STEPS, 1e-2,
                      lambda step, row, answers: ["stop"] if answers else ["left", "right"])
    compare(log, seen, rows)
    means = [entry["reward"] for entry in log]
    first, last = sum(means[:3]) / 3, sum(means[-3:]) / 3
    check(last > first and last > 0.8, f"the mean reward rises from {first:.2f} to {last:.2f}: {means}")
    ask("DELETE", f"/projects/{PROJECT}/environments/{name}")


def main():
    # Another seed is another run: what was trained before does not count.
    seed = int(time.time())
    tokens = tokenizer()
    learner = model(tokens)
    earn_on_purpose(tokens, learner, seed)
    learn(tokens, learner, seed + 1)


main()
