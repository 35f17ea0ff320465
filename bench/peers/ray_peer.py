"""Workloads of `cargo xtask bench` on Matrix, the peer-to-peer Ray framework of Meta (PyPI: fair-matrix), without a model.

`--workload desk`, as `durable`: four roles, 12 messages of about 500 characters a conversation, a row of about 10 KB. These are
the framework's own classes, not a copy of its shape: each role is a pool of its agent actors, the conversation is its
orchestrator, a message that goes from actor to actor, and its sink writes the rows. Nothing is kept for after a crash.

`--workload coral`, as `talks`: Matrix's own measurement of its overhead, with the agents, the orchestrator and the sizes that its
package brings for it (coral_mmlu_pro_dummy.yaml), over made-up questions.

    python3.11 -m venv peer && peer/bin/pip install uv
    peer/bin/uv pip install --python peer/bin/python 'fair-matrix[agent,ray]==0.2.6' 'ray<2.56'
    peer/bin/python bench/peers/ray_peer.py [--workload coral] --n 1000 [--processes 2] [--at-once 500] [--out rows.jsonl]

(uv, since pip alone tries versions of one dependency for many minutes. Matrix keeps long texts in Ray's object store by an
argument that Ray 2.56 no longer has.) The framework hears of finished conversations once
a second and starts new ones only then: it plays at most --at-once a second, so keep that well above what it reaches. On two
cores more than one actor per role (--processes) only costs more CPU.

The seconds go from the start of the first conversation to the end of the last, as the rows tell. CPU and memory are of all
processes of the Ray session and this one: CPU from the moment that all actors are up, memory (shared pages once) at the end.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import secrets
import sys
import tempfile

import psutil
import ray
from matrix.agents.agent_actor import AgentActor
from matrix.agents.dataset_loader import BaseDatasetLoader
from matrix.agents.orchestrator import Orchestrator
from matrix.agents.p2p_agents import P2PAgentFramework
from omegaconf import OmegaConf

EXAMPLES = "matrix.agents.examples"
TEXT = ("The hire is due on the day that was agreed, and each day beyond it costs the daily rate. " * 6)[:500]
TURNS = 6
ROLES = ("User", "Agent", "Tools", "Judge")


class Conversation(Orchestrator):
    """Everything of one conversation; it travels whole."""

    def __init__(self):
        super().__init__()
        self.role = "User"
        self.orders = {}
        self.verdict = {}

    async def init(self, simulation_id, first_agent, sink, metadata, resources, logger):
        self._id = metadata["task"]["id"]
        await super().init(simulation_id, first_agent, sink, metadata, resources, logger)

    def current_agent(self):
        return self.role

    async def is_done(self):
        return bool(self.verdict)

    async def update(self, result, updater, logger):
        if self.role == "User":
            await super().update(result, updater, logger)
            self.role = "Agent"
        elif self.role == "Agent":
            await super().update(result, updater, logger)
            self.role = "Judge" if len(self.history) >= 2 * TURNS else "Tools"
        elif self.role == "Tools":
            self.orders.update(result)
            self.role = "User"
        else:
            self.verdict = result
        return self

    async def to_output(self):
        return {**await super().to_output(), "orders": self.orders, "verdict": self.verdict}


class Speaker(AgentActor):
    async def preprocess(self, conversation):
        return {"text": f"{len(conversation.history)} {TEXT}"}


class User(Speaker):
    @classmethod
    async def get_task_message(cls, config, task):
        return None


class Agent(Speaker):
    pass


class Tools(AgentActor):
    async def preprocess(self, conversation):
        return {f"order_{len(conversation.history)}": {"amount": 20.5, "status": "done"}}


class Judge(AgentActor):
    async def preprocess(self, conversation):
        return {f"criterion_{i}": {"score": 8, "rationale": TEXT[:120]} for i in range(8)}


class Tasks(BaseDatasetLoader):
    def __init__(self, n):
        self.n = n

    def load_data(self):
        return ({"id": i} for i in range(self.n))

    def total_count(self):
        return self.n


class Questions(Tasks):
    def load_data(self):
        for i in range(self.n):
            choices = {letter: str(i + option) for option, letter in enumerate("ABCDEFGHIJ")}
            question = f"What is {i} + 3, if each of both is a whole number?"
            yield {"question_id": i, "question": question, "choices": choices, "answer": "D"}


class Framework(P2PAgentFramework):
    async def create_team(self, cli):
        await super().create_team(cli)
        self.cpu_before = cpu()


def processes():
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def cpu():
    total = 0
    for process in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def memory():
    total = 0
    for process in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            total += process.memory_full_info().pss
    return total


def desk(module, actor, flags):
    return {
        "agents": {role: {"_target_": f"{module}.{role}", "num_instances": flags.processes, **actor} for role in ROLES},
        "dataset": {"_target_": f"{module}.Tasks", "n": flags.n},
        "orchestrator": {"_target_": f"{module}.Conversation"},
    }


def coral(module, actor, flags):
    dummy = f"{EXAMPLES}.ts_interaction_dummy"
    both = {"system_prompt": "", "num_instances": flags.processes, **actor}
    partner = {"_target_": f"{dummy}.DummyCoralAgent", "generation_length": 1024, "length_delta": 0.2, **both}
    match = {"_target_": f"{dummy}.DummyCoralMatchAgent", "expected_turns": 3, **both}
    read = ["answer_extractor", "answer_matcher"]
    return {
        "agents": {
            "teacher": partner,
            "student": partner,
            "answer_extractor": {"_target_": f"{dummy}.DummyCoralExtractionAgent", "task_prompt": "", **both},
            "answer_matcher": match,
        },
        "dataset": {"_target_": f"{module}.Questions", "n": flags.n},
        "orchestrator": {
            "_target_": f"{EXAMPLES}.ts_interaction.CoralOrchestrator",
            "interaction_order": ["teacher", *read, "student", *read],
            "max_turns": 20,
        },
    }


def whole_desk(row):
    return len(row["history"]) == 2 * TURNS and row["verdict"]


def whole_coral(row):
    last = row["history"][-1]["response"]
    return last["agreement"] or last["rated_turns"] >= 20


WORKLOADS = {"desk": (desk, whole_desk), "coral": (coral, whole_coral)}


def settings(flags, out, folder):
    module = os.path.splitext(os.path.basename(__file__))[0]
    actor = {"ray_resources": {"num_cpus": 0}}
    workload = WORKLOADS[flags.workload][0](module, actor, flags)
    sink = {"_target_": "matrix.agents.sink.Sink", "dead_orchestrator_tracking": False, **actor}
    workload["agents"]["_sink"] = {**sink, "max_concurrent_tasks": flags.at_once}
    return OmegaConf.create({
        "matrix": {"cluster_id": "peer", "matrix_dir": folder},
        "max_concurrent_tasks": flags.at_once,
        "seed": 42,
        "num_trial": 1,
        "dead_orchestrator_tracking": False,
        "output": {"path": out},
        **workload,
    })


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--workload", choices=WORKLOADS, default="desk")
    flags.add_argument("--n", type=int, default=1000)
    flags.add_argument("--at-once", type=int, default=200, help="conversations in play at a time")
    flags.add_argument("--processes", type=int, default=1, help="actors per role")
    flags.add_argument("--out", help="keep the rows in this file")
    flags = flags.parse_args()
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        out = flags.out or os.path.join(folder, "rows.jsonl")
        # No usage report, and a token of its own: without one Ray leaves a token in the home folder.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.WARNING)
        try:
            # 1: the framework shows its progress bar for number 0 only.
            framework = Framework(1, settings(flags, out, folder))
            with contextlib.redirect_stdout(sys.stderr):
                asyncio.run(framework.run_simulation())
            used, held = cpu() - framework.cpu_before, memory()
        finally:
            ray.shutdown()
        with open(out) as file:
            rows = [json.loads(line) for line in file]
        size = os.path.getsize(out)
    whole = [row for row in rows if WORKLOADS[flags.workload][1](row)]
    if len(whole) != flags.n:
        sys.exit(f"{len(whole)} whole rows, {flags.n} were to come")
    seconds = max(row["finish_timestamp"] for row in rows) - min(row["creation_timestamp"] for row in rows)
    messages = sum(len(row["history"]) for row in rows)
    print(
        f"{flags.n} conversations, {flags.n / seconds:.0f} a second, {messages / seconds:.0f} messages a second, {used * 1e6 / flags.n:.0f} us CPU each"
        f" (all Ray processes), {size / flags.n:.0f} bytes a row, {held / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
