//! The socket between a server and its player. The server asks for figures, for the state of models, and gives the player what agents
//! say in the episodes that it plays.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::task::OutsideAnswer;
use futures::{SinkExt, StreamExt};
use llm::PoolStatus;
use parking_lot::Mutex;
use runtime::{Followed, LocalAnswer, LocalAnswers, ModelClients, Next};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::bytes::Bytes;
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{debug, warn};
use uuid::Uuid;

use crate::telemetry;

/// How long figures may take.
const TO_ANSWER: Duration = Duration::from_secs(2);
/// Longest question or answer, in bytes.
const LONGEST: usize = 64 << 20;
/// Questions that are written together at most, and as many wait.
const BATCH: usize = 256;

#[derive(Serialize, Deserialize)]
struct Asked<Q> {
    id: u64,
    question: Q,
}

#[derive(Serialize, Deserialize)]
struct Answered {
    id: u64,
    answer: Box<RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question<'a> {
    /// Its figures, in Prometheus' text format.
    Figures,
    /// How the endpoints do that it asks.
    Models,
    /// An agent's turn, by its number.
    Turn { episode: Uuid, turn: u32, answer: Cow<'a, OutsideAnswer> },
}

/// The answer of a player to a turn of an agent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnAnswer {
    /// The episode does not wait here for that turn.
    Refused,
    /// It may have been taken: the database knows.
    Unknown,
    /// It was taken. What follows it is found in the database.
    Taken,
    Followed(NextTurn),
}

/// The events after a turn of an agent, and the state that they lead to.
#[derive(Debug, Serialize, Deserialize)]
pub struct NextTurn {
    /// The turn that was taken.
    pub turn: u32,
    /// Events from the turn on.
    pub events: Vec<Box<RawValue>>,
    pub state: NextState,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextState {
    /// The agent is asked for its next turn: the body of the request.
    Waits(Value),
    /// The episode has ended; `None`: it is accepted.
    Ended(Option<EpisodeFailure>),
}

/// Why an episode failed.
#[derive(Debug, Serialize, Deserialize)]
pub struct EpisodeFailure {
    pub blame: String,
    pub reason: String,
}

impl TurnAnswer {
    fn of(answer: LocalAnswer) -> serde_json::Result<Self> {
        Ok(match answer {
            LocalAnswer::Refused => Self::Refused,
            LocalAnswer::Unknown => Self::Unknown,
            LocalAnswer::Taken => Self::Taken,
            LocalAnswer::Followed(Followed { turn, events, next }) => {
                let events = events.each().map(|(_, event)| RawValue::from_string(event.to_owned()));
                let state =
                    match next {
                        Next::Asks(body) => NextState::Waits(body),
                        Next::Ended(failure) => NextState::Ended(failure.map(|failure| EpisodeFailure {
                            blame: failure.blame.into_owned(),
                            reason: failure.reason,
                        })),
                    };
                Self::Followed(NextTurn { turn, events: events.collect::<serde_json::Result<_>>()?, state })
            }
        })
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// Nobody was asked: there is no player, or it is asked too much.
    NotAsked,
    /// The player ended, and may have done what it was asked.
    Lost,
}

struct WaitingQuestion {
    id: u64,
    frame: Bytes,
    answered: oneshot::Sender<Box<RawValue>>,
}

/// Asks the player of this server, while there is one.
#[derive(Clone, Default)]
pub struct PlayerLink(Arc<Link>);

#[derive(Default)]
struct Link {
    player: Mutex<Option<mpsc::Sender<WaitingQuestion>>>,
    last_id: AtomicU64,
}

impl PlayerLink {
    /// Asks the player at the other end of this socket from now on, as long as what is returned is held.
    pub fn connect(&self, socket: UnixStream) -> AbortOnDropHandle<()> {
        let (questions, asked) = mpsc::channel(BATCH);
        *self.0.player.lock() = Some(questions);
        AbortOnDropHandle::new(tokio::spawn(async move {
            if let Err(error) = ask_all(socket, asked).await {
                warn!(%error, "the player cannot be asked any more");
            }
        }))
    }

    /// Empty while there is no player, or while it does not answer.
    pub async fn figures(&self) -> String {
        timeout(TO_ANSWER, self.ask(&Question::Figures)).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// None while there is no player, or while it does not answer.
    pub async fn models(&self) -> Vec<PoolStatus> {
        timeout(TO_ANSWER, self.ask(&Question::Models)).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Gives the player a turn of the agent of an episode. The answer comes when it is the agent's turn again, or at the episode's end.
    ///
    /// # Errors
    /// The player does not answer.
    pub async fn turn(&self, episode: Uuid, turn: u32, answer: &OutsideAnswer) -> Result<TurnAnswer, NoAnswer> {
        self.ask(&Question::Turn { episode, turn, answer: Cow::Borrowed(answer) }).await
    }

    async fn ask<T: DeserializeOwned>(&self, question: &Question<'_>) -> Result<T, NoAnswer> {
        let player = self.0.player.lock().clone().ok_or(NoAnswer::NotAsked)?;
        let id = self.0.last_id.fetch_add(1, Ordering::Relaxed);
        let frame = serde_json::to_vec(&Asked { id, question }).map_err(|_| NoAnswer::NotAsked)?;
        let (answered, answer) = oneshot::channel();
        let question = WaitingQuestion { id, frame: frame.into(), answered };
        player.send(question).await.map_err(|_| NoAnswer::NotAsked)?;
        let answer = answer.await.map_err(|_| NoAnswer::Lost)?;
        serde_json::from_str(answer.get()).map_err(|_| NoAnswer::Lost)
    }
}

fn codec() -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().max_frame_length(LONGEST).new_codec()
}

/// Until the player goes, or nobody asks any more. Whoever still waits then hears that no answer comes.
async fn ask_all(socket: UnixStream, mut asked: mpsc::Receiver<WaitingQuestion>) -> io::Result<()> {
    let (from, to) = socket.into_split();
    let (mut answers, mut questions) = (FramedRead::new(from, codec()), FramedWrite::new(to, codec()));
    let mut waiting = HashMap::new();
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            taken = asked.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    return Ok(());
                }
                for WaitingQuestion { id, frame, answered } in batch.drain(..) {
                    waiting.insert(id, answered);
                    questions.feed(frame).await?;
                }
                SinkExt::<Bytes>::flush(&mut questions).await?;
            }
            answer = answers.next() => {
                let Some(frame) = answer else { return Ok(()) };
                let Answered { id, answer } = serde_json::from_slice(&frame?)?;
                if let Some(answered) = waiting.remove(&id) {
                    // Whoever no longer waits has gone away.
                    let _ = answered.send(answer);
                }
            }
        }
    }
}

/// Answers the questions of the server, and stops the player when the server closes the socket.
pub fn obey(socket: UnixStream, stop: CancellationToken, clients: ModelClients, answers: LocalAnswers) {
    tokio::spawn(async move {
        if let Err(error) = answer_all(socket, &clients, &answers).await {
            debug!(%error, "the server cannot be heard any more");
        }
        stop.cancel();
    });
}

async fn answer_all(socket: UnixStream, clients: &ModelClients, answers: &LocalAnswers) -> io::Result<()> {
    let (from, to) = socket.into_split();
    let mut questions = FramedRead::new(from, codec());
    let (answered, to_write) = mpsc::channel(BATCH);
    let mut writing = std::pin::pin!(write_answers(FramedWrite::new(to, codec()), to_write));
    loop {
        let frame = tokio::select! {
            frame = questions.next() => frame,
            written = &mut writing => return written,
        };
        let Some(frame) = frame else { return Ok(()) };
        let Asked { id, question } = serde_json::from_slice(&frame?)?;
        let (answered, clients, answers) = (answered.clone(), clients.clone(), answers.clone());
        tokio::spawn(async move {
            match answer(question, &clients, &answers).await {
                // Nobody listens any more if it cannot be sent.
                Ok(answer) => drop(answered.send(Answered { id, answer }).await),
                Err(error) => warn!(%error, "an answer to the server cannot be written"),
            }
        });
    }
}

async fn answer(
    question: Question<'_>,
    clients: &ModelClients,
    answers: &LocalAnswers,
) -> serde_json::Result<Box<RawValue>> {
    match question {
        Question::Figures => to_raw_value(&telemetry::figures()),
        Question::Models => to_raw_value(&clients.statuses()),
        Question::Turn { episode, turn, answer } => {
            to_raw_value(&TurnAnswer::of(answers.give(episode, turn, answer.into_owned()).await)?)
        }
    }
}

async fn write_answers(
    mut to: FramedWrite<tokio::net::unix::OwnedWriteHalf, LengthDelimitedCodec>,
    mut answers: mpsc::Receiver<Answered>,
) -> io::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    while answers.recv_many(&mut batch, BATCH).await > 0 {
        for answer in batch.drain(..) {
            to.feed(Bytes::from(serde_json::to_vec(&answer)?)).await?;
        }
        SinkExt::<Bytes>::flush(&mut to).await?;
    }
    Ok(())
}
