//! Endpoints that workers bring to a pool, and take away again.

use std::sync::Arc;

use domain::api::workers::WorkerJoin;

use super::endpoint::Endpoint;
use super::replica::{Availability, Replica};
use super::{Pool, breaker};
use crate::client::Client;
use crate::error::SetupError;
use crate::spec::{EndpointSpec, KeyPlace};

/// An endpoint that a worker brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The worker's number: one that joins again has another.
    pub worker: i64,
    /// Base URL of its engine.
    pub url: String,
    /// How its engine calls the model, if not as the pool says.
    pub served_as: Option<String>,
    /// Environment variable that holds its key.
    pub key_env: Option<String>,
    /// Most requests that it can bear at once.
    pub max_in_flight: Option<u32>,
    pub standing: Availability,
}

impl Member {
    /// Where it is asked. `model`: how the pool calls the model.
    pub(crate) fn endpoint(&self, model: &str) -> EndpointSpec {
        let model = self.served_as.clone().unwrap_or_else(|| model.to_owned());
        EndpointSpec::of_checked(model, self.url.clone(), self.key_env.clone().map(KeyPlace::Env))
    }
}

impl Pool {
    /// Whether workers may join that serve the model.
    pub const fn takes_workers(&self) -> bool {
        self.takes_workers
    }

    /// Takes up the endpoints of workers as they are now, all of them: what is not among them is gone, and whoever waits
    /// for its answer asks another. Those that cannot be asked are given back, with the reason.
    pub fn follow(&self, members: &[Member]) -> Vec<SetupError> {
        let mut endpoints = self.endpoints.write();
        let specs: Vec<EndpointSpec> = members.iter().map(|member| member.endpoint(&self.model)).collect();
        for (index, endpoint) in endpoints.iter().enumerate().filter(|(_, endpoint)| endpoint.worker().is_some()) {
            if !specs.contains(endpoint.spec()) {
                self.router.set_availability(index, Availability::Gone, None);
                endpoint.give_up();
            }
        }
        let somebody_serves = members.iter().any(|member| member.standing == Availability::Serving);
        let mut failed = Vec::new();
        for (member, spec) in members.iter().zip(specs) {
            let give_up = member.standing == Availability::Lost && somebody_serves;
            failed.extend(self.take_up(&mut endpoints, member, spec, give_up).err());
        }
        failed
    }

    /// `give_up`: whoever waits for it is to ask another.
    fn take_up(
        &self,
        endpoints: &mut Vec<Arc<Endpoint>>,
        member: &Member,
        spec: EndpointSpec,
        give_up: bool,
    ) -> Result<(), SetupError> {
        let known = endpoints.iter().position(|own| own.worker().is_some() && *own.spec() == spec);
        let Some(index) = known else {
            endpoints.push(self.open(member, spec)?);
            self.admit(member);
            return Ok(());
        };
        let same = endpoints[index].worker() == Some(member.worker);
        let mut anew = None;
        if !same || (endpoints[index].is_given_up() && !give_up) {
            // It is back, or another engine is where it was.
            let endpoint = self.open(member, spec)?;
            std::mem::replace(&mut endpoints[index], endpoint).give_up();
            anew = Some((self.load.limit(member.max_in_flight), breaker(member.worker, &self.options)));
        }
        if give_up {
            endpoints[index].give_up();
        }
        self.router.set_availability(index, member.standing, anew);
        Ok(())
    }

    fn open(&self, member: &Member, spec: EndpointSpec) -> Result<Arc<Endpoint>, SetupError> {
        if let Some(key) = member.key_env.as_ref().filter(|key| !WorkerJoin::is_key_of_engine(key)) {
            let reason =
                format!("a worker names {key} as its key, and may only name what begins with {}", WorkerJoin::KEYS);
            return Err(SetupError::BadSpec { model: spec.to_string(), reason });
        }
        let client = Client::new(spec, self.options.clone())?;
        Ok(Arc::new(Endpoint::of_worker(client, member.worker)))
    }

    /// A replica for the endpoint that was opened last.
    fn admit(&self, member: &Member) {
        let (limit, breaker) = (self.load.limit(member.max_in_flight), breaker(member.worker, &self.options));
        let mut replica = Replica::new(member.url.clone(), limit, breaker);
        replica.stand(member.standing, tokio::time::Instant::now());
        self.meters.add(member.url.clone());
        self.router.add(replica);
    }
}
