//! Calls of an episode's tools, answered in a stream that can be taken up again.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use domain::api::episodes::Episode;
use domain::chat::{AgentTurn, ChatReply};
use domain::message::{Message, ToolCall};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::caller::Session;
use super::{OrsResult, answered_in_a_stream, body, is_over, tools};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::episodes::view::{self, Since};
use crate::http::episodes::{PATIENCE, as_seen_by};
use crate::http::episodes::{functions, play};
use crate::http::error::{HttpError, Result};

/// A call of a tool. `task_id` is the answer's that was begun and broke off.
#[derive(Deserialize)]
struct CallBody {
    name: String,
    #[serde(default)]
    input: Option<Map<String, Value>>,
    #[serde(default)]
    task_id: Option<String>,
}

/// A call is a turn of the agent, and the id of its answer is the turn's number: one that is taken up again is read from the
/// journal, and nothing is done twice.
pub async fn call(State(app): State<App>, session: Session, audit: Audit, bytes: Bytes) -> OrsResult<Response> {
    audit.nothing_changed();
    let id = session.id;
    let asked: CallBody = body(&bytes)?;
    let begun = match &asked.task_id {
        Some(task) => taken_up(&app, id, task).await?,
        None => begin(&app, id, &asked).await?,
    };
    let turn = match begun {
        Ok(turn) => turn,
        Err(refusal) => return Ok(answered_in_a_stream(id.to_string(), async { end(refusal) })),
    };
    Ok(answered_in_a_stream(turn.to_string(), async move {
        end(answer(&app, &session, turn).await.unwrap_or_else(|error| refused(&error.to_problem().detail, None)))
    }))
}

fn end(output: String) -> Event {
    Event::default().event("end").data(output)
}

/// Takes the agent's turn. Calls that are made at once are made one after another. The refusal of a call that cannot be made.
async fn begin(app: &App, id: Uuid, asked: &CallBody) -> Result<std::result::Result<u32, String>> {
    loop {
        let now = play::agents_turn_or_end(app, id, PATIENCE).await?;
        if now.outcome.is_some() {
            return Ok(Err(refused("the episode has ended", Some("episode_finished"))));
        }
        let turn = play::open_turn(&now)?.turn;
        let episode = view::of_stored(app, now, Since::Start).await?;
        let reply = match reply(&episode, asked) {
            Ok(reply) => reply,
            Err(why) => return Ok(Err(refused(&why, Some("input_validation")))),
        };
        match play::send(app, id, Some(turn), &AgentTurn::Reply(reply)).await {
            Ok(taken) => return Ok(Ok(taken.turn)),
            // Another call came first.
            Err(HttpError::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The turn of a call that was made before.
async fn taken_up(app: &App, id: Uuid, task: &str) -> Result<std::result::Result<u32, String>> {
    let unknown = || HttpError::BadRequest("unknown task_id".to_owned());
    let turn: u32 = task.parse().map_err(|_| unknown())?;
    let now = play::get(app, id).await?;
    let begun = now.waiting.is_none_or(|waiting| turn < waiting.turn);
    (begun && view::is_turn(app, id, turn).await?).then_some(Ok(turn)).ok_or_else(unknown)
}

async fn answer(app: &App, session: &Session, turn: u32) -> Result<String> {
    let id = session.id;
    // The stream goes on meanwhile.
    let now = play::agents_turn_or_end_at_last(app, id).await?;
    let episode = view::of_stored(app, now, Since::Turn(turn)).await?;
    let episode = as_seen_by(app, &session.caller, session.project, episode).await?;
    if let Some(refused_because) = &episode.refused {
        return Ok(refused(refused_because, Some("input_validation")));
    }
    Ok(output(&episode))
}

/// The turn of the agent that a call is.
fn reply(episode: &Episode, asked: &CallBody) -> std::result::Result<ChatReply, String> {
    let input = asked.input.clone().unwrap_or_default();
    if asked.name == tools::reply_name(&episode.tools) {
        return match input.get("text").and_then(Value::as_str) {
            Some(text) => Ok(ChatReply { content: text.to_owned(), ..ChatReply::default() }),
            None => Err("`text` is missing: say something to the user".to_owned()),
        };
    }
    let function = episode.tools.iter().find(|function| functions::name(function) == asked.name);
    let arguments = Value::Object(functions::given(function, input)).to_string();
    let call = ToolCall::new(String::new(), asked.name.clone(), arguments);
    Ok(ChatReply { tool_calls: vec![call], ..ChatReply::default() })
}

/// What followed a call. While the episode goes on, the reward is what it would be worth if the agent said no more, because
/// trainers that hear nothing of its end take the last reward. If somebody else spoils it afterwards, not-a-number takes that
/// reward back: Python reads it, and trainers leave it out.
fn output(episode: &Episode) -> String {
    // The first is the call itself. What followed a later one is not its answer.
    let after = episode.messages.iter().skip(1).take_while(|message| !matches!(message, Message::Assistant { .. }));
    let heard = after.map(Message::content);
    let text = heard.collect::<Vec<_>>().join("\n");
    let text = if text.is_empty() && is_over(episode) { "(The conversation has ended.)".to_owned() } else { text };
    let reward = match &episode.result {
        Some(result) => result.reward,
        None => episode.reward_if_ended,
    };
    let metadata = episode.result.as_ref().map(|result| {
        json!({
            "reward_components": result.reward_components, "blame": result.blame, "reason": result.reason,
            "ending": result.ending, "penalties": result.penalties,
        })
    });
    let blocks = json!([{"type": "text", "text": text, "detail": null}]);
    let reward = reward.map_or_else(|| "NaN".to_owned(), |reward| reward.to_string());
    format!(
        r#"{{"ok":true,"output":{{"blocks":{blocks},"metadata":{},"reward":{reward},"finished":{}}}}}"#,
        metadata.unwrap_or_default(),
        is_over(episode)
    )
}

/// A call that the agent may make again in another way.
fn refused(why: &str, reason: Option<&str>) -> String {
    json!({"ok": false, "error": why, "reason": reason}).to_string()
}
