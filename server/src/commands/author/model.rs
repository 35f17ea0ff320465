//! The model that writes.

use llm::{Endpoint, EndpointOptions, EndpointSpec, ModelSpec};

/// What `--model` names.
///
/// # Errors
/// It cannot write: what to name instead.
pub fn read(text: &str) -> Result<EndpointSpec, String> {
    match text.parse() {
        Ok(ModelSpec::Endpoint(endpoint)) => Ok(endpoint),
        Ok(ModelSpec::Scripted) => {
            Err(format!("`scripted` only plays what scenarios say and can write nothing: {EXPECTED}"))
        }
        Ok(ModelSpec::Named(name)) => Err(format!("`{name}` names no endpoint: {EXPECTED}")),
        Err(error) => Err(error.to_string()),
    }
}

pub const EXPECTED: &str = "name a model behind an endpoint as NAME@BASE_URL or NAME@BASE_URL@KEY_ENV, \
     e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY";

/// The client. The key is looked for; nothing is asked yet.
///
/// # Errors
/// Why there is none, in words.
pub fn endpoint(spec: EndpointSpec) -> Result<Endpoint, String> {
    Endpoint::new(spec, EndpointOptions::default()).map_err(|error| error.to_string())
}
