//! An MCP server that is reached over HTTP. Each call is a session of its own: a server that was started anew in between, or that
//! keeps something per session, changes nothing.

use reqwest::Client;
use serde_json::Value;

use crate::session::{CallError, NoAnswer, Session};

pub struct Server {
    pub url: String,
    /// Sends the key with each request.
    pub http: Client,
    /// The tools that may be called; all if there are none.
    pub tools: Vec<String>,
}

impl Server {
    /// # Errors
    /// What went wrong, without addresses.
    pub async fn call(&self, message: &Value) -> Result<Value, String> {
        let name = message["tool"].as_str().unwrap_or_default();
        if !self.tools.is_empty() && !self.tools.iter().any(|tool| tool == name) {
            return Err(format!("may not be asked for its tool `{name}`"));
        }
        let arguments = message["arguments"].as_object().cloned().unwrap_or_default();
        let session = Session::over_http(&self.url, &self.http).await.map_err(NoAnswer::reason)?;
        let called = session.call(name, &arguments).await;
        session.close().await;
        called.map_err(|error| match error {
            CallError::Failed(reason) => format!("failed: {reason}"),
            CallError::Refused(reason) => format!("refused: {reason}"),
            CallError::Useless(reason) => reason,
            CallError::NoAnswer(no_answer) => no_answer.reason(),
        })
    }
}
