//! Calls of an episode's tools, answered in a stream that can be taken up again.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::AgentTurn;
use domain::event::{Event as EpisodeEvent, EventKind};
use domain::message::Message;
use futures::channel::mpsc::UnboundedSender;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::episodes::Episode as StoredEpisode;
use store::events;

use super::caller::Session;
use super::{OrsResult, body, in_a_stream, is_over};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::episodes::as_seen_by;
use crate::http::episodes::play::{self, TakenTurn};
use crate::http::episodes::turn;
use crate::http::episodes::view::{self, Since};
use crate::http::error::{HttpError, Result};

/// A call of a tool. `task_id` is that of the answer, if the connection broke before the answer came.
#[derive(Deserialize)]
struct CallBody {
    name: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    task_id: Option<String>,
}

/// A call is a turn of the agent, and the id of its answer is the number of the turn and a hash of the call. The client hears it before
/// the turn is taken, so a call that is sent again is not made twice: it either takes the same turn, or its answer is read from the
/// journal. Of calls that are made at once, only one takes the turn. The journal tells which, unless they are alike.
pub async fn call(State(app): State<App>, session: Session, audit: Audit, bytes: Bytes) -> OrsResult<Response> {
    audit.nothing_changed();
    let CallBody { name, input, task_id } = body(&bytes)?;
    let now = play::get(&app, session.id).await?;
    let hash = hash_of(&name, &input);
    let sent_before = match &task_id {
        Some(task) => turn_of(&app, &now, task, &hash).await?,
        None => None,
    };
    play::check_played(&now)?;
    let open = now.waiting.filter(|_| now.outcome.is_none()).map(|waiting| waiting.turn);
    let open = open.filter(|open| sent_before.is_none_or(|turn| turn == *open));
    let tools = view::of_stored(&app, now, Since::Start).await?.tools;
    let said = turn::of(turn::reply(&tools, &name, input, None));
    let call = Call { app, session, said, hash, sent_before };
    Ok(in_a_stream(move |events| async move {
        let output = match call.made(open, &events).await {
            Ok(output) => output,
            Err(error) => refused(&error.to_problem().detail, None),
        };
        // Whoever no longer reads has gone away.
        let _ = events.unbounded_send(Event::default().event("end").data(output));
    }))
}

/// Tells a call from others that were sent for the same turn. The order of the fields of its input does not matter.
fn hash_of(name: &str, input: &Value) -> String {
    let mut call = json!([name, input]);
    call.sort_all_objects();
    hex::encode(&Sha256::digest(call.to_string())[..8])
}

/// The turn for which a call was sent, from the id of its answer. `None`: it was not made, and is a new one now.
async fn turn_of(app: &App, now: &StoredEpisode, task: &str, hash: &str) -> Result<Option<u32>> {
    let id = now.planned.id;
    if task == id.to_string() {
        return Ok(None);
    }
    let unknown = || HttpError::BadRequest("unknown task_id".to_owned());
    let turn = task.strip_suffix(hash).and_then(|turn| turn.strip_suffix('-'));
    let turn: u32 = turn.and_then(|turn| turn.parse().ok()).ok_or_else(unknown)?;
    let is_open = now.waiting.is_some_and(|waiting| turn == waiting.turn);
    let is_over = now.waiting.is_none_or(|waiting| turn < waiting.turn);
    if is_open || (is_over && view::is_turn(app, id, turn).await?) {
        return Ok(Some(turn));
    }
    // It ended before the call was made.
    if now.outcome.is_some() { Ok(None) } else { Err(unknown()) }
}

/// A call whose answer is wanted.
struct Call {
    app: App,
    session: Session,
    said: AgentTurn,
    hash: String,
    /// The turn for which it was sent before. Another call may have taken it.
    sent_before: Option<u32>,
}

/// A turn whose answer is wanted.
enum Taken {
    Now(TakenTurn),
    /// Before this request came.
    Before(u32),
}

impl Call {
    /// Makes the call, and waits for its answer. `open`: the turn that it may take at once.
    async fn made(&self, open: Option<u32>, events: &UnboundedSender<Event>) -> Result<String> {
        match self.take(open, events).await? {
            Some(taken) => self.answer(taken).await,
            None => Ok(refused("the episode has ended", Some("episode_finished"))),
        }
    }

    /// Takes the agent's turn. Calls that come at the same time are made one after another. `None`: the episode has ended.
    async fn take(&self, mut open: Option<u32>, events: &UnboundedSender<Event>) -> Result<Option<Taken>> {
        let (app, id) = (&self.app, self.session.id);
        let tell = |task: String| {
            let _ = events.unbounded_send(Event::default().event("task_id").data(task));
        };
        loop {
            let turn = match open.take() {
                Some(turn) => turn,
                None => {
                    let now = play::agents_turn_or_end_at_last(app, id).await?;
                    // Only now the journal has all turns that were taken.
                    if let Some(turn) = self.made_before().await? {
                        tell(self.task_id(turn));
                        return Ok(Some(Taken::Before(turn)));
                    }
                    if now.outcome.is_some() {
                        tell(id.to_string());
                        return Ok(None);
                    }
                    play::open_turn(&now)?.turn
                }
            };
            tell(self.task_id(turn));
            match play::send(app, id, Some(turn), &self.said).await {
                Ok(taken) => return Ok(Some(Taken::Now(taken))),
                // Another call came first, or the episode has ended.
                Err(HttpError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn task_id(&self, turn: u32) -> String {
        format!("{turn}-{}", self.hash)
    }

    /// The turn that the call took, if it was made before. It is a later one than the client knows if another call came first and the
    /// connection broke.
    async fn made_before(&self) -> Result<Option<u32>> {
        let Some(sent) = self.sent_before else { return Ok(None) };
        let events = self.events_from(sent, i64::MAX).await?;
        Ok(events.iter().find(|event| turn::is_recorded_as(&self.said, event)).map(|event| event.seq))
    }

    async fn answer(&self, taken: Taken) -> Result<String> {
        let (app, session) = (&self.app, &self.session);
        let (turn, now) = match taken {
            Taken::Now(taken) => (taken.turn, taken.next_at_last(app).await?),
            Taken::Before(turn) => (turn, play::agents_turn_or_end_at_last(app, session.id).await?),
        };
        let episode = view::of_stored(app, now, Since::Turn(turn)).await?;
        let episode = as_seen_by(app, &session.caller, session.project, episode).await?;
        let may_be_refused = self.sent_before.is_some() || episode.refused.is_some();
        let refusal = if may_be_refused { self.refusal(turn).await? } else { None };
        // The last refusal ends the episode, and its answer has the reward.
        let ended_it = is_over(&episode) && episode.messages.is_empty();
        Ok(match refusal {
            Some(why) if !ended_it => refused(&why, Some("input_validation")),
            _ if episode.state == EpisodeState::Playing => refused(STILL_PLAYING, None),
            _ => output(&episode),
        })
    }

    /// Why a turn was refused, if it was: others may have followed it.
    async fn refusal(&self, turn: u32) -> Result<Option<String>> {
        let events = self.events_from(turn, 1).await?;
        Ok(events.into_iter().find_map(|event| match event.kind {
            EventKind::Refused { reason, .. } => Some(reason),
            _ => None,
        }))
    }

    /// Events from a turn on, so many at most.
    async fn events_from(&self, turn: u32, limit: i64) -> Result<Vec<EpisodeEvent>> {
        let Some(after) = i32::try_from(turn).ok().and_then(|turn| turn.checked_sub(1)) else { return Ok(Vec::new()) };
        let mut db = self.app.pool().acquire().await?;
        Ok(events::page(&mut db, self.session.id, after, limit).await?)
    }
}

const STILL_PLAYING: &str = "there is no answer yet; the episode goes on";

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
