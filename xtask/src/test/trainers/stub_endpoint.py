"""An OpenAI-compatible endpoint that answers with prepared messages.

usage: stub_endpoint.py [PORT]   (0, the default, takes a free port; the URL is printed)

It keeps the doors of `project/`: it opens the door that the user asked for, and says that it is done. A model whose name begins
with `wrong` opens the other door, and one whose name begins with `bell` rings the bell instead.
"""

import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stub_tokens import WEIGHTS

# What the agent tells a visitor who has got what it wanted, and what a visitor has no answer to.
DONE, RUDE = "The door is open.", "Go away."


class Endpoint:
    """`answer`: the assistant's message to a request's body. `tokens`: for a request that asks for tokens, and the message, the ids of
    the prompt, those of the message, and their log-probabilities; or None, if it returns none."""

    def __init__(self, answer: Callable[[dict], dict], port: int = 0, tokens: Callable[[dict, dict], tuple | None] | None = None):
        self.requests: list[dict] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                message = {"role": "assistant", **answer(asked)}
                if asked.get("stream"):
                    self.stream(asked, message)
                else:
                    finish = "tool_calls" if message.get("tool_calls") else "stop"
                    choice = {"index": 0, "message": message, "finish_reason": finish}
                    whole = completion(asked, choice, "chat.completion")
                    sampled = tokens(asked, message) if tokens and asked.get("return_token_ids") else None
                    if sampled:
                        whole = with_tokens(whole, *sampled)
                    self.write(200, "application/json", json.dumps(whole).encode())

            def stream(self, asked, message):
                calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls") or [])]
                delta = {**message, "tool_calls": calls} if calls else message
                finish = "tool_calls" if calls else "stop"
                parts = [{"index": 0, "delta": delta, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": finish}]
                lines = [json.dumps(completion(asked, part, "chat.completion.chunk")) for part in parts] + ["[DONE]"]
                self.write(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode())

            def do_GET(self):
                models = {"object": "list", "data": [{"id": "stub", "object": "model"}]}
                self.write(200, "application/json", json.dumps(models).encode())

            def write(self, status, kind, content):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def completion(asked, choice, kind):
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    return {"id": "stub", "object": kind, "created": 0, "model": asked.get("model"), "choices": [choice], "usage": usage}


def with_tokens(whole, prompt, ids, logprobs):
    """A completion as vLLM returns it with `return_token_ids`, and with the version of its weights as SGLang tells it."""
    told = [{"token": f"token_id:{id}", "logprob": logprob} for id, logprob in zip(ids, logprobs, strict=True)]
    choice = {**whole["choices"][0], "token_ids": ids, "logprobs": {"content": told}}
    usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids), "total_tokens": len(prompt) + len(ids)}
    return {**whole, "choices": [choice], "prompt_token_ids": prompt, "usage": usage, "metadata": {"weight_version": WEIGHTS}}


def call(name, arguments, id="c1"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def keep_doors(asked: dict) -> dict:
    messages, model = asked["messages"], asked.get("model", "")
    if any(message["role"] == "tool" for message in messages):
        return {"content": "I have done what I could."}
    user = next(message["content"] for message in messages if message["role"] == "user")
    door = "left" if "left" in user else "right"
    if model.startswith("wrong"):
        door = {"left": "right", "right": "left"}[door]
    if model.startswith("bell"):
        return {"content": None, "tool_calls": [call("ring_bell", {})]}
    return {"content": None, "tool_calls": [call("open_door", {"door": door})]}


def visit(asked: dict) -> dict:
    """Stands in for the simulated user of the doors: asks for its door, ends when it is open, and is silent when the agent is rude. An
    empty message breaks the rules of the user, so that the episode has no reward."""
    heard = json.dumps(asked["messages"][1:])
    if RUDE in heard:
        return {"content": ""}
    if DONE in heard:
        return {"content": "[END]"}
    return {"content": f"Please open the {'left' if 'left door' in json.dumps(asked['messages'][0]) else 'right'} door."}


if __name__ == "__main__":
    endpoint = Endpoint(keep_doors, int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(endpoint.url, flush=True)
    endpoint.server.serve_forever()
