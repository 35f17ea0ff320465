//! Interfaces whose operations become the tools of a new playbook.

use domain::api::trials::ImportInterface;
use leptos::prelude::*;
use strum::{EnumString, IntoStaticStr, VariantArray};

use ui::components::{Command, FormField};

/// Lists the tools of a server that `npx some-server` starts.
const LIST: &str = "npx @modelcontextprotocol/inspector --cli npx some-server --method tools/list";
const IMPORT: &str = "groundstate playbook import mcp \"npx some-server\" --name desk";

/// As text it stands where the name of a copied document does; no document can have such a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum Kind {
    #[strum(serialize = "@openapi")]
    OpenApi,
    #[strum(serialize = "@mcp")]
    Mcp,
}

impl Kind {
    pub const fn label(self) -> &'static str {
        match self {
            Self::OpenApi => "An OpenAPI document",
            Self::Mcp => "The tools of an MCP server",
        }
    }

    /// # Errors
    /// The text cannot be sent.
    pub fn read(self, text: &str) -> Result<ImportInterface, String> {
        match self {
            Self::OpenApi => Ok(ImportInterface { openapi: Some(text.to_owned()), ..ImportInterface::default() }),
            Self::Mcp => match serde_json::from_str(text) {
                Ok(listed) => Ok(ImportInterface { mcp: Some(listed), ..ImportInterface::default() }),
                Err(why) => Err(format!("Not valid JSON: {why}. Paste the whole answer, from {{ to }}.")),
            },
        }
    }
}

/// Where the text of the interface goes.
#[component]
pub fn InterfaceField(kind: Kind, text: RwSignal<String>, wrong: RwSignal<Option<String>>) -> impl IntoView {
    match kind {
        Kind::OpenApi => view! {
            <FormField
                label="OpenAPI document"
                hint="Version 3.0 or 3.1, as YAML or JSON. Each operation becomes a tool in a draft, which you then \
                      complete."
            >
                <textarea rows="10" spellcheck="false" bind:value=text></textarea>
            </FormField>
        }
        .into_any(),
        Kind::Mcp => view! {
            <FormField
                label="Answer to tools/list"
                hint="The JSON that the MCP server answers. Each of its tools becomes a tool in a draft, which you \
                      then complete."
                wrong
            >
                <textarea rows="10" spellcheck="false" bind:value=text></textarea>
            </FormField>
            <p class="muted hint">"Groundstate does not call addresses that are typed here. This command lists the tools of a server:"</p>
            <Command label="Command that lists the tools of an MCP server" text=LIST />
            <p class="muted hint">"Or use the command line. It asks a running server, or starts one, and writes the \
                                   documents into a folder:"</p>
            <Command
                label="Command that imports from an MCP server"
                text=IMPORT
            />
        }
        .into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_sent_as_what_it_is() {
        let wanted = Kind::Mcp.read(r#"{"tools": []}"#).unwrap();
        assert_eq!((wanted.openapi, wanted.mcp), (None, Some(serde_json::json!({"tools": []}))));
        assert!(Kind::Mcp.read("{").is_err_and(|why| why.starts_with("Not valid JSON")));
        assert_eq!(Kind::OpenApi.read("openapi: 3.1.0").unwrap().openapi.as_deref(), Some("openapi: 3.1.0"));
    }
}
