//! Agents that answer at once: they play the episodes of `bench/workload` by its scripts, over REST or by `OpenEnv`, with
//! Groundstate or with another environment that speaks `OpenEnv`. What they measured is printed as JSON.
//!
//!     episode_load --protocol open-env --url http://127.0.0.1:8000 --n 1000 --concurrency 64

mod open_env;
mod rest;
mod script;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use bench::{EpisodeLoad, Project, machine};
use clap::{Parser, ValueEnum};
use tokio::task::JoinSet;

use self::script::Script;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    Rest,
    /// An episode is played to its end, which has to earn the reward
    OpenEnv,
    /// The template of `openenv init`: each step is a text that comes back, and an episode ends with the script
    OpenEnvEcho,
}

#[derive(Parser)]
struct Flags {
    /// Of REST: the server. Of `OpenEnv`: what is before `/ws`
    #[arg(long)]
    url: String,
    #[arg(long, value_enum)]
    protocol: Protocol,
    #[arg(long, env = "GROUNDSTATE_TOKEN", default_value = "", hide_env_values = true)]
    token: String,
    /// Episodes
    #[arg(long, default_value_t = 1000)]
    n: usize,
    /// Episodes that are open at once
    #[arg(long, default_value_t = 64)]
    concurrency: usize,
    /// Of REST: the environment, by its name
    #[arg(long, default_value = "desk")]
    environment: String,
    /// Folder of the workload
    #[arg(long, default_value = "bench/workload")]
    project: PathBuf,
}

/// Times and counts of one agent.
#[derive(Default)]
struct Played {
    episodes: u64,
    rewarded: u64,
    /// How long each message waited for what followed it.
    messages: Vec<Duration>,
}

/// One thread: what the agents take shows as little as possible in what is measured.
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let flags = Arc::new(Flags::parse());
    let scripts = Arc::new(script::of(&Project::read(&flags.project, Some("desk"))?)?);
    let next = Arc::new(AtomicUsize::new(0));
    let (begun, cpu) = (Instant::now(), machine::cpu(std::process::id()));
    let mut agents = JoinSet::new();
    for _ in 0..flags.concurrency {
        agents.spawn(agent(Arc::clone(&flags), Arc::clone(&scripts), Arc::clone(&next)));
    }
    let mut all = Played::default();
    while let Some(played) = agents.join_next().await {
        let played = played??;
        all.episodes += played.episodes;
        all.rewarded += played.rewarded;
        all.messages.extend(played.messages);
    }
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(
        flags.protocol == Protocol::OpenEnvEcho || all.rewarded == all.episodes,
        "{} of {} episodes have a reward",
        all.rewarded,
        all.episodes
    );
    all.messages.sort_unstable();
    let at = |share: usize| all.messages.get(all.messages.len() * share / 100).map_or(0.0, Duration::as_secs_f64);
    let report = EpisodeLoad {
        episodes: all.episodes,
        messages: all.messages.len(),
        seconds,
        median_seconds: at(50),
        p99_seconds: at(99),
        cpu_seconds: machine::cpu(std::process::id()) - cpu,
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// Plays one episode after another until all have begun.
async fn agent(flags: Arc<Flags>, scripts: Arc<Vec<Script>>, next: Arc<AtomicUsize>) -> anyhow::Result<Played> {
    let mut played = Played::default();
    let mut agent = match flags.protocol {
        Protocol::Rest => Agent::Rest(rest::Agent::new(&flags)?),
        Protocol::OpenEnv | Protocol::OpenEnvEcho => Agent::OpenEnv(Box::new(open_env::Agent::connect(&flags).await?)),
    };
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= flags.n {
            return Ok(played);
        }
        let script = &scripts[number % scripts.len()];
        let has_reward = match &mut agent {
            Agent::Rest(agent) => agent.play(script, &mut played.messages).await?,
            Agent::OpenEnv(agent) => agent.play(script, number, &mut played.messages).await?,
        };
        played.episodes += 1;
        played.rewarded += u64::from(has_reward);
    }
}

enum Agent {
    Rest(rest::Agent),
    OpenEnv(Box<open_env::Agent>),
}
