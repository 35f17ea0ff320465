//! Services that answer the tools of the conversations that rows play.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::anyhow;
use domain::service::ServiceCall;
use futures::FutureExt;
use futures::future::BoxFuture;
use runtime::{Executor, ModelBinding, Service};
use serde::Deserialize;
use serde_json::Value;
use tools::Tools;
use uuid::Uuid;
use workflow::Workflow;

use crate::spec::RowsSpec;

struct RegisteredService {
    tools: Tools,
    name: String,
}

/// What a conversation of a row asks a service.
#[derive(Deserialize)]
struct Asked {
    /// The address of its step: a row may play several at once.
    conversation: String,
    call: ServiceCall,
}

impl Service for RegisteredService {
    /// Each conversation has an instance of its own. It does not hold it between calls: conversations of one row would wait for
    /// each other. The instance that it had is the first that it gets again.
    fn answer(&self, task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>> {
        let (tools, name) = (self.tools.clone(), self.name.clone());
        async move {
            let Asked { conversation, call } = serde_json::from_value(message).map_err(|error| error.to_string())?;
            let conversation = Uuid::new_v5(&task, conversation.as_bytes());
            let answer = tools.ask_service(&name, conversation, call).await;
            tools.release_service(&name, conversation);
            serde_json::to_value(answer?).map_err(|error| error.to_string())
        }
        .boxed()
    }
}

/// Who answers for services, by their names.
///
/// # Errors
/// A service of the run is not registered in this process.
pub fn bindings(workflow: &Workflow, spec: &RowsSpec, tools: &Tools) -> anyhow::Result<BTreeMap<String, ModelBinding>> {
    let binding = |name: String| {
        if !spec.services.contains(&name) {
            return Ok((name, ModelBinding::new("scripted".into(), Executor::StandIn)));
        }
        if !tools.is_service(&name) {
            return Err(anyhow!("it calls the service `{name}`, which is not registered in this process (--tools)"));
        }
        let service = RegisteredService { tools: tools.clone(), name: name.clone() };
        Ok((name.clone(), ModelBinding::new(name.as_str().into(), Executor::Service(Arc::new(service)))))
    };
    workflow.services().into_iter().map(binding).collect()
}
