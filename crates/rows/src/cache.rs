//! Workflows of runs that were compiled lately: each answer is a run of its own, and compiling takes longer than most of what is
//! done for it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::PgPool;
use store::runs::Run;
use workflow::Workflow;

use crate::stored;

/// How many are kept. A compiled workflow takes some hundred kilobytes, and one that plays scenarios as much
/// as the project's playbooks and scenarios.
const ROOM: usize = 32;

/// Shared by all that a process does.
#[derive(Clone, Default)]
pub struct WorkflowCache(Arc<Mutex<VecDeque<Entry>>>);

struct Entry {
    /// Hash of the documents.
    library: String,
    name: String,
    workflow: Arc<Workflow>,
}

impl WorkflowCache {
    /// The workflow of a run, as [`stored::workflow`] reads it.
    ///
    /// # Errors
    /// As there.
    pub async fn of_run(&self, pool: &PgPool, run: &Run, name: &str) -> anyhow::Result<Arc<Workflow>> {
        if let Some(known) = self.get(&run.library, name) {
            return Ok(known);
        }
        let workflow = stored::workflow(pool, run, name).await?;
        let mut kept = self.0.lock();
        kept.truncate(ROOM - 1);
        kept.push_front(Entry { library: run.library.clone(), name: name.to_owned(), workflow: Arc::clone(&workflow) });
        Ok(workflow)
    }

    /// The one that was used last stands first.
    fn get(&self, library: &str, name: &str) -> Option<Arc<Workflow>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|entry| entry.library == library && entry.name == name)?;
        let found = kept.remove(at)?;
        let workflow = Arc::clone(&found.workflow);
        kept.push_front(found);
        Some(workflow)
    }
}
