//! Services: MCP servers that hold the state of one task at a time.
//!
//! The state of an instance is identified by the calls that it has answered since its last reset. Each call comes with the
//! earlier calls of its task. If the instance has answered other calls, it is reset and the earlier calls are repeated. A service
//! therefore survives crashes of its own, of this process and of the whole installation, and others can take an instance from a
//! task.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

use domain::service::{PastCall, ServiceAnswer, ServiceCall, fingerprint};
use reqwest::Client;
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};
use uuid::Uuid;

use crate::answer;
use crate::pool::{Lease, Pool};
use crate::process::Process;
use crate::retries::{Failure, Retries};
use crate::session::{CallError, NoAnswer, Session};

pub struct Service {
    pub name: String,
    pub place: ServicePlace,
    pub reset: Reset,
    /// The tools that may be called; all if there are none.
    pub tools: Vec<String>,
    pub call_timeout: Duration,
    pub start_timeout: Duration,
    /// How long a call waits for a server that is not available.
    pub patience: Duration,
    pub pool: Pool<Instance>,
}

pub enum ServicePlace {
    /// Each instance is a process of its own.
    Command {
        program: String,
        arguments: Vec<String>,
        directory: Option<PathBuf>,
        environment: BTreeMap<String, String>,
    },
    /// Each instance is a session.
    Url { url: String, http: Client },
}

/// How an instance is made fresh.
pub enum Reset {
    /// A new process, or a new session.
    Restart,
    /// By a call.
    Tool { tool: String, arguments: Map<String, Value> },
}

/// A process or a session, and what it has answered.
pub struct Instance {
    /// `None` once the instance is closed.
    session: Option<Session>,
    /// Ends with the instance.
    process: Option<Process>,
    answered: Vec<u64>,
}

impl Service {
    /// # Errors
    /// The service is unavailable, or cannot be restored to the state in which the task left it.
    pub async fn ask(&self, task: Uuid, call: &ServiceCall) -> Result<ServiceAnswer, String> {
        if !self.tools.is_empty() && !self.tools.contains(&call.tool) {
            return Err(format!("may not be asked for its tool `{}`", call.tool));
        }
        let mut retries = Retries::new(&self.name, task, self.patience);
        loop {
            let begun = Instant::now();
            let mut lease = self.pool.lease(task).await;
            retries.queued(begun.elapsed());
            let failure = match self.ask_instance(&mut lease, call).await {
                Ok(answer) => {
                    lease.keep();
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            // The instance is closed: what it did last is not known. Others may have its place meanwhile.
            drop(lease);
            sleep(retries.after(failure)?).await;
        }
    }

    /// Waits until the task may have an instance.
    pub async fn turn(&self, task: Uuid) {
        self.pool.lease(task).await.keep();
    }

    pub fn release(&self, task: Uuid) {
        self.pool.release(task);
    }

    async fn ask_instance(&self, lease: &mut Lease<Instance>, call: &ServiceCall) -> Result<ServiceAnswer, Failure> {
        let wanted: Vec<u64> = call.before.iter().map(|past| call_hash(&past.tool, &past.arguments)).collect();
        let mut instance = match lease.instance.take() {
            Some(instance) if lease.own && wanted.starts_with(&instance.answered) => instance,
            Some(instance) if instance.answered.is_empty() => instance,
            Some(instance) => self.fresh(instance).await?,
            None => self.start().await?,
        };
        for past in &call.before[instance.answered.len()..] {
            self.repeat(&mut instance, past).await?;
        }
        let answer = self.call(&mut instance, &call.tool, &call.arguments).await?;
        (lease.instance, lease.own) = (Some(instance), true);
        Ok(answer)
    }

    /// Makes a call of the past again.
    async fn repeat(&self, instance: &mut Instance, past: &PastCall) -> Result<(), Failure> {
        let answer = self.call(instance, &past.tool, &past.arguments).await?;
        if past.answer.is_some_and(|known| known != fingerprint(&answer.text())) {
            let reason =
                format!("gave another answer when a call of `{}` was made again, to restore its state", past.tool);
            return Err(Failure::Final(reason));
        }
        Ok(())
    }

    async fn call(
        &self,
        instance: &mut Instance,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<ServiceAnswer, Failure> {
        let session = instance.session.as_ref().ok_or_else(|| Failure::Broken("is closed".to_owned()))?;
        let called = timeout(self.call_timeout, session.call(tool, arguments)).await;
        let answer = match called {
            Ok(Ok(value)) => match answer::kept(value) {
                Ok(value) => ServiceAnswer::Value(value),
                Err(reason) => return Err(Failure::Final(reason)),
            },
            Ok(Err(CallError::Failed(reason) | CallError::Refused(reason))) => {
                ServiceAnswer::Refused(reason.replace('\0', "\u{fffd}"))
            }
            Ok(Err(CallError::Useless(reason))) => return Err(Failure::Final(reason)),
            Ok(Err(CallError::NoAnswer(no_answer))) => {
                if let NoAnswer::Broken(reason) = no_answer {
                    warn!(service = self.name, "{}", instance.overheard(reason));
                }
                return Err(no_answer.into());
            }
            Err(_) => {
                return Err(Failure::Final(format!("did not answer within {} s", self.call_timeout.as_secs())));
            }
        };
        instance.answered.push(call_hash(tool, arguments));
        Ok(answer)
    }

    async fn fresh(&self, mut instance: Instance) -> Result<Instance, Failure> {
        if matches!(self.reset, Reset::Tool { .. }) && self.reset(&mut instance).await.is_ok() {
            return Ok(instance);
        }
        drop(instance);
        self.start().await
    }

    /// Calls the tool that makes an instance fresh, if there is one.
    async fn reset(&self, instance: &mut Instance) -> Result<(), Failure> {
        let Reset::Tool { tool, arguments } = &self.reset else { return Ok(()) };
        let session = instance.session.as_ref().ok_or_else(|| Failure::Broken("is closed".to_owned()))?;
        let reset = timeout(self.call_timeout, session.call(tool, arguments)).await;
        instance.answered.clear();
        match reset {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(CallError::NoAnswer(unavailable @ NoAnswer::Unavailable { .. }))) => Err(unavailable.into()),
            _ => Err(Failure::Broken(format!("could not be reset by its tool `{tool}`"))),
        }
    }

    async fn start(&self) -> Result<Instance, Failure> {
        info!(service = self.name, "an instance of a service is started");
        let started = timeout(self.start_timeout, self.begin()).await;
        let late = || Failure::Broken(format!("did not start within {} s", self.start_timeout.as_secs()));
        let mut instance = started.map_err(|_| late())??;
        // It may find what others left: in a file, or on the other side of the URL.
        self.reset(&mut instance).await?;
        Ok(instance)
    }

    async fn begin(&self) -> Result<Instance, Failure> {
        match &self.place {
            ServicePlace::Url { url, http } => {
                let session = Session::over_http(url, http).await?;
                Ok(Instance { session: Some(session), process: None, answered: Vec::new() })
            }
            ServicePlace::Command { program, arguments, directory, environment } => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear().envs(environment);
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                let (mut process, transport) = Process::start(command).map_err(Failure::Broken)?;
                match Session::begin(transport).await {
                    Ok(session) => {
                        Ok(Instance { session: Some(session), process: Some(process), answered: Vec::new() })
                    }
                    Err(no_answer) => {
                        let ended = process.ended().await.map(|status| format!("ended ({status})"));
                        let reason = ended.unwrap_or_else(|| no_answer.reason());
                        // What it wrote may hold secrets, and reasons are read by everybody.
                        warn!(service = self.name, "{}", process.overheard(reason.clone()));
                        Err(Failure::Broken(reason))
                    }
                }
            }
        }
    }
}

impl Instance {
    fn overheard(&self, reason: &str) -> String {
        self.process.as_ref().map_or_else(|| reason.to_owned(), |process| process.overheard(reason.to_owned()))
    }
}

/// The process gets time to end by itself once its input is closed, and is then ended. A container is not in its group and
/// outlives it unless it is asked to end.
impl Drop for Instance {
    fn drop(&mut self) {
        if let (Some(process), Ok(runtime)) = (self.process.take(), Handle::try_current()) {
            let session = self.session.take();
            runtime.spawn(async move {
                if let Some(session) = session {
                    session.close().await;
                }
                process.end().await;
            });
        }
    }
}

fn call_hash(tool: &str, arguments: &Map<String, Value>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tool, Value::Object(arguments.clone()).to_string()).hash(&mut hasher);
    hasher.finish()
}
