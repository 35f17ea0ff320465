//! The file of tools that workflows may call.

use std::path::PathBuf;

use domain::bad_input::BadInput;
use tools::Tools;

#[derive(clap::Args)]
pub struct ToolsArgs {
    /// File that registers the HTTP endpoints, MCP servers and services that documents may call (see docs/services.md)
    #[arg(long, env = "GROUNDSTATE_TOOLS", value_name = "FILE")]
    pub tools: Option<PathBuf>,
}

impl ToolsArgs {
    /// # Errors
    /// The file cannot be read, or something in it is wrong.
    pub fn read(&self) -> anyhow::Result<Tools> {
        let Some(path) = self.tools.as_ref().filter(|path| !path.as_os_str().is_empty()) else {
            return Ok(Tools::default());
        };
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| BadInput::one(&name, error.to_string()))?;
        Ok(Tools::read(&name, &text).map_err(BadInput)?)
    }
}
