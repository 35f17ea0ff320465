//! Tools that the rows of a run call.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::anyhow;
use futures::FutureExt;
use futures::future::BoxFuture;
use runtime::{Executor, ModelBinding, Service};
use serde_json::Value;
use tools::Tools;
use uuid::Uuid;
use workflow::Workflow;

use crate::spec::RowsSpec;

struct RegisteredTool {
    tools: Tools,
    name: String,
}

impl Service for RegisteredTool {
    fn answer(&self, _task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>> {
        self.tools.call(&self.name, message).map(Ok).boxed()
    }
}

/// Who answers the calls of tools, by name.
///
/// # Errors
/// A tool is not registered in this process.
pub fn bindings(workflow: &Workflow, spec: &RowsSpec, tools: &Tools) -> anyhow::Result<BTreeMap<String, ModelBinding>> {
    let mut bindings = BTreeMap::new();
    for (kind, name) in workflow.tools() {
        let binding = if spec.scripted_tools.contains(&name) {
            ModelBinding::new("scripted".into(), Executor::StandIn)
        } else if tools.is_registered(kind, &name) {
            let service = RegisteredTool { tools: tools.clone(), name: name.clone() };
            ModelBinding::new(name.as_str().into(), Executor::Service(Arc::new(service)))
        } else {
            return Err(anyhow!("it calls a tool that this process does not know: {}", tools.missing(kind, &name)));
        };
        bindings.insert(name, binding);
    }
    Ok(bindings)
}
