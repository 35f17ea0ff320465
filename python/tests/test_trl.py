"""Rewards for TRL; needs neither a server nor TRL."""

import math
from types import SimpleNamespace

import httpx
import pytest
from groundstate import Client, Conflict, GroundstateError, trl

EPISODE = {"run": "r", "playbook": "p", "scenario": "s", "group": 0, "messages": [], "skipped": 0, "tools": []}


def rollout(id, reward=None):
    """A rollout of TRL 1.16. `reward`: what TRL has heard of it."""
    server = SimpleNamespace(session_base_url="http://server", api_key="gs_token")
    return SimpleNamespace(_client=server, _session=SimpleNamespace(sid=id), reward=reward)


@pytest.fixture
def serve(monkeypatch):
    def serve(answer):
        server = Client("http://server", "gs_token", transport=httpx.MockTransport(answer))
        monkeypatch.setattr(trl, "client_of", lambda url, token: {("http://server", "gs_token"): server}[url, token])

    return serve


def state(id, **more):
    return httpx.Response(200, json={**EPISODE, "id": id, **more})


def test_episodes_are_ended_and_have_the_rewards_of_the_verifier(serve):
    rewards, verified = {"right": 1, "idle": 0, "spoiled": None}, []

    def answer(request):
        id = request.url.path.split("/")[4]
        if request.method == "GET":
            return state(id, state="waiting", turn=2)
        assert request.url.path.endswith("/verify")
        verified.append(id)
        return state(id, state="ended", result={"reward": rewards[id]})

    serve(answer)
    # What TRL has heard does not count: the user broke off after the right call, and of `idle` nothing was heard.
    batch = [rollout("right", 1.0), rollout("idle"), rollout("spoiled", math.nan), rollout("idle")]
    assert trl.verified_reward(environments=batch, prompts=[], completions=[]) == [1.0, 0.0, None, 0.0]
    assert sorted(verified) == ["idle", "idle", "right", "spoiled"]


def test_a_server_that_is_restarted_is_asked_again(serve, monkeypatch):
    monkeypatch.setattr(trl.time, "sleep", lambda seconds: None)
    steps = [
        lambda: state("e", state="waiting", turn=2),
        httpx.ReadError("it was killed"),
        httpx.ConnectError("it starts"),
        lambda: state("e", state="ended", result={"reward": 0}),
        lambda: state("e", state="ended", result={"reward": 0}),
    ]

    def answer(request):
        step = steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step()

    serve(answer)
    assert trl.verified_reward([rollout("e")]) == [0.0] and not steps


def test_a_refusal_is_told(serve):
    serve(lambda request: httpx.Response(409, json={"title": "Conflict", "detail": "the run of the episode is paused"}))
    with pytest.raises(Conflict, match="is paused"):
        trl.verified_reward([rollout("e")])


def test_a_result_that_may_not_be_seen_is_left_out(serve):
    serve(lambda request: state("e", state="ended"))
    assert trl.results([rollout("e")]) == [None] and trl.verified_reward([rollout("e")]) == [None]


def test_other_environments_are_refused():
    with pytest.raises(GroundstateError, match="OpenRewardSpec"):
        trl.verified_reward([SimpleNamespace(reward=1.0)])
