//! stub
use super::Target;
use super::imported::Imported;
use std::path::PathBuf;
#[derive(clap::Args)]
pub struct Mcp {
    pub server: PathBuf,
    #[command(flatten)]
    pub(super) target: Target,
}
pub async fn read(_args: &Mcp) -> anyhow::Result<Imported> {
    anyhow::bail!("stub")
}
