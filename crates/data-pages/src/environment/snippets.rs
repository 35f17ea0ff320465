//! The snippets of the documentation, with the address of the server and the name of the environment.

use domain::corpus::Side;

/// The name in the address of the page, and what the tab says.
pub const PROTOCOLS: &[(&str, &str)] = &[
    ("rest", "REST"),
    ("python", "Python"),
    ("trl", "TRL"),
    ("openenv", "OpenEnv"),
    ("verifiers", "verifiers"),
    ("mcp", "MCP"),
    ("agent", "Your own agent"),
];
pub const NAMES: &[&str] = &["rest", "python", "trl", "openenv", "verifiers", "mcp", "agent"];

/// The values that snippets are filled with.
pub const TOKEN: &str = "export GROUNDSTATE_TOKEN=gs_...";

/// The project that clients ask if they name none.
const DEFAULT_PROJECT: &str = "default";

/// An environment, and the server that has it.
pub struct Target {
    /// Of the server, such as `http://127.0.0.1:7878`.
    pub origin: String,
    pub project: String,
    pub environment: String,
    /// Project and environment as they stand in addresses.
    pub segments: [String; 2],
    /// The only part that the environment plays.
    pub split: Option<Side>,
}

/// Lines to copy.
pub struct Snippet {
    pub about: &'static str,
    /// Names the lines to a screen reader.
    pub label: &'static str,
    pub text: String,
}

/// Those of a protocol of [`PROTOCOLS`].
pub fn of(protocol: &str, target: &Target) -> Vec<Snippet> {
    match protocol {
        "python" => vec![python(target)],
        "trl" => trl(target),
        "openenv" => vec![openenv(target)],
        "verifiers" => vec![verifiers(target)],
        "mcp" => vec![mcp(target)],
        "agent" => vec![agent(target)],
        _ => rest(target),
    }
}

fn rest(target: &Target) -> Vec<Snippet> {
    let Target { origin, segments: [project, _], .. } = target;
    let body = in_shell(&format!(r#"{{"name": {}}}"#, quoted(&target.environment)));
    let open = format!(
        "curl --fail-with-body {origin}/api/v1/projects/{project}/episodes -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\" \\\n    \
         -H 'Content-Type: application/json' -d {body}"
    );
    let send = format!(
        "curl --fail-with-body {origin}/api/v1/episodes/$EPISODE/messages -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\" \\\n    \
         -H 'Content-Type: application/json' -d '{{\"content\": \"Good day, how can I help?\"}}'"
    );
    let verify = format!(
        "curl --fail-with-body -X POST {origin}/api/v1/episodes/$EPISODE/verify -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\""
    );
    vec![
        Snippet {
            about: "Open an episode. The answer has its id, its messages so far and the tools of the agent.",
            label: "Open an episode",
            text: open,
        },
        Snippet {
            about: "Send what the agent says, with the id of the episode in EPISODE. The answer has what the user and the tools say.",
            label: "Send a message of the agent",
            text: send,
        },
        Snippet {
            about: "End the episode when the agent has nothing more to do. The answer has the reward.",
            label: "End the episode",
            text: verify,
        },
    ]
}

fn python(target: &Target) -> Snippet {
    let (client, name) = (client(target), quoted(&target.environment));
    let text = format!(
        r#"from groundstate import Client, ToolCall
from openai import OpenAI

model = OpenAI()
with {client}.open({name}) as episode:
    while not episode.ended:
        reply = model.chat.completions.create(model="gpt-x", messages=episode.messages, tools=episode.tools).choices[0].message
        calls = [ToolCall(call.function.name, call.function.arguments) for call in reply.tool_calls or []]
        episode.send(reply.content, calls)
    print(episode.result)"#
    );
    let about = "The package is in the folder python of Groundstate's repository: pip install ./python. This is a loop around a model with \
                 an OpenAI-compatible API.";
    Snippet { about, label: "A loop around a model", text }
}

fn trl(target: &Target) -> Vec<Snippet> {
    let Target { origin, project, environment, .. } = target;
    let name = if project == DEFAULT_PROJECT { environment.clone() } else { format!("{project}/{environment}") };
    let (name, split) = (quoted(&name), golden(target, ", split=\"golden\""));
    let install = format!("pip install trl==1.16.0 openreward==0.1.167\nexport OPENREWARD_SESSION_URL={origin}");
    let text = format!(
        r#"import os

from trl import GRPOTrainer
from trl.experimental.openreward import OpenRewardSpec

spec = OpenRewardSpec("{origin}", env_name={name}, api_key=os.environ["GROUNDSTATE_TOKEN"]{split})
GRPOTrainer(model="Qwen/Qwen3-0.6B", train_dataset=spec.train_dataset, environment_factory=spec.environment_factory,
            reward_funcs=spec.reward_funcs).train()"#
    );
    vec![
        Snippet {
            about: "Set the address before Python starts: without it, the client connects to another host.",
            label: "Install TRL",
            text: install,
        },
        Snippet {
            about: "The model speaks to the user by a tool, reply, because TRL knows no turns of users.",
            label: "Train with TRL",
            text,
        },
    ]
}

fn openenv(target: &Target) -> Snippet {
    let Target { origin, segments: [project, environment], .. } = target;
    let split = golden(target, "golden");
    let split = if split.is_empty() { "train" } else { split };
    let text = format!(
        r#"import os

from openenv import GenericEnvClient

url = "{origin}/openenv/{project}/{environment}"
headers = {{"Authorization": f"Bearer {{os.environ['GROUNDSTATE_TOKEN']}}"}}
with GenericEnvClient(base_url=url, headers=headers).sync() as env:
    print(env.reset(split="{split}", index=0).observation["text"])
    result = env.step({{"text": "Good day, how can I help?"}})
    print(result.observation["text"], result.reward, result.done)"#
    );
    Snippet { about: "The reward comes once, in the last step.", label: "Play with OpenEnv", text }
}

fn verifiers(target: &Target) -> Snippet {
    let (origin, name, split) =
        (&target.origin, word(&target.environment), golden(target, " --env.taskset.split golden"));
    let project = of_project(target, "--env.taskset.project");
    let text = format!(
        "pip install './python[verifiers]'\nexport GROUNDSTATE_URL={origin}\n\
         vf-eval groundstate-verifiers --env.taskset.environment {name}{project}{split} --model my-model \\\n    \
         --client.base-url http://127.0.0.1:8000/v1 --client.api-key-var MY_KEY -n 8 -r 4 --no-push"
    );
    let about = "The server asks verifiers for each turn of the agent, so an administrator has to start it with --agent-urls and the address \
                 of the machine on which vf-eval runs.";
    Snippet { about, label: "Evaluate with verifiers", text }
}

fn mcp(target: &Target) -> Snippet {
    let (client, name) = (client(target), quoted(&target.environment));
    let text = format!(
        r#"import asyncio

import httpx
from groundstate import Client
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main():
    client = {client}
    with client.open({name}) as episode:
        print(episode.say("Good day, how can I help?"))
        async with (
            httpx.AsyncClient(headers={{"Authorization": f"Bearer {{client.token}}"}}, timeout=90) as http,
            streamable_http_client(episode.mcp_url, http_client=http) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            print([tool.name for tool in (await session.list_tools()).tools])
        print(episode.verify().reward)


asyncio.run(main())"#
    );
    let about = "Each episode is an MCP server with the agent's tools. What the agent says to the user goes through the client. This is for \
                 the package mcp 1.x.";
    Snippet { about, label: "Call tools by MCP", text }
}

fn agent(target: &Target) -> Snippet {
    let (origin, name, project) = (&target.origin, word(&target.environment), of_project(target, "--to"));
    let text = format!(
        "groundstate episodes try --server {origin} --environment {name}{project} -n 24 --concurrency 4 -- \\\n    \
         python my_agent.py"
    );
    let about = "The command runs once for each episode. It finds the address of its episode in GROUNDSTATE_EPISODE_URL, the one of its \
                 tools in GROUNDSTATE_MCP_URL, and a token for both in GROUNDSTATE_TOKEN.";
    Snippet { about, label: "Try an agent", text }
}

/// The client of the package.
fn client(Target { origin, project, .. }: &Target) -> String {
    let project = if project == DEFAULT_PROJECT { String::new() } else { format!(", project={}", quoted(project)) };
    format!("Client(\"{origin}\"{project})")
}

/// An option that names the project, unless it is the default one.
fn of_project(Target { project, .. }: &Target, option: &str) -> String {
    if project == DEFAULT_PROJECT { String::new() } else { format!(" {option} {}", word(project)) }
}

/// An addition for environments of the golden part. Clients ask for the other part by default.
fn golden<'a>(target: &Target, says: &'a str) -> &'a str {
    if target.split == Some(Side::Golden) { says } else { "" }
}

/// A string of JSON, which is one of Python, too.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// One word of a command line.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if text.chars().all(is_plain) && !text.starts_with('-') { text.to_owned() } else { in_shell(text) }
}

/// A text that the shell changes nothing of.
fn in_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ORIGIN: &str = "http://127.0.0.1:7878";

    fn target(project: &str, environment: &str) -> Target {
        let segments = [project, environment].map(str::to_owned);
        let [project, environment] = segments.clone();
        Target { origin: ORIGIN.to_owned(), project, environment, segments, split: None }
    }

    fn text(protocol: &str, target: &Target) -> String {
        of(protocol, target).into_iter().map(|snippet| snippet.text).collect::<Vec<_>>().join("\n")
    }

    /// The documentation, with the address, the names and the words that the page writes.
    fn documentation() -> String {
        let pages =
            [include_str!("../../../../docs/environments.md"), include_str!("../../../../python/README.md")].concat();
        let changes = [
            ("$TOKEN", "$GROUNDSTATE_TOKEN"),
            (r#", "scenario": "transfer_rent_to_payee", "samples": 4"#, ""),
            (r#", scenario="transfer_rent_to_payee""#, ""),
            (r#""bank""#, r#""retail_bank""#),
            (r#""turn": 2, "#, ""),
            ("Could you tell me your customer number?", "Good day, how can I help?"),
            ("Please give me your customer number, your date of birth and your postcode.", "Good day, how can I help?"),
            (r#"os.environ["GROUNDSTATE_URL"]"#, r#""http://127.0.0.1:7878""#),
            (r#"f"{os.environ['GROUNDSTATE_URL']}/"#, r#""http://127.0.0.1:7878/"#),
            ("$GROUNDSTATE_URL", ORIGIN),
            ("Client()", r#"Client("http://127.0.0.1:7878")"#),
            ("python/examples/langgraph_agent.py", "my_agent.py"),
        ];
        changes.iter().fold(pages, |text, (from, to)| text.replace(from, to))
    }

    #[test]
    fn every_line_is_one_of_the_documentation() {
        let documentation = documentation();
        let lines: BTreeSet<&str> = documentation.lines().map(str::trim).collect();
        for (protocol, _) in PROTOCOLS {
            let text = text(protocol, &target("default", "retail_bank"));
            let unknown: Vec<&str> = text.lines().map(str::trim).filter(|line| !lines.contains(line)).collect();
            assert_eq!(unknown, Vec::<&str>::new(), "{protocol}");
        }
    }

    #[test]
    fn another_project_and_the_golden_part_are_named() {
        let target = Target { split: Some(Side::Golden), ..target("cards", "bank") };
        for (protocol, says) in [
            ("rest", "/projects/cards/episodes"),
            ("python", r#"Client("http://127.0.0.1:7878", project="cards").open("bank")"#),
            ("trl", r#"env_name="cards/bank", api_key=os.environ["GROUNDSTATE_TOKEN"], split="golden")"#),
            ("openenv", "/openenv/cards/bank"),
            ("openenv", r#"reset(split="golden", index=0)"#),
            ("verifiers", "--env.taskset.environment bank --env.taskset.project cards --env.taskset.split golden"),
            ("mcp", r#"client = Client("http://127.0.0.1:7878", project="cards")"#),
            ("agent", "--environment bank --to cards"),
        ] {
            let text = text(protocol, &target);
            assert!(text.contains(says), "{text}");
        }
    }

    #[test]
    fn names_are_quoted_for_who_reads_them() {
        let target = target("default", r#"it's "new""#);
        assert!(text("rest", &target).ends_with("verify -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\""));
        assert!(text("rest", &target).contains(r#"-d '{"name": "it'\''s \"new\""}'"#));
        assert!(text("trl", &target).contains(r#"env_name="it's \"new\"""#));
        assert!(text("agent", &target).contains(r#"--environment 'it'\''s "new"' -n 24"#));
    }

    #[test]
    fn every_protocol_has_a_name() {
        assert!(PROTOCOLS.iter().map(|(name, _)| name).eq(NAMES));
    }
}
