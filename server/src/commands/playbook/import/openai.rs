//! The flags of `groundstate playbook import openai`.

use std::path::PathBuf;

use super::Target;

#[derive(clap::Args)]
pub struct Openai {
    /// A JSON list of tools in OpenAI's format: `[{"type": "function", "function": {...}}]`
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) target: Target,
}
