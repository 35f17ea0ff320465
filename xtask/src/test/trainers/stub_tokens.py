"""The tokens of a stub that plays the agent: what its endpoint returns, and what an export must make of it.

A token is a letter, and its id is the number of the letter. The stub reads a conversation as one text, without thoughts of earlier
turns. So what follows a turn with thoughts does not extend it, as with the chat templates of several models.
"""

WEIGHTS = "7"
ASSISTANT = "<assistant>"


def of_reply(messages, reply):
    """The ids of the prompt, those of the reply, and their log-probabilities."""
    return ids_of("".join(map(rendered, messages)) + ASSISTANT), *of_message(reply)


def of_message(reply):
    """The ids that were sampled as a message, and their log-probabilities."""
    thoughts = reply.get("reasoning_content")
    ids = ids_of((f"<think>{thoughts}</think>" if thoughts else "") + rendered(reply).removeprefix(ASSISTANT))
    # Numbers that have no rest in 32 bits.
    return ids, [-(1 + id % 7) / 8 for id in ids]


def sequences(messages, policy):
    """All tokens of a conversation, as docs/exports.md describes `sequences`."""
    found = []
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        prompt, ids, logprobs = of_reply(messages[:place], message)
        known = found[-1]["token_ids"] if found else None
        if known is None or prompt[:len(known)] != known:
            found.append({"token_ids": [], "mask": [], "logprobs": [], "policy_versions": [policy]})
            known = []
        last, new = found[-1], prompt[len(known):]
        last["token_ids"] += new + ids
        last["mask"] += [0] * len(new) + [1] * len(ids)
        last["logprobs"] += [0] * len(new) + logprobs
    return found


def rendered(message):
    calls = [call["function"] for call in message.get("tool_calls") or []]
    text = (message.get("content") or "") + "".join(f"<call>{call['name']} {call['arguments']}</call>" for call in calls)
    return f"<{message['role']}>{text}</{message['role']}>"


def ids_of(text):
    return [ord(letter) for letter in text]
