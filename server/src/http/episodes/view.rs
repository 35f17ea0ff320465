//! An episode as its agent sees it.

use std::sync::Arc;

use domain::Event;
use domain::api::episodes::{Episode, EpisodeResult, EpisodeState};
use domain::event::EventKind;
use domain::outcome::Outcome;
use domain::reward::{self, Penalties};
use domain::role::Role;
use domain::transcript::Transcript;
use domain::verdict::Verification;
use engine::Conversation;
use generation::plan;
use store::{episodes, events};
use uuid::Uuid;

use crate::http::app::App;
use crate::http::error::{HttpError, Result};

/// Which messages are shown.
#[derive(Debug, Clone, Copy)]
pub enum Since {
    Start,
    /// Those after the first ones.
    Message(usize),
    /// Those from an event on.
    Turn(u32),
}

/// An episode as it stands.
pub async fn of(app: &App, id: Uuid, since: Since) -> Result<Episode> {
    let missing = || HttpError::missing("episode", &id.to_string());
    let (stored, events) = {
        let mut db = app.pool().acquire().await?;
        // Where it stands is read first: what it waits for then is in the events.
        let stored = episodes::get(&mut db, id).await?.ok_or_else(missing)?;
        (stored, events::of::<Event>(&mut db, id).await?)
    };
    let environment = app.environments().of_run(app.pool(), app.libraries(), stored.run).await?;
    let case = plan::case(&environment.library, &environment.config, environment.run.seed, &stored.planned)?;
    let conversation = Conversation::resume(Arc::new(case), &events).map_err(anyhow::Error::from)?;
    let transcript = &conversation.state().transcript;
    let agent = conversation.state().agent();
    let mut messages = conversation.messages(agent);
    let skipped = match since {
        Since::Start => 0,
        Since::Message(skipped) => skipped.min(messages.len()),
        // The instructions come before what was said.
        Since::Turn(turn) => 1 + said_before(&events, turn),
    };
    messages.drain(..skipped.min(messages.len()));
    let refused = transcript.refused().last().filter(|refusal| refusal.role == Role::Agent);
    let state = match (&stored.outcome, stored.waiting) {
        (Some(_), _) => EpisodeState::Ended,
        (None, Some(_)) if !stored.by_endpoint => EpisodeState::Waiting,
        (None, _) => EpisodeState::Playing,
    };
    Ok(Episode {
        id: id.to_string(),
        run: stored.run.to_string(),
        playbook: conversation.case().playbook.spec.name.clone(),
        scenario: stored.planned.scenario,
        group: stored.planned.repeat,
        state,
        turn: stored.waiting.map(|waiting| waiting.turn),
        reward_if_ended: stored.waiting.and_then(|waiting| waiting.reward_if_ended),
        messages,
        skipped,
        tools: conversation.functions(agent),
        refused: refused.map(|refusal| refusal.reason.clone()),
        result: stored.outcome.map(|outcome| result(transcript, &outcome)),
    })
}

/// Whether an event is, or will be, a turn of the agent that was taken.
pub async fn is_turn(app: &App, id: Uuid, turn: u32) -> Result<bool> {
    let events = events::of::<Event>(&mut *app.pool().acquire().await?, id).await?;
    let is_agents = |event: &Event| match &event.kind {
        EventKind::AgentSpoke { .. } => event.ancestry.is_empty(),
        EventKind::Refused { role, .. } => *role == Role::Agent && event.ancestry.is_empty(),
        _ => false,
    };
    // The last one may be on its way into the journal.
    let last = events.last().map_or(0, |event| event.seq + 1);
    Ok(turn == last || events.iter().any(|event| event.seq == turn && is_agents(event)))
}

/// How many messages the agent had heard and said before an event.
fn said_before(events: &[Event], turn: u32) -> usize {
    let before: Transcript = events.iter().take_while(|event| event.seq < turn).cloned().collect();
    before.agent().messages.len()
}

/// The result of an episode.
fn result(transcript: &Transcript, outcome: &Outcome) -> EpisodeResult {
    let (blame, reason) = match outcome {
        Outcome::Accepted => (None, None),
        Outcome::Failed { blame, reason } => (Some(*blame), Some(reason.clone())),
    };
    let verification = transcript.verification.as_ref();
    let passed = verification.is_some_and(Verification::passed);
    let checks = verification.map(|verification| verification.items.clone()).unwrap_or_default();
    EpisodeResult {
        reward: reward::reward(blame, passed),
        reward_components: reward::components(&checks),
        blame,
        reason,
        ending: transcript.ending().map(|ending| ending.into_str().to_owned()),
        penalties: Penalties::of(transcript),
        checks,
    }
}
