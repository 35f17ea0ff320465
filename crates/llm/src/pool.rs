//! A model behind one or more replicas: which one is asked, how many requests it is given, and what happens when it
//! fails. Every call to an endpoint goes through here.

mod breaker;
mod call;
mod choice;
mod endpoint;
mod first_bytes;
mod limit;
mod members;
mod meters;
mod question;
mod replica;
mod router;
mod status;

use std::sync::Arc;
use std::time::Duration;

use domain::chat::{ChatReply, ChatRequest};
use domain::encoder::EncoderRequest;
use domain::role::Role;
use parking_lot::RwLock;

use self::breaker::Breaker;
use self::call::Call;
use self::endpoint::Endpoint;
use self::limit::Limit;
pub use self::members::Member;
use self::meters::Meters;
use self::question::Question;
pub use self::replica::Availability;
use self::replica::Replica;
use self::router::Router;
pub use self::status::{Health, PoolStatus, ReplicaStatus};
use crate::client::Client;
use crate::error::{ModelError, SetupError};
use crate::{Answer, EndpointOptions, EndpointSpec, Listener, PoolSpec, deaf};

/// Asks replicas of one model. Cheap to use from many tasks at once; calls that find no free slot wait in line.
#[derive(Debug)]
pub struct Pool {
    /// The model as its spec names it.
    name: String,
    options: EndpointOptions,
    load: Load,
    /// How endpoints call the model that do not say it themselves.
    model: String,
    takes_workers: bool,
    /// Whether the agent's replies are asked for with their tokens.
    token_ids: bool,
    /// As many as the router has replicas, in the same order; only appended to.
    endpoints: RwLock<Vec<Arc<Endpoint>>>,
    router: Arc<Router>,
    meters: Arc<Meters>,
}

/// Who calls.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// Calls with the same number go to the same replica where they can: it has read the conversation so far. `None`: to the
    /// one with the least to do.
    pub sticky: Option<u64>,
    /// Somebody waits for the reply: if no replica has room, the call stands before those of which that is not so.
    pub urgent: bool,
}

impl From<u64> for Caller {
    fn from(sticky: u64) -> Self {
        Self { sticky: Some(sticky), urgent: false }
    }
}

/// How many requests a replica is given at once.
#[derive(Debug)]
struct Load {
    start: u32,
    max: Option<u32>,
    slow_after: Option<Duration>,
}

impl Pool {
    /// Reads the key from the environment and makes the clients; asks nothing yet.
    pub fn new(spec: &PoolSpec, options: EndpointOptions) -> Result<Self, SetupError> {
        if let Some((field, message)) = spec.problems().into_iter().next() {
            let reason = format!("{}: {message}", field.trim_start_matches('/'));
            return Err(SetupError::BadSpec { model: spec.to_string(), reason });
        }
        let load = Load { start: spec.start_in_flight, max: spec.max_in_flight, slow_after: spec.slow_after() };
        let clients = spec.endpoints().map(|endpoint| Client::new(endpoint, options.clone()));
        let clients = clients.collect::<Result<Vec<_>, _>>()?;
        let pool = Self::build(spec.to_string(), clients, load, options);
        Ok(Self { model: spec.model().to_owned(), takes_workers: spec.workers, token_ids: spec.token_ids, ..pool })
    }

    /// A pool of one replica.
    pub fn of_endpoint(spec: EndpointSpec, options: EndpointOptions) -> Result<Self, SetupError> {
        let load = Load { start: PoolSpec::START_IN_FLIGHT, max: None, slow_after: None };
        let name = spec.to_string();
        let client = Client::new(spec, options.clone())?;
        Ok(Self::build(name, vec![client], load, options))
    }

    /// A pool of one replica, with a key that was given for it alone.
    pub fn with_secret(spec: EndpointSpec, secret: String, options: EndpointOptions) -> Result<Self, SetupError> {
        let load = Load { start: PoolSpec::START_IN_FLIGHT, max: None, slow_after: None };
        let name = spec.to_string();
        let client = Client::with_secret(spec, secret, options.clone())?;
        Ok(Self::build(name, vec![client], load, options))
    }

    /// Whether the agent's replies are asked for with their token ids and log-probabilities.
    #[must_use]
    pub fn with_token_ids(self, token_ids: bool) -> Self {
        Self { token_ids, ..self }
    }

    fn build(name: String, clients: Vec<Client>, load: Load, options: EndpointOptions) -> Self {
        let urls = || clients.iter().map(|client| client.spec().base_url().to_owned());
        let meters = Arc::new(Meters::new(name.clone(), urls()));
        let replica = |(seed, url)| Replica::new(url, load.limit(None), breaker(seed, &options));
        let replicas = (0..).zip(urls()).map(replica).collect();
        let router = Arc::new(Router::new(replicas, options.clone(), load.slow_after, Arc::clone(&meters)));
        let endpoints = RwLock::new(clients.into_iter().map(|client| Arc::new(Endpoint::fixed(client))).collect());
        let model = name.clone();
        Self { name, options, load, model, takes_workers: false, token_ids: false, endpoints, router, meters }
    }

    /// The model as its spec names it.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn endpoint(&self, index: usize) -> Arc<Endpoint> {
        Arc::clone(&self.endpoints.read()[index])
    }

    /// The reply to an ask.
    pub async fn answer(&self, ask: &ChatRequest, caller: impl Into<Caller>) -> Result<Answer, ModelError> {
        self.stream(ask, caller, &deaf).await
    }

    /// Like [`answer`](Self::answer), and tells of the reply's tool calls while it still comes.
    pub async fn stream(
        &self,
        ask: &ChatRequest,
        caller: impl Into<Caller>,
        listener: Listener<'_>,
    ) -> Result<Answer, ModelError> {
        let tokens = self.token_ids && ask.role == Role::Agent.into();
        Call::new(self, Question::Chat { ask, tokens, listener }, caller.into()).answer().await
    }

    /// The vectors or scores that an embedding model or a reranker gives.
    pub async fn encode(&self, ask: &EncoderRequest, caller: impl Into<Caller>) -> Result<Answer, ModelError> {
        Call::new(self, Question::Encoder(ask), caller.into()).answer().await
    }

    /// The reply to an ask that belongs to no conversation.
    pub async fn ask(&self, ask: &ChatRequest) -> Result<ChatReply, ModelError> {
        Ok(self.answer(ask, ask.seed.cast_unsigned()).await?.reply)
    }

    /// How it does.
    pub fn status(&self) -> PoolStatus {
        let (waiting, replicas) = self.router.inspect(Replica::status);
        PoolStatus { model: self.name.clone(), waiting, replicas }
    }
}

impl Load {
    /// `most`: what the replica itself says that it can bear.
    fn limit(&self, most: Option<u32>) -> Limit {
        Limit::new(self.start, [self.max, most].into_iter().flatten().min())
    }
}

const fn breaker(seed: i64, options: &EndpointOptions) -> Breaker {
    Breaker::new(seed, options.outage_wait, options.max_outage_wait)
}
