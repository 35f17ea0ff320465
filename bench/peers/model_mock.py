"""Models to measure workflows against: replicas that speak the OpenAI chat API, each on a port of its own. A replica has so many
slots; who finds none free waits in line. The wait before the first byte is log-normal, and a token (--token characters) takes the
longer the more slots are in use: --token-ms with one, --full times as long with all. What is said is in mock_replies.py.

    python3 bench/peers/model_mock.py [--replicas 4] [--port 18100] [--slots 8] [--token-ms 10]

Needs aiohttp (3.14.5). The wait of a request follows from the seed, its prompt and how often that was asked before, so that all
who are measured wait as long. GET /stats: requests, and seconds that slots were in use.
"""

import argparse
import asyncio
import contextlib
import json
import math
import time
from collections import Counter
from random import Random

from aiohttp import web

import mock_replies

class Replica:
    def __init__(self, flags, asked):
        self.flags = flags
        self.asked = asked
        self.slots = asyncio.Semaphore(flags.slots)
        self.in_use = 0
        self.requests = 0
        self.slot_seconds = 0.0

    async def complete(self, request):
        prompt = (await request.json())["messages"][-1]["content"]
        reply = mock_replies.reply(prompt)
        wait = self.first_byte(" ".join(prompt.split()))
        async with self.slots:
            begun = time.monotonic()
            self.in_use += 1
            self.requests += 1
            try:
                return await self.stream(request, reply, wait)
            finally:
                self.in_use -= 1
                self.slot_seconds += time.monotonic() - begun

    def first_byte(self, prompt):
        self.asked[prompt] += 1
        random = Random(f"{self.flags.seed} {self.asked[prompt]} {prompt}")
        return random.lognormvariate(math.log(self.flags.median_ms / 1000), self.flags.sigma)

    async def stream(self, request, reply, wait):
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        # Each token is due at a time, so that a busy processor makes no replica slower.
        due = time.monotonic() + wait
        for start in range(0, len(reply), self.flags.token):
            due += self.token_seconds()
            await asyncio.sleep(due - time.monotonic())
            if start == 0:
                await response.prepare(request)
            await response.write(event({"delta": {"content": reply[start : start + self.flags.token]}}))
        await response.write(event({"delta": {}, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
        return response

    def token_seconds(self):
        load = (self.in_use - 1) / max(self.flags.slots - 1, 1)
        return self.flags.token_ms / 1000 * (1 + (self.flags.full - 1) * load)

    async def stats(self, _):
        return web.json_response({"requests": self.requests, "slot_seconds": self.slot_seconds})


def event(choice):
    chunk = {"id": "mock", "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def serve(flags):
    asked = Counter()
    for port in range(flags.port, flags.port + flags.replicas):
        replica = Replica(flags, asked)
        app = web.Application()
        app.add_routes([web.post("/v1/chat/completions", replica.complete), web.get("/stats", replica.stats)])
        # Who goes away gives the slot back.
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--replicas", type=int, default=4)
    flags.add_argument("--port", type=int, default=18100, help="of the first replica")
    flags.add_argument("--slots", type=int, default=8)
    flags.add_argument("--median-ms", type=float, default=100, help="of the wait before the first byte")
    flags.add_argument("--sigma", type=float, default=0.5, help="standard deviation of the wait's logarithm")
    flags.add_argument("--token", type=int, default=4, help="characters of a token")
    flags.add_argument("--token-ms", type=float, default=10)
    flags.add_argument("--full", type=float, default=3, help="how much longer a token takes if all slots are in use")
    flags.add_argument("--seed", type=int, default=1)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(flags.parse_args()))


if __name__ == "__main__":
    main()
