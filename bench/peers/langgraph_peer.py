"""The workload of `cargo xtask bench durable` on LangGraph: four roles, 12 messages of about 500 characters a
conversation, a row of about 10 KB, and no model. With --postgres every step is checkpointed, as it would have to be to
survive a crash; without, everything stays in memory.

    python3 -m venv peer && peer/bin/pip install langgraph langgraph-checkpoint-postgres 'psycopg[binary]'
    peer/bin/python bench/peers/langgraph_peer.py --n 2000 [--postgres postgresql://...] [--processes 2]
"""

import argparse
import json
import multiprocessing
import operator
import resource
import time
import uuid
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph

TEXT = ("The hire is due on the day that was agreed, and each day beyond it costs the daily rate. " * 6)[:500]
TURNS = 6


class State(TypedDict):
    messages: Annotated[list, operator.add]
    orders: dict
    verdict: dict


def user(state):
    return {"messages": [{"role": "user", "content": f"{len(state['messages'])} {TEXT}"}]}


def agent(state):
    return {"messages": [{"role": "assistant", "content": f"{len(state['messages'])} {TEXT}"}]}


def tools(state):
    orders = dict(state["orders"])
    orders[f"order_{len(state['messages'])}"] = {"amount": 20.5, "status": "done"}
    return {"orders": orders}


def judge(state):
    return {"verdict": {f"criterion_{i}": {"score": 8, "rationale": TEXT[:120]} for i in range(8)}}


def after_agent(state):
    return "judge" if len(state["messages"]) >= 2 * TURNS else "tools"


def graph(checkpointer):
    builder = StateGraph(State)
    for node in (user, agent, tools, judge):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "user")
    builder.add_edge("user", "agent")
    builder.add_conditional_edges("agent", after_agent, ["judge", "tools"])
    builder.add_edge("tools", "user")
    builder.add_edge("judge", END)
    return builder.compile(checkpointer=checkpointer)


def play(n, url):
    def loop(app):
        size = 0
        for _ in range(n):
            config = {"configurable": {"thread_id": str(uuid.uuid4())}, "recursion_limit": 100}
            state = app.invoke({"messages": [], "orders": {}, "verdict": {}}, config)
            size += len(json.dumps(state))
        return size

    start = time.perf_counter()
    if url:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(url) as saver:
            size = loop(graph(saver))
    else:
        size = loop(graph(None))
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    return seconds, size / n, used.ru_utime + used.ru_stime


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--n", type=int, default=2000)
    flags.add_argument("--processes", type=int, default=2)
    flags.add_argument("--postgres")
    flags = flags.parse_args()
    if flags.postgres:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(flags.postgres) as saver:
            saver.setup()
    each = flags.n // flags.processes
    with multiprocessing.Pool(flags.processes) as pool:
        start = time.perf_counter()
        done = pool.starmap(play, [(each, flags.postgres)] * flags.processes)
        seconds = time.perf_counter() - start
    n = each * flags.processes
    cpu = sum(own for _, _, own in done)
    print(f"{n} conversations, {n / seconds:.0f} a second, {cpu * 1e6 / n:.0f} us CPU each, {done[0][1]:.0f} bytes a row")


if __name__ == "__main__":
    main()
