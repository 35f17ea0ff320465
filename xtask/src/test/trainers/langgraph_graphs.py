"""`groundstate workflow import langgraph` reads what LangGraph itself writes of a graph, in both forms.

usage: langgraph_graphs.py GROUNDSTATE_PROGRAM
"""

import json
import operator
import pathlib
import subprocess
import sys
import tempfile
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph

from checks import check

if len(sys.argv) != 2:
    sys.exit(__doc__)
PROGRAM = sys.argv[1]


class State(TypedDict):
    text: Annotated[list[str], operator.add]


def node(state):
    return {"text": ["done"]}


def builder(*names):
    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, node)
    return graph


def chain():
    graph = builder("plan", "write", "review")
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "write")
    graph.add_edge("write", "review")
    graph.add_edge("review", END)
    return graph.compile()


def agent():
    """A model that calls tools until it is done."""
    graph = builder("agent", "tools")
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", lambda state: "done", {"call": "tools", "done": END})
    graph.add_edge("tools", "agent")
    return graph.compile()


def fan_out():
    graph = builder("Ask Bank", "ask_shop", "join")
    for asked in ("Ask Bank", "ask_shop"):
        graph.add_edge(START, asked)
        graph.add_edge(asked, "join")
    graph.add_edge("join", END)
    return graph.compile()


def nested():
    graph = builder("first", "last")
    graph.add_node("inner", agent())
    graph.add_edge(START, "first")
    graph.add_conditional_edges("first", lambda state: "inner", ["inner", "last"])
    graph.add_edge("inner", "last")
    graph.add_edge("last", END)
    return graph.compile()


def groundstate(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        check(False, f"groundstate {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def files(folder):
    """What a draft holds, by name."""
    return {path.name: path.read_text() for path in folder.iterdir()}


for make in (chain, agent, fan_out, nested):
    name, drawn = make.__name__, make().get_graph(xray=True)
    with tempfile.TemporaryDirectory() as folder:
        folder, drafts = pathlib.Path(folder), {}
        for form, text in (("json", json.dumps(drawn.to_json())), ("mmd", drawn.draw_mermaid())):
            (folder / f"{name}.{form}").write_text(text)
            draft = f"{name}_{form}"
            groundstate(folder, "workflow", "import", "langgraph", f"{name}.{form}", "--name", draft)
            groundstate(folder, "workflow", "check", draft)
            tried = groundstate(folder, "workflow", "try", draft)
            check("accepted as `finished`" in tried, f"{draft} comes to its end")
            drafts[form] = {file: text.replace(draft, name) for file, text in files(folder / "workflows" / draft).items()}
        check(drafts["json"] == drafts["mmd"], f"{name}: both forms give the same draft of {len(drafts['json'])} files")
