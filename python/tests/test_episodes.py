"""Episodes of the playbook `doors` on a real server."""

import json

import pytest
from groundstate import (
    Client,
    Conflict,
    Endpoint,
    Forbidden,
    GroundstateError,
    Invalid,
    NotFound,
    Penalties,
    ToolCall,
    Unauthorized,
)

LEFT = "open_left"


def test_three_lines(client):
    with client.open("doors", scenario=LEFT) as episode:
        assert json.loads(episode.call("open_door", door="left")) == {"door": "left", "state": "open"}
        assert episode.say("The left door is open.") == ""
    assert episode.ended and episode.reward == 1
    assert episode.result.ending == "user_ended"
    assert [message["role"] for message in episode.messages] == ["system", "user", "assistant", "tool", "assistant"]


def test_the_wrong_door_earns_nothing(client):
    with client.open("doors", scenario=LEFT) as episode:
        assert (episode.state, episode.reward_if_ended) == ("waiting", 0)
        episode.call("open_door", door="right")
        result = episode.verify()
    assert (result.reward, result.blame, result.ending) == (0, "agent", "agent_ended")
    assert result.reward_components["expected_world"] == 0
    assert any(not check.passed and check.rule == "unexpected_change" for check in result.checks)


def test_the_token_of_an_episode_sees_no_reward(client):
    opened = client.open("doors", scenario=LEFT, token=True)
    with opened, Client(token=opened.token) as agent:
        episode = agent.episode(opened.id)
        assert episode.token is None
        episode.call("open_door", door="right")
        assert episode.reward_if_ended is None
        assert episode.verify() is None and episode.ended and episode.reward is None
        assert opened.refresh().reward == 0


def test_each_episode_of_a_group_has_a_token_of_its_own(client):
    one, other = client.open_group("doors", LEFT, samples=2, token=True)
    with one, other, Client(token=one.token) as agent:
        assert agent.episode(one.id).state == "waiting"
        with pytest.raises(Forbidden):
            agent.episode(other.id)
    with client.open("doors", scenario=LEFT) as without:
        assert without.token is None


def test_no_reward_if_a_tool_cannot_answer(client):
    with client.open("doors", scenario=LEFT) as episode:
        assert episode.call("ring_bell").startswith("Error")
        assert episode.reward_if_ended is None
        result = episode.verify()
    assert (result.reward, result.blame) == (None, "tool_simulator")


def test_an_episode_that_is_closed_has_no_reward(client):
    with client.open("doors", scenario=LEFT) as episode:
        pass
    assert episode.ended and episode.result.reward is None
    episode.close()
    with pytest.raises(Conflict, match="has ended"):
        episode.say("Hello?")


def test_calls_at_the_same_time_and_calls_that_are_wrong(client):
    with client.open("doors", scenario=LEFT) as episode:
        calls = [ToolCall("open_door", {"door": "left"}), ToolCall("close_door"), ToolCall("open_door", "{")]
        answers = episode.send("One moment.", calls, reasoning="Left, they said.")
        assert [message["role"] for message in answers] == ["tool"] * 3
        assert "no tool" in answers[1]["content"]
        assert episode.messages[2]["reasoning_content"] == "Left, they said."
        assert episode.verify().penalties == Penalties(malformed_calls=2)


def test_a_malformed_call_fails_the_reward_whatever_follows(client):
    with client.open("doors", scenario=LEFT) as episode:
        episode.call("open_door", door="top")
        episode.call("open_door", door="left")
        assert episode.reward_if_ended == 0
        episode.say("The left door is open.")
    result = episode.result
    assert (result.reward, result.blame, result.ending) == (0, "agent", "user_ended")
    assert result.penalties == Penalties(malformed_calls=1)
    held = {rule: share for rule, share in result.reward_components.items() if rule != "valid_calls"}
    assert result.reward_components["valid_calls"] == 0 and held["expected_world"] == 1 and set(held.values()) == {1}


def test_other_faults_do_not_change_the_reward(client):
    with client.open("doors", scenario=LEFT) as episode:
        episode.send("")
        episode.call("open_door", door="left")
        episode.say("The left door is open.")
    assert (episode.reward, episode.result.penalties) == (1, Penalties(refused_messages=1))
    assert "valid_calls" not in episode.result.reward_components


def test_an_empty_message_is_refused(client):
    with client.open("doors", scenario=LEFT) as episode:
        assert episode.send("") == [] and "empty" in episode.refused
        episode.call("open_door", door="left")
        assert episode.refused is None


def test_a_group_starts_alike(client):
    episodes = client.open_group("doors", LEFT, samples=3)
    assert len({episode.id for episode in episodes}) == 3
    assert len({episode.group for episode in episodes}) == 1
    assert all(episode.messages == episodes[0].messages for episode in episodes)
    again = client.episode(episodes[0].id)
    assert again.messages == episodes[0].messages and again.turn == episodes[0].turn
    for episode in episodes:
        episode.close()


def test_tasks_and_environments(client):
    splits = {split: {task.scenario for task in client.tasks("doors", split)} for split in ("train", "golden")}
    assert splits["train"] | splits["golden"] == {LEFT, "open_right"} and not splits["train"] & splits["golden"]
    name = "test_tasks_and_environments"
    client.environments.set(name, {"playbooks": ["doors"], "groups": 3, "seed": 5})
    try:
        assert client.environments.list()[name]["groups"] == 3
        assert [task.group for task in client.tasks(name)] == [0, 1, 2]
        with client.open(name) as episode:
            assert episode.playbook == "doors"
    finally:
        client.environments.delete(name)
    assert name not in client.environments.list()
    with pytest.raises(NotFound):
        client.environments.delete(name)


def test_a_split_is_played(client):
    parts = {split: client.tasks("doors", split) for split in ("train", "golden")}
    for split, tasks in parts.items():
        with client.open("doors", split=split) as episode:
            assert episode.scenario in {task.scenario for task in tasks}
    # An environment that has a part gives no request the other one.
    trained = {"playbooks": ["doors"], "split": "train"}
    with pytest.raises(Invalid, match="is of `train`"):
        client.open(trained, split="golden")
    with pytest.raises(Invalid, match="does not play"):
        client.open("doors", parts["golden"][0].scenario, split="train")


def test_mistakes_are_told_with_their_place(client):
    with pytest.raises(Invalid, match="open_lift") as raised:
        client.open("doors", scenario="open_lift")
    assert raised.value.status == 422 and raised.value.errors[0].pointer == "/scenario"
    with pytest.raises(Invalid, match="no environment"):
        client.open("windows")
    with pytest.raises(NotFound):
        client.episode("01a22338-46e6-766b-ba4f-000000000000")
    with pytest.raises(Invalid, match="may not ask that address"):
        client.play("doors", Endpoint("http://203.0.113.1/v1", "m"), LEFT)
    with Client(token="gs_wrong") as stranger, pytest.raises(Unauthorized):
        stranger.environments.list()


def test_a_token_is_needed(monkeypatch):
    monkeypatch.delenv("GROUNDSTATE_TOKEN", raising=False)
    with pytest.raises(GroundstateError, match="GROUNDSTATE_TOKEN"):
        Client()


def test_an_endpoint_plays(client, endpoint):
    rewards = [client.play("doors", Endpoint(endpoint.url, model), LEFT).reward for model in ("right", "wrong", "bell")]
    assert rewards == [1, 0, None]


def test_an_endpoint_is_asked_for_tokens(client, endpoint):
    for token_ids in (False, True):
        assert client.play("doors", Endpoint(endpoint.url, "right", token_ids=token_ids), LEFT).reward == 1
        assert endpoint.requests[-1].get("return_token_ids", False) is token_ids


def test_an_endpoint_that_is_not_there(client):
    episode = client.play("doors", Endpoint("http://127.0.0.1:9/v1", "nobody"), LEFT)
    assert episode.result.reward is None and episode.result.blame == "infrastructure"
