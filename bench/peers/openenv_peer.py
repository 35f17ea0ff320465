"""Episodes of environments that are made by OpenEnv's own template and served by uvicorn, with the agents of `cargo xtask bench episodes`.

    python3.11 -m venv peer && peer/bin/pip install openenv==0.10.0 'uvicorn[standard]==0.54.0' pyyaml psutil
    cargo build --profile dist --package bench --bin episode_load
    peer/bin/python bench/peers/openenv_peer.py --load target/dist/episode_load [--workers 1 2] [--n 4000] [--at-once 64]

Systems:
  template  what `openenv init` writes, with room for more sessions: an echo, which does nothing and ends nothing
  desk      openenv_desk.py: the desk of bench/workload in plain Python, with its user, its tools and its verifier

All is spoken over /ws: what the template answers to POST /reset and /step has no session, so there is no episode in it. A tenth
of the episodes is played first, unmeasured. CPU is that of all processes of the server, from before the first message to after the
last; memory is what they have at the end (shared pages once).
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = Path(sys.executable).parent


def template(folder, at_once):
    """Makes the template's environment: where it is served from, and its app."""
    subprocess.run([BIN / "openenv", "init", "echoed", "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    app = Path(folder) / "echoed" / "server" / "app.py"
    text = app.read_text()
    assert "max_concurrent_envs=1," in text, "the template has changed"
    app.write_text(text.replace("max_concurrent_envs=1,", f"max_concurrent_envs={at_once},"))
    return Path(folder) / "echoed", "server.app:app"


@contextlib.contextmanager
def served(folder, app, workers, port, at_once):
    command = [BIN / "uvicorn", app, "--port", str(port), "--workers", str(workers), "--log-level", "warning"]
    server = subprocess.Popen(command, cwd=folder, env={**os.environ, "DESK_AT_ONCE": str(at_once)})
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
                break
            time.sleep(0.1)
        # Other workers may still be starting.
        time.sleep(3)
        yield psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait()


def processes(server):
    return [server, *server.children(recursive=True)]


def cpu(server):
    return sum(sum(process.cpu_times()[:2]) for process in processes(server))


def load(args, protocol, port, n):
    command = [args.load, "--protocol", protocol, "--url", f"http://127.0.0.1:{port}", "--n", str(n)]
    command += ["--concurrency", str(args.at_once)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def measure(args, system, workers, port):
    with tempfile.TemporaryDirectory() as folder:
        place = template(folder, args.at_once) if system == "template" else (HERE, "openenv_desk:app")
        protocol = "open-env-echo" if system == "template" else "open-env"
        with served(*place, workers, port, args.at_once) as server:
            load(args, protocol, port, args.n // 10 + 1)
            before = cpu(server)
            found = load(args, protocol, port, args.n)
            spent = cpu(server) - before
            memory = sum(process.memory_full_info().pss for process in processes(server))
    n, seconds = found["episodes"], found["seconds"]
    print(
        f"| {system}, {workers} worker{'s' if workers > 1 else ''} | {n / seconds:.0f} | {found['messages'] / seconds:.0f} "
        f"| {found['median_seconds'] * 1e3:.1f}, {found['p99_seconds'] * 1e3:.1f} ms | {spent / n * 1e3:.2f} ms "
        f"| {found['cpu_seconds'] / n * 1e3:.2f} ms | {memory / 1e6:.0f} MB |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", type=Path, default=ROOT / "target/dist/episode_load")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, os.cpu_count()])
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--port", type=int, default=18300)
    parser.add_argument("systems", nargs="*", default=["template", "desk"])
    args = parser.parse_args()
    args.load = args.load.absolute()
    print("| | episodes a second | messages a second | a message waits, median and p99 | CPU an episode | CPU an episode, agents | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for number, (system, workers) in enumerate((s, w) for s in args.systems for w in args.workers):
        measure(args, system, workers, args.port + number)


if __name__ == "__main__":
    main()
