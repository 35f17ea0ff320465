//! Queues for raters: what goes into one, and who gets what.

use std::collections::HashSet;
use std::time::Duration;

use chrono::TimeDelta;
use domain::api::{BuildState, CorpusSummary, LARGEST_QUEUE};
use domain::problem::Problem;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::calibrate::sheet;
use domain::bad_input::BadInput;
use store::clock;
use store::reviews::{self, HeldAssignment};
use store::{conversations, corpora, judgings, projects, verdicts};

/// Whoever took a conversation and neither rated nor skipped it for so long may lose it to others.
pub const IDLE: TimeDelta = TimeDelta::hours(1);

/// Which conversations go into a queue.
pub enum Choice {
    /// These, in this order.
    Conversations(Vec<Uuid>),
    /// So many of a run, spread over the scores of a judging.
    Run { run: Uuid, judging: Uuid, n: usize },
    /// What a corpus keeps, or so many of it, spread over the scores.
    Corpus { corpus: Uuid, n: Option<usize> },
}

/// # Errors
/// [`BadInput`]: what cannot be chosen, by field.
pub async fn choose(db: &mut PgConnection, project: Uuid, choice: Choice) -> anyhow::Result<Vec<Uuid>> {
    let (field, chosen) = match choice {
        Choice::Conversations(ids) => ("conversations", known(db, project, ids).await?),
        Choice::Run { run, judging, n } => {
            check_run(db, project, run, judging).await?;
            ("run", sheet::choose(verdicts::overall(db, judging).await?, n))
        }
        Choice::Corpus { corpus, n } => {
            match corpora::get(db, corpus).await? {
                Some((owner, found)) if owner == project => check_ready(&found.summary)?,
                _ => return Err(bad("corpus", format!("there is no corpus {corpus} in this project"))),
            }
            let kept = match n {
                Some(n) => sheet::choose(verdicts::overall_in_corpus(db, corpus).await?, n),
                None => conversations::of_corpus(db, corpus).await?,
            };
            ("corpus", kept)
        }
    };
    match chosen.len() {
        0 => Err(bad(field, "it holds no conversation that could be rated".into())),
        1..=LARGEST_QUEUE => Ok(chosen),
        many => Err(bad(field, format!("these are {many} conversations, and a queue holds {LARGEST_QUEUE}; say `n`"))),
    }
}

fn check_ready(corpus: &CorpusSummary) -> anyhow::Result<()> {
    match (corpus.state, &corpus.reason) {
        (BuildState::Ready, _) => Ok(()),
        (BuildState::Building, _) => Err(bad("corpus", "it is still being made; try again when it is ready".into())),
        (BuildState::Failed, Some(reason)) => Err(bad("corpus", format!("it could not be made: {reason}"))),
        (BuildState::Failed | BuildState::Cancelled, _) => Err(bad("corpus", "it was never made".into())),
    }
}

async fn check_run(db: &mut PgConnection, project: Uuid, run: Uuid, judging: Uuid) -> anyhow::Result<()> {
    if projects::of_run(db, run).await? != Some(project) {
        return Err(bad("run", format!("there is no run {run} in this project")));
    }
    match judgings::get(db, judging).await? {
        Some(judging) if judging.run_id == run => Ok(()),
        _ => Err(bad("judging", format!("the run {run} has no judging {judging}"))),
    }
}

/// Each of them must be a conversation of the project that has ended, and stand there once.
async fn known(db: &mut PgConnection, project: Uuid, ids: Vec<Uuid>) -> anyhow::Result<Vec<Uuid>> {
    let ended: HashSet<Uuid> = conversations::ended_in_project(db, project, &ids).await?.into_iter().collect();
    let mut seen = HashSet::new();
    let mut problems = Vec::new();
    for (i, id) in ids.iter().enumerate() {
        let message = match (ended.contains(id), seen.insert(id)) {
            (false, _) => format!("there is no conversation {id} in this project that has ended"),
            (true, false) => format!("{id} is given twice"),
            (true, true) => continue,
        };
        problems.push(Problem::new("", 0, format!("conversations[{i}]"), message));
    }
    if problems.is_empty() { Ok(ids) } else { Err(BadInput(problems).into()) }
}

fn bad(field: &str, message: String) -> anyhow::Error {
    BadInput(vec![Problem::new("", 0, field, message)]).into()
}

/// Gives a rater what they hold, or the next one that has a place for them, in a transaction that is still to be committed;
/// `None` if there is nothing left. Says also how many they could be given, this one counted.
pub async fn next(
    pool: &PgPool,
    queue: Uuid,
    rater: &str,
) -> store::Result<(i64, Option<(HeldAssignment, Transaction<'static, Postgres>)>)> {
    // Others who are just taking the same ones are done in a moment.
    const PATIENCE: u32 = 200;
    for _ in 0..PATIENCE {
        let now = clock::now();
        let mut tx = pool.begin().await?;
        let taken = reviews::take(&mut tx, queue, rater, now, now + IDLE).await?;
        let left = reviews::count_open(&mut tx, queue, rater, now).await?;
        match taken {
            Some(taken) => return Ok((left, Some((taken, tx)))),
            None if left == 0 => return Ok((0, None)),
            None => tx.rollback().await?,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok((reviews::count_open(&mut *pool.acquire().await?, queue, rater, clock::now()).await?, None))
}
