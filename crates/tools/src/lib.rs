//! HTTP endpoints, MCP servers and services that documents may call. Administrators register them in a file, and documents
//! only name them: who writes a document does not choose where this machine connects to, or what it starts.

mod answer;
mod endpoint;
mod file;
mod pool;
mod process;
mod retries;
mod server;
mod service;
mod session;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::problem::{Problem, did_you_mean, listed};
use domain::service::{ServiceAnswer, ServiceCall};
use domain::workflow::ToolKind;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use uuid::Uuid;

use endpoint::Endpoint;
pub use process::Process;
use server::Server;
use service::Service;

/// The tools and services of a process, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tools(Arc<Registered>);

#[derive(Default)]
struct Registered {
    tools: BTreeMap<String, Arc<Tool>>,
    services: BTreeMap<String, Arc<Service>>,
}

struct Tool {
    target: Target,
    /// For a call as a whole, its attempts included.
    timeout: Duration,
    in_flight: Semaphore,
}

enum Target {
    Endpoint(Endpoint),
    Server(Server),
}

impl Target {
    const fn kind(&self) -> ToolKind {
        match self {
            Self::Endpoint(_) => ToolKind::Endpoint,
            Self::Server(_) => ToolKind::Server,
        }
    }
}

impl Tools {
    /// Reads a file of tools and the keys that it names; connects to nothing. `path` is only a name for messages.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its line.
    pub fn read(path: &str, text: &str) -> Result<Self, Vec<Problem>> {
        file::read(path, text).map(|registered| Self(Arc::new(registered)))
    }

    pub fn is_registered(&self, kind: ToolKind, name: &str) -> bool {
        self.0.tools.get(name).is_some_and(|tool| tool.target.kind() == kind)
    }

    /// Why there is no such tool.
    pub fn missing(&self, kind: ToolKind, name: &str) -> String {
        if let Some(other) = self.0.tools.get(name) {
            return format!("`{name}` is registered as an {}, and is called as an {kind}", other.target.kind());
        }
        let known =
            || self.0.tools.iter().filter(|(_, tool)| tool.target.kind() == kind).map(|(name, _)| name.as_str());
        let hint = did_you_mean(name, known());
        format!("no {kind} is registered as `{name}`{hint} (--tools); there are: {}", listed(known()))
    }

    pub fn is_service(&self, name: &str) -> bool {
        self.0.services.contains_key(name)
    }

    /// The names of the services.
    pub fn services(&self) -> impl Iterator<Item = &str> {
        self.0.services.keys().map(String::as_str)
    }

    /// Asks the service that is leased for the task. It is one that has answered exactly the calls that the task made before.
    ///
    /// # Errors
    /// The service is unavailable, or cannot be restored to that state; without addresses.
    pub async fn ask_service(&self, name: &str, task: Uuid, call: ServiceCall) -> Result<ServiceAnswer, String> {
        let service = self.0.services.get(name).ok_or_else(|| format!("the service `{name}` is not registered"))?;
        let answer = service.ask(task, &call).await;
        answer.map_err(|reason| format!("the service `{name}` {reason}"))
    }

    /// Waits until the task may have a service, and keeps it for the task.
    pub async fn service_turn(&self, name: &str, task: Uuid) {
        if let Some(service) = self.0.services.get(name) {
            service.turn(task).await;
        }
    }

    /// The task asks the service no more for now. It may still find it as it left it.
    pub fn release_service(&self, name: &str, task: Uuid) {
        if let Some(service) = self.0.services.get(name) {
            service.release(task);
        }
    }

    /// Calls a tool: `{tool, arguments}` of a server, `{body}` of an endpoint. The answer is `{value}`, or `{error}` in words.
    pub fn call(&self, name: &str, message: Value) -> BoxFuture<'static, Value> {
        let Some(tool) = self.0.tools.get(name).cloned() else {
            return futures::future::ready(answer::failed("it is not registered")).boxed();
        };
        async move { tool.call(message).await }.boxed()
    }
}

impl Tool {
    async fn call(&self, message: Value) -> Value {
        // It is never closed.
        let _turn = self.in_flight.acquire().await;
        let answered = timeout(self.timeout, async {
            match &self.target {
                Target::Endpoint(endpoint) => endpoint.call(&message["body"]).await,
                Target::Server(server) => server.call(&message).await,
            }
        });
        let late = || Err(format!("did not answer within {} s", self.timeout.as_secs()));
        match answered.await.unwrap_or_else(|_| late()) {
            Ok(value) => answer::succeeded(value),
            Err(reason) => answer::failed(&reason),
        }
    }
}
