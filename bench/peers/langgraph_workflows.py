"""The workflows factool, tree_of_thought, wikichat and storm_outline as LangGraph programs with the prompts of workflows/, served
over HTTP: POST /answers {"input": {...}} answers with the output.

    python3 bench/peers/langgraph_workflows.py --workflow factool --port 18200 --replicas http://127.0.0.1:18100/v1 [...]

Needs langgraph (1.2.24), aiohttp (3.14.5) and jinja2 (3.1.6). As in Alto's paper, factool is three graphs, for an answer, a claim
and a query, and is pipelined by hand: each claim and each query goes on as soon as its line is there. tree_of_thought waits for
all thoughts of a level before it values them. In storm_outline an editor begins to talk as soon as its line is there. A request
goes to the replica to which this process has the fewest on their way.
"""

import argparse
import asyncio
import json
import re
from pathlib import Path
from typing import TypedDict

import aiohttp
from aiohttp import web
from jinja2 import Environment, FileSystemLoader
from langgraph.graph import END, START, StateGraph

WORKFLOWS = Path(__file__).parents[2] / "workflows"
TEMPLATES = Environment(loader=FileSystemLoader(WORKFLOWS), trim_blocks=True, lstrip_blocks=True)


class Models:
    def __init__(self, session, replicas):
        self.session = session
        self.on_their_way = dict.fromkeys(replicas, 0)

    async def parts(self, prompt):
        """The reply as it comes."""
        replica = min(self.on_their_way, key=self.on_their_way.get)
        self.on_their_way[replica] += 1
        body = {"model": "mock", "messages": [{"role": "user", "content": prompt}], "stream": True}
        try:
            async with self.session.post(f"{replica}/chat/completions", json=body) as response:
                response.raise_for_status()
                async for line in response.content:
                    if line.startswith(b"data: {"):
                        yield json.loads(line[6:])["choices"][0]["delta"].get("content", "")
        finally:
            self.on_their_way[replica] -= 1

    async def text(self, prompt):
        return "".join([part async for part in self.parts(prompt)])

    async def json(self, prompt):
        return json.loads(await self.text(prompt))

    async def lines(self, prompt):
        """The lines of the reply, each as soon as it is whole."""
        text = ""
        async for part in self.parts(prompt):
            *whole, text = (text + part).split("\n")
            for line in filter(None, map(str.strip, whole)):
                yield line
        if text.strip():
            yield text.strip()

    async def json_items(self, prompt):
        """The items of the reply, which is a JSON list, each as soon as it is whole."""
        text, decoder = "", json.JSONDecoder()
        async for part in self.parts(prompt):
            text = (text + part).lstrip("[, ")
            while text.startswith("{"):
                try:
                    item, end = decoder.raw_decode(text)
                except json.JSONDecodeError:
                    break
                yield item
                text = text[end:].lstrip(", ")


async def each(items, do):
    """Begins with each item as soon as it is there, and gives what came of them in their order."""
    begun = [asyncio.create_task(do(item)) async for item in items]
    return await asyncio.gather(*begun)


def rendered(template, **values):
    return TEMPLATES.get_template(template).render(values)


def chain(state, *nodes):
    """A graph of nodes that follow each other."""
    builder = StateGraph(state)
    for before, node in zip((None, *nodes), nodes):
        builder.add_node(node.__name__, node)
        builder.add_edge(before.__name__ if before else START, node.__name__)
    builder.add_edge(nodes[-1].__name__, END)
    return builder.compile()


class Passages:
    """The passages beside a workflow. Those that share the most words with a query come first, as in Groundstate."""

    def __init__(self, workflow):
        lines = (WORKFLOWS / workflow / "passages.jsonl").read_text().splitlines()
        self.all = [(words(passage["text"]), passage) for passage in map(json.loads, lines)]

    def search(self, query, most):
        wanted = words(query)
        found = [(-len(wanted & own), passage["id"], passage) for own, passage in self.all if wanted & own]
        return [passage for _, _, passage in sorted(found, key=lambda hit: hit[:2])][:most]


def words(text):
    return {word.strip(".,;:!?\"'()").lower() for word in text.split()} - {""}


def best_of(docs, ranking, most):
    chosen = dict.fromkeys(i for i in ranking["best"] if 0 <= i < len(docs))
    return [docs[i] for i in chosen][:most]


class Query(TypedDict, total=False):
    claim: str
    query: str
    docs: list
    evidence: list


class Claim(TypedDict, total=False):
    claim: str
    found: list
    verdict: dict


class Checked(TypedDict, total=False):
    prompt: str
    response: str
    claims: list


def factool(models, passages=None):
    passages = passages or Passages("factool")

    async def search(state):
        return {"docs": passages.search(state["query"], 20)}

    async def rank(state):
        if not state["docs"]:
            return {"evidence": []}
        prompt = rendered("factool/rank.md.j2", item=state, query=state["query"], docs=state["docs"])
        best = best_of(state["docs"], await models.json(prompt), 3)
        return {"evidence": [{"evidence": doc["text"], "source": doc["url"]} for doc in best]}

    query_graph = chain(Query, search, rank)

    async def find(state):
        async def of_query(query):
            done = await query_graph.ainvoke({"claim": state["claim"], "query": query})
            return {"query": query, "evidence": done["evidence"]}

        return {"found": await each(models.lines(rendered("factool/queries.md.j2", item=state)), of_query)}

    async def verify(state):
        return {"verdict": await models.json(rendered("factool/verify.md.j2", item=state, found=state["found"]))}

    claim_graph = chain(Claim, find, verify)

    async def answer(state):
        return {"response": state.get("response") or await models.text(state["prompt"])}

    async def check(state):
        async def of_claim(item):
            return await claim_graph.ainvoke({"claim": item["claim"]})

        items = models.json_items(rendered("factool/claims.md.j2", answer=state["response"]))
        return {"claims": await each(items, of_claim)}

    graph = chain(Checked, answer, check)

    async def run(given):
        done = await graph.ainvoke(given)
        verdicts = [claim["verdict"]["factuality"] for claim in done["claims"]]
        return {"response": done["response"], "claims": done["claims"], "factual": all(verdicts)}

    return run


class Search(TypedDict, total=False):
    beam: list
    levels: int
    proposed: list
    valued: list


WORTH = {"sure": 20, "likely": 1, "impossible": 0.001}


def tree_of_thought(models):
    async def propose(state):
        async def of_thought(thought):
            text = await models.text(rendered("tree_of_thought/propose.md.j2", thought=thought))
            lines = filter(None, map(str.strip, text.split("\n")))
            return [{"lines": thought["lines"] + [line], "left": left_after(line)} for line in lines]

        levels = await asyncio.gather(*map(of_thought, state["beam"]))
        return {"proposed": [way for ways in levels for way in ways if way["left"]], "levels": state["levels"] + 1}

    async def evaluate(state):
        async def of_way(way):
            prompt = rendered("tree_of_thought/value.md.j2", left=way["left"])
            votes = await asyncio.gather(*(models.text(prompt) for _ in range(3)))
            return {**way, "value": sum(WORTH.get(vote.split("\n")[-1], 0) for vote in votes)}

        return {"valued": await asyncio.gather(*map(of_way, state["proposed"]))}

    async def select(state):
        seen, valued = [], []
        for way in state["valued"]:
            valued.append({**way, "value": 0 if way["lines"] in seen else way["value"]})
            seen.append(way["lines"])
        return {"beam": sorted(valued, key=lambda way: -way["value"])[:5]}

    builder = StateGraph(Search)
    for node in (propose, evaluate, select):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "propose")
    builder.add_edge("propose", "evaluate")
    builder.add_edge("evaluate", "select")
    builder.add_conditional_edges("select", lambda state: "propose" if state["levels"] < 3 else END)
    graph = builder.compile()

    async def run(given):
        start = {"lines": [], "left": given["numbers"].split(), "value": 0}
        done = await graph.ainvoke({"beam": [start], "levels": 0})

        async def of_way(way):
            prompt = rendered("tree_of_thought/answer.md.j2", numbers=given["numbers"], way=way)
            expression = await models.text(prompt) if way["left"] == ["24"] else None
            return {"lines": way["lines"], "value": way["value"], "expression": expression}

        return {"candidates": await asyncio.gather(*map(of_way, done["beam"]))}

    return run


def left_after(line):
    return line.split("left:")[-1].split(")")[0].split() if "left:" in line else []


class Chat(TypedDict, total=False):
    message: str
    by_query: list
    by_claim: list
    sources: list
    draft: str
    reply: dict
    claims: list


def wikichat(models):
    passages = Passages("wikichat")
    check = factool(models, passages)

    def finder(template, k, most, name):
        async def found(text, state):
            docs = passages.search("" if is_none(text) else text, k)
            if not docs:
                return []
            values = {"message": state["message"], name: text, "docs": docs}
            return best_of(docs, await models.json(rendered(f"wikichat/{template}", **values)), most)

        return found

    of_query = finder("rank_query.md.j2", 20, 3, "query")
    of_claim = finder("rank_claim.md.j2", 10, 2, "claim")

    async def by_query(state):
        lines = models.lines(rendered("wikichat/queries.md.j2", message=state["message"]))
        return {"by_query": await each(lines, lambda query: of_query(query, state))}

    async def by_claim(state):
        lines = models.lines(rendered("wikichat/claims.md.j2", message=state["message"]))
        return {"by_claim": await each(lines, lambda claim: of_claim(claim, state))}

    async def read(state):
        async def of_passage(passage):
            prompt = rendered("wikichat/filter.md.j2", message=state["message"], passage=passage)
            lines = [line async for line in models.lines(prompt)]
            return {**passage, "points": [line for line in lines if not is_none(line)]}

        kept = different([passage for found in state["by_query"] + state["by_claim"] for passage in found])
        sources = await asyncio.gather(*map(of_passage, kept))
        return {"sources": [source for source in sources if source["points"]]}

    async def write(state):
        prompt = rendered("wikichat/draft.md.j2", message=state["message"], sources=state["sources"])
        return {"draft": await models.text(prompt)}

    async def verify(state):
        reply = renumbered(state["draft"], state["sources"])
        text = re.sub(r" *\[\d+\]", "", reply["text"])
        return {"reply": reply, "claims": (await check({"prompt": state["message"], "response": text}))["claims"]}

    builder = StateGraph(Chat)
    for node in (by_query, by_claim, read, write, verify):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "by_query")
    builder.add_edge(START, "by_claim")
    builder.add_edge(["by_query", "by_claim"], "read")
    builder.add_edge("read", "write")
    builder.add_edge("write", "verify")
    builder.add_edge("verify", END)
    graph = builder.compile()

    async def run(given):
        done = await graph.ainvoke(given)
        claims = [{"claim": item["claim"], "factual": item["verdict"]["factuality"]} for item in done["claims"]]
        return {"reply": done["reply"]["text"], "references": done["reply"]["references"], "claims": claims}

    return run


def is_none(line):
    return line.strip(" .").lower() == "none"


def different(passages):
    kept = []
    for passage in passages:
        own = words(passage["text"])
        if all(10 * len(own & other) <= 8 * len(own | other) for _, other in kept):
            kept.append((passage, own))
    return [passage for passage, _ in kept]


def renumbered(text, sources):
    cited = sorted({int(number) for number in re.findall(r"\[(\d+)\]", text)})
    renamed = re.sub(r"\[(\d+)\]", lambda number: f"[{cited.index(int(number[1])) + 1}]", text)
    return {"text": renamed, "references": [{key: sources[n - 1][key] for key in ("title", "url")} for n in cited]}


class Talk(TypedDict, total=False):
    topic: str
    interest: str
    turns: list
    asked: str
    sources: list


class Article(TypedDict, total=False):
    topic: str
    talks: list
    draft: str
    outline: str


BASIC_FACTS = "Basic facts: what the subject is, and what everybody should know about it."
NOTHING_FOUND = "I found nothing about this. Please ask something else."


def storm_outline(models):
    passages = Passages("storm_outline")

    def prompt(template, state, **values):
        return rendered(f"storm_outline/{template}.md.j2", **{**state, **values})

    async def search(query):
        return passages.search(query, 3)

    async def ask(state):
        return {"asked": await models.text(prompt("question", state))}

    async def look_up(state):
        found = await each(models.lines(prompt("queries", state, question=state["asked"])), search)
        return {"sources": list({page["id"]: page for pages in found[:3] for page in pages}.values())}

    async def respond(state):
        sources = state["sources"]
        said = await models.text(prompt("answer", state, question=state["asked"])) if sources else NOTHING_FOUND
        references = [{key: source[key] for key in ("title", "url")} for source in sources]
        return {"turns": [*state["turns"], {"question": state["asked"], "answer": said, "sources": references}]}

    builder = StateGraph(Talk)
    for node in (ask, look_up, respond):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda state: END if says_goodbye(state["asked"]) else "look_up")
    builder.add_edge("look_up", "respond")
    builder.add_conditional_edges("respond", lambda state: "ask" if len(state["turns"]) < 3 else END)
    talk_graph = builder.compile()

    async def converse(state):
        async def of_title(title):
            return passages.search(title, 1)

        # In a node of its own this would wait for `remember`, which begins with it.
        state = {**state, "examples": await each(models.lines(prompt("related", state)), of_title)}

        async def of_interest(interest):
            done = await talk_graph.ainvoke({"topic": state["topic"], "interest": interest, "turns": []})
            return {"interest": interest, "turns": done["turns"]}

        async def interests():
            yield BASIC_FACTS
            named = 0
            async for line in models.lines(prompt("interests", state)):
                named += 1
                if named <= 3:
                    yield line

        return {"talks": await each(interests(), of_interest)}

    async def remember(state):
        return {"draft": await models.text(prompt("draft", state))}

    async def write(state):
        return {"outline": await models.text(prompt("outline", state))}

    builder = StateGraph(Article)
    for node in (converse, remember, write):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "converse")
    builder.add_edge(START, "remember")
    builder.add_edge(["converse", "remember"], "write")
    builder.add_edge("write", END)
    graph = builder.compile()

    async def run(given):
        done = await graph.ainvoke(given)
        outline, draft = done["outline"], done["draft"]
        headings = {"headings": headings_of(outline), "draft_headings": headings_of(draft)}
        return {"outline": outline, "talks": done["talks"], **headings}

    return run


def says_goodbye(question):
    return not question.strip() or "no more questions" in question.lower()


def headings_of(outline):
    lines = [line.strip() for line in outline.splitlines()]
    return [line.lstrip("#").strip() for line in lines if line.startswith("#") and line.strip("# ")]


SYSTEMS = {"factool": factool, "tree_of_thought": tree_of_thought, "wikichat": wikichat, "storm_outline": storm_outline}


async def serve(flags):
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None))
    run = SYSTEMS[flags.workflow](Models(session, flags.replicas))

    async def answer(request):
        return web.json_response(await run((await request.json())["input"]))

    app = web.Application()
    app.add_routes([web.post("/answers", answer)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", flags.port).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--workflow", choices=list(SYSTEMS), required=True)
    flags.add_argument("--port", type=int, default=18200)
    flags.add_argument("--replicas", nargs="+", required=True, help="base URLs of the model's replicas")
    asyncio.run(serve(flags.parse_args()))


if __name__ == "__main__":
    main()
