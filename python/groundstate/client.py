"""The client: opens episodes, and keeps environments."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from groundstate.episode import Endpoint, Episode, Task
from groundstate.errors import Unavailable, Unreachable
from groundstate.http import Api

Environment = Mapping[str, Any]
"""What episodes are played from, such as `{"playbooks": ["retail_bank"], "models": {"simulated_user": "qwen"}}`. The reference of
the API (`/api/docs` of your server) lists its fields."""

Split = Literal["train", "golden"]
"""A part of the scenarios. A family of scenarios is in one part only, so that you never test with what you trained on."""

# Seconds between looks at an episode that an endpoint plays.
POLL = 0.5
# Seconds that a restart of the server may take.
RESTART = 60


class Client:
    """A project on a Groundstate server.

    `url`: default: GROUNDSTATE_URL, or http://127.0.0.1:7878. `token`: default: GROUNDSTATE_TOKEN; it needs the scope `run`.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        project: str = "default",
        *,
        transport: httpx.BaseTransport | None = None,
    ):
        self._api = Api(url, token, transport)
        self.project = project
        self.environments = Environments(self._api, project)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def token(self) -> str:
        return self._api.token

    def close(self) -> None:
        """Closes the connections, and no episode."""
        self._api.close()

    def open(
        self,
        environment: str | Environment,
        scenario: str | None = None,
        *,
        group: int | None = None,
        split: Split | None = None,
        token: bool = False,
    ) -> Episode:
        """Opens an episode. It returns at the agent's first turn.

        `environment`: the name of an environment or of a playbook, or an environment itself. `scenario`: default: the next one
        in turn. `split`: play only scenarios of this part; default: what the environment says. Episodes with the same scenario and
        group have the same user, world and faults; default: a new group. `token`: make a token for the program that plays the agent:
        `episode.token`.
        """
        return self.open_group(environment, scenario, group=group, split=split, token=token, samples=1)[0]

    def open_group(
        self,
        environment: str | Environment,
        scenario: str | None = None,
        *,
        group: int | None = None,
        split: Split | None = None,
        token: bool = False,
        samples: int,
    ) -> list[Episode]:
        """Opens so many episodes with the same user, world and faults. With `token`, each has a token of its own."""
        chosen = {"scenario": scenario, "group": group, "split": split, "token": token or None, "samples": samples}
        return [episode.wait() for episode in self._open(opening(environment, **chosen))]

    def play(
        self,
        environment: str | Environment,
        agent: Endpoint,
        scenario: str | None = None,
        *,
        group: int | None = None,
        split: Split | None = None,
    ) -> Episode:
        """Lets an endpoint play the agent of an episode, and returns the episode when it has ended. It is played on after a restart
        of the server. The endpoint needs no token of the episode: the server asks it."""
        # The same request again is about the same episode.
        chosen = {"scenario": scenario, "group": group, "split": split, "id": str(uuid4()), "agent": agent.as_json()}
        body = opening(environment, **chosen)
        episode, begun, reached = None, False, time.monotonic()
        while episode is None or not episode.ended:
            try:
                # It waits for its agent if a restart interrupted it: the server keeps no keys of endpoints.
                if episode is None or episode.state == "waiting":
                    episode = self._open(body)[0]
                else:
                    # A request that waits would end at each turn of the agent, which is not ours.
                    time.sleep(POLL)
                    episode.refresh()
                begun, reached = True, time.monotonic()
            except (Unreachable, Unavailable) as error:
                # A server that was never there may have another address.
                begun = begun or not isinstance(error.__cause__, httpx.ConnectError)
                if not begun or time.monotonic() - reached > RESTART:
                    raise
                time.sleep(POLL)
        return episode

    def episode(self, id: str) -> Episode:
        """An episode that was opened before."""
        return Episode(self._api, self._api.api("GET", f"/episodes/{quote(id, safe='')}"))

    def tasks(self, environment: str, split: Split = "train") -> list[Task]:
        """The tasks of a split, `train` or `golden`, of an environment or a playbook."""
        answer = self._api.ors("/tasks", {"split": split}, f"{self.project}/{environment}")
        fields = ("id", "scenario", "group", "playbook", "family")
        return [Task(*(task[name] for name in fields)) for task in answer["tasks"]]

    def _open(self, body: dict[str, Any]) -> list[Episode]:
        opened = self._api.api("POST", f"/projects/{quote(self.project, safe='')}/episodes", body=body)
        return [Episode(self._api, episode) for episode in opened]


class Environments:
    """The environments of a project that have a name. Each playbook can be named like one, too."""

    def __init__(self, api: Api, project: str):
        self._api = api
        self._path = f"/projects/{quote(project, safe='')}/environments"

    def list(self) -> dict[str, dict[str, Any]]:
        """All of them, by name."""
        return {named["name"]: named["environment"] for named in self._api.api("GET", self._path)}

    def set(self, name: str, environment: Environment) -> None:
        """Stores an environment in place of what had its name."""
        self._api.api("PUT", f"{self._path}/{quote(name, safe='')}", body=dict(environment))

    def delete(self, name: str) -> None:
        """Deletes an environment. Its episodes are kept."""
        self._api.api("DELETE", f"{self._path}/{quote(name, safe='')}")


def opening(environment: str | Environment, **chosen: Any) -> dict[str, Any]:
    """A request for episodes of an environment. What is None was not chosen."""
    named = {"name": environment} if isinstance(environment, str) else {"environment": dict(environment)}
    return {**named, **{name: value for name, value in chosen.items() if value is not None}}
