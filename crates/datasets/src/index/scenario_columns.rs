//! What the documents of a run say of its scenarios.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use domain::document;
use domain::scenario::Scenario;
use parking_lot::Mutex;
use sqlx::PgConnection;

use projects::library::Files;
use store::runs;

/// A scenario as filters see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioColumns {
    pub family: String,
    pub tags: Vec<String>,
    pub playbook: String,
}

/// All scenarios of some documents, by id.
pub type Scenarios = BTreeMap<String, ScenarioColumns>;

/// What was read so far, by the hash of the documents: the runs of a project share most of them. It is kept as long as a run
/// that is held needs it.
#[derive(Default)]
pub struct ScenarioCache(Mutex<HashMap<String, Weak<Scenarios>>>);

impl ScenarioCache {
    /// # Errors
    /// The database.
    pub async fn of(&self, db: &mut PgConnection, library: &str) -> anyhow::Result<Arc<Scenarios>> {
        if let Some(known) = self.known(library) {
            return Ok(known);
        }
        let files: Files = serde_json::from_value(runs::library(db, library).await?)?;
        let read = Arc::new(scenarios(&files));
        let mut all = self.0.lock();
        all.retain(|_, about| about.strong_count() > 0);
        all.insert(library.to_owned(), Arc::downgrade(&read));
        Ok(read)
    }

    fn known(&self, library: &str) -> Option<Arc<Scenarios>> {
        self.0.lock().get(library)?.upgrade()
    }
}

/// What cannot be read is left out: another version of the program may have
/// been able to.
fn scenarios(files: &Files) -> Scenarios {
    let read = files.under("scenarios").filter_map(|(path, text)| document::parse::<Scenario>(path, text).ok());
    read.map(|scenario| {
        let family = scenario.family().to_owned();
        (scenario.id, ScenarioColumns { family, tags: scenario.tags, playbook: scenario.playbook })
    })
    .collect()
}

impl ScenarioColumns {
    /// Of a scenario that the documents do not hold.
    pub fn unknown(scenario: &str, playbook: &str) -> Self {
        Self { family: scenario.to_owned(), tags: Vec::new(), playbook: playbook.to_owned() }
    }
}
