//! Where a process keeps what is too large for the database: exports, datasets and indexes.

use std::path::PathBuf;

use anyhow::Context as _;
use llm::EndpointOptions;
use rows::RowResources;
use runtime::ModelClients;
use store::objects::Objects;
use tools::Tools;

use super::connection::ConnectionArgs;

#[derive(clap::Args)]
pub struct StorageArgs {
    /// Folder for exports [default: files/ in the data directory]
    #[arg(long, env = "GROUNDSTATE_FILES", value_name = "DIR")]
    files: Option<PathBuf>,
    /// Place for datasets and indexes: a folder, or `s3://BUCKET/PREFIX` [default: objects/ in the folder for exports]
    #[arg(long, env = "GROUNDSTATE_OBJECTS", value_name = "PLACE")]
    objects: Option<String>,
}

impl StorageArgs {
    pub fn files(&self, connection: &ConnectionArgs) -> PathBuf {
        self.files.clone().unwrap_or_else(|| connection.data_dir().join("files"))
    }

    /// What runs of workflows need of this process.
    ///
    /// # Errors
    /// The place of datasets cannot be used.
    pub fn row_resources(&self, connection: &ConnectionArgs, tools: Tools) -> anyhow::Result<RowResources> {
        let clients = ModelClients::new(EndpointOptions::default());
        Ok(RowResources::new(clients, Some(self.objects(connection)?), &self.files(connection), tools))
    }

    /// # Errors
    /// The place cannot be used.
    pub fn objects(&self, connection: &ConnectionArgs) -> anyhow::Result<Objects> {
        let place = self.objects.as_deref().filter(|place| !place.is_empty());
        let objects = match place {
            Some(place) => Objects::open(place),
            None => Objects::of_folder(self.files(connection).join("objects")),
        };
        objects.context("cannot use the place for datasets and indexes (--objects)")
    }
}
