"""An agent that says the messages in the file WORDS, a JSON list, one a turn. Of those that share the folder LAZY, which the first of
them makes, the first says nothing."""

import json
import os
import sys
import urllib.request

try:
    os.mkdir(os.environ["LAZY"])
    sys.exit(0)
except FileExistsError:
    pass

with open(os.environ["WORDS"], encoding="utf-8") as file:
    words = json.load(file)
headers = {"Authorization": f"Bearer {os.environ['GROUNDSTATE_TOKEN']}", "Content-Type": "application/json"}
server = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for message in words:
    url = os.environ["GROUNDSTATE_EPISODE_URL"] + "/messages"
    with server.open(urllib.request.Request(url, json.dumps(message).encode(), headers), timeout=60) as answer:
        answer.read()
