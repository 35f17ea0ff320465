//! Episodes: conversations whose agent is a program outside. They are opened one by one, or as samples of a group, in a run that
//! holds all that are played from the same documents, in the same way.

pub mod dialogue;
pub mod message;
mod recent_conversations;
mod stored_environments;
pub mod view;

use anyhow::{Context, anyhow};
use domain::role::Role;
use llm::ModelSpec;
use projects::library::Library;
use sqlx::PgConnection;
use store::conversations::PlannedConversation;
use store::runs::Run;
use store::{control, episodes, runs, storage};
use uuid::Uuid;

use crate::order::CheckedOrder;
use crate::plan::{Repertoire, RunConfig};
use crate::run;

/// After so many seconds without a word of its agent an episode is given up, unless its order says otherwise.
pub const IDLE_SECONDS: u32 = 1_800;

/// An order for a run of conversations as one for a run of episodes: the agent is outside, and nothing is played again, because
/// only the agent could say its words again.
#[must_use]
pub fn outside(order: CheckedOrder, idle_seconds: u32) -> CheckedOrder {
    let CheckedOrder { mut config, mut terms } = order;
    config.models.insert(Role::Agent, ModelSpec::Outside);
    (config.retries, config.idle_seconds) = (0, Some(idle_seconds));
    config.environment_budget = Some(terms.budget.clone());
    (terms.planned, terms.episodes) = (0, true);
    CheckedOrder { config, terms }
}

/// The run that holds the episodes of an order: one that is there, or a new one.
///
/// # Errors
/// As [`run::insert`].
pub async fn run_of(
    tx: &mut PgConnection,
    library: &Library,
    CheckedOrder { config, terms }: &CheckedOrder,
) -> anyhow::Result<Uuid> {
    let spec = serde_json::to_value(config)?;
    let (project, seed, hash) = (terms.project, terms.seed, library.files.hash());
    if let Some(open) = episodes::open_run(&mut *tx, project, &hash, seed, &spec).await? {
        return Ok(open);
    }
    // Of many that ask at once, one makes it.
    episodes::lock_runs(&mut *tx, project).await?;
    if let Some(open) = episodes::open_run(&mut *tx, project, &hash, seed, &spec).await? {
        return Ok(open);
    }
    Ok(run::insert(tx, library, config, terms.clone()).await?.id)
}

/// Clients number their groups below this; groups that nobody numbered come after.
pub const GROUPS_BY_CLIENTS: i32 = 1_000_000;

/// Which episodes are opened.
#[derive(Debug, Clone)]
pub struct NewGroup {
    /// `None`: the next of the run.
    pub scenario: Option<String>,
    /// What the user, the world and the faults are drawn by, beside the seed. `None`: a group of its own.
    pub group: Option<i32>,
    pub samples: i32,
    /// The id of the only sample, if others have to know it before.
    pub id: Option<Uuid>,
}

/// Why none is opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Refused(#[from] control::ControlError),
    #[error("the run of this environment is paused: {0}; resume it first")]
    Paused(String),
    #[error("the environment takes no more episodes: its budget of conversations is used up")]
    UsedUp,
}

/// Opens episodes of some groups in the run of an order: those of each group.
///
/// # Errors
/// [`OpenError`], or the run's documents do not hold what it plays.
pub async fn open(
    tx: &mut PgConnection,
    library: &Library,
    (run, order): (Uuid, &CheckedOrder),
    groups: &[&NewGroup],
) -> anyhow::Result<Vec<Vec<PlannedConversation>>> {
    let repertoire = Repertoire::of(library, &order.config)?;
    let samples: i32 = groups.iter().map(|group| group.samples).sum();
    let room = storage::of_project(&mut *tx, order.terms.project).await?;
    // From here on others who open episodes of the run wait for the end of the transaction.
    let Some(first) = episodes::reserve(&mut *tx, run, samples).await? else {
        let paused = episodes::paused_because(&mut *tx, run).await?;
        return Err(paused.map_or(OpenError::UsedUp, OpenError::Paused).into());
    };
    let room = room.room_for_conversations(i64::from(first) + i64::from(samples));
    room.map_err(|no_room| OpenError::from(control::ControlError::from(no_room)))?;
    let (mut next, mut planned, mut rows) = (first, Vec::with_capacity(groups.len()), Vec::new());
    for group in groups {
        let (of_group, world) = plan_group(library, &repertoire, order, (next, group))?;
        rows.extend(of_group.iter().map(|planned| (planned.clone(), world.clone())));
        planned.push(of_group);
        next += group.samples;
    }
    episodes::insert(tx, run, &rows).await?;
    Ok(planned)
}

/// The episodes of a group, at positions from the first on, and the hash of their world.
fn plan_group(
    library: &Library,
    repertoire: &Repertoire,
    CheckedOrder { config, terms }: &CheckedOrder,
    (first, new): (i32, &NewGroup),
) -> anyhow::Result<(Vec<PlannedConversation>, String)> {
    let scenario = match &new.scenario {
        Some(scenario) => scenario,
        None => {
            let turn = usize::try_from(first / new.samples.max(1))? % config.scenarios.len().max(1);
            config.scenarios.get(turn).context("the run plays no scenario")?
        }
    };
    // Positions are used once, so a group that is numbered by one is no other's.
    let group = new.group.unwrap_or_else(|| GROUPS_BY_CLIENTS.saturating_add(first));
    let found = library.scenario(scenario).map_err(|e| anyhow!(e))?;
    let playbook = library.playbook(&found.playbook).map_err(|e| anyhow!(e))?;
    let world = library.initial(found, playbook).hash.clone();
    let planned = (first..first + new.samples).map(|position| {
        let planned = repertoire.conversation(library, terms.seed, scenario, (position, group))?;
        Ok(PlannedConversation { id: new.id.unwrap_or(planned.id), ..planned })
    });
    Ok((planned.collect::<anyhow::Result<Vec<_>>>()?, world))
}

/// A stored run of episodes.
///
/// # Errors
/// There is no such run, or this version of the program cannot read it.
pub async fn stored(db: &mut PgConnection, run: Uuid) -> anyhow::Result<(Run, RunConfig)> {
    let run = runs::get(db, run).await?.with_context(|| format!("there is no run {run}"))?;
    let config = serde_json::from_value(run.spec.clone()).context("the run's spec cannot be read")?;
    Ok((run, config))
}
