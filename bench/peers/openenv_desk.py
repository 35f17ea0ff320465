"""The desk of bench/workload as an environment of OpenEnv in plain Python: the user of the scenario's script, tools over a dict, and
a verifier at the end. It is what somebody writes by the template of `openenv init`; nothing of it is kept after a crash.

openenv_peer.py serves it: `uvicorn openenv_desk:app`, with DESK_AT_ONCE sessions.
"""

import copy
import datetime
import os
import random
from pathlib import Path
from typing import Any, Optional
from uuid import uuid4

import yaml
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

WORKLOAD = Path(__file__).parents[1] / "workload"
PLAYBOOK = WORKLOAD / "playbooks" / "desk"
POLICY = (PLAYBOOK / "policy.md").read_text()
BASE = yaml.safe_load((PLAYBOOK / "base_world.yaml").read_text())
SCENARIOS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted((WORKLOAD / "scenarios" / "desk").glob("*.yaml"))}
TODAY = datetime.date(2026, 5, 4)


class DeskAction(Action):
    """What the agent says, or the tool that it calls."""

    text: str = Field(default="", description="What you say to the customer.")
    tool_name: str = Field(default="", description="The tool that you call, if you call one.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="The arguments of the call.")


class DeskObservation(Observation):
    """What the customer says, or what a tool answers."""

    instructions: str = ""
    text: str = ""
    tool_name: str = ""
    result: Any = None


class ToolError(Exception):
    """What the agent reads in place of an answer."""


class DeskEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS: bool = True

    def __init__(self):
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, scenario: Optional[str] = None,
              **kwargs: Any) -> DeskObservation:
        self._random = random.Random(seed)
        self._scenario = SCENARIOS[scenario or self._random.choice(list(SCENARIOS))]
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self._world = copy.deepcopy(BASE)
        for kind, records in self._scenario["system_facts"].items():
            self._world[kind].update(copy.deepcopy(records))
        self._log = []
        self._lines = iter([step["user"] for step in self._scenario["script"] if "user" in step])
        return DeskObservation(instructions=POLICY, text=next(self._lines), done=False, reward=None)

    def step(self, action: DeskAction) -> DeskObservation:
        self._state.step_count += 1
        if action.tool_name:
            return self._call(action.tool_name, action.arguments)
        self._log.append({"kind": "agent", "text": action.text})
        line = next(self._lines, None)
        if line is not None:
            return DeskObservation(text=line, done=False, reward=None)
        failed = self._failed_checks()
        return DeskObservation(text="", done=True, reward=0.0 if failed else 1.0, metadata={"failed": failed})

    def _call(self, tool: str, arguments: dict[str, Any]) -> DeskObservation:
        tools = {"get_hire": self._get_hire, "lengthen_hire": self._lengthen_hire}
        try:
            if tool not in tools:
                raise ToolError(f"there is no tool {tool}")
            result, ok = tools[tool](**arguments), True
        except (ToolError, TypeError) as error:
            result, ok = {"error": str(error)}, False
        self._log.append({"kind": "call", "tool": tool, "args": arguments, "ok": ok})
        return DeskObservation(tool_name=tool, result=result, done=False, reward=None)

    def _hire(self, hire_id: str) -> dict[str, Any]:
        if hire_id not in self._world["hires"]:
            raise ToolError(f"There is no hire {hire_id}.")
        return self._world["hires"][hire_id]

    def _get_hire(self, hire_id: str) -> dict[str, Any]:
        hire = self._hire(hire_id)
        machine = self._world["machines"][hire["machine_id"]]
        return {
            "hire_id": hire_id,
            "customer": self._world["customers"][hire["customer_id"]]["full_name"],
            "machine": machine["name"],
            "daily_rate": machine["daily_rate"],
            "hired_on": str(hire["hired_on"]),
            "due_on": str(hire["due_on"]),
            "days_added": hire["days_added"],
            "owed": hire["owed"],
            "status": hire["status"],
            "conditions": machine["conditions"],
        }

    def _lengthen_hire(self, hire_id: str, days: int) -> dict[str, Any]:
        hire = self._hire(hire_id)
        if hire["status"] != "out":
            raise ToolError("The machine has come back already.")
        if not 1 <= days <= 14 or hire["days_added"] + days > self._world["settings"]["most_days_added"]:
            raise ToolError("This hire has been lengthened as far as it can be.")
        machine = self._world["machines"][hire["machine_id"]]
        price = round(days * machine["daily_rate"], 2)
        hire["due_on"] += datetime.timedelta(days=days)
        hire["days_added"] += days
        hire["owed"] = round(hire["owed"] + price, 2)
        receipt_id = f"rec_{self._random.getrandbits(40):010x}"
        self._world["receipts"][receipt_id] = {"hire_id": hire_id, "days": days, "amount": price, "written_on": TODAY}
        return {
            "receipt_id": receipt_id,
            "hire_id": hire_id,
            "days": days,
            "price": price,
            "due_on": str(hire["due_on"]),
            "owed": hire["owed"],
            "closes_at": self._world["settings"]["closes_at"],
            "conditions": machine["conditions"],
        }

    def _failed_checks(self) -> list[str]:
        """What the verifier of Groundstate checks of this playbook: the world, the calls and their order, what was told, the policy."""
        expected = self._scenario["expected_outcome"]
        failed = [path for path, value in expected["world"].items() if value not in self._at(path)]
        calls = [{"tool": e["tool"], "args": e["args"]} for e in self._log if e["kind"] == "call" and e["ok"]]
        if calls != expected["actions"]:
            failed.append("actions")
        said = " ".join(entry["text"] for entry in self._log if entry["kind"] == "agent")
        failed += [f"told {text}" for text in expected["told"] if text not in said]
        if not self._price_was_heard_first():
            failed.append("price_is_heard_first")
        return failed

    def _at(self, path: str) -> list[Any]:
        """The values at a path; `+` stands for all keys."""
        found = [self._world]
        for key in path.strip("/").split("/"):
            found = [value for at in found for value in (at.values() if key == "+" else [at.get(key)] if at else [])]
        return found

    def _price_was_heard_first(self) -> bool:
        said = ""
        for entry in self._log:
            if entry["kind"] == "agent":
                said += entry["text"]
            elif entry["tool"] == "lengthen_hire" and entry["ok"]:
                hire = self._world["hires"][entry["args"]["hire_id"]]
                if f"{self._world['machines'][hire['machine_id']]['daily_rate']:.2f}" not in said:
                    return False
        return True

    @property
    def state(self) -> State:
        return self._state


app = create_app(
    DeskEnvironment,
    DeskAction,
    DeskObservation,
    env_name="desk",
    max_concurrent_envs=int(os.environ.get("DESK_AT_ONCE", "64")),
)
