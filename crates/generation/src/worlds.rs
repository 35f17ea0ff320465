//! The worlds that a run's conversations start from.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use chrono::{DateTime, Utc};
use engine::World;
use projects::library::Library;
use sqlx::PgConnection;
use store::worlds;
use uuid::Uuid;

/// Inserts them, each once.
pub async fn insert(
    db: &mut PgConnection,
    library: &Library,
    scenarios: &[String],
    now: DateTime<Utc>,
) -> anyhow::Result<()> {
    let mut bases = BTreeMap::<&str, String>::new();
    for id in scenarios {
        let scenario = library.scenario(id).map_err(|e| anyhow!(e))?;
        let playbook = library.playbook(&scenario.playbook).map_err(|e| anyhow!(e))?;
        let initial = library.initial(scenario, playbook);
        if !bases.contains_key(scenario.playbook.as_str()) {
            let hash = playbook.base.hash();
            worlds::insert_base(db, &hash, &playbook.base.to_json(), now).await?;
            bases.insert(&scenario.playbook, hash);
        }
        let base = &bases[scenario.playbook.as_str()];
        worlds::insert_on_base(db, &initial.hash, base, &playbook.base.patch_to(initial.world.root()), now).await?;
    }
    Ok(())
}

/// The world that a conversation starts from; `None` if it is older than the table of worlds.
///
/// # Errors
/// The database cannot be read, or a stored patch does not fit its base.
pub async fn initial(db: &mut PgConnection, conversation: Uuid) -> anyhow::Result<Option<World>> {
    let Some(stored) = worlds::initial(db, conversation).await? else { return Ok(None) };
    let mut world = World::new(&stored.base);
    for patch in &stored.patches {
        world = world.apply(patch).context("a stored patch of a world does not fit its base")?;
    }
    Ok(Some(World::from_root(world.root().clone())))
}
