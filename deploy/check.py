#!/usr/bin/env python3
"""Are the files by which Groundstate is deployed right, as far as that can be told without Docker and a cluster?

    python3 -m venv venv && venv/bin/pip install -r deploy/requirements.txt
    GROUNDSTATE_BIN=target/release/groundstate venv/bin/python deploy/check.py

Schemas say whether files are well formed. What they cannot know is asked of the program and its sources: every flag,
variable and figure that is named here must be one of Groundstate's. Checks that miss a program are skipped and say so.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import kubernetes_validate
import promql_parser
import yaml

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
COMPOSE = [ROOT / "docker-compose.yml", DEPLOY / "compose/tls.yml"]
GUIDE = ROOT / "docs/deploy.md"
# Commands in all of them are checked.
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# The oldest that the guide promises.
KUBERNETES_VERSION = "1.31"
# Kinds of operators, whose schemas are in no cluster by itself.
WITHOUT_SCHEMA = {"PodMonitor"}
# What others read: sqlx, tracing, the standard library, the engines; and what Kubernetes puts into arguments.
VARIABLES_OF_OTHERS = {"PGPASSWORD", "RUST_LOG", "TMPDIR", "HF_TOKEN", "HF_HOME", "POD_NAME", "POD_IP"}


class Skipped(Exception):
    """Why something cannot be checked here."""


class Broken(Exception):
    """What is so wrong that nothing more can be said."""


def compose_fits_its_schema():
    yield from run(["check-jsonschema", "--builtin-schema", "vendor.compose-spec", *COMPOSE])


def compose_holds_together():
    services, volumes = {}, {}
    for file in COMPOSE:
        document = read_yaml(file)
        volumes |= document.get("volumes", {})
        for name, service in document["services"].items():
            services[name] = services.get(name, {}) | service
    for name, service in services.items():
        for other, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy" and "healthcheck" not in services[other]:
                yield f"{name} waits for the health of {other}, which has no health check"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./") and not (ROOT / source).exists():
                yield f"{name} mounts {source}, which does not exist"
            elif not source.startswith("./") and source not in volumes:
                yield f"{name} mounts the volume {source}, which is not declared"
        for variable, value in service.get("environment", {}).items():
            secret = re.search("PASSWORD|TOKEN|SECRET|KEY", variable)
            if secret and not re.fullmatch(r"\$\{\w+(:\?[^}]*|:-)\}", str(value)):
                yield f"{name}: {variable} must come from outside, without a default"


def compose_variables_are_in_the_example():
    used = {name for file in COMPOSE for name in re.findall(r"\$\{(\w+)", file.read_text())} - {"RUST_LOG"}
    shown = set(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    yield from (f"{name} is missing in .env.example" for name in sorted(used - shown))
    yield from (f"{name} of .env.example is used nowhere" for name in sorted(shown - used))


def kubernetes_fits_its_schemas():
    for file in sorted(KUBERNETES.glob("*/**/*.yaml")):
        for resource in resources(file):
            yield from (f"{shown(file)}: {problem}" for problem in schema_problems(resource))
    for overlay in overlays():
        for resource in build(overlay):
            yield from (f"overlay {overlay.name}: {problem}" for problem in schema_problems(resource))


def schema_problems(resource):
    kind = resource["kind"]
    if kind in WITHOUT_SCHEMA | {"Kustomization", "Component"}:
        return
    try:
        kubernetes_validate.validate(resource, KUBERNETES_VERSION, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{kind} {resource['metadata']['name']}: {'.'.join(map(str, error.path))}: {error.message}"
    except kubernetes_validate.SchemaNotFoundError:
        yield f"{kind}: Kubernetes {KUBERNETES_VERSION} knows no {resource['apiVersion']} {kind}"


def kubernetes_names_only_what_exists():
    for overlay in overlays():
        built = build(overlay)
        yield from (f"overlay {overlay.name}: {problem}" for problem in dangling(built))


def dangling(built):
    there = {(resource["kind"], resource["metadata"]["name"]) for resource in built}
    pods = [resource["spec"]["template"] for resource in built if "template" in resource.get("spec", {})]
    figures = {rule["name"]["as"] for rule in adapter_rules()}
    secrets = set(re.findall(r"create secret generic (\S+)", GUIDE.read_text()))

    def selects(selector):
        wanted = selector.get("matchLabels", {}).items()
        some_of = selector.get("matchExpressions", [])
        labels = [pod["metadata"]["labels"] for pod in pods]
        return any(wanted <= l.items() and all(l.get(e["key"]) in e["values"] for e in some_of) for l in labels)

    for resource in built:
        kind, name, spec = resource["kind"], resource["metadata"]["name"], resource.get("spec", {})
        me = f"{kind} {name}"
        if kind == "HorizontalPodAutoscaler":
            target = spec["scaleTargetRef"]
            if (target["kind"], target["name"]) not in there:
                yield f"{me} scales {target['name']}, which does not exist"
            for metric in spec["metrics"]:
                if metric["external"]["metric"]["name"] not in figures:
                    yield f"{me}: prometheus-adapter makes no {metric['external']['metric']['name']}"
        selector = spec.get("podSelector", spec.get("selector"))
        if kind == "Service" and selector:
            selector = {"matchLabels": selector}
        if selector and not selects(selector):
            yield f"{me} selects no pod"
        for backend in find(spec, "backend") if kind == "Ingress" else ():
            if ("Service", backend["service"]["name"]) not in there:
                yield f"{me} leads to {backend['service']['name']}, which does not exist"
    for pod in pods:
        me = f"pod {pod['metadata']['labels']['app.kubernetes.io/name']}"
        for volume in pod["spec"].get("volumes", []):
            claim, config = volume.get("persistentVolumeClaim"), volume.get("configMap")
            if claim and ("PersistentVolumeClaim", claim["claimName"]) not in there:
                yield f"{me} claims {claim['claimName']}, which does not exist"
            if config and ("ConfigMap", config["name"]) not in there:
                yield f"{me} mounts {config['name']}, which does not exist"
        references = [found for key in ("secretKeyRef", "secretRef", "secret") for found in find(pod, key)]
        named = {reference.get("name", reference.get("secretName")) for reference in references}
        yield from (f"{me} needs the secret {name}, which the guide does not make" for name in sorted(named - secrets))
        for container in pod["spec"]["containers"]:
            ports = {port["name"] for port in container["ports"]}
            asked = {probe["port"] for probe in find(container, "httpGet")}
            yield from (f"{me}: a probe asks port {port}, which has no name" for port in asked - ports)
            security = pod["spec"]["securityContext"] | container["securityContext"]
            restricted = security["runAsNonRoot"] and not security["allowPrivilegeEscalation"]
            if not restricted or security["capabilities"]["drop"] != ["ALL"] or "seccompProfile" not in security:
                yield f"{me} is not allowed in a `restricted` namespace"


def queries_can_be_read():
    for where, query in queries():
        try:
            promql_parser.parse(query)
        except ValueError as error:
            yield f"{where}: {query}: {error}"


def prometheus_takes_its_configuration():
    yield from run(["promtool", "check", "config", "prometheus.yml"], cwd=DEPLOY / "prometheus")


def figures_exist():
    """Every figure that a dashboard, an alert or an autoscaler waits for is one that the program counts."""
    counted = literals("groundstate_[a-z_]+")
    for where, query in queries():
        for name in set(re.findall(r"\bgroundstate_[a-z_]+", query)):
            if name not in counted and re.sub("_(bucket|sum|count)$", "", name) not in counted:
                yield f"{where}: nothing counts {name}"


def commands_exist():
    """Every command and flag that is written here, the program has."""
    for where, words, _ in commands():
        yield from (f"{where}: {problem}" for problem in misunderstood(words))


def misunderstood(words):
    path, rest = [], list(words)
    while "\nCommands:\n" in help_of(*path):
        known = re.findall(r"^  ([a-z-]+)", help_of(*path).split("\nCommands:\n")[1].split("\n\n")[0], re.MULTILINE)
        if not rest or rest[0] not in known:
            if rest and rest[0] not in ("--help", "--version"):
                yield f"`groundstate {' '.join(path + rest[:1])}` is no command"
            return
        path.append(rest.pop(0))
    for word in rest:
        if word == "--":
            return
        flag = word.split("=")[0]
        if flag.startswith("--") and not re.search(rf"(?<!\S){flag}(?![\w-])", help_of(*path)):
            yield f"`groundstate {' '.join(path)}` has no {flag}"


def variables_exist():
    """Every variable that is set for the program, it reads; those of compose itself stand in .env.example."""
    known = literals("[A-Z][A-Z_]+") | VARIABLES_OF_OTHERS
    for where, names in variables():
        yield from (f"{where}: nothing reads {name}" for name in sorted(set(names) - known))
        # Whoever names a data directory gets a private PostgreSQL, whatever DATABASE_URL says.
        if {"DATABASE_URL", "GROUNDSTATE_DATA"} <= set(names):
            yield f"{where}: GROUNDSTATE_DATA makes the program ignore DATABASE_URL"
    own = set(re.findall(r"^(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    for file in [*scripts(), ROOT / "Dockerfile", GUIDE]:
        named = set(re.findall(r"\bGROUNDSTATE_[A-Z_]+", file.read_text()))
        yield from (f"{shown(file)}: nothing reads {name}" for name in sorted(named - known - own))


def containers_may_drain():
    for where, words, grace in commands():
        if grace is None or words[0] not in ("play", "worker"):
            continue
        drain = re.search(r"--drain[= ](\d+)", " ".join(words))
        if not drain:
            yield f"{where}: `{words[0]}` is killed after {grace} s; --drain must say a shorter time"
        elif grace <= int(drain[1]):
            yield f"{where}: `{words[0]}` is killed after {grace} s, before --drain is over"


def scripts_are_sound():
    for script in scripts():
        yield from run(["bash", "-n", script])
    yield from run(["shellcheck", *scripts()])
    for script in DEPLOY.rglob("*.py"):
        try:
            compile(script.read_text(), shown(script), "exec")
        except SyntaxError as error:
            yield str(error)


def dockerfile_is_sound():
    # Versions of Debian's packages: a pinned one is gone when the next one is out, and then nothing builds.
    yield from run(["hadolint", "--no-color", "--ignore", "DL3008", "Dockerfile"])


def guide_names_files_that_exist():
    for path in set(re.findall(r"\b(?:deploy|docs|bench)/[\w./-]*\w", GUIDE.read_text())):
        if not (ROOT / path).exists() and path not in (ROOT / ".gitignore").read_text():
            yield f"{shown(GUIDE)}: {path} does not exist"


# What is read.


def read_yaml(file):
    return yaml.safe_load(file.read_text())


def resources(file):
    return [resource for resource in yaml.safe_load_all(file.read_text()) if resource and "kind" in resource]


def overlays():
    return sorted((KUBERNETES / "overlays").iterdir())


@cache
def build(overlay):
    tool = ["kubectl", "kustomize"] if shutil.which("kubectl") else ["kustomize", "build"]
    if not shutil.which(tool[0]):
        raise Skipped("neither kubectl nor kustomize is installed")
    built = subprocess.run([*tool, overlay], capture_output=True, text=True, check=False)
    if built.returncode:
        raise Broken(f"overlay {overlay.name} cannot be built: {built.stderr.strip()}")
    return [resource for resource in yaml.safe_load_all(built.stdout) if resource]


def adapter_rules():
    return read_yaml(KUBERNETES / "prometheus-adapter-values.yaml")["rules"]["external"]


def queries():
    """Of alerts, autoscalers and the dashboard: where each stands, and itself without what others put in."""
    for group in read_yaml(DEPLOY / "prometheus/alerts.yml")["groups"]:
        yield from ((f"alert {rule['alert']}", rule["expr"]) for rule in group["rules"])
    for rule in adapter_rules():
        yield f"rule {rule['name']['as']}", rule["metricsQuery"].replace("<<.LabelMatchers>>", "")
        yield f"rule {rule['name']['as']}", rule["seriesQuery"]
    for panel in read_yaml(DEPLOY / "grafana/groundstate.json")["panels"]:
        for target in panel.get("targets", []):
            yield f"panel {panel['title']}", target["expr"].replace("$__rate_interval", "1m")


def scripts():
    return sorted([*DEPLOY.rglob("*.sh"), *DEPLOY.rglob("*.sbatch")])


def containers():
    """Of ours, in compose and in the manifests: where, arguments, names of variables, and seconds until a kill."""
    for file in COMPOSE:
        for name, service in read_yaml(file)["services"].items():
            if "groundstate" in service.get("image", "groundstate"):
                grace = service.get("stop_grace_period")
                seconds = int(grace[:-1]) * {"s": 1, "m": 60}[grace[-1]] if grace else None
                yield f"{shown(file)}: {name}", service["command"], list(service.get("environment", {})), seconds
    for file in sorted(KUBERNETES.glob("*/**/*.yaml")):
        for resource in resources(file):
            pod = resource.get("spec", {}).get("template", {}).get("spec", {})
            for container in pod.get("containers", []):
                if "groundstate" in container["image"]:
                    names = [variable["name"] for variable in container["env"]]
                    yield shown(file), container["args"], names, pod["terminationGracePeriodSeconds"]


def variables():
    return ((where, names) for where, _, names, _ in containers())


def commands():
    """Calls of the program: where each stands, its words, and, of a container, how many seconds it is given to end."""
    yield from ((where, words, grace) for where, words, _, grace in containers())
    for words in re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE):
        yield "Dockerfile", yaml.safe_load(words), None
    for script in scripts():
        text = script.read_text().replace("\\\n", " ")
        yield from calls(shown(script), (line for line in text.splitlines() if not line.lstrip().startswith("#")))
    for page in DOCS:
        text = page.read_text().replace("target/release/groundstate", "groundstate")
        blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        yield from calls(shown(page), lines + spans)


def calls(where, lines):
    for line in lines:
        words = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        words.whitespace_split = True
        try:
            words = list(words)
        except ValueError:
            # An apostrophe of prose.
            words = line.split()
        for at, word in enumerate(words):
            before = words[at - 1] if at else ""
            # `--tag groundstate` names an image, `--force groundstate` a database.
            of_a_flag = before.startswith("-") and before != "--" and "=" not in before
            if word == "groundstate" and not of_a_flag and words[at + 1 :]:
                end = next((i for i, w in enumerate(words) if i > at and w and w[0] in "();<>|&"), len(words))
                yield where, words[at + 1 : end], None


@cache
def help_of(*path):
    program = os.environ.get("GROUNDSTATE_BIN")
    if not program:
        raise Skipped("GROUNDSTATE_BIN does not say where the program is")
    asked = subprocess.run([program, *path, "--help"], capture_output=True, text=True, check=False)
    return asked.stdout


@cache
def literals(pattern):
    """Strings in the program's sources."""
    files = [file for crate in [ROOT / "server", *(ROOT / "crates").iterdir()] for file in (crate / "src").rglob("*.rs")]
    return {found for file in files for found in re.findall(rf'"({pattern})"', file.read_text())}


# What is common.


def find(tree, key):
    """All that stands under `key`, at any depth."""
    if isinstance(tree, dict):
        yield from ([tree[key]] if key in tree else [])
        tree = list(tree.values())
    for inner in tree if isinstance(tree, list) else ():
        yield from find(inner, key)


def run(command, cwd=ROOT):
    """What a program complains of. Those of requirements.txt stand beside this Python."""
    name = command[0]
    program = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not program:
        raise Skipped(f"{name} is not installed")
    done = subprocess.run([program, *command[1:]], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"{name}: {done.stdout}{done.stderr}".strip()


def shown(file):
    return str(file.relative_to(ROOT))


CHECKS = [
    dockerfile_is_sound,
    compose_fits_its_schema,
    compose_holds_together,
    compose_variables_are_in_the_example,
    kubernetes_fits_its_schemas,
    kubernetes_names_only_what_exists,
    prometheus_takes_its_configuration,
    queries_can_be_read,
    figures_exist,
    commands_exist,
    variables_exist,
    containers_may_drain,
    scripts_are_sound,
    guide_names_files_that_exist,
]


def main():
    passed = failed = skipped = 0
    for check in CHECKS:
        name, problems, why = check.__name__.replace("_", " "), [], None
        try:
            problems.extend(check())
        except Skipped as reason:
            why = reason
        except Broken as problem:
            problems.append(problem)
        if problems:
            failed += 1
            print(f"FAILED   {name}", *problems, sep="\n  ")
        elif why:
            skipped += 1
            print(f"skipped  {name}: {why}")
        else:
            passed += 1
            print(f"ok       {name}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
