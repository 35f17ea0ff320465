"""The tasks: each is a scenario with one draw of its user and its world."""

import os
from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf
from groundstate import Client
from groundstate.http import URL
from pydantic import Field


class GroundstateData(vf.TaskData):
    url: str
    project: str
    environment: str
    scenario: str
    group: int


class GroundstateTask(vf.Task[GroundstateData]):
    @property
    def key(self) -> str:
        """Rollouts with the same key are a group."""
        data = self.data
        return f"{data.project}/{data.environment}/{data.scenario}/{data.group}"


class GroundstateConfig(vf.TasksetConfig):
    url: str = Field(default_factory=lambda: os.environ.get("GROUNDSTATE_URL", URL))
    """The server. Default: GROUNDSTATE_URL, or http://127.0.0.1:7878. The token comes from GROUNDSTATE_TOKEN."""
    project: str = "default"
    environment: str = "retail_bank"
    """Name of an environment or of a playbook."""
    split: Literal["train", "golden"] = "train"
    """`golden`: families of scenarios that nothing is trained on."""


class GroundstateTaskset(vf.Taskset[GroundstateTask, GroundstateConfig]):
    def load(self) -> Iterator[GroundstateTask]:
        config = self.config
        with Client(config.url, project=config.project) as client:
            tasks = client.tasks(config.environment, config.split)
        for task in tasks:
            yield GroundstateTask(
                GroundstateData(
                    id=task.id,
                    name=task.scenario,
                    # The server sends what the user says. verifiers wants a prompt, and nobody reads it.
                    prompt=task.id,
                    url=config.url,
                    project=config.project,
                    environment=config.environment,
                    scenario=task.scenario,
                    group=task.group,
                ),
                config.task,
            )
