"""One episode: a conversation whose agent is your program."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import quote

from groundstate.errors import GroundstateError, TookTooLong
from groundstate.http import Api

# Longest wait of one request, in seconds.
WAIT = 50

Message = dict[str, Any]
"""An OpenAI chat message: `role`, `content`, and for some `tool_calls` or `tool_call_id`."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    """Arguments by name. A text is sent as it is, also if it is no JSON."""

    def as_openai(self) -> dict[str, Any]:
        arguments = self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))
        return {"id": "", "type": "function", "function": {"name": self.name, "arguments": arguments}}


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint that plays the agent. The server must have been started with `--agent-urls` for it."""

    url: str
    model: str
    api_key: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    token_ids: bool = False
    """Whether it is asked for the token ids and log-probabilities of its replies. Exports of groups contain them."""

    def as_json(self) -> dict[str, Any]:
        # A temperature of 0 is sent.
        return {name: value for name, value in vars(self).items() if value is not None and value is not False}

    def __repr__(self) -> str:
        """Without the key."""
        return f"Endpoint(url={self.url!r}, model={self.model!r})"


@dataclass(frozen=True)
class Task:
    """A scenario with one draw of its user and its world."""

    id: str
    scenario: str
    group: int
    playbook: str
    family: str


@dataclass(frozen=True)
class Check:
    """One thing that the verifier checked."""

    rule: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Penalties:
    """Faults of the agent on the way. Some of them make the reward 0 by themselves, others do not change it."""

    malformed_calls: int = 0
    """Calls that no tool accepts: unknown tools, or arguments that are not JSON or break the tool's schema. A single one makes the
    reward 0, because the verifier's check `valid_calls` fails."""
    failed_calls: int = 0
    """Calls that a tool refused, without those that failed because of a planned fault. They do not change the reward."""
    refused_messages: int = 0
    """Messages of the agent that were refused, such as empty ones. They do not change the reward, but the third one in a row ends
    the episode with the reward 0."""
    truncated: bool = False
    """Whether a limit of turns or steps ended the episode. The check `ending` fails then: the reward is 0, or None if all was done
    and the user talked on until its turns were used up."""


@dataclass(frozen=True)
class Result:
    """What an episode came to."""

    reward: int | None
    """1 if everything that the verifier checks holds, else 0. None if somebody else than the agent spoiled the episode: leave
    such an episode out, and never count it as 0."""
    reward_components: dict[str, float]
    """Rule of the verifier -> share of its checks that hold, from 0 to 1."""
    blame: str | None
    """Whose failure it is. None if the episode was accepted."""
    reason: str | None
    ending: str | None
    """`user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit` or `agent_ended`. None if it was broken off."""
    penalties: Penalties
    checks: list[Check]

    @classmethod
    def of(cls, body: dict[str, Any]) -> Self:
        checks = [Check(check["rule"], check["passed"], check["detail"]) for check in body.get("checks", [])]
        return cls(body.get("reward"), body.get("reward_components", {}), body.get("blame"), body.get("reason"),
                   body.get("ending"), Penalties(**body.get("penalties", {})), checks)


class Episode:
    """An episode. It is closed at the end of its `with` block, and an episode that has not ended then has no reward."""

    def __init__(self, api: Api, body: dict[str, Any]):
        self._api = api
        self.id: str = body["id"]
        """Also the id of its conversation."""
        self.run: str = body["run"]
        self.playbook: str = body["playbook"]
        self.scenario: str = body["scenario"]
        self.group: int = body["group"]
        self.messages: list[Message] = []
        """All that the agent has seen and said. The first message is its instructions."""
        self.tools: list[dict[str, Any]] = []
        """The agent's tools, as OpenAI describes functions."""
        self.state: Literal["playing", "waiting", "ended"] = "playing"
        """`waiting`: it is the agent's turn."""
        self.turn: int | None = None
        self.reward_if_ended: int | None = None
        """The reward if the agent ended the episode now. None if there would be none."""
        self.refused: str | None = None
        """Why the agent's last message was refused: then it is its turn again."""
        self.result: Result | None = None
        """What it came to, once it has ended. None with the token of the episode, which sees no reward."""
        self.token: str | None = body.get("token")
        """The token of the episode, if it was opened with `token=True`. The server does not show it again."""
        self._read(body)

    @classmethod
    def from_environment(cls) -> Self:
        """The episode that `groundstate episodes try` started this program for. The command verifies it when the program has
        ended. Use it without `with`, which would give up an episode that has not ended."""
        id = os.environ.get("GROUNDSTATE_EPISODE")
        if not id:
            raise GroundstateError("GROUNDSTATE_EPISODE is not set; `groundstate episodes try -- COMMAND` sets it for COMMAND")
        api = Api(None, None)
        return cls(api, api.api("GET", f"/episodes/{quote(id, safe='')}")).wait()

    def __repr__(self) -> str:
        return f"Episode(id={self.id!r}, scenario={self.scenario!r}, group={self.group}, state={self.state!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.close()
        except GroundstateError:
            # What happened in the block is more important.
            if error is None:
                raise

    @property
    def ended(self) -> bool:
        return self.state == "ended"

    @property
    def reward(self) -> int | None:
        """The reward of an episode that has ended."""
        return self.result.reward if self.result else None

    def say(self, text: str) -> str:
        """Says something to the user, and returns what the user answers: an empty text if the user has ended the episode."""
        return joined(self.send(text), "user")

    def call(self, name: str, **arguments: Any) -> str:
        """Calls a tool, and returns its answer."""
        return joined(self.send(tool_calls=[ToolCall(name, arguments)]), "tool")

    def send(
        self,
        content: str | None = None,
        tool_calls: Sequence[ToolCall] = (),
        *,
        reasoning: str | None = None,
        usage: Mapping[str, Any] | None = None,
        tokens: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> list[Message]:
        """Sends a message of the agent, and waits for the agent's next turn or the end. Returns what users and tools answered.

        `tokens`: `token_ids` and `logprobs` of the message, and `prompt_token_ids` and `policy` if you know them. Exports of groups
        contain them.
        """
        body: dict[str, Any] = {"content": content, "tool_calls": [call.as_openai() for call in tool_calls] or None}
        if self.turn is not None:
            body["turn"] = self.turn
        if reasoning is not None:
            body["reasoning_content"] = reasoning
        if usage is not None:
            body["usage"] = dict(usage)
        if tokens is not None:
            body["tokens"] = dict(tokens)
        before = len(self.messages)
        self._read(self._api.api("POST", f"/episodes/{self.id}/messages", body=body))
        self.wait(timeout)
        return [message for message in self.messages[before:] if message["role"] != "assistant"]

    def wait(self, timeout: float | None = None) -> Self:
        """Waits until it is the agent's turn, or the episode has ended. `timeout`: in seconds; default: for ever."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.state == "playing":
            left = WAIT if deadline is None else min(WAIT, int(deadline - time.monotonic()))
            if left < 0:
                raise TookTooLong(f"episode {self.id} is still playing after {timeout} seconds")
            self.refresh(wait=left)
            if left == 0 and self.state == "playing":
                time.sleep(0.2)
        return self

    def refresh(self, wait: int = 0) -> Self:
        """Reads where the episode stands. `wait`: for the agent's turn or the end, 0 to 50 seconds."""
        params = {"skip": len(self.messages), "wait": wait}
        self._read(self._api.api("GET", f"/episodes/{self.id}", params=params))
        return self

    def verify(self) -> Result | None:
        """Ends the episode where it stands, and returns what the verifier says. None if you may not see it: the token is that of the
        episode, or you are still to rate the episode by yourself."""
        self._read(self._api.api("POST", f"/episodes/{self.id}/verify"))
        self.wait()
        return self.result

    def close(self) -> None:
        """Gives up an episode that has not ended: it has no reward. Nothing is done with one that has ended."""
        if not self.ended:
            self._api.api("DELETE", f"/episodes/{self.id}")
            self.refresh()

    @property
    def mcp_url(self) -> str:
        """The tools of this episode as an MCP server (streamable HTTP). It takes the same token."""
        return f"{self._api.url}/api/v1/episodes/{self.id}/mcp"

    def _read(self, body: dict[str, Any]) -> None:
        self.messages[body["skipped"]:] = body["messages"]
        self.tools = body["tools"]
        self.state = body["state"]
        self.turn = body.get("turn")
        self.reward_if_ended = body.get("reward_if_ended")
        self.refused = body.get("refused")
        self.result = Result.of(body["result"]) if body.get("result") else None


def joined(messages: list[Message], role: str) -> str:
    return "\n".join(message["content"] for message in messages if message["role"] == role)
