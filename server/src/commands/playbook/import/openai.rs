//! The flags of `groundstate playbook import openai`.

use std::path::PathBuf;

use super::Target;

#[derive(clap::Args)]
pub struct Openai {
    /// A JSON list of tools as OpenAI function calling has it: `[{"type": "function", "function": {...}}]`
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) target: Target,
}
