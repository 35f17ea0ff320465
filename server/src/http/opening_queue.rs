//! Group commit of episodes that are opened: what is asked for while a transaction is written shares the next one. Each adds positions
//! to the run that holds them, so by themselves they would wait for each other's commits.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::anyhow;
use futures::FutureExt;
use generation::episodes::{self, NewGroup, OpenError};
use generation::order::CheckedOrder;
use projects::library::Library;
use sqlx::{Connection, PgConnection, PgPool};
use store::KeptConnection;
use store::conversations::PlannedConversation;
use tokio::sync::{mpsc, oneshot};
use tracing::warn;
use uuid::Uuid;

use super::audit::Audit;
use super::episode_signals::{EpisodeSignals, Signal};
use super::error::{HttpError, Result};
use crate::people;

/// Groups in one transaction at most.
const BATCH: usize = 64;
/// Episodes in one transaction, unless a single group has more.
const MOST_SAMPLES: i32 = 256;

/// Where episodes are opened.
pub struct OpeningQueue(mpsc::Sender<QueuedOpening>);

/// Episodes of one group of an order that was checked.
pub struct Opening {
    pub library: Arc<Library>,
    pub order: Arc<CheckedOrder>,
    pub group: NewGroup,
    /// Who is to have a token for each of them.
    pub tokens_of: Option<Uuid>,
    pub audit: Audit,
}

/// An episode that was opened.
pub struct OpenedEpisode {
    pub id: Uuid,
    /// The secret of its token, if it got one.
    pub token: Option<String>,
    /// Hears of its first turn, if it was opened just now.
    pub signal: Option<Signal>,
}

/// Episodes that were opened together.
pub struct OpenedGroup {
    pub run: Uuid,
    pub planned: Vec<PlannedConversation>,
    pub opened: Vec<OpenedEpisode>,
}

struct QueuedOpening {
    opening: Opening,
    opened: oneshot::Sender<Result<OpenedGroup>>,
}

impl OpeningQueue {
    /// Its writer ends when the queue is dropped.
    pub fn start(pool: &PgPool, signals: &Arc<EpisodeSignals>) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        tokio::spawn(write(KeptConnection::of(pool), Arc::clone(signals), waiting));
        Self(queue)
    }

    /// Returns when the episodes are there.
    pub async fn open(&self, opening: Opening) -> Result<OpenedGroup> {
        let (opened, told) = oneshot::channel();
        // The writer lives as long as the queue, so both are answered.
        let closed = || HttpError::from(sqlx::Error::PoolClosed);
        self.0.send(QueuedOpening { opening, opened }).await.map_err(|_| closed())?;
        told.await.map_err(|_| closed())?
    }
}

async fn write(mut db: KeptConnection, signals: Arc<EpisodeSignals>, mut waiting: mpsc::Receiver<QueuedOpening>) {
    let mut batch = Vec::with_capacity(BATCH);
    while !batch.is_empty() || waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Whoever no longer waits has gone away.
        batch.retain(|queued| !queued.opened.is_closed());
        let later = batch.split_off(as_many_as_fit(&batch));
        let now = std::mem::replace(&mut batch, later).into_iter();
        let (openings, senders): (Vec<_>, Vec<_>) = now.map(|queued| (queued.opening, queued.opened)).unzip();
        match attempt(&mut db, &signals, &openings).await {
            Ok(opened) => opened.into_iter().zip(senders).for_each(|(opened, tell)| drop(tell.send(opened))),
            Err(error) if senders.len() == 1 => {
                if let Some(tell) = senders.into_iter().next() {
                    let _ = tell.send(Err(error));
                }
            }
            // They may be there all the same, so they are not tried again here.
            Err(error) => {
                warn!(%error, "episodes are not opened");
                let why = "it is not known whether it was opened; open it again";
                senders.into_iter().for_each(|tell| drop(tell.send(Err(HttpError::Unavailable(why.to_owned())))));
            }
        }
        if waiting.is_empty() {
            db.release();
        }
    }
}

/// How many of these are opened together: at least one.
fn as_many_as_fit(batch: &[QueuedOpening]) -> usize {
    let mut samples = 0;
    let fitting = batch.iter().take_while(|queued| {
        samples += queued.opening.group.samples;
        samples <= MOST_SAMPLES
    });
    fitting.count().max(1).min(batch.len())
}

/// A panic is an error: it would end the writer, and nothing would be opened any more.
async fn attempt(
    db: &mut KeptConnection,
    signals: &EpisodeSignals,
    openings: &[Opening],
) -> Result<Vec<Result<OpenedGroup>>> {
    if openings.is_empty() {
        return Ok(Vec::new());
    }
    let opened = async { open_all(db.get().await?, signals, openings).await };
    let opened = AssertUnwindSafe(opened).catch_unwind().await;
    let opened = opened.unwrap_or_else(|_| Err(HttpError::Internal(anyhow!("opening episodes panicked"))));
    if opened.is_err() {
        db.release();
    }
    opened
}

/// Opens groups in one transaction: each, or why it is not opened.
async fn open_all(
    db: &mut PgConnection,
    signals: &EpisodeSignals,
    openings: &[Opening],
) -> Result<Vec<Result<OpenedGroup>>> {
    let mut tx = db.begin().await?;
    // All servers first look for the runs, and then lock them, in one order: none waits for one that waits for it.
    let mut runs = Vec::new();
    for same in by_order(openings)?.into_values() {
        let Some(first) = same.first().map(|i| &openings[*i]) else { continue };
        runs.push((episodes::run_of(&mut tx, &first.library, &first.order).await?, same));
    }
    let mut all = BTreeMap::new();
    for (run, same) in runs {
        match open_same(&mut tx, signals, (run, openings), &same).await {
            Ok(opened) => all.extend(same.into_iter().zip(opened.into_iter().map(Ok))),
            // Each by itself, so that one that is refused does not fail the others.
            Err(_) if same.len() > 1 => {
                for i in same {
                    let opened = open_same(&mut tx, signals, (run, openings), &[i]).await;
                    all.insert(i, opened.and_then(|mut one| one.pop().ok_or_else(|| sqlx::Error::PoolClosed.into())));
                }
            }
            Err(error) => all.extend(same.first().map(|i| (*i, Err(error)))),
        }
    }
    let opened = openings.iter().enumerate().filter(|(i, _)| all.get(i).is_some_and(Result::is_ok));
    let audits: Vec<&Audit> = opened.map(|(_, opening)| &opening.audit).collect();
    if audits.is_empty() {
        tx.rollback().await?;
    } else {
        Audit::commit_all(tx, audits).await?;
    }
    Ok(all.into_values().collect())
}

/// Opens groups of one run, all of them or none.
async fn open_same(
    tx: &mut PgConnection,
    signals: &EpisodeSignals,
    (run, openings): (Uuid, &[Opening]),
    same: &[usize],
) -> Result<Vec<OpenedGroup>> {
    let Some(first) = same.first().map(|i| &openings[*i]) else { return Ok(Vec::new()) };
    let mut savepoint = tx.begin().await?;
    let groups: Vec<&NewGroup> = same.iter().map(|i| &openings[*i].group).collect();
    let planned = episodes::open(&mut savepoint, &first.library, (run, &first.order), &groups).await;
    let mut all = Vec::with_capacity(same.len());
    for (i, planned) in same.iter().zip(planned.map_err(refusal)?) {
        let ids = planned.iter().map(|planned| planned.id).collect();
        let mut opened = with_tokens(&mut savepoint, ids, openings[*i].tokens_of).await?;
        // What is told once they are there is heard.
        opened.iter_mut().for_each(|opened| opened.signal = Some(signals.of(opened.id)));
        openings[*i].audit.subject(run);
        all.push(OpenedGroup { run, planned, opened });
    }
    savepoint.commit().await?;
    Ok(all)
}

/// Which groups share a run, in one order everywhere.
fn by_order(openings: &[Opening]) -> Result<BTreeMap<String, Vec<usize>>> {
    let mut by_order: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, Opening { library, order, .. }) in openings.iter().enumerate() {
        let config = serde_json::to_string(&order.config).map_err(|error| HttpError::Internal(error.into()))?;
        let key = format!("{} {} {} {config}", order.terms.project, library.files.hash(), order.terms.seed);
        by_order.entry(key).or_default().push(i);
    }
    Ok(by_order)
}

fn refusal(error: anyhow::Error) -> HttpError {
    match error.downcast::<OpenError>() {
        Ok(OpenError::Refused(refused)) => store::StoreError::from(refused).into(),
        Ok(closed) => HttpError::Conflict(closed.to_string()),
        Err(error) => error.into(),
    }
}

/// Episodes with new tokens, if somebody is to have them.
pub async fn with_tokens(db: &mut PgConnection, ids: Vec<Uuid>, of: Option<Uuid>) -> Result<Vec<OpenedEpisode>> {
    let Some(user) = of else {
        return Ok(ids.into_iter().map(|id| OpenedEpisode { id, token: None, signal: None }).collect());
    };
    let secrets = people::keep_episode_tokens(db, user, &ids).await?;
    let secrets = secrets.ok_or_else(|| {
        HttpError::invalid(
            "/token",
            "another user has a token of this episode; only they can replace it, so leave it out",
        )
    })?;
    let opened = ids.into_iter().zip(secrets);
    Ok(opened.map(|(id, secret)| OpenedEpisode { id, token: Some(secret), signal: None }).collect())
}
