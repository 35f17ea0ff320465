"""Pages of the web are filtered, scored and made into questions (workflow natural_reasoning): rows by themselves, as Groundstate plays
them, beside batches of rows. 94 % of the rows end at the filter, which is code; the scorer is the model of model_mock.py, and
stand-ins classify and write, so that the scorer is the bottleneck.

    peer/bin/python bench/peers/batches.py --n 300000 batches groundstate

Systems:
  batches      Ray Data as the Matrix paper has it (Algorithm 2, setting 4), without the cost of Ray: 240 batches at a time, of 50
               rows each, which are worked on at once; a batch begins when another one is whole. One process of asyncio; a
               request goes to the replica with the fewest
  groundstate  a run over a dataset and one `groundstate play` (--program: which one)

The seconds go from the first row to the last one that ended. "in use" is the share of the scorer's slots that worked meanwhile.
Its median over five seconds at a time leaves out how a run begins and how its last rows end.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
from open_loop import HERE, MOCK_PORT, WORKFLOWS, busy, process, said, slot_seconds

PASSING = 6
PROMPT = (WORKFLOWS / "natural_reasoning" / "score.md.j2").read_text()
QUESTION = {"exam_question": "How far does it fall?", "independent_answer": ["\\boxed{80}"]}


def page(i):
    passes = i % 100 < PASSING
    title, english = ("Falling stones", 0.97) if passes else ("Opening hours", 0.2)
    return {"text": f"{title}. Page {i} of a made-up web.", "language_id_whole_page_fasttext": {"en": english}}


class Replicas:
    def __init__(self, session, urls):
        self.session = session
        self.in_flight = dict.fromkeys(urls, 0)

    async def ask(self, prompt):
        url = min(self.in_flight, key=self.in_flight.get)
        self.in_flight[url] += 1
        try:
            order = {"model": "mock", "stream": True, "messages": [{"role": "user", "content": prompt}]}
            answer = await said(self.session.post(f"{url}/chat/completions", json=order), aiohttp.ClientResponse.text)
        finally:
            self.in_flight[url] -= 1
        chunks = [json.loads(line[6:]) for line in answer.splitlines() if line.startswith("data: {")]
        return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


async def row(replicas, page):
    if page["language_id_whole_page_fasttext"]["en"] < 0.8:
        return "filter_by_en", None
    scores = json.loads(await replicas.ask(PROMPT.replace("{{ text }}", page["text"])))
    if not all(score > 0 for score in scores.values()):
        return "filter_by_score", None
    return "success", QUESTION


async def sampled(work, flags, session, samples):
    """Waits for work, and samples meanwhile the share of the slots in use, every five seconds. A request counts when it ends."""
    working = asyncio.ensure_future(work)
    before = await slot_seconds(session, flags)
    while not working.done():
        begun = time.time()
        await asyncio.wait([working], timeout=5)
        now = await slot_seconds(session, flags)
        if not working.done():
            samples.append((now - before) / (flags.replicas * flags.slots * (time.time() - begun)))
        before = now
    return await working


async def batches(flags, session, samples):
    replicas = Replicas(session, flags.urls)
    texts = (json.dumps(page(i)) for i in range(flags.n))
    done = 0
    begun = time.time()

    async def worker(out):
        nonlocal done
        while batch := [json.loads(text) for _, text in zip(range(flags.batch), texts)]:
            for ended, output in await asyncio.gather(*(row(replicas, one) for one in batch)):
                out.write(json.dumps({"ends": ended, "output": output}) + "\n")
            done += len(batch)

    with tempfile.TemporaryFile("w", dir=flags.folder) as out:
        await sampled(asyncio.gather(*(worker(out) for _ in range(flags.at_once))), flags, session, samples)
    return done, time.time() - begun


async def groundstate(flags, session, samples):
    folder = Path(tempfile.mkdtemp(dir=flags.folder))
    # PostgreSQL runs as another user, who has to get there.
    folder.chmod(0o755)
    try:
        replicas = {"replicas": flags.urls, "start_in_flight": 20, "max_in_flight": 20}
        (folder / "models.yaml").write_text(json.dumps({"models": [{"name": "scorer", "model": "mock", **replicas}]}))
        shutil.copytree(WORKFLOWS / "natural_reasoning", folder / "workflows" / "natural_reasoning")
        with (folder / "pages.jsonl").open("w") as pages:
            pages.writelines(json.dumps(page(i)) + "\n" for i in range(flags.n))
        environment = {**os.environ, "GROUNDSTATE_DATA": str(folder / "data")}
        environment.pop("DATABASE_URL", None)
        options = {"env": environment, "cwd": folder}

        async def command(*arguments):
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            running = await asyncio.create_subprocess_exec(flags.program, *arguments, **pipes, **options)
            told, _ = await running.communicate()
            if running.returncode:
                sys.exit(f"groundstate {' '.join(arguments)}: {told.decode()}")
            return told.decode()

        await command("datasets", "add", "pages", "pages.jsonl")
        concurrency = str(flags.batch * flags.at_once)
        play = command("workflow", "run", "natural_reasoning", "--dataset", "pages", "--model", "scorer=scorer",
                       "--concurrency", concurrency)
        told = await sampled(play, flags, session, samples)
        rows, seconds = re.search(r"^rows +(\d+) of \d+ in ([\d.]+) s$", told, re.MULTILINE).groups()
        return int(rows), float(seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


SYSTEMS = {"batches": batches, "groundstate": groundstate}


async def measure(flags, system):
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        cpu, begun, samples = busy(), time.time(), []
        done, seconds = await SYSTEMS[system](flags, session, samples)
        cpu, all_seconds = busy() - cpu, time.time() - begun
        in_use = await slot_seconds(session, flags) / (flags.replicas * flags.slots * seconds)
    print(
        f"{system:12} {done} rows in {seconds:.0f} s, {done / seconds:.0f} a second, slots in use {in_use:.1%}"
        f" (median of 5 s {statistics.median(samples or [in_use]):.1%}),"
        f" CPU {cpu / all_seconds / os.cpu_count():.0%} of all cores",
        flush=True,
    )


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("systems", nargs="+", choices=SYSTEMS)
    flags.add_argument("--n", type=int, default=300_000)
    flags.add_argument("--batch", type=int, default=50)
    flags.add_argument("--at-once", type=int, default=240, help="batches")
    flags.add_argument("--replicas", type=int, default=56)
    flags.add_argument("--slots", type=int, default=15)
    flags.add_argument("--median-ms", type=int, default=2000)
    flags.add_argument("--folder", default="/var/tmp")
    flags.add_argument("--program", type=os.path.abspath, default="target/dist/groundstate")
    flags = flags.parse_args()
    flags.urls = [f"http://127.0.0.1:{MOCK_PORT + number}/v1" for number in range(flags.replicas)]
    mock = [sys.executable, HERE / "model_mock.py", "--port", str(MOCK_PORT), "--token", "1000"]
    for name in ("replicas", "slots", "median_ms"):
        mock += [f"--{name.replace('_', '-')}", str(getattr(flags, name))]
    for system in flags.systems:
        with process(mock):
            asyncio.run(measure(flags, system))


if __name__ == "__main__":
    main()
