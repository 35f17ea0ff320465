"""What schemathesis is not told by the document: how an archive is written, and what there is that paths can name."""

import atexit
import io
import json
import os
import time
import uuid
import zipfile
from collections import Counter

import requests
import schemathesis

API = os.environ["GROUNDSTATE_API"]
DEFAULT = "/projects/default"
# How often something that there is was shown, by what named it. Whoever started us looks at this.
SHOWN = Counter()


@schemathesis.serializer("application/zip")
def archive(_context, value):
    """Half of what is made up becomes a file in an archive, the rest is sent as it is: no archive at all."""
    text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    if len(text) % 2:
        return text
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("scenarios/made_up.yaml", text)
    return packed.getvalue()


def bearer(secret):
    return {"Authorization": "Bearer " + secret}


ADMINISTRATOR = bearer(os.environ["GROUNDSTATE_TOKEN"])


def ask(method, path, body=None, headers=None):
    answer = requests.request(method, API + path, json=body, headers=headers or ADMINISTRATOR, timeout=60)
    if not answer.ok:
        raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
    return answer.json()


def built(path, order):
    """The id of what is made in the background, when it is ready."""
    made = ask("POST", DEFAULT + path, order)["id"]
    for _ in range(600):
        found = ask("GET", f"{path}/{made}")
        state = found.get("summary", found)["state"]
        if state != "building":
            break
        time.sleep(0.1)
    if state != "ready":
        raise RuntimeError(f"{path}/{made} is {state}")
    return made


JOINING = {"name": "worker", "model": "served", "url": "http://127.0.0.1:9/v1", "engine": "external"}


def things():
    """One of everything, around the run that was played, by the name that it has in paths."""
    run = ask("GET", f"{DEFAULT}/runs")["items"][0]["id"]
    conversation = ask("GET", f"/runs/{run}/conversations")["items"][0]["id"]
    of_conversation = f"/conversations/{conversation}"
    ask("POST", "/users", {"name": "guest"})
    ask("PUT", f"{DEFAULT}/members/guest", {"role": "author"})
    ask("PUT", f"{of_conversation}/ratings", {"scores": {"overall": 4}})
    queue = ask("POST", f"{DEFAULT}/review-queues", {"name": "queue", "run": run, "raters_each": 3, "blind": False})
    ask("POST", f"/review-queues/{queue['id']}/items/{conversation}/assignments", {"rater": "guest"})
    return {
        "project": "default",
        "user": "guest",
        "rater": "guest",
        "version": 1,
        "run": run,
        "conversation": conversation,
        "judging": ask("GET", f"/runs/{run}/judgings")[0]["id"],
        "queue": queue["id"],
        "annotation": ask("POST", f"{of_conversation}/annotations", {"seq": 1, "text": "Why?"})["id"],
        "calibration": ask("POST", f"{DEFAULT}/calibrations", {"run": run})[0]["id"],
        "validation": ask("POST", f"{DEFAULT}/validations", {})["summary"]["id"],
        "corpus": built("/corpora", {"name": "corpus"}),
        "export": built("/exports", {"source": {"run": {"id": run}}, "profile": "canonical"}),
        "worker": ask("POST", "/workers", JOINING, WORKER)["id"],
        "model": "served",
        "scenarios": ask("GET", f"{DEFAULT}/scenarios")["items"][0]["name"],
        "playbooks": ask("GET", f"{DEFAULT}/playbooks")["items"][0]["name"],
    }


def in_session():
    """The headers of a browser."""
    secret = ask("POST", "/users", {"name": "browser", "administrator": True})["secret"]
    password = {"secret": secret, "password": "correct horse"}
    answer = requests.post(API + "/invitations/accept", json=password, timeout=60)
    return {"Cookie": answer.headers["set-cookie"].split(";")[0], "X-CSRF-Token": answer.json()["csrf_token"]}


# Not everything is open to the administrator's token.
WORKER = bearer(ask("POST", "/join-tokens", {"name": "fuzz"})["secret"])
BROWSER = in_session()
OTHERWISE = {
    "POST /workers": WORKER,
    "DELETE /workers/{worker}": WORKER,
    "POST /workers/{worker}/heartbeat": WORKER,
    "POST /tokens": BROWSER,
    "DELETE /tokens/{token}": BROWSER,
}


def label(case):
    return f"{case.method.upper()} {case.operation.path.removeprefix('/api/v1')}"


KNOWN = things()
# What must not be deleted: what others ask about, and the token by which all of this is asked. Ids are taken from answers, too.
KEPT = {**KNOWN, "token": ask("GET", "/tokens")[0]["id"]}
NOTHING = "00000000-0000-0000-0000-000000000000"
calls = Counter()


def named(path):
    """What there is for the parameters of a path."""
    if "{kind}" in path:
        return {**KNOWN, "kind": "scenarios", "name": KNOWN["scenarios"]}
    return {**KNOWN, "name": KNOWN["playbooks" if "/playbooks/" in path else "scenarios"]}


def is_id(text):
    try:
        uuid.UUID(str(text))
    except ValueError:
        return False
    return True


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Ids that are made up name nothing: every other request is about what there is, unless that would be deleted."""
    headers = OTHERWISE.get(label(case), ADMINISTRATOR)
    made_up = {name: value for name, value in (case.headers or {}).items() if name.lower() not in ("authorization", "cookie")}
    case.headers = {**made_up, **headers}
    if "Cookie" in headers:
        case.cookies = {}
    if not case.path_parameters:
        return
    if case.method.upper() == "DELETE":
        kept = [name for name, value in case.path_parameters.items() if KEPT.get(name) == value]
        case.path_parameters.update(dict.fromkeys(kept, NOTHING))
        return
    if case.operation.path.endswith("/progress"):
        # Of other runs, which nobody plays here, it would be told without end.
        case.path_parameters.update({name: NOTHING for name, value in case.path_parameters.items() if is_id(value)})
    calls[case.operation.label] += 1
    if calls[case.operation.label] % 2 == 0:
        return
    there = named(case.operation.path)
    case.path_parameters.update({name: there[name] for name in case.path_parameters if name in there})


@schemathesis.hook
def after_call(_context, case, response):
    # Whoever must not ask is told 401 or 403; everybody else was let in.
    if label(case) in OTHERWISE and response.status_code not in (401, 403):
        SHOWN[label(case)] += 1
    if case.operation.path.endswith("/progress") and response.status_code == 200:
        SHOWN["progress"] += 1
    if response.status_code < 300:
        SHOWN.update(name for name, value in (case.path_parameters or {}).items() if KNOWN.get(name) == value)


@atexit.register
def tell():
    # Nobody is asked for long who does not know us any more.
    ask("GET", "/session")
    with open("shown.json", "w", encoding="utf-8") as file:
        json.dump(SHOWN, file)
