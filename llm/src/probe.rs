//! Whether the endpoints of a model answer as the platform needs it: asked before a run spends money. Each is asked three
//! small questions at once, and none of them again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::api::probe::{ProbeCheck, ProbeKind, ReplicaProbe};
use domain::message::Message;
use domain::role::Role;
use engine::{Ask, ChatReply, ReplySchema};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::client::Client;
use crate::spec::EndpointSpec;
use crate::{EndpointOptions, PoolSpec, SetupError, deaf};

/// What is waited for: somebody looks on.
const FIRST_BYTE: Duration = Duration::from_secs(20);
const WHOLE: Duration = Duration::from_secs(40);
/// Models that reason need room for it.
const MAX_TOKENS: u32 = 1024;
/// Letters of a reply that are shown.
const SHOWN: usize = 200;
const CITY: &str = "Lisbon";

/// One report for each endpoint of the model, in their order.
///
/// # Errors
/// The key is missing, or a client cannot be made.
pub async fn probe(spec: &PoolSpec) -> Result<Vec<ReplicaProbe>, SetupError> {
    let options =
        EndpointOptions { first_byte_timeout: FIRST_BYTE, total_timeout: WHOLE, ..EndpointOptions::default() };
    let client = |endpoint: EndpointSpec| Client::new(endpoint, options.clone());
    let clients = spec.endpoints().map(client).collect::<Result<Vec<_>, _>>()?;
    Ok(join_all(clients.iter().map(replica)).await)
}

async fn replica(client: &Client) -> ReplicaProbe {
    let checks = join_all(ProbeKind::ALL.map(|kind| check(client, kind))).await;
    ReplicaProbe { url: client.spec().base_url().to_owned(), checks }
}

async fn check(client: &Client, kind: ProbeKind) -> ProbeCheck {
    let begun = Instant::now();
    let heard = client.ask(&ask(kind), &deaf).await;
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let first_byte_ms = heard.as_ref().ok().map(|heard| milliseconds(heard.first_byte));
    let verdict = heard.map_err(|failed| failed.failure.to_string()).and_then(|heard| judged(kind, &heard.reply));
    let (passed, detail) = match verdict {
        Ok(said) => (true, said),
        Err(why) => (false, why),
    };
    ProbeCheck { kind, passed, detail, first_byte_ms, total_ms: milliseconds(begun.elapsed()) }
}

fn ask(kind: ProbeKind) -> Ask {
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false});
    let (question, tools, schema) = match kind {
        ProbeKind::Reply => ("Answer with the one word: ready".to_owned(), None, None),
        ProbeKind::ToolCall => {
            let function = json!({"name": "get_weather", "description": "Returns today's weather of a city.",
                "parameters": city});
            let tool = json!({"type": "function", "function": function});
            (format!("What is the weather in {CITY}? Call get_weather."), Some(Arc::new(tool)), None)
        }
        ProbeKind::JsonSchema => {
            let schema = ReplySchema { name: "city".to_owned(), schema: city };
            (format!("Answer with JSON that names the city: {CITY}"), None, Some(schema))
        }
    };
    Ask {
        role: Role::Agent,
        messages: vec![Message::User { content: question }],
        tools: tools.into_iter().collect(),
        schema,
        temperature: 0.0,
        max_tokens: MAX_TOKENS,
        seed: 1,
    }
}

/// What to show of a reply that is as it should be; otherwise what is wrong with it.
fn judged(kind: ProbeKind, reply: &ChatReply) -> Result<String, String> {
    match kind {
        ProbeKind::Reply if reply.content.trim().is_empty() => Err("the reply is empty".to_owned()),
        ProbeKind::Reply => Ok(shown(&reply.content)),
        ProbeKind::ToolCall => {
            let call = reply.tool_calls.first().ok_or_else(|| {
                format!(
                    "it called no tool and said `{}`; the agent style `react` needs no tool calls",
                    shown(&reply.content)
                )
            })?;
            let arguments = call.arguments().map_err(|e| format!("the call's arguments cannot be read: {e}"))?;
            names_the_city(&arguments).map(|()| format!("{}({arguments})", shown(call.name())))
        }
        ProbeKind::JsonSchema => {
            let value = reply.json().map_err(|e| format!("{e}; it said `{}`", shown(&reply.content)))?;
            names_the_city(&value).map(|()| shown(&value.to_string()))
        }
    }
}

fn names_the_city(value: &Value) -> Result<(), String> {
    match value["city"].as_str() {
        Some(city) if city.contains(CITY) => Ok(()),
        _ => Err(format!("`{}` does not name the city {CITY}", shown(&value.to_string()))),
    }
}

fn shown(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() > SHOWN { text.chars().take(SHOWN).chain(['…']).collect() } else { text.to_owned() }
}
