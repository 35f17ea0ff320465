//! What this program does about jobs, by kind.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datasets::corpora;
use datasets::dataset;
use datasets::export;
use datasets::search;
use domain::job::JobKind;
use generation::{judgings, probes};
use projects::documents::validate;
use runtime::ModelClients;
use runtime::jobs::Handlers;
use sandbox::Sandbox;
use store::objects::Objects;

/// Files and corpora are large: one after the other.
const LARGE: usize = 1;
/// What mostly waits for models, or is short.
const SMALL: usize = 4;

/// What needs no folder of files: any process does it.
pub fn handlers(clients: &ModelClients, sandbox: &Sandbox) -> Handlers {
    let (clients, sandbox) = (clients.clone(), sandbox.clone());
    let judge = move |lease| {
        let clients = clients.clone();
        async move { judgings::work(lease, &clients, None).await }
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
pub fn with_files(handlers: Handlers, files: &Path) -> Handlers {
    let files: Arc<Path> = files.into();
    handlers.with(JobKind::Export, LARGE, move |lease| {
        let files = Arc::clone(&files);
        async move { export::job::work(lease, &files).await }
    })
}

/// And datasets and indexes, which are kept in object storage. `files`: the folder of exports.
pub fn with_objects(handlers: Handlers, objects: &Objects, files: &Path, sandbox: &Sandbox) -> Handlers {
    let places: Arc<(Objects, PathBuf, Sandbox)> = Arc::new((objects.clone(), files.to_owned(), sandbox.clone()));
    let of_datasets = Arc::clone(&places);
    let handlers = handlers.with(JobKind::Dataset, LARGE, move |lease| {
        let places = Arc::clone(&of_datasets);
        async move { dataset::job::work(lease, &places.0, &places.1, &places.2).await }
    });
    handlers.with(JobKind::Index, LARGE, move |lease| {
        let places = Arc::clone(&places);
        async move { search::job::work(lease, &places.0, &places.1).await }
    })
}
