//! Services that answer the tools of playbooks, and their stand-ins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::service::ServiceCall;
use futures::FutureExt;
use futures::future::BoxFuture;
use projects::library::Library;
use runtime::Service;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::Tools;
use uuid::Uuid;

/// Who answers the tools of a service in a run. What was ordered holds wherever it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlayedBy {
    Service,
    /// Their `scripted` templates: the service was not registered where the run was ordered.
    StandIn,
}

impl PlayedBy {
    pub fn told(self, name: &str) -> String {
        match self {
            Self::Service => name.to_owned(),
            Self::StandIn => "scripted".to_owned(),
        }
    }
}

/// The services that the playbooks of these scenarios name.
///
/// # Errors
/// A scenario or its playbook is not there.
pub fn of_scenarios(
    library: &Library,
    scenarios: &[String],
    tools: &Tools,
) -> Result<BTreeMap<String, PlayedBy>, String> {
    let mut playbooks = BTreeSet::new();
    for id in scenarios {
        playbooks.insert(library.scenario(id)?.playbook.as_str());
    }
    let mut services = BTreeMap::new();
    for name in playbooks {
        for (service, _) in library.playbook(name)?.spec.all_tools().filter_map(|tool| tool.service()) {
            let played = if tools.is_service(service) { PlayedBy::Service } else { PlayedBy::StandIn };
            services.insert(service.to_owned(), played);
        }
    }
    Ok(services)
}

/// The services of a process, for its runs.
pub fn registered(tools: &Tools) -> Vec<(String, Arc<dyn Service>)> {
    let service = |name: &str| {
        let service: Arc<dyn Service> = Arc::new(RegisteredService { tools: tools.clone(), name: name.to_owned() });
        (name.to_owned(), service)
    };
    tools.services().map(service).collect()
}

struct RegisteredService {
    tools: Tools,
    name: String,
}

impl Service for RegisteredService {
    fn answer(&self, task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>> {
        let (tools, name) = (self.tools.clone(), self.name.clone());
        async move {
            let call: ServiceCall = serde_json::from_value(message).map_err(|error| error.to_string())?;
            let answer = tools.ask_service(&name, task, call).await?;
            serde_json::to_value(answer).map_err(|error| error.to_string())
        }
        .boxed()
    }

    fn turn(&self, task: Uuid) -> BoxFuture<'static, ()> {
        let (tools, name) = (self.tools.clone(), self.name.clone());
        async move { tools.service_turn(&name, task).await }.boxed()
    }

    fn release(&self, task: Uuid) {
        self.tools.release_service(&self.name, task);
    }
}
