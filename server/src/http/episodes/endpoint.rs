//! An endpoint as the agent of an episode: this server asks it for each turn.

use std::time::Duration;

use domain::api::RunState;
use domain::api::episodes::AgentEndpoint;
use domain::chat::{AgentTurn, ChatReply, ChatRequest};
use domain::role::Role;
use generation::episodes::dialogue::Dialogue;
use llm::{EndpointSpec, Failure, ModelError, Pool};
use reqwest::Url;
use store::endpoint_agents;
use tokio::time::sleep;
use tracing::{debug, warn};
use uuid::Uuid;

use super::PATIENCE;
use super::play;
use super::view::{self, Since};
use crate::http::app::App;
use crate::http::endpoint_agents::{Lease, Room};
use crate::http::error::{HttpError, Result};

/// How long nothing is looked at while nobody plays, or after an error.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const LONGEST_LOOK_AGAIN: Duration = Duration::from_secs(30);

pub struct EndpointAgent {
    pool: Pool,
    temperature: f32,
    max_tokens: u32,
    _room: Room,
}

impl EndpointAgent {
    /// # Errors
    /// The endpoint may not be named, or is no endpoint.
    pub fn of(app: &App, agent: &AgentEndpoint) -> Result<Self> {
        let url = Url::parse(&agent.url).map_err(|error| HttpError::invalid("/agent/url", error.to_string()))?;
        if !app.agent_urls().iter().any(|allowed| allowed.admits(&url)) {
            return Err(HttpError::invalid(
                "/agent/url",
                "this server may not ask that address; its administrator allows it with --agent-urls (GROUNDSTATE_AGENT_URLS)",
            ));
        }
        if agent.model.trim().is_empty() || agent.model.contains('@') {
            return Err(HttpError::invalid("/agent/model", "expected the name of a model, without `@`"));
        }
        let spec = format!("{}@{}", agent.model, agent.url).parse::<EndpointSpec>();
        let spec = spec.map_err(|error| HttpError::invalid("/agent/url", error.to_string()))?;
        if spec.key().is_some() {
            return Err(HttpError::invalid("/agent/url", "expected an address; send the key as `api_key`"));
        }
        let temperature = agent.temperature.unwrap_or_else(|| Role::Agent.default_temperature());
        if !(0.0..=2.0).contains(&temperature) {
            return Err(HttpError::invalid("/agent/temperature", "must be from 0 to 2"));
        }
        let max_tokens = agent.max_tokens.unwrap_or_else(|| Role::Agent.default_max_tokens());
        if max_tokens == 0 {
            return Err(HttpError::invalid("/agent/max_tokens", "must be at least 1"));
        }
        let options = app.clients().options();
        let pool = match &agent.api_key {
            Some(key) => Pool::with_secret(spec, key.clone(), options),
            None => Pool::of_endpoint(spec, options),
        };
        let pool = pool.map_err(|error| HttpError::invalid("/agent", error.to_string()))?;
        let pool = pool.with_token_ids(agent.token_ids);
        let busy =
            || HttpError::Busy("this server already asks as many endpoints as it can; ask again later".to_owned());
        let room = app.endpoint_agents().room().ok_or_else(busy)?;
        Ok(Self { pool, temperature, max_tokens, _room: room })
    }

    /// Whether this server is now the one that asks it for the turns of an episode.
    pub async fn lease(&self, app: &App, id: Uuid, endpoint: &AgentEndpoint) -> Result<bool> {
        let stored = endpoint.api_key.is_none().then_some(endpoint);
        let mut db = app.pool().acquire().await?;
        Ok(endpoint_agents::lease(&mut db, id, stored, app.endpoint_agents().server()).await?)
    }

    /// Plays the agent of an episode to its end, or until another server has the lease of this one, or the episode is gone. What else
    /// goes wrong is tried again: an episode in which nothing happens is given up by itself.
    pub async fn play(self, app: App, id: Uuid) {
        let Some(lease) = app.endpoint_agents().hold(id) else { return };
        let mut again_after = LOOK_AGAIN;
        while let Err(error) = self.turns(&app, id, &lease).await {
            if is_gone(&error) {
                debug!(episode = %id, %error, "an endpoint is asked no more");
                return;
            }
            warn!(episode = %id, %error, "an endpoint is asked again");
            sleep(again_after).await;
            if !lease.is_held() {
                return;
            }
            again_after = (again_after * 2).min(LONGEST_LOOK_AGAIN);
        }
    }

    async fn turns(&self, app: &App, id: Uuid, lease: &Lease) -> Result<()> {
        let mut dialogue = Dialogue::default();
        let mut since = Since::Start;
        loop {
            let now = play::agents_turn_or_end(app, id, PATIENCE).await?;
            if now.outcome.is_some() || !lease.is_held() {
                return Ok(());
            }
            // A paused one is played on when its run is.
            let Some(waiting) = now.waiting.filter(|_| now.run_state == RunState::Running) else {
                sleep(LOOK_AGAIN).await;
                continue;
            };
            let episode = view::of_stored(app, now, since).await?;
            dialogue.receive(episode.messages, episode.refused);
            let asked = ChatRequest {
                role: Role::Agent.into(),
                messages: dialogue.messages(),
                tools: episode.tools,
                schema: None,
                temperature: self.temperature,
                max_tokens: self.max_tokens,
                seed: i64::from(waiting.turn) + id.as_u64_pair().0.cast_signed() / 2,
            };
            let answer = tokio::select! {
                answer = self.pool.answer(&asked, id.as_u64_pair().0) => answer,
                () = is_over(app, id, lease) => continue,
            };
            let said = match answer {
                Ok(answer) => AgentTurn::Reply(answer.reply),
                // A policy that talks without end must not get away with it.
                Err(ModelError { failure: failure @ (Failure::Stopped { .. } | Failure::Unusable { .. }), .. }) => {
                    unusable(failure)
                }
                Err(error) => {
                    until_played(app, id, lease).await?;
                    return play::lose(app, id, Some(waiting.turn), error.to_string()).await;
                }
            };
            if let AgentTurn::Reply(reply) | AgentTurn::Unusable { reply, .. } = &said {
                dialogue.reply(reply);
            }
            // What was said while the run was paused counts when it goes on.
            until_played(app, id, lease).await?;
            let taken = play::send(app, id, Some(waiting.turn), &said).await?;
            since = Since::Turn(taken.turn);
        }
    }
}

fn unusable(failure: Failure) -> AgentTurn {
    let reason = failure.to_string();
    let reply = match failure {
        Failure::Stopped { reply, .. } | Failure::Unusable { reply, .. } => *reply,
        _ => ChatReply::default(),
    };
    AgentTurn::Unusable { reply, reason }
}

/// Returns when the run of an episode is not paused, or nothing of it is played any more.
async fn until_played(app: &App, id: Uuid, lease: &Lease) -> Result<()> {
    while lease.is_held() && play::get(app, id).await?.run_state == RunState::Paused {
        sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Returns when nobody wants to hear the agent of an episode any more.
async fn is_over(app: &App, id: Uuid, lease: &Lease) {
    let mut signals = app.episodes().of(id);
    loop {
        tokio::select! {
            () = signals.told() => {}
            () = sleep(LOOK_AGAIN * 5) => {}
        }
        let is_over = match play::get(app, id).await {
            Ok(now) => now.outcome.is_some(),
            Err(error) => is_gone(&error),
        };
        if is_over || !lease.is_held() {
            return;
        }
    }
}

/// Whether the episode is not there any more: its project was deleted, for instance.
fn is_gone(error: &HttpError) -> bool {
    matches!(error, HttpError::NotFound(_))
}
