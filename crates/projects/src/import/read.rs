//! An interface that somebody sent, as the draft of a playbook.

use domain::api::FieldError;
use domain::api::trials::{ImportInterface, ImportNote, ImportedDraft, ImportedTool};
use sandbox::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::draft::{self, DraftFiles};
use super::imported_interface::ImportedInterface;
use super::{faults, mcp, openai, openapi};
use crate::sandboxed::Fault;

/// Reads an interface as the draft of a playbook with this name.
#[derive(Serialize, Deserialize)]
pub struct ReadInterface {
    pub name: String,
    pub wanted: ImportInterface,
}

impl Work for ReadInterface {
    const NAME: &'static str = "read an interface";
    type Answer = Result<ImportedDraft, Vec<FieldError>>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        drafted(&self.name, self.wanted)
    }
}

fn invalid(pointer: &str, detail: impl Into<String>) -> Vec<FieldError> {
    vec![FieldError::at(pointer, detail)]
}

fn unreadable(error: anyhow::Error) -> Vec<FieldError> {
    match Fault::from(error) {
        Fault::BadInput(bad) => bad.0.into_iter().map(FieldError::from).collect(),
        Fault::Internal(message) => invalid("/openapi", message),
    }
}

fn drafted(name: &str, wanted: ImportInterface) -> Result<ImportedDraft, Vec<FieldError>> {
    let imported = match (wanted.openapi, wanted.mcp, wanted.openai) {
        (Some(text), None, None) => openapi::read_text("openapi", &text).map_err(unreadable)?,
        (None, Some(listed), None) => mcp::import(&listing(listed)?).map_err(|why| invalid("/mcp", why))?,
        (None, None, Some(list)) => openai::import(&list).map_err(|why| invalid("/openai", why))?,
        _ => return Err(invalid("", "give one of `openapi`, `mcp` and `openai`")),
    };
    let files = draft::files(&imported, name, "default");
    let faults = faults(&files, name);
    if faults.is_empty() {
        Ok(imported_draft(imported, files))
    } else {
        Err(faults.into_iter().map(FieldError::from).collect())
    }
}

fn listing(listed: Value) -> Result<mcp::ServerListing, Vec<FieldError>> {
    let wrong = |why: String| invalid("/mcp/tools", why);
    let Value::Object(mut listed) = listed else {
        return Err(invalid("/mcp", "expected an object with `tools`, as `tools/list` answers"));
    };
    // With its envelope, as it stands in a log of the protocol.
    if let Some(Value::Object(result)) = listed.remove("result") {
        listed = result;
    }
    let tools = listed.remove("tools").ok_or_else(|| wrong("is missing".to_owned()))?;
    let Value::Array(tools) = tools else { return Err(wrong("expected a list of tools".to_owned())) };
    let tools = tools.iter().enumerate().map(|(i, tool)| {
        // By way of text: numbers that were read with all their digits cannot be read again otherwise.
        serde_json::from_str(&tool.to_string())
            .map_err(|why| invalid(&format!("/mcp/tools/{i}"), format!("is not an MCP tool: {why}")))
    });
    Ok(mcp::ServerListing { title: String::new(), tools: tools.collect::<Result<_, _>>()? })
}

fn imported_draft(imported: ImportedInterface, files: DraftFiles) -> ImportedDraft {
    let note = |(about, what): (String, String)| ImportNote { about, what };
    let tools = imported.tools.into_iter();
    ImportedDraft {
        files,
        tools: tools
            .map(|tool| ImportedTool { name: tool.name, origin: tool.origin, reads: tool.reads, writes: tool.writes })
            .collect(),
        changed: imported.changed.into_iter().map(note).collect(),
        skipped: imported.skipped.into_iter().map(note).collect(),
    }
}
