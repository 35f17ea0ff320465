//! An agent that posts its messages.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use llm::http_client;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Flags;
use super::script::{Receipt, Script, Turn};

pub struct Agent {
    client: Client,
    url: String,
    token: String,
    environment: String,
}

/// The fields of an episode that the agent needs.
#[derive(Deserialize)]
struct Episode {
    id: String,
    state: String,
    turn: Option<u32>,
    result: Option<EpisodeResult>,
}

#[derive(Deserialize)]
struct EpisodeResult {
    reward: Option<u8>,
}

impl Agent {
    pub fn new(flags: &Flags) -> anyhow::Result<Self> {
        let client = http_client().build()?;
        let url = format!("{}/api/v1", flags.url);
        Ok(Self { client, url, token: flags.token.clone(), environment: flags.environment.clone() })
    }

    /// Plays an episode; whether it earns the reward.
    pub async fn play(&self, script: &Script, times: &mut Vec<Duration>) -> anyhow::Result<bool> {
        let order = json!({"name": self.environment, "scenario": script.scenario});
        let opened = self.post("projects/default/episodes", &order).await?;
        let opened: Vec<Episode> = serde_json::from_str(&opened)?;
        let mut episode = opened.into_iter().next().context("no episode was opened")?;
        let path = format!("episodes/{}/messages", episode.id);
        let mut receipt = Receipt::default();
        for turn in &script.turns {
            ensure!(episode.state == "waiting", "{}: it is {}", script.scenario, episode.state);
            let begun = Instant::now();
            let answer = self.post(&path, &message(turn, episode.turn, &receipt)).await?;
            times.push(begun.elapsed());
            episode = serde_json::from_str(&answer)?;
            if !turn.calls.is_empty() {
                receipt.read(&answer);
            }
        }
        let result = episode.result.with_context(|| format!("{}: it did not end", script.scenario))?;
        Ok(result.reward == Some(1))
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<String> {
        let request = self.client.post(format!("{}/{path}", self.url)).bearer_auth(&self.token).json(body);
        let response = request.send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if !status.is_success() {
            bail!("{path}: {status} {text}");
        }
        Ok(text)
    }
}

fn message(turn: &Turn, number: Option<u32>, receipt: &Receipt) -> Value {
    json!({"turn": number, "content": receipt.put_into(&turn.text), "tool_calls": turn.calls})
}
