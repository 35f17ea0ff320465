//! The flags of `groundstate playbook import openapi`.

use std::path::PathBuf;

use super::Target;

#[derive(clap::Args)]
pub struct Openapi {
    /// The document: OpenAPI 3.0 or 3.1, as YAML or JSON
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) target: Target,
}
