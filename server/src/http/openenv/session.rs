//! One connection: messages in, and exactly one answer for each.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::WebSocket;
use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::ChatReply;
use domain::message::Message;
use generation::episodes::{GROUPS_BY_CLIENTS, NewGroup};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::clock;
use tokio::time::sleep;
use tracing::debug;
use uuid::Uuid;

use super::frames::Frames;
use super::json_rpc::{self, Method};
use super::message::{self, Action, ClientMessage, Request};
use crate::http::access::{self, Scope, credentials};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::caller::Caller;
use crate::http::episodes::as_seen_by;
use crate::http::episodes::play::{self, Closing};
use crate::http::episodes::view::{self, Since};
use crate::http::episodes::{tools, turn};
use crate::http::error::{HttpError, Result};
use crate::http::extract;
use crate::http::opening_queue::OpenedEpisode;
use crate::http::ors::caller::TrainerOf;
use crate::http::ors::closing::end_at_last;
use crate::http::ors::tasks::TaskList;

pub struct OpenEnvSession {
    app: App,
    /// The token that the client showed. It is looked at for each message: it may be withdrawn meanwhile.
    key: String,
    /// Names of the project and the environment.
    place: (String, String),
    audit: Audit,
    episode: Option<Uuid>,
    /// An episode that may be there already, and that is not the session's yet.
    opening: Option<Uuid>,
    /// What the agent of the episode may call. Empty until that is known.
    tools: Vec<Arc<Value>>,
    /// The agent's turn, if it is known: a step that is sent again after an error must not be taken for a later one.
    turn: Option<u32>,
    steps: u32,
}

/// What is asked of a new episode. Other arguments of a reset are ignored, as `OpenEnv` does; so is `episode_id`, because each
/// episode has an id of ours.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reset {
    split: Option<String>,
    /// Of a task in the split.
    index: Option<i64>,
    scenario: Option<String>,
    group: Option<i32>,
    /// Names the group; trainers draw larger numbers than there are groups.
    seed: Option<i64>,
}

/// The fields of an action.
#[derive(Deserialize)]
struct ActionFields {
    text: Option<String>,
    tool_name: Option<String>,
    #[serde(default)]
    arguments: Value,
}

/// Who reads an observation, and in which project.
type Reader<'a> = (&'a Caller, Uuid);

impl OpenEnvSession {
    pub const fn new(app: App, key: String, place: (String, String), audit: Audit) -> Self {
        Self { app, key, place, audit, episode: None, opening: None, tools: Vec::new(), turn: None, steps: 0 }
    }

    /// Answers until the client goes. An episode that it leaves behind is given up, unless it said goodbye.
    pub async fn serve(mut self, socket: WebSocket) {
        let mut frames = Frames::new(socket);
        let mut said_goodbye = false;
        while let Some(received) = frames.next().await {
            match ClientMessage::read(&received) {
                ClientMessage::Request(request) => frames.answer(self.answer(request)).await,
                ClientMessage::Refused(code, why) => frames.send(&message::failed(code, &why)).await,
                ClientMessage::Close => {
                    said_goodbye = true;
                    break;
                }
            }
        }
        // A policy must not get rid of its reward by a message that is too large.
        let is_verified = said_goodbye || frames.broke_limit();
        let how = || if is_verified { Closing::Verified } else { Closing::GivenUp };
        if let Some(episode) = self.episode {
            tokio::spawn(leave(self.app.clone(), episode, how()));
        }
        if let Some(episode) = self.opening {
            tokio::spawn(leave_opening(self.app.clone(), episode, how()));
        }
        frames.close().await;
    }

    async fn answer(&mut self, request: Request) -> Value {
        self.respond(request).await.unwrap_or_else(|error| message::refused(&error))
    }

    async fn respond(&mut self, request: Request) -> Result<Value> {
        let caller = credentials::by_token(&self.app, &self.key).await?;
        match request {
            Request::Reset(asked) => {
                let trainer = self.trainer(&caller).await?;
                self.reset(&trainer, asked).await
            }
            Request::Step(action) => {
                let project = self.project(&caller).await?;
                self.step((&caller, project), action).await
            }
            Request::Mcp(request) => {
                let project = self.project(&caller).await?;
                let result = self.mcp((&caller, project), &request).await;
                Ok(json!({"type": "mcp", "data": json_rpc::answer(&request, result)}))
            }
            Request::State => {
                self.project(&caller).await?;
                let id = self.episode.map(|id| id.to_string());
                Ok(json!({"type": "state", "data": {"episode_id": id, "step_count": self.steps}}))
            }
        }
    }

    /// The project, if the caller may still run something there.
    async fn project(&self, caller: &Caller) -> Result<Uuid> {
        match self.episode {
            // Looked up for many at once.
            Some(id) => Ok(access::of_episode(&self.app, caller, id, Scope::Run).await?.id),
            None => Ok(self.trainer(caller).await?.project),
        }
    }

    async fn trainer(&self, caller: &Caller) -> Result<TrainerOf> {
        let (project, environment) = &self.place;
        TrainerOf::of(&self.app, caller, Some(project), environment).await
    }

    /// Opens an episode: `scenario` and `group`, or the `index` of a task in a `split`. `seed` names a group, too. The episode before
    /// it goes on if none can be opened.
    async fn reset(&mut self, trainer: &TrainerOf, asked: Map<String, Value>) -> Result<Value> {
        let asked: Reset = extract::of_value(Value::Object(asked))?;
        let list = TaskList::of(&self.app, trainer, asked.split.as_deref()).await?;
        let task = asked.index.map(|index| list.at(index)).transpose()?;
        let of_seed = |seed: i64| i32::try_from(seed.rem_euclid(GROUPS_BY_CLIENTS.into())).unwrap_or_default();
        let id = clock::id();
        let group = NewGroup {
            scenario: task.as_ref().map(|task| task.scenario.clone()).or(asked.scenario),
            group: task.as_ref().map(|task| task.group).or(asked.group).or(asked.seed.map(of_seed)),
            samples: 1,
            id: Some(id),
        };
        // The client may leave while it is opened.
        self.opening = Some(id);
        let opened = play::open_checked(&self.app, list.opening(group, self.audit.clone())).await;
        self.opening = None;
        let OpenedEpisode { signal, .. } = opened?.swap_remove(0);
        if let Some(before) = self.episode.replace(id) {
            tokio::spawn(leave(self.app.clone(), before, Closing::Verified));
        }
        (self.tools, self.turn, self.steps) = (Vec::new(), None, 0);
        let now = play::next_turn_or_end_at_last(&self.app, id, signal).await?;
        let episode = view::of_stored(&self.app, now, Since::Start).await?;
        self.tools.clone_from(&episode.tools);
        self.turn = episode.turn;
        let said: Vec<&str> = episode.messages.iter().skip(1).map(Message::content).collect();
        let instructions = episode.messages.first().map(Message::content).unwrap_or_default();
        Ok(observation(&json!({"instructions": instructions, "text": said.join("\n")}), &episode))
    }

    async fn step(&mut self, (caller, project): Reader<'_>, action: Action) -> Result<Value> {
        if action.as_ref().is_ok_and(|action| action.get("type").is_some_and(|kind| kind == "list_tools")) {
            let tools = self.list_tools(caller).await?;
            let observed = json!({"observation": {"tools": tools}, "reward": null, "done": false, "metadata": {}});
            return Ok(json!({"type": "observation", "data": observed}));
        }
        let id = self.episode.ok_or_else(|| HttpError::Conflict(NOT_BEGUN.to_owned()))?;
        if self.tools.is_empty() {
            self.tools = view::of(&self.app, id, Since::Start).await?.tools;
        }
        let (called, reply) = reply(&self.tools, action);
        let taken = match play::send(&self.app, id, self.turn, &turn::of(reply)).await {
            Err(HttpError::Conflict(why)) => {
                self.turn = None;
                let has_ended = play::get(&self.app, id).await?.outcome.is_some();
                return Err(HttpError::Conflict(if has_ended { HAS_ENDED.to_owned() } else { why }));
            }
            taken => taken?,
        };
        self.steps += 1;
        let since = Since::Turn(taken.turn);
        let now = taken.next_at_last(&self.app).await?;
        let next = view::of_stored(&self.app, now, since).await?;
        let next = as_seen_by(&self.app, caller, project, next).await?;
        self.turn = next.turn;
        let heard = next.messages.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
        let text = heard.map(Message::content).collect::<Vec<_>>().join("\n");
        let text = next.refused.clone().unwrap_or(text);
        Ok(match called {
            Some(tool) => observation(&json!({"tool_name": tool, "result": text, "error": null}), &next),
            None => observation(&json!({"text": text}), &next),
        })
    }

    async fn mcp(&mut self, reader: Reader<'_>, request: &Value) -> std::result::Result<Value, json_rpc::Failure> {
        let answered = match json_rpc::read(request)? {
            Method::ListTools => self.list_tools(reader.0).await.map(|tools| json_rpc::tools(&tools)),
            Method::CallTool(action) => self.step(reader, Ok(action)).await.map(|step| json_rpc::called(&step)),
        };
        answered.map_err(|error| (json_rpc::INTERNAL_ERROR, message::in_words(&error)))
    }

    /// The tools of the episode, and before the first one those of all tasks.
    async fn list_tools(&self, caller: &Caller) -> Result<Vec<Value>> {
        match self.episode {
            Some(id) => Ok(tools::of(&view::of(&self.app, id, Since::Start).await?.tools)),
            None => Ok(TaskList::of(&self.app, &self.trainer(caller).await?, None).await?.tools()),
        }
    }
}

const NOT_BEGUN: &str = "no episode has begun; send `reset` first";
const HAS_ENDED: &str = "the episode has ended; send `reset` to begin another one";

/// How often an episode is looked for that was being opened when its client left.
const LOOKS: u32 = 60;
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Leaves an episode that may not be there yet: the transaction that opens it goes on without the client.
async fn leave_opening(app: App, episode: Uuid, how: Closing) {
    let opened = async {
        for _ in 0..LOOKS {
            let Err(HttpError::NotFound(_)) = play::get(&app, episode).await else { return };
            sleep(LOOK_AGAIN).await;
        }
    };
    if app.stop().run_until_cancelled(opened).await.is_some() {
        leave(app, episode, how).await;
    }
}

async fn leave(app: App, episode: Uuid, how: Closing) {
    if let Err(error) = end_at_last(&app, episode, &how).await {
        debug!(%episode, %error, "an episode that was left is not closed");
    }
}

/// The message of the agent that an action is, and the tool that it calls. Words beside a call are said with it.
fn reply(functions: &[Arc<Value>], action: Action) -> (Option<String>, std::result::Result<ChatReply, String>) {
    let fields = action.and_then(|action| {
        let fields = extract::of_value::<ActionFields>(Value::Object(action));
        fields.map_err(|error| message::in_words(&error))
    });
    let ActionFields { text, tool_name, arguments } = match fields {
        Ok(fields) => fields,
        Err(why) => return (None, Err(format!("the action cannot be read: {why}"))),
    };
    match (tool_name.filter(|name| !name.is_empty()), text) {
        (Some(tool), text) => {
            let reply = turn::reply(functions, &tool, arguments, text);
            (Some(tool), reply)
        }
        (None, Some(content)) => (None, Ok(ChatReply { content, ..ChatReply::default() })),
        (None, None) => (None, Err("send `text`, or `tool_name` and `arguments`".to_owned())),
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
