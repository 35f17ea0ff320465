"""Rewards for TRL, which trains on episodes by its `OpenRewardSpec`.

TRL's own reward function knows what calls of tools returned. Of a rollout without a call it knows nothing, and leaves it out of its
group. The functions here ask the server, which also counts such an episode: its agent has not done what the user wanted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from groundstate.client import POLL, RESTART, Client
from groundstate.episode import Result
from groundstate.errors import GroundstateError, Unavailable, Unreachable

# Episodes that are asked for at once.
AT_ONCE = 16


def verified_reward(environments: Sequence[Any], **_: Any) -> list[float | None]:
    """Rewards of rollouts, for `GRPOTrainer(reward_funcs=verified_reward, ...)`.

    An episode that has not ended is ended where it stands. Its reward is what the verifier says: 1.0, or 0.0, also if the model
    called nothing at all. None if somebody else than the agent spoiled the episode: TRL leaves it out.
    """
    rewards = [None if result is None else result.reward for result in results(environments)]
    return [None if reward is None else float(reward) for reward in rewards]


def results(environments: Sequence[Any]) -> list[Result | None]:
    """What the verifier says of rollouts, for a reward function of your own. An episode that has not ended is ended where it stands.

    `environments`: as TRL passes them to reward functions. None: you may not see the result, because you are still to rate the
    episode.
    """
    episodes = [episode_of(environment) for environment in environments]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda episode: verified(*episode), episodes))


def episode_of(environment: Any) -> tuple[Client, str]:
    """The server of a rollout, and the id of its episode. TRL 1.16 has no public names for them."""
    try:
        server, session = environment._client, environment._session
        return client_of(server.session_base_url, server.api_key), session.sid
    except AttributeError as error:
        message = "this is no rollout of an OpenRewardSpec: pass its `environment_factory` to the trainer (TRL 1.16)"
        raise GroundstateError(message) from error


@lru_cache
def client_of(url: str, token: str) -> Client:
    return Client(url, token)


def verified(client: Client, id: str) -> Result | None:
    """The server may be restarted meanwhile: to verify an episode again changes nothing."""
    begun = time.monotonic()
    while True:
        try:
            return client.episode(id).wait().verify()
        except (Unreachable, Unavailable):
            if time.monotonic() - begun > RESTART:
                raise
            time.sleep(POLL)
