//! An agent that takes steps by `OpenEnv`. Its connection is one session, and each reset begins another episode.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use futures::{SinkExt, StreamExt};
use reqwest::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::script::{Receipt, Script, Turn};
use super::{Flags, Protocol};

pub struct Agent {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The environment only sends back what it is sent.
    echoes: bool,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "type")]
    kind: String,
    data: Observed,
}

/// The fields of an observation that the agent needs.
#[derive(Deserialize)]
struct Observed {
    reward: Option<f64>,
    #[serde(default)]
    done: bool,
}

impl Agent {
    pub async fn connect(flags: &Flags) -> anyhow::Result<Self> {
        let url = format!("{}/ws", flags.url.replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        if !flags.token.is_empty() {
            request.headers_mut().insert(AUTHORIZATION, format!("Bearer {}", flags.token).parse()?);
        }
        let (socket, _) = connect_async(request).await?;
        Ok(Self { socket, echoes: flags.protocol == Protocol::OpenEnvEcho })
    }

    /// Plays an episode; whether it earns the reward.
    pub async fn play(&mut self, script: &Script, number: usize, times: &mut Vec<Duration>) -> anyhow::Result<bool> {
        let (seed, scenario) = (number, &script.scenario);
        let (mut last, _) = self.ask(&json!({"type": "reset", "data": {"seed": seed, "scenario": scenario}})).await?;
        let mut receipt = Receipt::default();
        for turn in &script.turns {
            ensure!(!last.done, "{scenario}: it has ended too early");
            let begun = Instant::now();
            let step = json!({"type": "step", "data": self.action(turn, &receipt)?});
            let (observed, text) = self.ask(&step).await?;
            times.push(begun.elapsed());
            last = observed;
            if !turn.calls.is_empty() {
                receipt.read(&text);
            }
        }
        ensure!(self.echoes || last.done, "{scenario}: it did not end");
        Ok(last.reward == Some(1.0))
    }

    /// A turn as a step: a text, or a call.
    fn action(&self, turn: &Turn, receipt: &Receipt) -> anyhow::Result<Value> {
        let text = receipt.put_into(&turn.text);
        let Some(call) = turn.calls.first() else {
            return Ok(if self.echoes { json!({"message": text}) } else { json!({"text": text}) });
        };
        ensure!(turn.calls.len() == 1, "a step of OpenEnv is one call");
        let (name, arguments) = (&call.function.name, &call.function.arguments);
        if self.echoes {
            return Ok(json!({"message": format!("{name}({arguments})")}));
        }
        let arguments: Value = serde_json::from_str(arguments)?;
        Ok(json!({"tool_name": name, "arguments": arguments}))
    }

    async fn ask(&mut self, request: &Value) -> anyhow::Result<(Observed, String)> {
        self.socket.send(Frame::text(request.to_string())).await?;
        loop {
            let text = match self.socket.next().await.context("the connection was closed")?? {
                Frame::Text(text) => text,
                Frame::Close(why) => bail!("the connection was closed: {why:?}"),
                _ => continue,
            };
            let answer: Answer = serde_json::from_str(&text).with_context(|| text.to_string())?;
            ensure!(answer.kind == "observation", "{text}");
            return Ok((answer.data, text.to_string()));
        }
    }
}
