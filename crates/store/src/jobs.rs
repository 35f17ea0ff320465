//! Jobs: who asked for what, which process works on it, and how far it is.
//!
//! A job that runs belongs to a player as long as the player's row is there, as the claims of runs do. The player's number
//! is the fencing token: progress, result and end count only while the job is still held by the one who reports them.

use chrono::{DateTime, Utc};
use domain::api::JobSummary;
use domain::job::{JobKind, JobState};
use domain::progress::JobProgress;
use serde_json::Value;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{BadRow, Result, StoreError, players};

/// Where processes hear that there is a job to do, or one that is to be left.
pub const CHANNEL: &str = "groundstate_jobs";

/// After so many processes that died while they worked on a job nobody else tries.
const MOST_DEATHS: i32 = 5;

/// A job that was ordered.
pub struct JobOrder<'a> {
    pub id: Uuid,
    pub project: Option<Uuid>,
    pub kind: JobKind,
    /// Id of what it makes.
    pub subject: Uuid,
    /// What is asked for, as far as it does not stand in the subject's row.
    pub spec: Value,
    /// How much there is to do, if that is known.
    pub total: Option<i64>,
    /// The run whose usage and budget it counts towards.
    pub run: Option<Uuid>,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

/// What a process needs to know of a job that it claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: Uuid,
    pub project: Option<Uuid>,
    pub kind: JobKind,
    pub subject: Uuid,
    pub spec: Value,
}

/// How a job comes to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending<'a> {
    /// Why it failed, as people are told; `None`: it is finished.
    pub failure: Option<&'a str>,
    /// What came of it, in short.
    pub report: Option<&'a Value>,
}

pub async fn insert(db: &mut PgConnection, new: &JobOrder<'_>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO jobs (id, project_id, kind, subject, spec, total, run_id, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        new.id,
        new.project,
        new.kind.into_str(),
        new.subject,
        new.spec,
        new.total,
        new.run,
        new.created_by,
        new.created_at
    )
    .execute(&mut *db)
    .await?;
    notify(db, new.id).await
}

/// Tells processes of a change of a job, when the transaction commits.
async fn notify(db: &mut PgConnection, job: Uuid) -> Result<()> {
    sqlx::query!("SELECT pg_notify($1, $2)", CHANNEL, job.to_string()).execute(db).await?;
    Ok(())
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<JobSummary>> {
    let row = sqlx::query_as!(
        Row,
        "SELECT id, kind, subject, state, reason, phase, done, total, report, run_id, created_by, created_at, started_at,
                finished_at
         FROM jobs WHERE id = $1",
        id
    );
    row.fetch_optional(db).await?.map(Row::summary).transpose()
}

/// The jobs of a project before one, newest first.
pub async fn of_project(
    db: &mut PgConnection,
    project: Uuid,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<JobSummary>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, kind, subject, state, reason, phase, done, total, report, run_id, created_by, created_at, started_at,
                finished_at
         FROM jobs WHERE project_id = $1
           AND ($2::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM jobs WHERE id = $2))
         ORDER BY created_at DESC, id DESC LIMIT $3",
        project,
        before,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// Jobs of the whole installation, newest first.
pub async fn newest(db: &mut PgConnection, limit: i64) -> Result<Vec<JobSummary>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, kind, subject, state, reason, phase, done, total, report, run_id, created_by, created_at, started_at,
                finished_at
         FROM jobs ORDER BY created_at DESC, id DESC LIMIT $1",
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// The newest job of a subject.
pub async fn current(db: &mut PgConnection, kind: JobKind, subject: Uuid) -> Result<Option<JobSummary>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id AS "id!", kind AS "kind!", subject AS "subject!", state AS "state!", reason, phase, done AS "done!", total,
                  report, run_id, created_by AS "created_by!", created_at AS "created_at!", started_at, finished_at
           FROM current_job($1, $2)"#,
        kind.into_str(),
        subject
    );
    row.fetch_optional(db).await?.map(Row::summary).transpose()
}

struct Row {
    id: Uuid,
    kind: String,
    subject: Uuid,
    state: String,
    reason: Option<String>,
    phase: Option<String>,
    done: i64,
    total: Option<i64>,
    report: Option<Value>,
    run_id: Option<Uuid>,
    created_by: String,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
}

impl Row {
    fn summary(self) -> Result<JobSummary> {
        Ok(JobSummary {
            id: self.id.to_string(),
            kind: kind(self.id, &self.kind)?,
            subject: self.subject.to_string(),
            state: state(self.id, &self.state)?,
            reason: self.reason,
            doing: self.phase.map(|step| JobProgress { step, done: self.done, total: self.total }),
            report: self.report,
            run: self.run_id.map(|run| run.to_string()),
            created_by: self.created_by,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
        })
    }
}

fn kind(job: Uuid, name: &str) -> Result<JobKind> {
    name.parse().map_err(|_| bad(job, "kind", format!("`{name}` is no kind")).into())
}

/// # Errors
/// [`BadRow`]: there is no such state.
pub(super) fn state(job: Uuid, name: &str) -> Result<JobState> {
    name.parse().map_err(|_| bad(job, "state", format!("`{name}` is no state")).into())
}

fn bad(job: Uuid, column: &'static str, reason: String) -> BadRow {
    BadRow { table: "jobs", column, row: job.to_string(), reason }
}

/// Claims the job that is next: of the highest priority, and of those the oldest. `only`: that one or none. One that too
/// many processes died of fails instead.
///
/// # Errors
/// Also if the player was given up ([`is_given_up`]).
pub async fn claim(db: &mut PgConnection, player: i64, kinds: &[JobKind], only: Option<Uuid>) -> Result<Option<Job>> {
    let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    loop {
        let mut tx = db.begin().await?;
        let next = sqlx::query!(
            "SELECT id, attempts FROM jobs
             WHERE finished_at IS NULL AND player IS NULL AND kind = ANY($1) AND ($2::uuid IS NULL OR id = $2)
             ORDER BY priority DESC, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED",
            &kinds,
            only
        );
        let Some(next) = next.fetch_optional(&mut *tx).await? else { return Ok(None) };
        if next.attempts >= MOST_DEATHS {
            let reason = format!("{} processes died while they worked on it; it is not tried again", next.attempts);
            sqlx::query!(
                "UPDATE jobs SET state = 'failed', reason = $2, finished_at = now() WHERE id = $1",
                next.id,
                reason
            )
            .execute(&mut *tx)
            .await?;
            notify(&mut tx, next.id).await?;
            tx.commit().await?;
            continue;
        }
        let row = sqlx::query!(
            "UPDATE jobs SET state = 'running', player = $2, attempts = attempts + 1, phase = NULL, done = 0,
                             started_at = coalesce(started_at, now())
             WHERE id = $1 RETURNING project_id, kind, subject, spec",
            next.id,
            player
        );
        let row = row.fetch_one(&mut *tx).await?;
        tx.commit().await?;
        let kind = kind(next.id, &row.kind)?;
        return Ok(Some(Job { id: next.id, project: row.project_id, kind, subject: row.subject, spec: row.spec }));
    }
}

/// Whether a claim was refused because its player was given up.
pub fn is_given_up(error: &StoreError) -> bool {
    let StoreError::Database(sqlx::Error::Database(error)) = error else { return false };
    error.constraint() == Some("jobs_player_fkey")
}

/// The jobs that the player holds. One that it does not know of was claimed by a statement whose answer was lost; one that
/// is missing was cancelled or deleted, or the player was given up.
pub async fn leased(db: &mut PgConnection, player: i64) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!("SELECT id FROM jobs WHERE player = $1 AND finished_at IS NULL", player);
    Ok(ids.fetch_all(db).await?)
}

/// Writes down how far jobs of the player are; of those that it does not hold any more nothing is written. One that is
/// being ended is passed over.
pub async fn report_progress(db: &mut PgConnection, player: i64, told: &[(Uuid, JobProgress)]) -> Result<()> {
    sqlx::query!(
        "UPDATE jobs SET phase = told.phase, done = told.done, total = told.total
         FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) AS told (id, phase, done, total)
         WHERE jobs.id = told.id AND jobs.id IN (
             SELECT id FROM jobs WHERE player = $1 AND finished_at IS NULL FOR NO KEY UPDATE SKIP LOCKED)",
        player,
        &told.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        &told.iter().map(|(_, doing)| doing.step.clone()).collect::<Vec<_>>(),
        &told.iter().map(|(_, doing)| doing.done).collect::<Vec<_>>(),
        &told.iter().map(|(_, doing)| doing.total).collect::<Vec<_>>() as &[Option<i64>]
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Until the transaction ends nobody can take the job away from the player, cancel it or delete it. False if somebody has.
pub async fn hold(tx: &mut PgConnection, player: i64, job: Uuid) -> Result<bool> {
    players::own_transaction(&mut *tx, player).await?;
    if !players::hold(&mut *tx, player).await? {
        return Ok(false);
    }
    let held = sqlx::query_scalar!(
        "SELECT id FROM jobs WHERE id = $1 AND player = $2 AND finished_at IS NULL FOR NO KEY UPDATE",
        job,
        player
    );
    Ok(held.fetch_optional(tx).await?.is_some())
}

/// Ends a job of the player. False, and nothing is written, if the player does not hold it any more. `doing`: how far it
/// was told to be last.
pub async fn end(
    db: &mut PgConnection,
    player: i64,
    job: Uuid,
    ending: Ending<'_>,
    doing: Option<&JobProgress>,
) -> Result<bool> {
    let state = if ending.failure.is_some() { JobState::Failed } else { JobState::Finished };
    let ended = sqlx::query!(
        "UPDATE jobs SET state = $3, reason = $4, report = $5, player = NULL, finished_at = now(),
                         phase = coalesce($6, phase), done = coalesce($7, done), total = CASE WHEN $6::text IS NULL THEN total ELSE $8 END
         WHERE id = $1 AND player = $2 AND finished_at IS NULL",
        job,
        player,
        state.into_str(),
        ending.failure,
        ending.report,
        doing.map(|doing| doing.step.as_str()),
        doing.map(|doing| doing.done),
        doing.and_then(|doing| doing.total)
    );
    if ended.execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(false);
    }
    notify(db, job).await?;
    Ok(true)
}

/// Gives back jobs that the player does not go on with: others take them up from where they stand. They count as not tried.
pub async fn release(db: &mut PgConnection, player: i64, jobs: &[Uuid]) -> Result<()> {
    let released = sqlx::query_scalar!(
        "UPDATE jobs SET state = 'queued', player = NULL, attempts = attempts - 1, phase = NULL, done = 0
         WHERE id = ANY($2) AND player = $1 AND finished_at IS NULL RETURNING id",
        player,
        jobs
    );
    for job in released.fetch_all(&mut *db).await? {
        notify(db, job).await?;
    }
    Ok(())
}

/// Ends a job that nobody wants any more. False if it has ended, or is not there.
pub async fn cancel(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let cancelled = sqlx::query!(
        "UPDATE jobs SET state = 'cancelled', player = NULL, finished_at = now() WHERE id = $1 AND finished_at IS NULL",
        id
    );
    if cancelled.execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(false);
    }
    notify(db, id).await?;
    Ok(true)
}

/// Like [`cancel`], by what is made.
pub async fn cancel_subject(db: &mut PgConnection, kind: JobKind, subject: Uuid) -> Result<bool> {
    let unfinished = sqlx::query_scalar!(
        "SELECT id FROM jobs WHERE kind = $1 AND subject = $2 AND finished_at IS NULL",
        kind.into_str(),
        subject
    );
    match unfinished.fetch_optional(&mut *db).await? {
        Some(id) => cancel(db, id).await,
        None => Ok(false),
    }
}

/// Deletes all jobs of a subject that goes; whoever works on one leaves it.
pub(super) async fn delete_subject(db: &mut PgConnection, kind: JobKind, subject: Uuid) -> Result<()> {
    let deleted =
        sqlx::query_scalar!("DELETE FROM jobs WHERE kind = $1 AND subject = $2 RETURNING id", kind.into_str(), subject);
    for job in deleted.fetch_all(&mut *db).await? {
        notify(db, job).await?;
    }
    Ok(())
}
