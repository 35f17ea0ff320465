#!/usr/bin/env python3
"""An inference engine that has no model: it answers as one does, or fails as one does.

The folder FAKE_ENGINE says how, in files that a test may change at any time:
  fails    what it writes before it ends, instead of starting
  mode     ok, hang (answers nothing), silent (writes no token), garbage, other (serves another model)
  running  how many requests it says that it works on; without it, how many it does
  upstream where completions are answered in its place; they are passed on in two halves
It writes its process id to `starts`, a line each time it is started, and its arguments to `arguments`.
"""

import json
import os
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = os.environ["FAKE_ENGINE"]
KEY = os.environ.get("VLLM_API_KEY") or os.environ.get("LLAMA_API_KEY")


def said(name, default):
    try:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return default


def argument(*names):
    return next((value for name, value in zip(sys.argv, sys.argv[1:]) if name in names), None)


MODEL = argument("--served-model-name", "--alias")
RELAYED = set()


class Engine(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuses(self):
        if said("mode", "ok") == "hang":
            time.sleep(600)
        if KEY and self.path.startswith("/v1") and self.headers["authorization"] != f"Bearer {KEY}":
            self.answer({"error": "Unauthorized"}, 401)
            return True
        return False

    def do_GET(self):
        if self.refuses():
            return
        if self.path == "/metrics":
            running = int(said("running", str(len(RELAYED))))
            lines = f'vllm:num_requests_running{{model_name="{MODEL}"}} {running}.0\nvllm:num_requests_waiting 0.0\n'
            self.answer(lines.encode())
            return
        model = "another-model" if said("mode", "ok") == "other" else MODEL
        self.answer({"object": "list", "data": [{"id": model, "object": "model"}]})

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["content-length"]))
        if self.refuses():
            return
        mode = said("mode", "ok")
        if mode == "silent":
            time.sleep(600)
        if mode == "garbage":
            self.answer(b"<html><h1>Welcome to nginx!</h1></html>")
            return
        upstream = said("upstream", None)
        if upstream and json.loads(asked).get("max_tokens") != 1:
            RELAYED.add(threading.get_ident())
            try:
                self.relay(upstream + "/chat/completions", asked)
            finally:
                RELAYED.discard(threading.get_ident())
            return
        self.answer({"choices": [{"index": 0, "message": {"role": "assistant", "content": "H"}}]})

    def relay(self, url, asked):
        request = urllib.request.Request(url, asked, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            # Every reply says which model wrote it, and a pool of workers reads that.
            body = answer.read().replace(b'"choices"', b'"model": "' + MODEL.encode() + b'", "choices"', 1)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        half = len(body) // 2
        self.wfile.write(body[:half])
        self.wfile.flush()
        time.sleep(0.05)
        self.wfile.write(body[half:])


with open(os.path.join(FOLDER, "starts"), "a", encoding="utf-8") as starts:
    starts.write(f"{os.getpid()}\n")
with open(os.path.join(FOLDER, "arguments"), "w", encoding="utf-8") as arguments:
    arguments.write(" ".join(sys.argv[1:]))
log = said("fails", None)
if log is not None:
    print(log, file=sys.stderr)
    sys.exit(1)
print("Starting to load model")
ThreadingHTTPServer((argument("--host"), int(argument("--port"))), Engine).serve_forever()
