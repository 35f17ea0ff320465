//! Episodes by the Open Reward Standard, as the package `openreward` 0.1 speaks it: TRL trains by
//! `OpenRewardSpec("http://HOST:PORT", env_name="ENVIRONMENT", api_key="TOKEN")`. Its client knows no prefix of paths, so the
//! routes stand at the root.
//!
//! A session is an episode with the session's id. The header `X-Deployment` names an environment, `ENVIRONMENT` or
//! `PROJECT/ENVIRONMENT`. The user is a tool, [`tools::reply_name`], because trainers know no turns of users.

mod call;
pub mod caller;
pub mod closing;
pub mod tasks;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use domain::api::episodes::{Episode, EpisodeState};
use domain::message::Message;
use futures::channel::mpsc::{self, UnboundedSender};
use futures::{StreamExt, future, stream};
use generation::episodes::NewGroup;
use serde::Deserialize;
use serde_json::{Value, json};
use store::episodes::Episode as StoredEpisode;
use store::projects;
use tokio::time::timeout;
use tracing::warn;
use uuid::Uuid;

use super::app::App;
use super::audit::{self, Audit};
use super::episodes::play::{self, Closing};
use super::episodes::tools;
use super::episodes::view::{self, Since};
use super::error::HttpError;
use super::extract;
use super::limits;
use super::route::any;
use caller::{Session, TrainerOf};
use tasks::{EpisodeTask, TaskList};

/// How long the first turn of an episode is waited for before the client is asked to try again.
const FIRST_TURN: Duration = Duration::from_secs(40);
/// The client gives up a stream that says nothing for 30 seconds.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long a client waits for the end of the episode that it leaves. The episode ends also if that takes longer.
const TO_LEAVE: Duration = Duration::from_secs(10);

pub fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/health", get(|| async { Json(json!({"status": "ok"})) }))
        .route("/version", get(|| async { Json(json!({"version": env!("CARGO_PKG_VERSION"), "build_sha": null})) }))
        .route("/list_environments", get(any(tasks::environments)))
        .route("/create_session", post(any(create_session)))
        .route("/delete_session", post(any(delete)))
        .route("/create", post(any(create)))
        .route("/delete", post(any(delete)))
        .route("/ping", post(any(ping)))
        .route("/splits", get(any(tasks::splits)))
        .route("/tasks", post(any(tasks::all)))
        .route("/num_tasks", post(any(tasks::count)))
        .route("/task", post(any(tasks::one)))
        .route("/task_range", post(any(tasks::range)))
        .route("/tools", get(any(tasks::tools)))
        .route("/task_tools", get(any(task_tools)))
        .route("/prompt", get(any(prompt)))
        .route("/messages", get(any(messages)))
        .route("/call", post(any(call::call)))
        // The last one is the first that a request meets.
        .layer(from_fn(audit::record))
        .layer(from_fn_with_state(app.clone(), caller::authenticate))
        .layer(from_fn(limits::to_the_end))
        .layer(from_fn(limits::in_time))
}

/// What goes wrong, as the client reads it.
pub struct OrsError(HttpError);

pub type OrsResult<T> = Result<T, OrsError>;

impl<E: Into<HttpError>> From<E> for OrsError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for OrsError {
    fn into_response(self) -> Response {
        let problem = self.0.to_problem();
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(json!({"detail": problem.detail}))).into_response()
    }
}

/// A body of JSON; an empty one counts as an empty object.
fn body<T: serde::de::DeserializeOwned>(bytes: &Bytes) -> OrsResult<T> {
    Ok(extract::read(if bytes.is_empty() { b"{}" } else { bytes })?)
}

/// Names a session. Nothing is kept for it until an episode is created.
async fn create_session(audit: Audit) -> Response {
    audit.nothing_changed();
    let id = store::clock::id().to_string();
    let events = [Event::default().event("task_id").data(&id), Event::default().event("end").data("")];
    Sse::new(stream::iter(events.map(Ok::<_, Infallible>))).into_response()
}

#[derive(Deserialize)]
struct CreateBody {
    #[serde(default)]
    split: Option<String>,
    #[serde(default)]
    index: Option<i64>,
    #[serde(default)]
    task_spec: Option<Value>,
}

/// Opens the episode of a session. It may be asked for again: the client sends it twice if an answer is lost.
async fn create(
    State(app): State<App>,
    trainer: TrainerOf,
    headers: HeaderMap,
    audit: Audit,
    bytes: Bytes,
) -> OrsResult<Response> {
    let id = caller::session_id(&headers)?;
    let CreateBody { split, index, task_spec } = body(&bytes)?;
    let list = TaskList::of(&app, &trainer, split.as_deref()).await?;
    let task = match (index, &task_spec) {
        (Some(index), None) => list.at(index)?,
        (None, Some(spec)) => list.of_spec(spec)?,
        _ => return Err(HttpError::invalid("", "give `split` and `index`, or `task_spec`").into()),
    };
    let of = projects::of_conversation(&mut *app.pool().acquire().await?, id).await?.map(|project| project.id);
    match of {
        Some(project) if project == trainer.project => {
            audit.nothing_changed();
            check_task(&play::get(&app, id).await?, &task)?;
        }
        Some(_) => return Err(HttpError::Conflict("the session belongs to another project".to_owned()).into()),
        None => open(&app, &list, &task, id, audit).await?,
    }
    let episode = play::agents_turn_or_end(&app, id, FIRST_TURN).await?;
    if episode.outcome.is_none() && episode.waiting.is_none() {
        let answer = Json(json!({"detail": "the user has not spoken yet; ask again"}));
        let again = [("x-backend-state", "starting"), ("retry-after", "2")];
        return Ok((StatusCode::SERVICE_UNAVAILABLE, again, answer).into_response());
    }
    Ok(Json(json!({"sid": id.to_string()})).into_response())
}

async fn open(app: &App, list: &TaskList, task: &EpisodeTask, id: Uuid, audit: Audit) -> OrsResult<()> {
    let group = NewGroup { scenario: Some(task.scenario.clone()), group: Some(task.group), samples: 1, id: Some(id) };
    match play::open_checked(app, list.opening(group, audit)).await {
        // Another request for the session came a moment before, by another connection.
        Err(HttpError::Store(error)) if error.is_twice() => check_task(&play::get(app, id).await?, task)?,
        opened => drop(opened?),
    }
    Ok(())
}

/// # Errors
/// The session has another task.
fn check_task(episode: &StoredEpisode, task: &EpisodeTask) -> OrsResult<()> {
    let planned = &episode.planned;
    if (&planned.scenario, planned.repeat) == (&task.scenario, task.group) {
        return Ok(());
    }
    let why = format!("the session has the task {}/{}; create another session", planned.scenario, planned.repeat);
    Err(HttpError::Conflict(why).into())
}

/// The agent has said what it had to say: an episode that has not ended is verified as it stands. Clients do not ask again if this
/// fails, so it goes on without them.
async fn delete(
    State(app): State<App>,
    headers: HeaderMap,
    session: Option<Session>,
    audit: Audit,
) -> OrsResult<Json<Value>> {
    audit.nothing_changed();
    if let Some(Session { id, .. }) = session {
        // Clients also open sessions only to look at the tools.
        let episode = view::of(&app, id, Since::Start).await?;
        let has_said = episode.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        let has_spoken = has_said || episode.refused.is_some();
        let how = if has_spoken { Closing::Verified } else { Closing::GivenUp };
        let ending = tokio::spawn(async move {
            let ended = closing::end_at_last(&app, id, &how).await;
            ended.inspect_err(|error| warn!(episode = %id, %error, "an episode whose session was deleted goes on"))
        });
        if let Ok(ended) = timeout(TO_LEAVE, ending).await {
            ended.map_err(|error| HttpError::Internal(error.into()))??;
        }
    }
    let id = caller::session_id(&headers).map(|id| id.to_string()).unwrap_or_default();
    Ok(Json(json!({"sid": id})))
}

async fn ping(_: Session, audit: Audit) -> Json<Value> {
    audit.nothing_changed();
    Json(json!({"status": "ok"}))
}

async fn task_tools(State(app): State<App>, Session { id, .. }: Session) -> OrsResult<Json<Value>> {
    let episode = view::of(&app, id, Since::Start).await?;
    Ok(Json(json!({"tools": tools::of(&episode.tools)})))
}

/// The instructions and what the user says first, in one text: trainers have no place for the former.
async fn prompt(State(app): State<App>, Session { id, .. }: Session) -> OrsResult<Json<Value>> {
    let episode = view::of(&app, id, Since::Start).await?;
    let (instructions, opening) = opening(&episode);
    let reply = tools::reply_name(&episode.tools);
    let text = format!("{instructions}\n\nSpeak to the user only by the tool `{reply}`. The user says:\n\n{opening}");
    Ok(Json(json!([{"type": "text", "text": text, "detail": null}])))
}

async fn messages(State(app): State<App>, Session { id, .. }: Session) -> OrsResult<Json<Value>> {
    let episode = view::of(&app, id, Since::Start).await?;
    let (instructions, opening) = opening(&episode);
    let message = |role: &str, text: &str| json!({"role": role, "blocks": [{"type": "text", "text": text, "detail": null}], "detail": null});
    Ok(Json(json!([message("system", &instructions), message("user", &opening)])))
}

/// The instructions, and what the user says before the agent first speaks.
fn opening(episode: &Episode) -> (String, String) {
    let said = episode.messages.iter().skip(1).take_while(|message| !matches!(message, Message::Assistant { .. }));
    let said: Vec<&str> = said.map(Message::content).collect();
    let instructions = episode.messages.first().map(Message::content).unwrap_or_default();
    (instructions.to_owned(), said.join("\n"))
}

/// A stream of the events that `work` sends. Comments tell now and then that it goes on. When nobody reads it any more, `work` ends.
fn in_a_stream<W>(work: impl FnOnce(UnboundedSender<Event>) -> W) -> Response
where
    W: Future<Output = ()> + Send + 'static,
{
    let (sender, events) = mpsc::unbounded();
    let work = stream::once(work(sender)).filter_map(|()| future::ready(None));
    let events = stream::select(events, work).map(Ok::<_, Infallible>);
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("ping")).into_response()
}

/// Whether an episode has ended.
fn is_over(episode: &Episode) -> bool {
    episode.state == EpisodeState::Ended
}

/// The id in a text.
fn parsed(text: &str) -> Option<Uuid> {
    text.parse().ok()
}
