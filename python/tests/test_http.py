"""How answers of a server are read; needs no server."""

import json

import httpx
import pytest
from groundstate import Client, Conflict, Endpoint, Forbidden, Unavailable, Unreachable
from groundstate import http as requests

EPISODE = {"id": "e", "run": "r", "playbook": "p", "scenario": "s", "group": 0, "messages": [], "skipped": 0, "tools": []}
WAITING = {**EPISODE, "state": "waiting", "turn": 2}
ENDED = {**EPISODE, "state": "ended", "result": {"reward": 1}}


def client(answer):
    return Client("http://server", "gs_token", transport=httpx.MockTransport(answer))


def sent_by(do, answer):
    """The bodies of the requests that this sends, each answered with the same JSON."""
    bodies = []
    do(client(lambda request: bodies.append(json.loads(request.content)) or httpx.Response(201, json=answer)))
    return bodies


def test_a_busy_server_is_asked_again(monkeypatch):
    pauses = []
    monkeypatch.setattr(requests.time, "sleep", pauses.append)
    answers = [httpx.Response(503, headers={"retry-after": "2"}), httpx.Response(429), httpx.Response(200, json=[])]
    assert client(lambda request: answers.pop(0)).environments.list() == {}
    assert pauses == [2.0, 2.0]


def test_a_server_that_stays_busy_is_given_up(monkeypatch):
    monkeypatch.setattr(requests.time, "sleep", lambda seconds: None)
    with pytest.raises(Unavailable, match="no room"):
        client(lambda request: httpx.Response(503, json={"title": "Busy", "detail": "no room"})).environments.list()


def test_problems_become_exceptions():
    problem = {"title": "Conflict", "status": 409, "detail": "it has ended", "errors": [{"pointer": "/turn", "detail": "is over"}]}
    with pytest.raises(Conflict) as raised:
        client(lambda request: httpx.Response(409, json=problem)).environments.list()
    assert str(raised.value) == "409 Conflict: it has ended\n/turn: is over"
    with pytest.raises(Forbidden, match="a proxy"):
        client(lambda request: httpx.Response(403, text="a proxy")).environments.list()


def test_a_server_that_is_not_there_is_named():
    def refuse(request):
        raise httpx.ConnectError("Connection refused")

    with pytest.raises(Unreachable, match="http://server/api/v1/projects/default/environments: Connection refused"):
        client(refuse).environments.list()


def test_an_endpoint_plays_on_after_a_restart(monkeypatch):
    monkeypatch.setattr(requests.time, "sleep", lambda seconds: None)
    steps = [
        ("POST", httpx.ReadError("it was killed")),
        ("POST", httpx.ConnectError("it starts")),
        ("POST", {**EPISODE, "state": "playing"}),
        ("GET", httpx.ReadError("it was killed")),
        ("GET", WAITING),
        ("POST", ENDED),
    ]
    sent = []

    def answer(request):
        method, answer = steps.pop(0)
        assert request.method == method
        if method == "POST":
            sent.append(json.loads(request.content))
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(200, json=[answer] if method == "POST" else answer)

    assert client(answer).play("doors", Endpoint("http://trainer/v1", "m", api_key="secret")).reward == 1
    assert not steps and all(order == sent[0] for order in sent) and sent[0]["id"]

    def refuse(request):
        raise httpx.ConnectError("Connection refused")

    with pytest.raises(Unreachable):
        client(refuse).play("doors", Endpoint("http://trainer/v1", "m"))


def test_a_result_that_is_not_shown_is_none():
    opened = client(lambda request: httpx.Response(200, json={**EPISODE, "state": "ended"})).episode("e")
    assert opened.verify() is None and opened.reward is None


def test_what_is_chosen_is_sent_and_nothing_else():
    assert sent_by(lambda client: client.open("bank"), [WAITING]) == [{"name": "bank", "samples": 1}]
    chosen = {"scenario": "rent", "group": 0, "split": "golden", "token": True}
    assert sent_by(lambda client: client.open("bank", **chosen), [WAITING]) == [{"name": "bank", "samples": 1, **chosen}]
    assert sent_by(lambda client: client.open_group("bank", samples=4, **chosen), [WAITING]) == [{"name": "bank", "samples": 4, **chosen}]
    bank = {"playbooks": ["bank"]}
    assert sent_by(lambda client: client.open(bank, split="train"), [WAITING]) == [{"environment": bank, "split": "train", "samples": 1}]


def test_an_endpoint_is_described_by_what_it_has():
    def agent(endpoint):
        sent, = sent_by(lambda client: client.play("bank", endpoint, split="golden"), [ENDED])
        assert sent["split"] == "golden" and "token" not in sent
        return sent["agent"]

    assert agent(Endpoint("http://trainer/v1", "m")) == {"url": "http://trainer/v1", "model": "m"}
    greedy = Endpoint("http://trainer/v1", "m", temperature=0.0, max_tokens=64, token_ids=True)
    assert agent(greedy) == {"url": "http://trainer/v1", "model": "m", "temperature": 0.0, "max_tokens": 64, "token_ids": True}
    assert "secret" not in repr(Endpoint("http://trainer/v1", "m", api_key="secret"))


def test_the_token_of_an_episode_is_kept():
    answers = [httpx.Response(201, json=[{**WAITING, "token": "gs_episode"}]), httpx.Response(200, json=WAITING)]
    episode = client(lambda request: answers.pop(0)).open("bank", token=True)
    # It is shown only when the episode is opened.
    assert episode.token == "gs_episode" and episode.refresh().token == "gs_episode"
    assert "gs_episode" not in repr(episode)
    assert client(lambda request: httpx.Response(200, json=WAITING)).episode("e").token is None


def test_the_token_is_sent():
    seen = []
    client(lambda request: seen.append(request.headers["authorization"]) or httpx.Response(200, json=[])).environments.list()
    assert seen == ["Bearer gs_token"]
