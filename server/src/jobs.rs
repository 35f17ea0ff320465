//! What this program does about jobs, by kind.

use std::path::PathBuf;
use std::sync::Arc;

use datasets::corpora;
use datasets::export;
use domain::job::JobKind;
use generation::{judgings, probes};
use projects::documents::validate;
use runtime::ModelClients;
use runtime::jobs::Handlers;
use sandbox::Sandbox;

/// Files and corpora are large: one after the other.
const LARGE: usize = 1;
/// What mostly waits for models, or is short.
const SMALL: usize = 4;

/// What needs no folder of files: any process does it.
pub fn handlers(clients: &ModelClients, sandbox: &Sandbox) -> Handlers {
    let (clients, sandbox) = (clients.clone(), sandbox.clone());
    let judge = move |lease| {
        let clients = clients.clone();
        async move { judgings::work(lease, &clients).await }
    };
    let validating = move |lease| {
        let sandbox = sandbox.clone();
        async move { validate::work(lease, &sandbox).await }
    };
    Handlers::default()
        .with(JobKind::Corpus, LARGE, corpora::job::work)
        .with(JobKind::Judging, SMALL, judge)
        .with(JobKind::Validation, SMALL, validating)
        .with(JobKind::Probe, SMALL, probes::work)
}

/// And exports, whose files are kept in a folder.
pub fn handlers_with_files(clients: &ModelClients, sandbox: &Sandbox, files: PathBuf) -> Handlers {
    let files: Arc<PathBuf> = Arc::new(files);
    handlers(clients, sandbox).with(JobKind::Export, LARGE, move |lease| {
        let files = Arc::clone(&files);
        async move { export::job::work(lease, &files).await }
    })
}
