//! Episodes: conversations whose agent is a program outside. It posts the agent's messages and reads what users and tools answer,
//! or names an endpoint that this server asks.

mod endpoint;
pub mod endpoint_leases;
pub mod environment;
pub mod functions;
pub mod mcp;
pub mod play;
pub mod tools;
pub mod turn;
pub mod view;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use domain::api::MOST_SAMPLES;
use domain::api::episodes::{AgentMessage, Environment, Episode, EpisodeParams, EpisodeState, NewEpisodes};
use domain::chat::AgentTurn;
use futures::{StreamExt, TryStreamExt, stream};
use generation::episodes::{NewGroup, message};
use store::projects;
use tokio::time::Instant;
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::blind;
use super::caller::Caller;
use super::error::{HttpError, Problems, Result};
use super::extract::{self, Body, Path, Query};
use super::opening_queue::OpenedEpisode;
use super::shown_once::ShownOnce;
use endpoint::EndpointAgent;
use environment::ProjectSettings;
use play::Closing;
use view::Since;

/// How long a request waits for what follows. Shorter than any request may take.
pub const PATIENCE: Duration = Duration::from_secs(50);
/// Of more episodes than that the first turns are not waited for.
const MOST_AWAITED: usize = 64;
/// Episodes that are looked at at once for one request.
const AT_ONCE: usize = 4;

/// Open episodes
///
/// Opens conversations whose agent is outside. All of one request have the same user, world and faults. The answer comes when it is
/// the agent's turn in each of them; of more than 64 it comes at once, and `GET /episodes/{episode}?wait=50` waits.
///
/// With `agent` the server asks that endpoint for each turn, and the answer is the episode when it has ended. If that takes more
/// than 50 seconds, the episode is played on; `GET` tells what it came to.
///
/// With `token` each episode gets a token that may only act in it, as the agent. Its secret is in this answer, and nowhere else.
#[utoipa::path(post, path = "/projects/{project}/episodes", tag = "episodes", params(("project" = String, Path)),
    request_body = NewEpisodes, responses((status = 201, body = Vec<Episode>), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(new): Body<NewEpisodes>,
) -> Result<Response> {
    let deadline = Instant::now() + PATIENCE;
    let samples = new.samples.unwrap_or(1);
    if !(1..=MOST_SAMPLES).contains(&samples) {
        return Err(HttpError::invalid("/samples", format!("must be from 1 to {MOST_SAMPLES}")));
    }
    if samples != 1 && (new.agent.is_some() || new.id.is_some()) {
        let message = "an endpoint plays one episode of a request, and an id is one episode's; leave it out";
        return Err(HttpError::invalid("/samples", message));
    }
    if new.token && new.agent.is_some() {
        return Err(HttpError::invalid("/token", "the endpoint plays the agent, and needs no token; leave it out"));
    }
    let agent = new.agent.as_ref().map(|agent| EndpointAgent::of(&app, agent)).transpose()?;
    if new.name.is_some() && new.environment != Environment::default() {
        return Err(HttpError::invalid("/name", "give `name` or `environment`, and not both"));
    }
    let settings = ProjectSettings::read(&app, runner.project, new.name.as_deref()).await;
    let settings = settings.map_err(environment::within)?;
    let mut environment = match &new.name {
        None => new.environment.clone(),
        Some(name) => {
            let named = settings.named(name);
            named.ok_or_else(|| HttpError::invalid("/name", format!("there is no environment or playbook `{name}`")))?
        }
    };
    environment::choose_split(&mut environment, new.split)?;
    let id = new.id.as_deref().map(|id| extract::id("/id", id)).transpose()?;
    let group = NewGroup { scenario: new.scenario.clone(), group: new.group, samples: samples.cast_signed(), id };
    let tokens_of = new.token.then_some(runner.caller.id);
    let opened = opened(&app, &settings, &environment, group, tokens_of, audit).await?;
    let (Some(agent), Some(endpoint)) = (agent, &new.agent) else {
        let episodes = first_turns(&app, &runner, opened, deadline).await?;
        return Ok(match tokens_of {
            Some(_) => ShownOnce(episodes).into_response(),
            None => (StatusCode::CREATED, Json(episodes)).into_response(),
        });
    };
    let id = opened[0].id;
    if agent.lease(&app, id, endpoint).await? {
        // It is played to its end, also when nobody waits for the answer any more.
        let playing = tokio::spawn(agent.play(app.clone(), id));
        let _ = app.stop().run_until_cancelled(tokio::time::timeout_at(deadline, playing)).await;
    } else {
        play::clients_turn_or_end(&app, id, deadline.saturating_duration_since(Instant::now())).await?;
    }
    let episode = view::of(&app, id, Since::Start).await?;
    let episode = as_seen_by(&app, &runner.caller, runner.project, episode).await?;
    Ok((StatusCode::CREATED, Json(vec![episode])).into_response())
}

/// Opens a group, or finds the one whose id was given before.
async fn opened(
    app: &App,
    settings: &ProjectSettings,
    environment: &Environment,
    group: NewGroup,
    tokens_of: Option<Uuid>,
    audit: Audit,
) -> Result<Vec<OpenedEpisode>> {
    let Some(id) = group.id else { return play::open(app, settings, environment, group, tokens_of, audit).await };
    let known = async || projects::of_conversation(&mut *app.pool().acquire().await?, id).await;
    if known().await?.is_none() {
        match play::open(app, settings, environment, group, tokens_of, audit.clone()).await {
            // The same request came a moment before, by another connection.
            Err(HttpError::Store(error)) if error.is_twice() => {}
            opened => return opened,
        }
    }
    match known().await? {
        Some(own) if own.id == settings.project && play::get(app, id).await.is_ok() => {
            play::open_again(app, id, tokens_of, audit).await
        }
        _ => Err(HttpError::invalid("/id", "something else has this id; take another one")),
    }
}

/// Where an episode stands
#[utoipa::path(get, path = "/episodes/{episode}", tag = "episodes", params(("episode" = Uuid, Path), EpisodeParams),
    responses((status = 200, body = Episode), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(app): State<App>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<EpisodeParams>,
) -> Result<Json<Episode>> {
    let wait = Duration::from_secs(params.wait.unwrap_or_default().into()).min(PATIENCE);
    play::clients_turn_or_end(&app, id, wait).await?;
    if !wait.is_zero() {
        // Who waits would wait in vain.
        play::check_played(&play::get(&app, id).await?)?;
    }
    let episode = view::of(&app, id, Since::Message(params.skip.unwrap_or_default())).await?;
    Ok(Json(as_seen_by(&app, &reader.caller, reader.project, episode).await?))
}

/// Send a message of the agent
///
/// The answer comes when it is the agent's turn again, or when the episode has ended: your message as it is kept, with ids for its
/// calls, and what users and tools answered. If that takes more than 50 seconds, `state` is `playing`; `GET` waits on.
///
/// A message that cannot be read is refused and costs no turn. An empty one, or one that calls a tool wrongly, is the agent's
/// fault: it is told, and counted.
#[utoipa::path(post, path = "/episodes/{episode}/messages", tag = "episodes", params(("episode" = Uuid, Path)),
    request_body = AgentMessage, responses((status = 200, body = Episode), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn send(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(message): Body<AgentMessage>,
) -> Result<Json<Episode>> {
    // What was said stands in the events of the episode.
    audit.nothing_changed();
    let (turn, reply) = message::reply(message)?;
    let taken = play::send(&app, id, turn, &AgentTurn::Reply(reply)).await?;
    let since = Since::Turn(taken.turn);
    let now = taken.next(&app, PATIENCE).await?;
    let episode = view::of_stored(&app, now, since).await?;
    Ok(Json(as_seen_by(&app, &runner.caller, runner.project, episode).await?))
}

/// End an episode, and verify it
///
/// The agent has nothing more to do: the conversation ends where it stands, and the verifier decides. Of an episode that has
/// ended already, this is what it came to.
#[utoipa::path(post, path = "/episodes/{episode}/verify", tag = "episodes", params(("episode" = Uuid, Path)),
    responses((status = 200, body = Episode), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn verify(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<Episode>> {
    audit.nothing_changed();
    play::end(&app, id, &Closing::Verified).await?;
    let episode = view::of(&app, id, Since::Start).await?;
    Ok(Json(as_seen_by(&app, &runner.caller, runner.project, episode).await?))
}

/// Close an episode
///
/// One that has not ended is given up: it has no reward. It ends as soon as a player sees it. The answer waits for that up to 10
/// seconds, and not at all if no player runs. A token of the episode is refused: its agent may not do so.
#[utoipa::path(delete, path = "/episodes/{episode}", tag = "episodes", params(("episode" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn close(State(app): State<App>, runner: Runner, audit: Audit, Path(id): Path<Uuid>) -> Result<StatusCode> {
    audit.nothing_changed();
    if runner.caller.only_episode.is_some() {
        return Err(HttpError::Forbidden("this token cannot close the episode; its opener can".to_owned()));
    }
    play::end(&app, id, &Closing::GivenUp).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Episodes that were opened, each when it is its agent's turn. One that was opened before may have ended.
async fn first_turns(
    app: &App,
    runner: &Runner,
    opened: Vec<OpenedEpisode>,
    deadline: Instant,
) -> Result<Vec<Episode>> {
    let deadline = if opened.len() > MOST_AWAITED { Instant::now() } else { deadline };
    let each = stream::iter(opened).map(|OpenedEpisode { id, token, signal }| async move {
        let left = deadline.saturating_duration_since(Instant::now());
        let now = play::next_turn_or_end(app, id, signal, left).await?;
        let episode = view::of_stored(app, now, Since::Start).await?;
        let episode = as_seen_by(app, &runner.caller, runner.project, episode).await?;
        Ok::<_, HttpError>(Episode { token, ..episode })
    });
    each.buffered(AT_ONCE).try_collect().await
}

/// Without its result, for somebody who is still to rate it by themselves. An agent with an episode token sees no reward.
pub async fn as_seen_by(app: &App, caller: &Caller, project: Uuid, episode: Episode) -> Result<Episode> {
    if caller.only_episode.is_some() {
        return Ok(Episode { reward_if_ended: None, result: None, ..episode });
    }
    if episode.state != EpisodeState::Ended {
        return Ok(episode);
    }
    let id = episode.id.parse().unwrap_or_default();
    let blind = blind::is_blind(&mut *app.pool().acquire().await?, id, caller, project).await?;
    Ok(Episode { result: episode.result.filter(|_| !blind), ..episode })
}
