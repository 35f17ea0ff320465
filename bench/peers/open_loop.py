"""Workflows as a service, Groundstate beside LangGraph: inputs arrive at a fixed rate, however many wait, and each of them waits
for its answer. The models are those of model_mock.py.

    python3 -m venv peer && peer/bin/pip install langgraph==1.2.24 aiohttp==3.14.5 jinja2==3.1.6 psutil==7.2.2
    peer/bin/python bench/peers/open_loop.py --workflow factool --rates 0.5 1 --seconds 90 langgraph langgraph-router groundstate

Systems:
  langgraph                 a process for each replica, which asks that replica only; inputs go to the processes in turn
  langgraph-router          one process that asks all replicas
  groundstate               `groundstate serve`, POST .../answers (--program: which one)
  groundstate-no-spreading  the same, and all requests of an input go to one replica; inputs take replicas in turn
  groundstate-run, groundstate-run-no-streaming, groundstate-run-neither
                            each input as a run of one row, since answers cannot do without streaming. Its time goes from its
                            order to its end, as the run tells

Arrivals are Poisson, from the seed: the same inputs at the same times for all systems. A latency goes from when an input was due
to its whole answer. "in use" is the share of the models' slots that worked, "CPU" that of the machine's cores, with everything,
from the first input to the last answer. "outputs" are the first letters of a hash: the same inputs have the same answers.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from random import Random

import aiohttp
import psutil

HERE = Path(__file__).parent
WORKFLOWS = HERE.parents[1] / "workflows"
ROLES = {
    "factool": ["writer", "extractor", "ranker", "judge"],
    "tree_of_thought": ["proposer", "judge", "writer"],
    "wikichat": ["planner", "writer", "ranker", "reader", "extractor", "judge"],
    "storm_outline": ["editor", "expert", "outliner"],
}
MOCK_PORT, LANGGRAPH_PORT = 18100, 18200
# A person may wait for 16 answers at once.
PEOPLE = 8


def given(workflow, number):
    """An input of the workflow."""
    random = Random(f"{workflow} {number}")
    if workflow == "tree_of_thought":
        return {"numbers": " ".join(str(random.randint(1, 13)) for _ in range(4))}
    if workflow == "storm_outline":
        return {"topic": f"Lighthouses, part {number}"}
    about = random.sample(["gold", "the Moon", "bees", "Paris", "Hamlet", "rivers", "mountains", "planets"], 2)
    return {"message" if workflow == "wikichat" else "prompt": f"What about {about[0]} and {about[1]}, number {number}?"}


@contextlib.contextmanager
def process(command, **options):
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        first = started.stdout.readline().strip()
        if not first:
            sys.exit(f"{command[0]} did not start")
        yield first
    finally:
        started.terminate()
        started.wait()


@contextlib.contextmanager
def langgraph(flags, groups):
    """A process for each group of replicas; whom to ask with an input."""
    with contextlib.ExitStack() as stack:
        for number, replicas in enumerate(groups):
            command = [sys.executable, HERE / "langgraph_workflows.py", "--workflow", flags.workflow]
            stack.enter_context(process([*command, "--port", str(LANGGRAPH_PORT + number), "--replicas", *replicas]))

        async def ask(session, number):
            url = f"http://127.0.0.1:{LANGGRAPH_PORT + number % len(groups)}/answers"
            output = await said(session.post(url, json={"input": given(flags.workflow, number)}))
            return time.time(), output

        yield ask


@contextlib.contextmanager
def groundstate(flags, as_run=False, streaming=True, spreading=True):
    """A server with a database of its own; whom to ask with an input."""
    # PostgreSQL runs as another user, who has to get there.
    folder = Path(tempfile.mkdtemp(dir=flags.folder))
    folder.chmod(0o755)
    try:
        models = [("all", flags.urls), *((f"replica_{i}", [url]) for i, url in enumerate(flags.urls))]
        (folder / "models.yaml").write_text(
            json.dumps({"models": [{"name": name, "model": "mock", "replicas": urls} for name, urls in models]})
        )
        # A project has these, also one that has only workflows.
        (folder / "playbooks").mkdir()
        shutil.copytree(WORKFLOWS.parent / "personas", folder / "personas")
        for workflow in ("factool", flags.workflow):
            shutil.copytree(WORKFLOWS / workflow, folder / "workflows" / workflow, dirs_exist_ok=True)
        environment = {**os.environ, "GROUNDSTATE_DATA": str(folder / "data")}
        environment.pop("DATABASE_URL", None)

        def command(*arguments):
            done = subprocess.run([flags.program, *arguments], env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"groundstate {' '.join(arguments)}: {done.stdout}{done.stderr}")
            return done.stdout.strip()

        serve = [flags.program, "serve", "--listen", "127.0.0.1:0", "--project", folder]
        with process(serve, env=environment, stderr=subprocess.DEVNULL) as first:
            command("sync", "--push", "--project", str(folder))
            for person in range(PEOPLE):
                command("users", "create", f"peer{person}", "--administrator")
            tokens = [
                command("tokens", "create", "--user", f"peer{person}", "--name", "bench", "--scope", "run").split()[-1]
                for person in range(PEOPLE)
            ]
            ask = asking(flags, first.split()[-1] + "/api/v1", tokens, as_run, streaming, spreading)
            yield ask
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def asking(flags, api, tokens, as_run, streaming, spreading):
    async def ask(session, number):
        headers = {"authorization": f"Bearer {tokens[number % len(tokens)]}"}
        model = "all" if spreading else f"replica_{number % len(flags.urls)}"
        order = {"models": dict.fromkeys(ROLES[flags.workflow], model)}
        path = f"{api}/projects/default/workflows/{flags.workflow}"
        if as_run:
            order |= {"rows": [given(flags.workflow, number)], "no_streaming": not streaming}
            run = await said(session.post(f"{path}/runs", json=order, headers=headers))
            while run["state"] == "running":
                await asyncio.sleep(1)
                run = await said(session.get(f"{api}/runs/{run['id']}", headers=headers))
            [row] = await said(session.get(f"{api}/runs/{run['id']}/rows", headers=headers))
            return datetime.fromisoformat(run["finished_at"]).timestamp(), whole(row)
        order |= {"input": given(flags.workflow, number)}
        headers["accept"] = "text/event-stream"
        events = await said(session.post(f"{path}/answers", json=order, headers=headers), aiohttp.ClientResponse.text)
        ended, last = time.time(), events.strip().split("data:")[-1]
        return ended, whole(json.loads(last))

    return ask


def whole(row):
    if "output" not in row:
        raise aiohttp.ClientError(json.dumps(row))
    return row["output"]


async def said(request, read=aiohttp.ClientResponse.json):
    async with request as response:
        if response.status >= 400:
            raise aiohttp.ClientError(await response.text())
        return await read(response)


async def offer(session, ask, rate, flags):
    """Offers inputs for some seconds: for each the latency and the answer, or `None`; and how long it took to answer all."""
    random = Random(flags.seed)
    answers, due, begin = [], random.expovariate(rate), time.time()

    async def one(number, due):
        try:
            ended, output = await ask(session, number)
            return ended - due, output
        except aiohttp.ClientError as error:
            print(f"input {number}: {error}", file=sys.stderr)
            return None, None

    while due < flags.seconds:
        await asyncio.sleep(begin + due - time.time())
        answers.append(asyncio.create_task(one(len(answers), begin + due)))
        due += random.expovariate(rate)
    return await asyncio.gather(*answers), time.time() - begin


async def measure(ask, flags, system):
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        # Everything is loaded and compiled once.
        await asyncio.gather(*(ask(session, 1_000_000 + number) for number in range(flags.replicas)))
        for rate in flags.rates:
            slots, cpu = await slot_seconds(session, flags), busy()
            answers, seconds = await offer(session, ask, rate, flags)
            slots, cpu = await slot_seconds(session, flags) - slots, busy() - cpu
            if flags.outputs:
                texts = [json.dumps(compared(output), sort_keys=True) + "\n" for _, output in answers]
                (flags.outputs / f"{flags.workflow}-{system}-{rate}.jsonl").write_text("".join(texts))
            print(line(system, rate, answers, seconds, slots / (flags.replicas * flags.slots), cpu / os.cpu_count()), flush=True)


async def slot_seconds(session, flags):
    stats = [await said(session.get(url.removesuffix("/v1") + "/stats")) for url in flags.urls]
    return sum(one["slot_seconds"] for one in stats)


def busy():
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait - times.guest


def line(system, rate, answers, seconds, slots, cpu):
    latencies = sorted(latency for latency, output in answers if output is not None) or [float("nan")]
    answered = sum(output is not None for _, output in answers)
    outputs = hashlib.sha256(json.dumps([compared(output) for _, output in answers], sort_keys=True).encode()).hexdigest()
    p90, p99 = (latencies[min(len(latencies) - 1, int(share * len(latencies)))] for share in (0.9, 0.99))
    return (
        f"{system:30} rate {rate:<5} answers {answered} of {len(answers)}, {answered / seconds:.2f} a second,"
        f" median {statistics.median(latencies):.2f} s, p90 {p90:.2f} s, p99 {p99:.2f} s, slots in use {slots / seconds:.0%},"
        f" CPU {cpu / seconds:.0%}, outputs {outputs[:6]}"
    )


def compared(output):
    """What both of them give: Groundstate also says which candidates of tree_of_thought are right, and has
    a field for a figure of storm_outline that needs given headings."""
    if output and "candidates" in output:
        return [[way["lines"], way["expression"]] for way in output["candidates"]]
    return output and {name: value for name, value in output.items() if name != "heading_soft_recall"}


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("systems", nargs="+")
    flags.add_argument("--workflow", choices=list(ROLES), default="factool")
    flags.add_argument("--rates", nargs="+", type=float, default=[0.5], help="inputs a second")
    flags.add_argument("--seconds", type=float, default=60, help="how long inputs are offered at each rate")
    flags.add_argument("--seed", type=int, default=1)
    flags.add_argument("--replicas", type=int, default=4)
    flags.add_argument("--slots", type=int, default=8)
    flags.add_argument("--folder", default="/var/tmp", help="where the database lies; serve asks for free room there")
    flags.add_argument("--outputs", type=Path, help="keep the answers in this folder")
    flags.add_argument("--program", default="target/dist/groundstate")
    flags = flags.parse_args()
    flags.urls = [f"http://127.0.0.1:{MOCK_PORT + number}/v1" for number in range(flags.replicas)]
    systems = {
        "langgraph": lambda: langgraph(flags, [[url] for url in flags.urls]),
        "langgraph-router": lambda: langgraph(flags, [flags.urls]),
        "groundstate": lambda: groundstate(flags),
        "groundstate-no-spreading": lambda: groundstate(flags, spreading=False),
        "groundstate-run": lambda: groundstate(flags, as_run=True),
        "groundstate-run-no-streaming": lambda: groundstate(flags, as_run=True, streaming=False),
        "groundstate-run-neither": lambda: groundstate(flags, as_run=True, streaming=False, spreading=False),
    }
    mock = [sys.executable, HERE / "model_mock.py", "--port", str(MOCK_PORT)]
    for system in flags.systems:
        with process([*mock, "--replicas", str(flags.replicas), "--slots", str(flags.slots)]), systems[system]() as ask:
            asyncio.run(measure(ask, flags, system))


if __name__ == "__main__":
    main()
