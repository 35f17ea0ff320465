//! One job after another, of every kind, branches and episodes, beside the runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use domain::api::RunState;
use domain::job::{JobKind, JobState};
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use strum::VariantArray;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::super::api::Caller;
use super::super::episodes;
use super::super::program::Place;

/// The kinds of jobs, a branch, and episodes.
const KINDS: usize = JobKind::VARIANTS.len() + 2;
const EVERY: Duration = Duration::from_secs(20);
/// A process that is killed is missed after 15 s, and another one begins anew.
const PATIENCE: Duration = Duration::from_mins(5);
/// How many episodes are played for each job of a kind, and how many of them at once.
const EPISODES: (u32, u32) = (50, 10);
const PROFILES: [&str; 4] = ["canonical", "trl", "openai", "huggingface"];

/// How many ended, and how they failed.
#[derive(Default)]
pub struct JobCounts {
    pub ended: BTreeMap<&'static str, u32>,
    pub failed: Vec<String>,
    /// No further one is asked for.
    pub is_over: bool,
}

/// Asks for jobs until they are to end.
pub struct JobsBeside<'a> {
    place: &'a Place,
    caller: Caller,
    /// What they are about: a run that has ended.
    run: Uuid,
    counts: Arc<Mutex<JobCounts>>,
}

impl<'a> JobsBeside<'a> {
    pub fn new(place: &'a Place, caller: Caller, run: Uuid, counts: Arc<Mutex<JobCounts>>) -> Self {
        Self { place, caller, run, counts }
    }

    pub async fn run(self) {
        for number in 0_usize.. {
            let (kind, others) = (number % KINDS, JobKind::VARIANTS.len());
            let (name, done) = match JobKind::VARIANTS.get(kind) {
                Some(kind) => (kind.into_str(), self.job(*kind, number).await),
                None if kind == others => ("branch", self.branch(number).await),
                None => ("episodes", episodes::load(self.place, &self.caller, "rest", EPISODES).await.map(drop)),
            };
            self.count(name, done);
            if self.counts.lock().is_over {
                break;
            }
            sleep(EVERY).await;
        }
    }

    fn count(&self, name: &'static str, done: anyhow::Result<()>) {
        let mut counts = self.counts.lock();
        match done {
            Ok(()) => *counts.ended.entry(name).or_default() += 1,
            Err(error) => counts.failed.push(format!("{name}: {error:#}")),
        }
    }

    async fn job(&self, kind: JobKind, number: usize) -> anyhow::Result<()> {
        let run = self.run;
        match kind {
            JobKind::Export => {
                let profile = PROFILES[number / KINDS % PROFILES.len()];
                let order = json!({"source": {"run": {"id": run}}, "profile": profile});
                self.made("/api/v1/projects/default/exports", &order, "/api/v1/exports", "building").await
            }
            JobKind::Corpus => {
                let order = json!({"name": format!("soak-{number}"), "spec": {"filter": {"runs": [run]}}});
                self.made("/api/v1/projects/default/corpora", &order, "/api/v1/corpora", "building").await
            }
            JobKind::Judging => self.judging().await,
            // Both are followed by the request.
            JobKind::Validation => {
                self.caller.post("/api/v1/projects/default/validations", &json!({})).await.map(drop_json)
            }
            JobKind::Probe => self.caller.post("/api/v1/models/mock/probe", &json!({})).await.map(drop_json),
            JobKind::Dataset => self.deleted(&self.dataset(number).await?).await,
            JobKind::Index => {
                let dataset = self.dataset(number).await?;
                let rows = dataset.trim_start_matches("/api/v1/datasets/");
                let order = json!({"name": format!("soak-{number}"), "dataset": rows, "columns": {"text": "messages"}});
                self.made("/api/v1/projects/default/indexes", &order, "/api/v1/indexes", "building").await?;
                self.deleted(&dataset).await
            }
        }
    }

    /// The path of a dataset of the run's conversations.
    async fn dataset(&self, number: usize) -> anyhow::Result<String> {
        let order = json!({"name": format!("soak-{number}"), "source": {"run": {"id": self.run}}});
        self.ready("/api/v1/projects/default/datasets", &order, "/api/v1/datasets", "building").await
    }

    /// What is made by a job, and deleted when it is there.
    async fn made(&self, list: &str, order: &Value, of_one: &str, while_made: &str) -> anyhow::Result<()> {
        let path = self.ready(list, order, of_one, while_made).await?;
        self.deleted(&path).await
    }

    /// The path of what a job has made.
    async fn ready(&self, list: &str, order: &Value, of_one: &str, while_made: &str) -> anyhow::Result<String> {
        let asked: Value = self.caller.post(list, order).await?;
        let path = format!("{of_one}/{}", id(&asked)?);
        match self.until(&path, while_made).await?.as_str() {
            "ready" => Ok(path),
            state => bail!("{path} is {state}"),
        }
    }

    async fn deleted(&self, path: &str) -> anyhow::Result<()> {
        let (status, text) = self.caller.ask(Method::DELETE, path, None).await?;
        if !status.is_success() {
            bail!("deleting {path}: {status} {text}");
        }
        Ok(())
    }

    async fn judging(&self) -> anyhow::Result<()> {
        let path = format!("/api/v1/runs/{}/judgings", self.run);
        let asked: Value = self.caller.post(&path, &json!({"models": ["mock"]})).await?;
        let path = format!("/api/v1/judgings/{}", id(&asked)?);
        match self.until(&path, JobState::Running.into_str()).await?.as_str() {
            "finished" => Ok(()),
            state => bail!("{path} is {state}"),
        }
    }

    /// Plays a conversation again from one of its turns.
    async fn branch(&self, number: usize) -> anyhow::Result<()> {
        let list = format!("/api/v1/runs/{}/conversations?limit=200", self.run);
        let (page, _) = self.caller.get::<Value>(&list).await?;
        let conversations = page["items"].as_array().context("no list")?;
        let conversation = id(&conversations[number % conversations.len()])?;
        let (events, _) = self.caller.get::<Value>(&format!("/api/v1/conversations/{conversation}/events")).await?;
        let all = events["items"].as_array().into_iter().flatten();
        let turn =
            all.clone().find(|event| event["event"]["agent_spoke"].is_object()).context("no turn of the agent")?;
        let order = json!({"seq": turn["seq"], "content": "Could you tell me which hire it is?"});
        let branch: Value = self.caller.post(&format!("/api/v1/conversations/{conversation}/branches"), &order).await?;
        let run = branch["run"].as_str().context("no run")?;
        match self.until(&format!("/api/v1/runs/{run}"), RunState::Running.into_str()).await?.as_str() {
            "finished" => Ok(()),
            state => bail!("the branch {run} is {state}"),
        }
    }

    /// The state that follows `passing`.
    async fn until(&self, path: &str, passing: &str) -> anyhow::Result<String> {
        let begun = Instant::now();
        loop {
            let (now, _) = self.caller.get::<Value>(path).await?;
            // A detail has its summary within.
            let state = now["state"].as_str().or_else(|| now["summary"]["state"].as_str()).context("no state")?;
            if state != passing {
                return Ok(state.to_owned());
            }
            if begun.elapsed() > PATIENCE {
                bail!("{path} is {passing} after {} s", begun.elapsed().as_secs());
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
}

fn drop_json(_: Value) {}

fn id(made: &Value) -> anyhow::Result<&str> {
    made["id"].as_str().with_context(|| format!("no id in {made}"))
}
