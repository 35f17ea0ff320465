//! The worlds that a run's conversations start from.

use std::collections::BTreeMap;

use anyhow::anyhow;
use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::library::Library;
use crate::store::worlds;

/// Keeps them, each once.
pub async fn keep(
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
            worlds::insert_base(db, &hash, &playbook.base, now).await?;
            bases.insert(&scenario.playbook, hash);
        }
        let base = &bases[scenario.playbook.as_str()];
        worlds::insert_on_base(db, &initial.hash, base, &playbook.base.patch_to(initial.world.root()), now).await?;
    }
    Ok(())
}
