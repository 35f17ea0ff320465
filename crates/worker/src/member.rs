//! A worker as a member of the pool: it joins, says now and then how it does, hears what people want, and leaves.
//!
//! The engine does not depend on it: while the server is away, it goes on serving whoever asks it.

use std::time::{Duration, Instant};

use domain::api::ProblemDetails;
use domain::api::workers::{WorkerBeat, WorkerJoin, WorkerJoined, WorkerOrders};
use parking_lot::Mutex;
use reqwest::{Client, Method, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::backoff::Backoff;
use super::gpus::Driver;
use super::health::cause;
use super::load::Rate;
use super::report::report;
use super::status::Status;

/// How long the server may take for an answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait before a server that is away is tried again.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The server, and the token that lets us in.
#[derive(Clone)]
pub struct Server {
    pub http: Client,
    pub url: Url,
    pub token: String,
}

/// One worker's place in the pool.
pub struct Member<'a> {
    pub server: &'a Server,
    pub join: &'a WorkerJoin,
    pub status: &'a Status,
    pub driver: &'a Driver,
    pub gpus: Option<Vec<u32>>,
    joined: Mutex<Option<WorkerJoined>>,
}

/// Why the server refuses this worker for good: waiting does not help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinRefusal {
    Token,
    Name(String),
    Other(String),
}

impl JoinRefusal {
    /// The flag that is to blame, and what to do.
    pub fn explain(&self) -> (&'static str, String) {
        match self {
            Self::Token => (
                "--token-file",
                "the server refuses the join token: it is wrong, or it has expired; \
                 `groundstate workers token NAME` on the server makes a new one"
                    .to_owned(),
            ),
            Self::Name(said) => ("--name", format!("{said}; stop the other worker, or give this one another --name")),
            Self::Other(said) => ("--server", format!("the server refuses: {said}")),
        }
    }
}

/// Why a heartbeat got no usable answer.
enum HeartbeatFailure {
    Refused(JoinRefusal),
    /// The server does not know this worker any more.
    Gone,
    /// It will be tried again.
    Away(String),
}

impl<'a> Member<'a> {
    pub fn new(
        server: &'a Server,
        join: &'a WorkerJoin,
        status: &'a Status,
        driver: &'a Driver,
        gpus: Option<Vec<u32>>,
    ) -> Self {
        Self { server, join, status, driver, gpus, joined: Mutex::default() }
    }

    /// Joins, if the server is there; a server that is away is no reason not to start.
    pub async fn begin(&self) -> Result<(), JoinRefusal> {
        match self.enter().await {
            Ok(()) | Err(HeartbeatFailure::Gone) => Ok(()),
            Err(HeartbeatFailure::Refused(refused)) => Err(refused),
            Err(HeartbeatFailure::Away(why)) => {
                report!(&self.join.name, "the server cannot be reached ({why}); trying again");
                Ok(())
            }
        }
    }

    /// Joins and says how the worker does, for ever; whoever runs this drops it when the worker leaves.
    pub async fn stay(&self) -> JoinRefusal {
        let mut backoff = Backoff::new(Duration::from_millis(250), LONGEST_WAIT);
        let (mut rate, mut away) = (Rate::default(), false);
        let mut states = self.status.states();
        loop {
            let joined = self.joined();
            let told = match &joined {
                Some(joined) => self.beat(joined, &mut rate).await,
                None => self.enter().await,
            };
            let wait = match told {
                Ok(()) => {
                    if std::mem::take(&mut away) {
                        report!(&self.join.name, "the server can be reached again");
                    }
                    // A new member says at once how it does. Only when that is heard is all well.
                    joined.map_or(Duration::ZERO, |joined| {
                        backoff.reset();
                        interval(&joined)
                    })
                }
                Err(HeartbeatFailure::Refused(refused)) => return refused,
                Err(HeartbeatFailure::Gone) => {
                    report!(&self.join.name, "the server has removed this worker; it joins again");
                    self.forget();
                    // The first time at once: until then nobody asks the engine anything.
                    backoff.next_scattered().saturating_sub(Duration::from_millis(250))
                }
                Err(HeartbeatFailure::Away(why)) => {
                    if !std::mem::replace(&mut away, true) {
                        report!(
                            &self.join.name,
                            "the server cannot be reached ({why}); the engine goes on, and the worker tries again"
                        );
                    }
                    backoff.next_scattered()
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                // Who is asked nothing any more, or something again, must be known at once.
                _ = states.changed(), if !away => {}
            }
        }
    }

    /// Says good-bye. If nobody hears it, silence says the same a little later.
    pub async fn leave(&self) {
        let Some(joined) = self.forget() else { return };
        let path = joined.id.to_string();
        let request = self.server.request(Method::DELETE, &["workers", &path]);
        timeout(Duration::from_secs(2), request.send()).await.ok();
    }

    async fn enter(&self) -> Result<(), HeartbeatFailure> {
        let joined: WorkerJoined = self.server.post(&["workers"], self.join).await?;
        report!(&self.join.name, "joined the pool of `{}` as worker {}", self.join.model, joined.id);
        *self.joined.lock() = Some(joined);
        Ok(())
    }

    async fn beat(&self, joined: &WorkerJoined, rate: &mut Rate) -> Result<(), HeartbeatFailure> {
        let (state, told) = (self.status.state(), self.status.report());
        let beat = WorkerBeat {
            state,
            // Logs may hold what the API takes in no text.
            detail: told.detail.map(|detail| detail.replace('\0', "")),
            load: rate.update(&told.sample, Instant::now()),
            gpus: self.driver.chosen(self.gpus.as_deref()),
            restarts: told.restarts,
        };
        let id = joined.id.to_string();
        let orders: WorkerOrders = self.server.post(&["workers", &id, "heartbeat"], &beat).await?;
        self.status.was_heard(Some(state));
        self.status.ordered(orders.order);
        Ok(())
    }

    fn joined(&self) -> Option<WorkerJoined> {
        self.joined.lock().clone()
    }

    fn forget(&self) -> Option<WorkerJoined> {
        self.status.was_heard(None);
        self.joined.lock().take()
    }
}

impl Server {
    fn request(&self, method: Method, path: &[&str]) -> reqwest::RequestBuilder {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "v1"]).extend(path);
        }
        self.http.request(method, url).bearer_auth(&self.token).timeout(TIMEOUT)
    }

    async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T, HeartbeatFailure> {
        let away = |error: reqwest::Error| HeartbeatFailure::Away(cause(&error.without_url()));
        let response = self.request(Method::POST, path).json(body).send().await.map_err(away)?;
        let status = response.status();
        let body = response.bytes().await.map_err(away)?;
        if status.is_success() {
            let strange = |error| HeartbeatFailure::Away(format!("its answer is not from Groundstate: {error}"));
            return serde_json::from_slice(&body).map_err(strange);
        }
        let said = || {
            let problem: Option<ProblemDetails> = serde_json::from_slice(&body).ok();
            problem.map_or_else(|| status.to_string(), |problem| explained(&problem))
        };
        Err(match status {
            StatusCode::UNAUTHORIZED => HeartbeatFailure::Refused(JoinRefusal::Token),
            StatusCode::CONFLICT => HeartbeatFailure::Refused(JoinRefusal::Name(said())),
            StatusCode::GONE => HeartbeatFailure::Gone,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => HeartbeatFailure::Away(said()),
            status if status.is_server_error() => HeartbeatFailure::Away(said()),
            _ => HeartbeatFailure::Refused(JoinRefusal::Other(said())),
        })
    }
}

fn interval(joined: &WorkerJoined) -> Duration {
    let wanted = Duration::try_from_secs_f64(joined.heartbeat_seconds).unwrap_or(LONGEST_WAIT);
    wanted.max(Duration::from_millis(10))
}

fn explained(problem: &ProblemDetails) -> String {
    let errors = problem.errors.iter().map(|error| format!("; {}: {}", error.pointer, error.detail));
    format!("{}{}", problem.detail, errors.collect::<String>())
}
