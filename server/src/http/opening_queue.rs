//! Group commit of episodes that are opened: what is asked for while a transaction is written shares the next one. Each adds positions
//! to the run that holds them, so by themselves they would wait for each other's commits.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::Arc;

use futures::FutureExt;
use generation::episodes::{self, NewGroup, OpenError};
use generation::order::CheckedOrder;
use projects::library::Library;
use sqlx::{Connection, PgConnection, PgPool};
use store::KeptConnection;
use store::conversations::PlannedConversation;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::audit::Audit;
use super::episode_signals::{EpisodeSignals, Signal};
use super::error::{HttpError, Result};
use crate::people;

/// Groups in one transaction at most.
const BATCH: usize = 64;

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
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Whoever no longer waits has gone away.
        let wanted = batch.drain(..).filter(|queued| !queued.opened.is_closed());
        let (openings, senders): (Vec<_>, Vec<_>) = wanted.map(|queued| (queued.opening, queued.opened)).unzip();
        open(&mut db, &signals, &openings, senders).await;
        if waiting.is_empty() {
            db.release();
        }
    }
}

async fn open(
    db: &mut KeptConnection,
    signals: &EpisodeSignals,
    openings: &[Opening],
    senders: Vec<oneshot::Sender<Result<OpenedGroup>>>,
) {
    if openings.len() > 1
        && let Ok(opened) = attempt(db, signals, openings).await
    {
        for (opened, tell) in opened.into_iter().zip(senders) {
            let _ = tell.send(Ok(opened));
        }
        return;
    }
    // Each by itself, so that one that is refused does not fail the others.
    for (opening, tell) in openings.iter().zip(senders) {
        let opened = attempt(db, signals, slice::from_ref(opening)).await;
        let _ = tell.send(opened.and_then(|mut opened| opened.pop().ok_or_else(|| sqlx::Error::PoolClosed.into())));
    }
}

/// A panic is an error: it would end the writer, and nothing would be opened any more.
async fn attempt(db: &mut KeptConnection, signals: &EpisodeSignals, openings: &[Opening]) -> Result<Vec<OpenedGroup>> {
    let opened = async { open_all(db.get().await?, signals, openings).await };
    let opened = AssertUnwindSafe(opened).catch_unwind().await.unwrap_or_else(|_| {
        let why = "nothing was opened, because of a fault in the server; open it again";
        Err(HttpError::Unavailable(why.to_owned()))
    });
    if opened.is_err() {
        db.release();
    }
    opened
}

/// Opens groups in one transaction.
async fn open_all(db: &mut PgConnection, signals: &EpisodeSignals, openings: &[Opening]) -> Result<Vec<OpenedGroup>> {
    let mut tx = db.begin().await?;
    let mut all = BTreeMap::new();
    for same in by_order(openings)?.into_values() {
        let Some(first) = same.first().map(|i| &openings[*i]) else { continue };
        let (library, order) = (first.library.as_ref(), first.order.as_ref());
        let run = episodes::run_of(&mut tx, library, order).await?;
        let groups: Vec<&NewGroup> = same.iter().map(|i| &openings[*i].group).collect();
        let planned = episodes::open(&mut tx, library, (run, order), &groups).await.map_err(refusal)?;
        for (i, planned) in same.into_iter().zip(planned) {
            let ids = planned.iter().map(|planned| planned.id).collect();
            let mut opened = with_tokens(&mut tx, ids, openings[i].tokens_of).await?;
            // What is told once they are there is heard.
            opened.iter_mut().for_each(|opened| opened.signal = Some(signals.of(opened.id)));
            openings[i].audit.subject(run);
            all.insert(i, OpenedGroup { run, planned, opened });
        }
    }
    Audit::commit_all(tx, openings.iter().map(|opening| &opening.audit)).await?;
    Ok(all.into_values().collect())
}

/// Which groups share a run. All servers take runs in the same order, so none waits for one that waits for it.
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
