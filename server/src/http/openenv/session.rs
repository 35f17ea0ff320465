//! One connection: frames in, and exactly one answer for each.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message as Frame, WebSocket};
use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::{AgentTurn, ChatReply};
use domain::message::{Message, ToolCall};
use generation::episodes::{GROUPS_BY_CLIENTS, NewGroup};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tracing::debug;
use uuid::Uuid;

use crate::http::access::{self, Scope, credentials};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::caller::Caller;
use crate::http::episodes::play::{self, Closing, OpenedEpisode};
use crate::http::episodes::view::{self, Since};
use crate::http::episodes::{as_seen_by, functions};
use crate::http::error::{HttpError, Result};
use crate::http::extract;
use crate::http::ors::caller::TrainerOf;
use crate::http::ors::tasks::TaskList;
use crate::http::ors::tools;

/// A connection that says nothing for so long is closed. The clients' libraries send a ping each 20 seconds.
const LONGEST_SILENCE: Duration = Duration::from_mins(30);

pub struct OpenEnvSession {
    app: App,
    /// The token that the client showed. It is looked at for each message: it may be withdrawn meanwhile.
    key: String,
    /// Names of the project and the environment.
    place: (String, String),
    audit: Audit,
    episode: Option<Uuid>,
    /// What the agent of the episode may call.
    tools: Vec<Arc<Value>>,
    steps: u32,
}

/// What is asked of a new episode.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Reset {
    split: Option<String>,
    /// Of a task in the split.
    index: Option<i64>,
    scenario: Option<String>,
    group: Option<i32>,
    /// Names the group; trainers draw larger numbers than there are groups.
    seed: Option<i64>,
    /// Ours is another one; the client may send one.
    #[serde(rename = "episode_id")]
    _episode_id: Option<Value>,
}

/// What an agent does in one step.
#[derive(Deserialize)]
struct Action {
    text: Option<String>,
    tool_name: Option<String>,
    arguments: Option<Map<String, Value>>,
}

/// What a client sends.
#[derive(Deserialize)]
struct Request {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Map<String, Value>,
}

impl OpenEnvSession {
    pub const fn new(app: App, key: String, place: (String, String), audit: Audit) -> Self {
        Self { app, key, place, audit, episode: None, tools: Vec::new(), steps: 0 }
    }

    /// Answers until the client goes. An episode that it leaves behind is given up, unless it said goodbye.
    pub async fn serve(mut self, mut socket: WebSocket) {
        let mut closing = Closing::GivenUp;
        while let Ok(Some(Ok(frame))) = timeout(LONGEST_SILENCE, socket.recv()).await {
            let text = match frame {
                Frame::Text(text) => text,
                Frame::Close(_) => break,
                Frame::Ping(_) | Frame::Pong(_) => continue,
                Frame::Binary(_) => {
                    let error = HttpError::BadRequest("send text, not bytes".to_owned());
                    if socket.send(Frame::Text(failed("INVALID_JSON", &error).to_string().into())).await.is_err() {
                        break;
                    }
                    continue;
                }
            };
            let answer = match extract::read::<Request>(text.as_bytes()) {
                Ok(request) if request.kind == "close" => {
                    closing = Closing::Verified;
                    break;
                }
                Ok(request) => self.answer(request).await.unwrap_or_else(|error| failed("EXECUTION_ERROR", &error)),
                Err(error) => failed("INVALID_JSON", &error),
            };
            if socket.send(Frame::Text(answer.to_string().into())).await.is_err() {
                break;
            }
        }
        self.leave(&closing).await;
    }

    async fn leave(&mut self, how: &Closing) {
        let Some(episode) = self.episode.take() else { return };
        if let Err(error) = play::end(&self.app, episode, how).await {
            debug!(%episode, %error, "an episode that was left is not closed");
        }
    }

    async fn answer(&mut self, request: Request) -> Result<Value> {
        let caller = credentials::by_token(&self.app, &self.key).await?;
        // What may be done in the project may be done with the episode, and that is looked up for many at once.
        let project = match self.episode {
            Some(id) if request.kind != "reset" => access::of_episode(&self.app, &caller, id, Scope::Run).await?.id,
            _ => {
                let (project, environment) = &self.place;
                let trainer = TrainerOf::of(&self.app, &caller, Some(project), environment).await?;
                if request.kind == "reset" {
                    return self.reset(&trainer, request.data).await;
                }
                trainer.project
            }
        };
        match request.kind.as_str() {
            "step" => self.step((&caller, project), request.data).await,
            "state" => {
                let id = self.episode.map(|id| id.to_string());
                Ok(json!({"type": "state", "data": {"episode_id": id, "step_count": self.steps}}))
            }
            other => {
                let known =
                    HttpError::BadRequest(format!("there is no message `{other}`; send reset, step, state or close"));
                Ok(failed("UNKNOWN_TYPE", &known))
            }
        }
    }

    /// Opens an episode: `scenario` and `group`, or the `index` of a task in a `split`. `seed` names a group, too.
    async fn reset(&mut self, trainer: &TrainerOf, data: Map<String, Value>) -> Result<Value> {
        let asked: Reset = extract::of_value(Value::Object(data))?;
        self.leave(&Closing::Verified).await;
        let list = TaskList::of(&self.app, trainer, asked.split.as_deref()).await?;
        let task = asked.index.map(|index| list.at(index)).transpose()?;
        let of_seed = |seed: i64| i32::try_from(seed.rem_euclid(GROUPS_BY_CLIENTS.into())).unwrap_or_default();
        let group = NewGroup {
            scenario: task.as_ref().map(|task| task.scenario.as_str()).or(asked.scenario.as_deref()),
            group: task.as_ref().map(|task| task.group).or(asked.group).or(asked.seed.map(of_seed)),
            samples: 1,
            id: None,
        };
        let order = (list.library.as_ref(), &list.order);
        let mut opened = play::open_checked(&self.app, order, group, None, self.audit.clone()).await?;
        let OpenedEpisode { id, signal, .. } = opened.swap_remove(0);
        (self.episode, self.steps) = (Some(id), 0);
        let now = play::next_turn_or_end_at_last(&self.app, id, signal).await?;
        let episode = view::of_stored(&self.app, now, Since::Start).await?;
        self.tools.clone_from(&episode.tools);
        let said: Vec<&str> = episode.messages.iter().skip(1).map(Message::content).collect();
        let instructions = episode.messages.first().map(Message::content).unwrap_or_default();
        Ok(observation(&json!({"instructions": instructions, "text": said.join("\n")}), &episode))
    }

    async fn step(&mut self, (caller, project): (&Caller, Uuid), action: Map<String, Value>) -> Result<Value> {
        let Some(id) = self.episode else {
            return Err(HttpError::Conflict("no episode has begun; send `reset` first".to_owned()));
        };
        if action.get("type").is_some_and(|kind| kind == "list_tools") {
            let episode = view::of(&self.app, id, Since::Start).await?;
            let tools: Vec<Value> = tools::of(&episode.tools);
            return Ok(observation(&json!({"tools": tools}), &episode));
        }
        let (called, reply) = turn(&self.tools, extract::of_value(Value::Object(action))?)?;
        let taken = play::send(&self.app, id, None, &AgentTurn::Reply(reply)).await?;
        self.steps += 1;
        let since = Since::Turn(taken.turn);
        let now = play::next_turn_or_end_at_last(&self.app, id, taken.signal).await?;
        let next = view::of_stored(&self.app, now, since).await?;
        let next = as_seen_by(&self.app, caller, project, next).await?;
        let heard = next.messages.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
        let text = heard.map(Message::content).collect::<Vec<_>>().join("\n");
        let text = next.refused.clone().unwrap_or(text);
        Ok(match called {
            Some(tool) => observation(&json!({"tool_name": tool, "result": text, "error": null}), &next),
            None => observation(&json!({"text": text}), &next),
        })
    }
}

/// The turn of the agent that an action is, and the tool that it calls. Words beside a call are said with it.
fn turn(functions: &[Arc<Value>], action: Action) -> Result<(Option<String>, ChatReply)> {
    let Action { text, tool_name, arguments } = action;
    let say = |content: String| ChatReply { content, ..ChatReply::default() };
    match tool_name.filter(|name| !name.is_empty()) {
        Some(tool) if tool == tools::reply_name(functions) => {
            let said = arguments.unwrap_or_default().remove("text");
            let said = said.as_ref().and_then(Value::as_str).or(text.as_deref());
            let said = said.ok_or_else(|| HttpError::BadRequest("`arguments.text` is missing".to_owned()))?;
            Ok((Some(tool), say(said.to_owned())))
        }
        Some(tool) => {
            let function = functions.iter().find(|function| functions::name(function) == tool);
            let arguments = Value::Object(functions::given(function, arguments.unwrap_or_default())).to_string();
            let call = ToolCall::new(String::new(), tool.clone(), arguments);
            Ok((Some(tool), ChatReply { tool_calls: vec![call], ..say(text.unwrap_or_default()) }))
        }
        None => {
            let said =
                text.ok_or_else(|| HttpError::BadRequest("send `text`, or `tool_name` and `arguments`".to_owned()))?;
            Ok((None, say(said)))
        }
    }
}

/// The reward is told once, at the end: readers add up what they hear.
fn observation(observed: &Value, episode: &Episode) -> Value {
    let result = episode.result.as_ref();
    let metadata = json!({
        "episode": episode.id, "scenario": episode.scenario, "group": episode.group, "playing": episode.state == EpisodeState::Playing,
        "reason": result.and_then(|result| result.reason.as_deref()), "reward_components": result.map(|result| &result.reward_components),
    });
    json!({"type": "observation", "data": {
        "observation": observed, "reward": result.and_then(|result| result.reward), "done": episode.state == EpisodeState::Ended, "metadata": metadata,
    }})
}

fn failed(code: &str, error: &HttpError) -> Value {
    json!({"type": "error", "data": {"message": error.to_problem().detail, "code": code}})
}
