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
use store::episodes::Episode as StoredEpisode;
use store::events;

use super::caller::Session;
use super::{OrsResult, body, in_a_stream, is_over, turn};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::episodes::as_seen_by;
use crate::http::episodes::play::{self, TakenTurn};
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

/// A call is a turn of the agent, and the id of its answer is the number of the turn. The client hears it before the turn is taken, so
/// a call that is sent again is not made twice: it either takes the same turn, or its answer is read from the journal.
pub async fn call(State(app): State<App>, session: Session, audit: Audit, bytes: Bytes) -> OrsResult<Response> {
    audit.nothing_changed();
    let CallBody { name, input, task_id } = body(&bytes)?;
    let now = play::get(&app, session.id).await?;
    let sent_before = match &task_id {
        Some(task) => turn_of(&app, &now, task).await?,
        None => None,
    };
    play::check_played(&now)?;
    let open = now.waiting.filter(|_| now.outcome.is_none()).map(|waiting| waiting.turn);
    let tools = view::of_stored(&app, now, Since::Start).await?.tools;
    let said = turn::of(turn::reply(&tools, &name, input, None));
    let call = Call { app, session, said, is_sent_again: sent_before.is_some() };
    Ok(in_a_stream(move |events| async move {
        let output = match call.made(sent_before.or(open), &events).await {
            Ok(output) => output,
            Err(error) => refused(&error.to_problem().detail, None),
        };
        // Whoever no longer reads has gone away.
        let _ = events.unbounded_send(Event::default().event("end").data(output));
    }))
}

/// The turn that the id of an answer names. `None`: its call was not made, and is a new one now.
async fn turn_of(app: &App, now: &StoredEpisode, task: &str) -> Result<Option<u32>> {
    let id = now.planned.id;
    if task == id.to_string() {
        return Ok(None);
    }
    let unknown = || HttpError::BadRequest("unknown task_id".to_owned());
    let turn: u32 = task.parse().map_err(|_| unknown())?;
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
    is_sent_again: bool,
}

/// A turn whose answer is wanted.
enum Taken {
    Now(TakenTurn),
    /// Before this request came.
    Before(u32),
}

impl Call {
    /// Makes the call, and waits for its answer. `turn`: the one that it is, if that is known.
    async fn made(&self, turn: Option<u32>, events: &UnboundedSender<Event>) -> Result<String> {
        match self.take(turn, events).await? {
            Some(taken) => self.answer(taken).await,
            None => Ok(refused("the episode has ended", Some("episode_finished"))),
        }
    }

    /// Takes the agent's turn. Calls that come at the same time are made one after another. `None`: the episode has ended.
    async fn take(&self, mut turn: Option<u32>, events: &UnboundedSender<Event>) -> Result<Option<Taken>> {
        let (app, id) = (&self.app, self.session.id);
        let tell = |task: String| {
            let _ = events.unbounded_send(Event::default().event("task_id").data(task));
        };
        loop {
            let turn = match turn.take() {
                Some(turn) => turn,
                None => {
                    let now = play::agents_turn_or_end_at_last(app, id).await?;
                    if now.outcome.is_some() {
                        tell(id.to_string());
                        return Ok(None);
                    }
                    play::open_turn(&now)?.turn
                }
            };
            tell(turn.to_string());
            match play::send(app, id, Some(turn), &self.said).await {
                Ok(taken) => return Ok(Some(Taken::Now(taken))),
                Err(HttpError::Conflict(_)) if self.is_sent_again => return Ok(Some(Taken::Before(turn))),
                // Another call came first, or the episode has ended.
                Err(HttpError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn answer(&self, taken: Taken) -> Result<String> {
        let (app, session) = (&self.app, &self.session);
        let (turn, now) = match taken {
            Taken::Now(taken) => (taken.turn, taken.next_at_last(app).await?),
            Taken::Before(turn) => (turn, play::agents_turn_or_end_at_last(app, session.id).await?),
        };
        let episode = view::of_stored(app, now, Since::Turn(turn)).await?;
        let episode = as_seen_by(app, &session.caller, session.project, episode).await?;
        let may_be_refused = self.is_sent_again || episode.refused.is_some();
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
        let Some(after) = i32::try_from(turn).ok().and_then(|turn| turn.checked_sub(1)) else { return Ok(None) };
        let mut db = self.app.pool().acquire().await?;
        let events: Vec<EpisodeEvent> = events::page(&mut db, self.session.id, after, 1).await?;
        Ok(events.into_iter().find_map(|event| match event.kind {
            EventKind::Refused { reason, .. } => Some(reason),
            _ => None,
        }))
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
