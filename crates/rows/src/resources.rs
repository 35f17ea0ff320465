//! What a process has for runs of workflows.

use std::path::Path;

use datasets::search::IndexCache;
use runtime::ModelClients;
use store::objects::Objects;
use tools::Tools;

use crate::cache::WorkflowCache;

#[derive(Clone)]
pub struct RowResources {
    pub clients: ModelClients,
    /// Where datasets are; `None`: runs over datasets are played elsewhere.
    pub objects: Option<Objects>,
    /// The indexes that are searched here.
    pub indexes: Option<IndexCache>,
    pub workflows: WorkflowCache,
    /// The tools that are registered here.
    pub tools: Tools,
}

impl RowResources {
    /// `files`: a folder of this machine; what is searched is copied to it.
    pub fn new(clients: ModelClients, objects: Option<Objects>, files: &Path, tools: Tools) -> Self {
        let indexes = objects.clone().map(|objects| IndexCache::new(objects, files.join("indexes")));
        Self { clients, objects, indexes, workflows: WorkflowCache::default(), tools }
    }

    /// For runs whose rows stand in their order.
    pub fn of_clients(clients: ModelClients) -> Self {
        Self { clients, objects: None, indexes: None, workflows: WorkflowCache::default(), tools: Tools::default() }
    }
}
