//! A run: created whole, played side by side, continued after any stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use domain::outcome::Outcome;
use domain::role::Role;
use engine::Ask;
use futures::{StreamExt, stream};
use llm::{ChatModel, Endpoint, EndpointOptions, ModelSpec, Scripted, SetupError};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::plan::RunConfig;
use super::play::Player;
use super::worlds;
use crate::clock;
use crate::library::{Files, Library};
use crate::store::conversations::{self, Planned};
use crate::store::judgings::{self, Judging};
use crate::store::runs::{self, Run};

/// Stores a run with all its conversations, or nothing.
pub async fn create(
    pool: &PgPool,
    library: &Library,
    config: &RunConfig,
    playbook: &str,
    seed: i64,
    planned: &[Planned],
) -> anyhow::Result<Run> {
    let now = clock::now();
    let run = Run {
        id: clock::id(),
        library: library.files.hash(),
        playbook: playbook.to_owned(),
        seed,
        config: serde_json::to_value(config)?,
        planned: i32::try_from(planned.len())?,
        created_at: now,
        judging: clock::id(),
    };
    let judging = Judging {
        id: run.judging,
        run_id: run.id,
        library: run.library.clone(),
        models: serde_json::to_value(config.judges())?,
        original: true,
        created_at: now,
    };
    let mut tx = pool.begin().await?;
    runs::insert_library(&mut tx, &run.library, &serde_json::to_value(&library.files)?, now).await?;
    runs::insert(&mut tx, &run).await?;
    judgings::insert(&mut tx, &judging).await?;
    let worlds = worlds::keep(&mut tx, library, planned, now).await?;
    conversations::insert_all(&mut tx, run.id, planned, &worlds).await?;
    tx.commit().await?;
    Ok(run)
}

/// A stored run with the documents it was started with.
pub async fn load(pool: &PgPool, id: Uuid) -> anyhow::Result<(Run, RunConfig, Library)> {
    let mut db = pool.acquire().await?;
    let run = runs::get(&mut db, id).await?.with_context(|| format!("there is no run {id}"))?;
    let config = serde_json::from_value(run.config.clone()).context("the run's configuration cannot be read")?;
    let files: Files = serde_json::from_value(runs::library(&mut db, &run.library).await?)?;
    let library = Library::assemble_proved(files).map_err(|problems| {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!("this version of Groundstate does not accept the run's documents:\n{}", list.join("\n"))
    })?;
    Ok((run, config, library))
}

/// Who plays each role.
pub struct Models {
    pub roles: BTreeMap<Role, Arc<dyn ChatModel>>,
    /// Judges beside the role's.
    pub panel: Vec<Arc<dyn ChatModel>>,
    /// Those with a model of their own, by name.
    pub sub_agents: BTreeMap<String, Arc<dyn ChatModel>>,
}

impl Models {
    pub fn answering(&self, ask: &Ask) -> Option<&Arc<dyn ChatModel>> {
        if let Some(other) = ask.judge.checked_sub(1) {
            return self.panel.get(other);
        }
        let own = ask.sub_agent.as_ref().and_then(|name| self.sub_agents.get(name));
        own.or_else(|| self.roles.get(&ask.role))
    }
}

/// A client for each model.
pub fn clients(models: &[ModelSpec], options: &EndpointOptions) -> Result<Vec<Arc<dyn ChatModel>>, SetupError> {
    models.iter().map(|spec| client(spec, options)).collect()
}

fn client(spec: &ModelSpec, options: &EndpointOptions) -> Result<Arc<dyn ChatModel>, SetupError> {
    Ok(match spec {
        ModelSpec::Scripted => Arc::new(Scripted),
        ModelSpec::Endpoint(endpoint) => Arc::new(Endpoint::new(endpoint.clone(), options.clone())?),
    })
}

/// Roles and sub-agents that name the same model share one client.
pub fn models(config: &RunConfig, options: &EndpointOptions) -> anyhow::Result<Models> {
    let mut clients: BTreeMap<String, Arc<dyn ChatModel>> = BTreeMap::new();
    let mut client = |spec: &ModelSpec| -> anyhow::Result<Arc<dyn ChatModel>> {
        if let Some(client) = clients.get(&spec.to_string()) {
            return Ok(Arc::clone(client));
        }
        let client = client(spec, options)?;
        clients.insert(spec.to_string(), Arc::clone(&client));
        Ok(client)
    };
    let roles = config.models.iter().map(|(role, spec)| Ok((*role, client(spec)?))).collect::<anyhow::Result<_>>()?;
    let panel = config.panel.iter().map(&mut client).collect::<anyhow::Result<_>>()?;
    let subs = config.sub_agents.iter().map(|(name, spec)| Ok((name.clone(), client(spec)?)));
    Ok(Models { roles, panel, sub_agents: subs.collect::<anyhow::Result<_>>()? })
}

/// Plays what is left, so many at a time, and tells of each that ends. Dropping the future stops cleanly: every
/// committed event stays, and the rest is played when the run is continued.
///
/// # Errors
/// Another process plays the run, or the database failed a conversation: the others were played all the same.
pub async fn play_all(player: &Player, concurrency: usize, mut ended: impl FnMut(&Outcome)) -> anyhow::Result<()> {
    let _lock = lock(player).await?;
    let left = conversations::unfinished(&mut *player.pool.acquire().await?, player.run.id).await?;
    let mut playing = stream::iter(left.iter().map(|planned| player.play(planned))).buffer_unordered(concurrency);
    let mut failure = Ok(());
    while let Some(played) = playing.next().await {
        match played {
            Ok(outcome) => ended(&outcome),
            Err(error) => failure = failure.and(Err(error)),
        }
    }
    failure
}

/// A connection of its own that holds the run's lock until it is closed. One that was just dropped may hold it for a
/// moment longer.
async fn lock(player: &Player) -> anyhow::Result<PgConnection> {
    let mut db = player.pool.acquire().await?.detach();
    for _ in 0..20 {
        if runs::try_lock(&mut db, player.run.id).await? {
            return Ok(db);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("another process plays run {} already", player.run.id)
}
