//! What a server asks its player: pages and /metrics show what the player counts and how its models do.

use std::io::{self, BufRead, Write};
use std::thread;

use llm::PoolStatus;
use runtime::ModelClients;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::telemetry;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Its figures, in Prometheus' text format.
    Figures,
    /// How the endpoints do that it asks, as JSON.
    Models,
}

impl Question {
    pub const fn line(self) -> &'static str {
        match self {
            Self::Figures => "figures\n",
            Self::Models => "models\n",
        }
    }
}

pub type Questions = mpsc::Receiver<(Question, oneshot::Sender<String>)>;

/// Asks the player.
#[derive(Clone)]
pub struct PlayerLink(mpsc::Sender<(Question, oneshot::Sender<String>)>);

impl PlayerLink {
    pub fn channel() -> (Self, Questions) {
        let (send, asked) = mpsc::channel(8);
        (Self(send), asked)
    }

    /// Empty while there is no player, or while it is asked too much.
    async fn ask(&self, question: Question) -> String {
        let (send, answer) = oneshot::channel();
        if self.0.try_send((question, send)).is_err() {
            return String::new();
        }
        answer.await.unwrap_or_default()
    }

    pub async fn figures(&self) -> String {
        self.ask(Question::Figures).await
    }

    pub async fn models(&self) -> Vec<PoolStatus> {
        serde_json::from_str(&self.ask(Question::Models).await).unwrap_or_default()
    }
}

/// What a player does beside playing, in a thread of its own: it answers, and stops when the other end closes.
pub fn obey(stop: CancellationToken, clients: ModelClients) {
    thread::spawn(move || {
        let mut to = io::stdout().lock();
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let text = if format!("{line}\n") == Question::Models.line() {
                serde_json::to_string(&clients.statuses()).unwrap_or_default()
            } else {
                telemetry::figures()
            };
            let length = u32::try_from(text.len()).unwrap_or_default();
            let answered = to.write_all(&length.to_be_bytes()).and_then(|()| to.write_all(text.as_bytes()));
            if answered.and_then(|()| to.flush()).is_err() {
                break;
            }
        }
        stop.cancel();
    });
}
