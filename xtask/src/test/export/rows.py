"""What export-check does not look at: whether the rows hold all that trainers trip over, whether each profile says the same as
the canonical rows, and the shape that LLaMA-Factory reads.

rows.py EXPORT-CHECK: the files lie in the current directory, by the names that the step gives them.
"""

import glob
import json
import re
import sys
import unicodedata

import pyarrow.parquet

sys.path.insert(0, sys.argv[1])
import consumers  # Its projections are what we are measured by.

LONG = 20_000
TRIPS = {
    "emoji beyond the first plane": lambda c: ord(c) > 0xFFFF,
    "combining marks": unicodedata.combining,
    "right-to-left": lambda c: unicodedata.bidirectional(c) in ("R", "AL"),
    "line separators": lambda c: c in "\u2028\u2029",
    "joiners": lambda c: c == "\u200d",
    "quotes": lambda c: c == '"',
    "backslashes": lambda c: c == "\\",
    "tabs": lambda c: c == "\t",
}
PLACES = ("user", "tool", "assistant", "reasoning", "arguments")


# Everything of a row in one form, whichever profile wrote it.


def read(path):
    """Lines end with a line feed and nothing else: U+2028 does not end one."""
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path).to_pylist()
    lines = open(path, "rb").read().decode("utf-8").split("\n")
    assert lines.pop() == "", f"{path}: the last line has no end"
    return [json.loads(line) for line in lines]


def decoded(json_or_text):
    return json.loads(json_or_text) if isinstance(json_or_text, str) else json_or_text


def plain(row, reasoning="keep"):
    """Messages, tools and metadata without the ways in which profiles write them."""
    return {
        "messages": [message(one, reasoning) for one in row["messages"]],
        "tools": decoded(row.get("tools")) or [],
        "metadata": decoded(row.get("metadata")),
    }


def message(written, reasoning):
    one = {name: value for name, value in written.items() if value not in (None, [])}
    calls = [(call["id"], call["type"], call["function"]) for call in one.pop("tool_calls", [])]
    one["calls"] = [(id, kind, f["name"], decoded(f["arguments"])) for id, kind, f in calls]
    if reasoning == "inline":
        one["content"] = consumers.think(one) + one["content"]
    if reasoning != "keep":
        one.pop("reasoning_content", None)
    return one


def same(path, found, expected):
    """1, 1.0 and true are not the same."""
    assert len(found) == len(expected), f"{path}: {len(found)} rows in place of {len(expected)}"
    for number, pair in enumerate(zip(found, expected), 1):
        one, other = (json.dumps(row, sort_keys=True) for row in pair)
        at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        around = slice(max(at - 60, 0), at + 60)
        assert one == other, f"{path}: row {number} says {one[around]!r} in place of {other[around]!r}"
    print(f"    {path}: {len(found)} rows as they should be")


# Whether all that the rows are for is in them.


def texts(rows):
    """Each text that a model reads or writes, and where it stands."""
    for row in rows:
        for one in row["messages"]:
            yield one["role"], one["content"]
            yield "reasoning", one.get("reasoning_content") or ""
            for call in one.get("tool_calls") or []:
                yield "arguments", " ".join(leaves(json.loads(call["function"]["arguments"])))


def leaves(value):
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value


def conflicts(rows):
    """Arguments of tools of one name whose types differ between rows."""
    types = {}
    for row in rows:
        for function in (tool["function"] for tool in row["tools"]):
            for name, schema in function["parameters"]["properties"].items():
                types.setdefault((function["name"], name), set()).add(json.dumps(schema.get("type")))
    return sum(len(kinds) > 1 for kinds in types.values())


def count(rows):
    messages = [one for row in rows for one in row["messages"]]
    branches = {row["metadata"]["branch"]["sub_agent"] for row in rows} - {""}
    calls = [one.get("tool_calls") or [] for one in messages]
    named = [call["function"]["name"] for some in calls for call in some]
    said = list(texts(rows))
    yield "parallel calls", sum(len(some) > 1 for some in calls)
    yield "errors", sum(one["role"] == "tool" and one["content"].startswith("Error: ") for one in messages)
    yield "timeouts", sum(one["role"] == "tool" and "timed out" in one["content"] for one in messages)
    yield "calls of sub-agents", sum(name in branches for name in named)
    yield "rows of sub-agents", sum(row["metadata"]["branch"]["sub_agent"] != "" for row in rows)
    yield "reasoning", sum("reasoning_content" in one for one in messages)
    yield "arguments of two types", conflicts(rows)
    for place in ("tool", "assistant", "arguments"):
        yield f"long texts of {place}", sum(at == place and len(text) >= LONG for at, text in said)
    for place in PLACES:
        for trip, holds in TRIPS.items():
            yield f"{trip} in {place}", sum(at == place and any(map(holds, text)) for at, text in said)


def hold_everything(rows):
    counted = dict(count(rows))
    print("    " + ", ".join(f"{number} {kind}" for kind, number in counted.items() if " in " not in kind))
    missing = [kind for kind, number in counted.items() if not number]
    assert not missing, f"the rows hold no {', no '.join(missing)}"


# Preference pairs: what two conversations share, and what each says after it.


def pair(written):
    """Both profiles in one form: the messages before, those of either side, and the tools."""
    if "input" in written:
        before, tools = written["input"]["messages"], written["input"].get("tools")
        sides = written["preferred_output"], written["non_preferred_output"]
    else:
        before, tools, sides = written["prompt"], written.get("tools"), (written["chosen"], written["rejected"])
    return {"prompt": before, "chosen": sides[0], "rejected": sides[1], "tools": tools}


def count_pairs(rows):
    for side in ("prompt", "chosen", "rejected"):
        yield f"long texts of {side}", sum(len(json.dumps(row[side], ensure_ascii=False)) >= LONG for row in rows)
        for trip, holds in TRIPS.items():
            yield f"{trip} in {side}", sum(any(any(map(holds, text)) for text in leaves(decode_calls(row[side]))) for row in rows)
    calls = [len(one.get("tool_calls") or []) for row in rows for one in row["prompt"]]
    yield "parallel calls", sum(n > 1 for n in calls)
    yield "errors", sum(one["role"] == "tool" and one["content"].startswith("Error: ") for row in rows for one in row["prompt"])
    names = [call["function"]["name"] for row in rows for one in row["prompt"] for call in one.get("tool_calls") or []]
    yield "calls of sub-agents", names.count("keeper")
    yield "calls against words", sum(bool(row["chosen"][0].get("tool_calls")) for row in rows)
    yield "arguments of two types", conflicts([{"tools": decoded(row["tools"])} for row in rows])


def decode_calls(messages):
    """With arguments as objects, whichever way they are written."""
    arguments = lambda call: {**call, "function": {**call["function"], "arguments": decoded(call["function"]["arguments"])}}
    return [{**one, "tool_calls": [arguments(call) for call in one.get("tool_calls") or []]} for one in messages]


def hold_pairs(path, reasoning):
    rows = [pair(row) for row in read(path)]
    counted = dict(count_pairs(rows))
    for side in ("prompt", "chosen", "rejected"):
        thoughts = sum("reasoning_content" in one for row in rows for one in row[side])
        if reasoning:
            counted[f"reasoning in {side}"] = thoughts
        assert reasoning or not thoughts, f"{path} holds reasoning in {side}, which OpenAI does not take"
    missing = [kind for kind, number in counted.items() if not number]
    assert not missing, f"{path}: the pairs hold no {', no '.join(missing)}"
    print(f"    {path}: {len(rows)} pairs with all that trainers trip over")
    # Each side as a conversation, which is all that chat templates know.
    for side in ("chosen", "rejected"):
        with open(path.replace(".jsonl", f"-{side}.jsonl"), "w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                json.dump({"messages": row["prompt"] + row[side], "tools": row["tools"]}, file, ensure_ascii=False)
                file.write("\n")


def toggled_pairs(path, reasoning):
    """The same pairs, written otherwise."""
    found, expected = read(path), read("odd-pairs-trl.jsonl")
    kind = list if reasoning == "inline" else str
    assert all(isinstance(row["tools"], kind) for row in found), f"{path}: tools are no {kind.__name__}"
    sides = lambda row, how: {side: plain({**row, "messages": row[side]}, how) for side in ("prompt", "chosen", "rejected")}
    same(path, [sides(row, "keep") for row in found], [sides(row, reasoning) for row in expected])


# LLaMA-Factory: turns of two sides in strict alternation.

CALLED = re.compile(r"\n<tool_call>\n(.*)\n</tool_call>\Z", re.S)


def turn(written):
    """Calls are JSON, after thought and words; how it is spaced does not matter."""
    assert written.keys() == {"from", "value"}, f"a turn has the keys {sorted(written)}"
    if written["from"] != "function_call":
        return written
    thought, end, rest = written["value"].rpartition("</think>\n\n")
    words = CALLED.search(rest)
    calls = json.loads(words[1] if words else rest)
    for call in calls:
        assert call.keys() == {"name", "arguments"} and isinstance(call["arguments"], dict), f"a call is {call}"
    return {"from": "function_call", "thought": thought + end, "words": rest[: words.start()] if words else "", "calls": calls}


def sharegpt(row):
    assert row.keys() == {"conversations", "system", "tools"}, f"a row has the keys {sorted(row)}"
    sides = [one["from"] for one in row["conversations"]]
    assert len(sides) % 2 == 0, f"{len(sides)} turns"
    assert all(side in ("human", "observation") for side in sides[::2]), f"the even turns are of {sides[::2]}"
    assert all(side in ("gpt", "function_call") for side in sides[1::2]), f"the odd turns are of {sides[1::2]}"
    for before, after in zip(sides, sides[1:]):
        assert (before == "function_call") == (after == "observation"), f"{after} comes after {before}"
    assert isinstance(row["tools"], str) and isinstance(row["system"], str), "tools and system are no texts"
    turns = [turn(one) for one in row["conversations"]]
    return {"turns": turns, "system": row["system"], "tools": json.loads(row["tools"] or "[]")}


def sharegpt_of(row, reasoning):
    messages = [{k: v for k, v in m.items() if reasoning == "inline" or k != "reasoning_content"} for m in row["messages"]]
    return sharegpt(consumers.to_llamafactory_sharegpt({**row, "messages": messages}, decoded))


# Reinforcement learning: what was said before the agent first spoke, and what was done then.


def prompt(row):
    truth, extra = json.loads(row["reward_model"]["ground_truth"]), row["extra_info"]
    return {
        "prompt": row["prompt"],
        "tools": json.loads(row["tools"]),
        "names": extra["tool_selection"],
        "metadata": json.loads(extra["metadata"]),
        "calls": [(call["name"], json.loads(call["arguments"])) for call in truth["calls"]],
        "last": truth["last"],
    }


def prompt_of(row):
    messages = row["messages"]
    calls = [call["function"] for one in messages for call in one.get("tool_calls") or []]
    return {
        "prompt": messages[: [one["role"] for one in messages].index("assistant")],
        "tools": row["tools"],
        "names": [tool["function"]["name"] for tool in row["tools"]],
        "metadata": row["metadata"],
        "calls": [(call["name"], json.loads(call["arguments"])) for call in calls],
        "last": messages[-1]["content"],
    }


def main():
    rows = read("odd.jsonl")
    hold_everything(rows)
    folders = [file for folder in ("odd-hub", "odd-hub-parquet") for file in glob.glob(f"{folder}/**/*.*", recursive=True)]
    data = [file for file in folders if re.search(r"\.(jsonl|parquet)$", file)]
    assert len(data) == 2, f"the bundles hold {data}"
    canonical = [plain(row) for row in rows]
    for path in [*data, "odd-canonical.jsonl", "odd.parquet", "odd-strings.jsonl", "odd-trl.jsonl", "odd-nemo.jsonl"]:
        same(path, [plain(row) for row in read(path)], canonical)
    for row in read("odd-nemo.jsonl"):
        calls = [call["function"] for one in row["messages"] for call in one.get("tool_calls") or []]
        assert isinstance(row["tools"], list), "NeMo reads tools as a list"
        assert all(isinstance(call["arguments"], dict) for call in calls), "NeMo passes arguments on as they are"
    for path, reasoning in {"odd-openai.jsonl": "drop", "odd-swift.jsonl": "inline", "odd-swift-drop.jsonl": "drop"}.items():
        without_metadata(path, rows, reasoning)
    for path, reasoning in {"odd-sharegpt.jsonl": "inline", "odd-sharegpt-drop.jsonl": "drop"}.items():
        same(path, [sharegpt(row) for row in read(path)], [sharegpt_of(row, reasoning) for row in rows])
    for path in ("odd-rl.parquet", "odd-rl.jsonl"):
        same(path, [prompt(row) for row in read(path)], [prompt_of(row) for row in rows])
    hold_pairs("odd-pairs-trl.jsonl", reasoning=True)
    hold_pairs("odd-pairs-openai.jsonl", reasoning=False)
    toggled_pairs("odd-pairs-inline.jsonl", "inline")
    toggled_pairs("odd-pairs-drop.jsonl", "drop")
    # Reasoning in every turn, which templates take out of earlier ones: no template can say whether it is all there.
    rows = read("all.jsonl")
    without_metadata("all-swift-inline.jsonl", rows, "inline")
    same("all-sharegpt.jsonl", [sharegpt(row) for row in read("all-sharegpt.jsonl")], [sharegpt_of(row, "inline") for row in rows])


def without_metadata(path, rows, reasoning):
    found = read(path)
    # ms-swift wants a text, and OpenAI a list.
    kind = list if "openai" in path else str
    assert all(isinstance(row["tools"], kind) for row in found if "tools" in row), f"{path}: tools are no {kind.__name__}"
    same(path, [plain(row) for row in found], [{**plain(row, reasoning), "metadata": None} for row in rows])


main()
