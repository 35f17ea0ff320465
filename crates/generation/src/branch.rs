//! Another way on from a turn of a conversation: with another model for the agent, or with words that somebody wrote in
//! place of the turn. What was said before is shared, so that both are a pair that parts there.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Context;
use domain::event::{Event, EventKind};
use domain::problem::Problem;
use domain::role::Role;
use engine::{ChatReply, Conversation};
use llm::{ModelSpec, PoolSpec};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::plan::{Origin, RunConfig};
use super::run::{self, Terms};
use super::{plan, stored_runs};
use domain::bad_input::BadInput;
use projects::library::Library;
use store::branches;
use store::clock;
use store::conversations::{self, PlannedConversation};
use store::events;

/// How a branch differs from its original.
pub struct BranchRequest {
    /// Who is the agent from there on, and what the registry says of it.
    pub agent: Option<(ModelSpec, Vec<PoolSpec>)>,
    /// What is said in place of the turn.
    pub said: Option<ChatReply>,
    pub seq: u32,
    pub by: String,
}

/// A run of its own, which plays the conversation on.
pub struct Branch {
    library: Library,
    config: RunConfig,
    terms: Terms,
    planned: PlannedConversation,
    /// Hash of the world that it starts from.
    world: String,
    /// The conversation that it parts from, and the event before which it does.
    from: Uuid,
    before: u32,
    /// What stands in the place of that event.
    own: Option<Event>,
}

/// A branch that is still to be kept.
///
/// # Errors
/// [`BadInput`]: nothing can go on from there, or what is said instead cannot stand there.
pub async fn prepare(pool: &PgPool, id: Uuid, wanted: BranchRequest) -> anyhow::Result<Branch> {
    let (of, planned, past) = {
        let mut db = pool.acquire().await?;
        let (of, planned) = conversations::planned(&mut db, id).await?.context("the conversation is gone")?;
        (of, planned, events::of::<Event>(&mut db, id).await?)
    };
    let (of, config, library) = stored_runs::load(pool, of).await?;
    if config.plays_episodes() && wanted.agent.is_none() {
        let why = "the agent of an episode is outside: say which model plays it from there on";
        return Err(BadInput(vec![Problem::new("", 0, "model", why)]).into());
    }
    let case = Arc::new(plan::case(&library, &config, of.seed, &planned)?);
    let world = case.initial.hash.clone();
    let own = replacement_event(
        Conversation::resume(case, past.iter().take_while(|event| event.seq < wanted.seq))?,
        &wanted,
        &past,
    )?;
    let planned = PlannedConversation { id: clock::id(), position: 0, attempt: 1, ..planned };
    let origin = Origin { conversation: id, seq: wanted.seq, edited_by: wanted.said.is_some().then_some(wanted.by) };
    let before = wanted.seq;
    let config = changed(config, wanted.agent, origin, &planned);
    let terms = Terms {
        project: of.project,
        playbook: library.scenario(&planned.scenario).map(|found| found.playbook.clone()).unwrap_or(of.playbook),
        seed: of.seed,
        planned: 1,
        ..Terms::default()
    };
    Ok(Branch { library, config, terms, planned, world, from: id, before, own })
}

impl Branch {
    /// Inserts it within a transaction. Returns the run and its conversation.
    pub async fn insert(self, tx: &mut PgConnection) -> anyhow::Result<(Uuid, Uuid)> {
        let Self { library, config, terms, planned, world, from, before, own } = self;
        let made = run::insert(&mut *tx, &library, &config, terms).await?;
        let own = own.map(|event| serde_json::to_string(&event).map(|json| (event.seq, json))).transpose()?;
        let begun = branches::BranchStart { run: made.id, planned: &planned, world: &world, from, before, own };
        branches::insert(tx, &begun, clock::now()).await?;
        Ok((made.id, planned.id))
    }
}

/// The event that replaces the turn; `None` if a model is to write the turn.
fn replacement_event(
    mut before: Conversation,
    wanted: &BranchRequest,
    past: &[Event],
) -> anyhow::Result<Option<Event>> {
    let refuse = |at: &str, why: String| BadInput(vec![Problem::new("", 0, at, why)]);
    let Some(role) = past.iter().find(|event| event.seq == wanted.seq).and_then(Event::whose_turn) else {
        let why = format!("event {} is not a turn of the user or of the agent under test", wanted.seq);
        return Err(refuse("seq", why).into());
    };
    let Some(said) = &wanted.said else { return Ok(None) };
    if before.asked_party().is_none_or(|who| who.role != role) {
        return Err(refuse("seq", "no model is asked at this place".to_owned()).into());
    }
    if role == Role::Agent {
        let faults = before.turn_faults(&said.content, &said.tool_calls);
        if !faults.is_empty() {
            let all = faults.into_iter().map(|(at, why)| Problem::new("", 0, at, why)).collect();
            return Err(BadInput(all).into());
        }
    }
    match before.hear(said.clone()) {
        Some(Event { kind: EventKind::Refused { reason, .. }, .. }) => Err(refuse("content", reason).into()),
        Some(event) => Ok(Some(event)),
        None => Err(refuse("seq", "the conversation does not go on from there".to_owned()).into()),
    }
}

/// The run's own way of playing, for one conversation.
fn changed(
    config: RunConfig,
    agent: Option<(ModelSpec, Vec<PoolSpec>)>,
    origin: Origin,
    planned: &PlannedConversation,
) -> RunConfig {
    let mut config = RunConfig {
        // An attempt that begins again would no longer be a branch.
        retries: 0,
        scenarios: vec![planned.scenario.clone()],
        personas: vec![planned.persona.clone()],
        branch_of: Some(origin),
        samples: NonZeroU32::MIN,
        idle_seconds: None,
        environment_budget: None,
        forecast: None,
        ..config
    };
    if let Some((model, pools)) = agent {
        config.models.insert(Role::Agent, model);
        for pool in pools {
            config.pools.retain(|known| known.name != pool.name);
            config.pools.push(pool);
        }
    }
    config
}
