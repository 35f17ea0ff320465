//! A run: made whole, in one transaction, however many conversations it has. Their rows are written when they begin.

use anyhow::{Context, anyhow};
use domain::api::RunState;
use domain::budget::Budget;
use domain::forecast::Pilot;
use serde::Deserialize;
use sqlx::PgConnection;
use uuid::Uuid;

use runtime::Spending;

use super::conversations::Conversations;
use super::plan::{Repertoire, RunConfig};
use super::worlds;
use projects::library::Library;
use store::judgings::{self, Judging};
use store::runs::{self, Run};
use store::{StoreError, clock, control, storage};

/// What a run is to be, beside its configuration.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Whose run it is.
    pub project: Uuid,
    pub playbook: String,
    pub seed: i64,
    /// How many conversations.
    pub planned: usize,
    pub priority: i32,
    /// Conversations that all players together play at once.
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    /// It does not begin before somebody resumes it.
    pub paused: bool,
    /// Its conversations are added one by one, for agents outside.
    pub episodes: bool,
}

/// Stores a run within a transaction, which may do more. Whoever plays is told.
///
/// # Errors
/// Also [`Refused::NoRoom`](control::Refused::NoRoom): the project may not store so much.
pub async fn insert(tx: &mut PgConnection, library: &Library, config: &RunConfig, terms: Terms) -> anyhow::Result<Run> {
    let storage = storage::of_project(&mut *tx, terms.project).await?;
    let planned = i64::try_from(terms.planned).unwrap_or(i64::MAX);
    storage
        .room_for_conversations(planned)
        .map_err(|no_room| StoreError::from(control::ControlError::from(no_room)))?;
    let now = clock::now();
    let run = Run {
        id: clock::id(),
        project: terms.project,
        library: library.files.hash(),
        kind: if terms.episodes { runs::EPISODES } else { <Conversations as runtime::RunKind>::NAME }.to_owned(),
        playbook: terms.playbook,
        seed: terms.seed,
        spec: serde_json::to_value(config)?,
        planned: i32::try_from(terms.planned).context("a run has two thousand million conversations at most")?,
        priority: terms.priority,
        max_in_flight: terms.max_in_flight,
        budget: terms.budget,
        created_at: now,
        played_seconds: None,
        judging: Some(clock::id()),
    };
    let judging = Judging {
        id: run.own_judging(),
        run_id: run.id,
        library: run.library.clone(),
        models: serde_json::to_value(config.judges())?,
        original: true,
        created_at: now,
        created_by: String::new(),
        criteria_apart: config.criteria_apart,
        pools: serde_json::to_value(&config.pools)?,
    };
    runs::insert_library(&mut *tx, &run.library, &serde_json::to_value(&library.files)?, now).await?;
    runs::insert(&mut *tx, &run, terms.paused.then_some("not started")).await?;
    judgings::insert(&mut *tx, &judging).await?;
    worlds::insert(&mut *tx, library, &config.scenarios, now).await?;
    control::notify_players(&mut *tx, run.id).await?;
    Ok(run)
}

/// No player: what "others" spent is all of it.
pub(crate) const NOBODY: i64 = 0;

/// Goes on with a run that was paused. After a forecast it has the cap on conversations that was ordered.
///
/// # Errors
/// [`Refused`](control::Refused): it has ended, its budget is used up, or its project has no room.
pub async fn resume(db: &mut PgConnection, id: Uuid) -> store::Result<()> {
    if let Some(mut run) = runs::get(db, id).await? {
        let mut budget = run.budget.clone();
        // Every kind of run keeps it so.
        let pilot = run.spec.get("forecast").and_then(|pilot| Pilot::deserialize(pilot).ok());
        if let Some(pilot) = pilot.filter(|pilot| budget.conversations == Some(pilot.after)) {
            budget.conversations = pilot.cap;
            control::set_budget(db, id, &budget).await?;
        }
        let now = runs::summary(db, &run).await?;
        if now.state == RunState::Paused && budget.conversations.is_some_and(|cap| now.finished >= i64::from(cap)) {
            return Err(control::ControlError::UsedUp.into());
        }
        // It would be paused again at once.
        run.budget = budget;
        let spending = Spending::new(&run);
        let known = runs::instructions(db, NOBODY, &[id]).await?;
        known.iter().for_each(|known| spending.others_spent(&known.others));
        if let Some(reached) = spending.used_up().filter(|_| now.state == RunState::Paused) {
            return Err(control::ControlError::Capped(reached).into());
        }
        if now.state == RunState::Paused {
            storage::of_project(db, run.project).await?.room_for(0).map_err(control::ControlError::from)?;
        }
    }
    control::resume(db, id).await
}

/// # Errors
/// A scenario that none of the run's profiles may play.
pub fn check(library: &Library, config: &RunConfig, seed: i64) -> anyhow::Result<()> {
    let repertoire = Repertoire::of(library, config)?;
    let plan = repertoire.plan(library, seed);
    let samples = config.samples.get() as usize;
    let mut groups = 0..config.scenarios.len().max(1);
    groups.try_for_each(|group| plan.row(group * samples).map(drop)).map_err(|e| anyhow!(e))
}
