//! Requests of tasks that somebody outside of the playing process answers: an outside agent, a worker.

use std::collections::HashSet;
use std::time::Duration;

use domain::task::OutsideAnswer;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{BadRow, Result, StoreError, claims, interval, players};

/// Where players hear that a request was answered.
pub const CHANNEL: &str = "groundstate_requests";
/// Where others hear that a task waits for somebody outside, or that one that did has ended. What is told is its id.
pub const WAITING: &str = "groundstate_waiting";
/// The request by which somebody outside ends a task early. It is there only with its answer, and practically no task makes one of this
/// number.
pub const END_EARLY: i64 = i64::MIN;

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    pub task: Uuid,
    /// Its id within the task.
    pub request: i64,
    pub run: Uuid,
    /// Who is to answer, such as `agent`.
    pub kind: String,
    pub body: Value,
    /// After how long nobody waits for the answer any more; `None`: never.
    pub patience: Option<Duration>,
    /// Whether its task leaves its player while it waits, so that the answer makes a claim.
    pub parks: bool,
}

/// A request to somebody outside whose answer is taken.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredRequest {
    /// Its id within the task.
    pub request: i64,
    /// The database does not have the answer. If it has one, that was given first.
    pub is_local: bool,
}

/// Puts a request where others find it, and says so. Nothing is opened for a player that was given up and does not know it yet.
pub async fn open(db: &mut PgConnection, player: i64, new: &OpenRequest) -> Result<()> {
    let mut tx = db.begin().await?;
    if players::hold(&mut tx, player).await? {
        open_all(&mut tx, &[(new, false)]).await?;
    }
    Ok(tx.commit().await?)
}

/// Puts requests where others find them, each with whether those who wait for it are told by somebody else; else this says so. They may be there already, from a player that died or left the task while it
/// waited; they were announced then and are not announced again. A task that has ended, or whose run was cancelled, gets none. The
/// transaction holds the player: nobody else ends its tasks meanwhile.
pub(crate) async fn open_all(db: &mut PgConnection, new: &[(&OpenRequest, bool)]) -> Result<()> {
    sqlx::query!(
        "WITH new AS (
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::interval[], $7::bool[], $9::bool[])
                 AS new (task, request, run, kind, body, patience, parks, is_told)
         ), opened AS (
             INSERT INTO requests (task_id, request, run_id, kind, body, expires_at, parks)
             SELECT task, request, run, new.kind, body::json, now() + patience, parks
             FROM new JOIN tasks ON tasks.id = task JOIN runs ON runs.id = run
             WHERE outcome IS NULL AND state <> 'cancelled'
             ON CONFLICT (task_id, request) DO NOTHING RETURNING task_id, requests.request
         ) SELECT pg_notify($8, task_id::text) FROM opened JOIN new ON new.task = task_id AND new.request = opened.request
           WHERE NOT is_told",
        &new.iter().map(|(new, _)| new.task).collect::<Vec<_>>(),
        &new.iter().map(|(new, _)| new.request).collect::<Vec<_>>(),
        &new.iter().map(|(new, _)| new.run).collect::<Vec<_>>(),
        &new.iter().map(|(new, _)| new.kind.clone()).collect::<Vec<_>>(),
        &new.iter().map(|(new, _)| new.body.to_string()).collect::<Vec<_>>(),
        &new.iter().map(|(new, _)| new.patience.map(interval)).collect::<Vec<_>>() as _,
        &new.iter().map(|(new, _)| new.parks).collect::<Vec<_>>(),
        WAITING,
        &new.iter().map(|(_, is_told)| *is_told).collect::<Vec<_>>()
    )
    .fetch_all(db)
    .await?;
    Ok(())
}

/// Requests of a kind that nobody has answered, the oldest first. Those of a cancelled run are wanted no more.
pub async fn waiting(db: &mut PgConnection, kind: &str, limit: i64) -> Result<Vec<OpenRequest>> {
    let rows = sqlx::query!(
        r#"SELECT task_id, request, run_id, requests.kind, body::text AS "body!", parks
           FROM requests JOIN runs ON runs.id = run_id
           WHERE requests.kind = $1 AND answer IS NULL AND state <> 'cancelled'
           ORDER BY requests.created_at, task_id, request LIMIT $2"#,
        kind,
        limit
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| {
        let body = read(row.task_id, "body", &row.body)?;
        let (task, request, run, parks) = (row.task_id, row.request, row.run_id, row.parks);
        Ok(OpenRequest { task, request, run, kind: row.kind, body, patience: None, parks })
    })
    .collect()
}

/// Answers a request, and tells its player. False if the request was answered before, or is not there.
pub async fn answer(db: &mut PgConnection, task: Uuid, request: i64, answer: &OutsideAnswer) -> Result<bool> {
    Ok(!answer_all(db, &[(task, request, answer)]).await?.is_empty())
}

/// Answers requests, each of them once, and tells their players. Where a task is with none, somebody may claim it again. Those that
/// took their answers: the others were answered before, or are not there.
pub async fn answer_all(
    db: &mut PgConnection,
    answers: &[(Uuid, i64, &OutsideAnswer)],
) -> Result<HashSet<(Uuid, i64)>> {
    let mut answers: Vec<&(Uuid, i64, &OutsideAnswer)> = answers.iter().collect();
    // All lock requests in one order, so that nobody waits for somebody who waits for them.
    answers.sort_unstable_by_key(|(task, request, _)| (*task, *request));
    let texts = answers.iter().map(|(task, _, answer)| {
        serde_json::to_string(answer).map_err(|error| StoreError::from(bad(*task, "answer", &error)))
    });
    let texts = texts.collect::<Result<Vec<_>>>()?;
    // A claim that is there is locked, in the order in which players leave theirs: a player that leaves it sees the answer, or this
    // makes a new one.
    let answered = sqlx::query!(
        "WITH given AS (
             SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS given (task, id, answer)
         ), answered AS (
             UPDATE requests SET answer = given.answer::json, answered_at = now() FROM given
             WHERE task_id = task AND request = id AND answered_at IS NULL RETURNING task_id, request, run_id, parks
         ), woken AS (
             INSERT INTO claims (run_id, first_position, last_position)
             SELECT answered.run_id, position, position FROM answered JOIN tasks ON tasks.id = task_id WHERE parks
             ORDER BY answered.run_id, position
             ON CONFLICT (run_id, first_position) DO UPDATE SET deaths = claims.deaths RETURNING run_id, player
         ), free AS (
             SELECT DISTINCT run_id FROM woken WHERE player IS NULL
         )
         SELECT task_id, request, pg_notify($4, task_id::text),
             (SELECT count(pg_notify($5, run_id::text)) FROM free) AS told
         FROM answered",
        &answers.iter().map(|(task, ..)| *task).collect::<Vec<_>>(),
        &answers.iter().map(|(_, request, _)| *request).collect::<Vec<_>>(),
        &texts,
        CHANNEL,
        claims::CHANNEL
    );
    Ok(answered.fetch_all(db).await?.into_iter().map(|row| (row.task_id, row.request)).collect())
}

/// Ends a task early: its player hears of it as of an answer. Where it is with none, somebody may claim it again. Nothing is done with
/// one that has ended.
pub async fn end_early(db: &mut PgConnection, task: Uuid, reason: &str) -> Result<()> {
    // The locks keep the task from ending and its run from being cancelled meanwhile, which would leave this request behind. Other
    // transactions that lock a run lock its claims afterwards, as here, and no task in play: there is no deadlock.
    sqlx::query!(
        "WITH ends AS (
             SELECT tasks.id, run_id, position FROM tasks JOIN runs ON runs.id = run_id
             WHERE tasks.id = $1 AND outcome IS NULL AND state <> 'cancelled' FOR NO KEY UPDATE OF tasks FOR SHARE OF runs
         ), asked AS (
             INSERT INTO requests (task_id, request, run_id, kind, body, answer, answered_at, parks)
             SELECT id, $2::bigint, run_id, 'end', 'null'::json, json_build_object('lost', $3::text), now(), true FROM ends
             ON CONFLICT (task_id, request) DO NOTHING
         ), woken AS (
             INSERT INTO claims (run_id, first_position, last_position) SELECT run_id, position, position FROM ends
             ON CONFLICT (run_id, first_position) DO UPDATE SET deaths = claims.deaths RETURNING run_id, player
         )
         SELECT pg_notify($4, id::text),
             (SELECT count(pg_notify($5, run_id::text)) FROM woken WHERE player IS NULL) AS told
         FROM ends",
        task,
        END_EARLY,
        reason,
        CHANNEL,
        claims::CHANNEL
    )
    .fetch_all(db)
    .await?;
    Ok(())
}

/// Gives up requests that nobody answered in time, some at once. How many.
pub async fn expire(db: &mut PgConnection) -> Result<usize> {
    let expired = sqlx::query!(
        "WITH expired AS (
             UPDATE requests SET answered_at = now(), answer = json_build_object('lost',
                 'nobody answered within ' || round(extract(epoch FROM expires_at - created_at)) || ' seconds')
             WHERE (task_id, request) IN (
                 SELECT task_id, request FROM requests JOIN runs ON runs.id = run_id
                 WHERE answer IS NULL AND expires_at < now() AND state = 'running'
                 ORDER BY expires_at LIMIT 500 FOR UPDATE OF requests SKIP LOCKED)
             RETURNING task_id, run_id, parks
         ), woken AS (
             INSERT INTO claims (run_id, first_position, last_position)
             SELECT expired.run_id, position, position FROM expired JOIN tasks ON tasks.id = task_id WHERE parks
             ON CONFLICT (run_id, first_position) DO UPDATE SET deaths = claims.deaths RETURNING run_id
         )
         SELECT pg_notify($1, task_id::text), (SELECT pg_notify($2, run_id::text) FROM woken LIMIT 1) AS told FROM expired",
        CHANNEL,
        claims::CHANNEL
    );
    Ok(expired.fetch_all(db).await?.len())
}

/// Of these requests, given as task and id, those that were answered.
pub async fn answers(db: &mut PgConnection, of: &[(Uuid, i64)]) -> Result<Vec<((Uuid, i64), OutsideAnswer)>> {
    let (tasks, requests): (Vec<Uuid>, Vec<i64>) = of.iter().copied().unzip();
    let rows = sqlx::query!(
        r#"SELECT task_id, request, answer::text AS "answer!" FROM requests
           JOIN unnest($1::uuid[], $2::bigint[]) AS wanted (task, id) ON task_id = task AND request = id
           WHERE answer IS NOT NULL"#,
        &tasks,
        &requests
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| Ok(((row.task_id, row.request), read(row.task_id, "answer", &row.answer)?))).collect()
}

/// Forgets requests whose answers are in the journal now.
///
/// # Errors
/// [`StoreError::AnsweredElsewhere`]: one whose answer is not in the database has another one there, or is gone.
pub(crate) async fn forget(db: &mut PgConnection, mut taken: Vec<(Uuid, AnsweredRequest)>) -> Result<()> {
    // As those that are answered are locked.
    taken.sort_unstable_by_key(|(task, answered)| (*task, answered.request));
    let forgotten = sqlx::query!(
        "DELETE FROM requests USING unnest($1::uuid[], $2::bigint[], $3::bool[]) AS taken (task, id, is_local)
         WHERE task_id = task AND request = id AND (answered_at IS NULL OR NOT is_local) RETURNING task_id, request",
        &taken.iter().map(|(task, _)| *task).collect::<Vec<_>>(),
        &taken.iter().map(|(_, answered)| answered.request).collect::<Vec<_>>(),
        &taken.iter().map(|(_, answered)| answered.is_local).collect::<Vec<_>>()
    );
    let forgotten = forgotten.fetch_all(db).await?;
    let forgotten: HashSet<(Uuid, i64)> = forgotten.into_iter().map(|row| (row.task_id, row.request)).collect();
    let is_lost = |(task, answered): &(Uuid, AnsweredRequest)| {
        (answered.is_local && !forgotten.contains(&(*task, answered.request))).then_some(*task)
    };
    let lost: Vec<Uuid> = taken.iter().filter_map(is_lost).collect();
    if lost.is_empty() { Ok(()) } else { Err(StoreError::AnsweredElsewhere(lost)) }
}

/// Forgets the requests of tasks that have ended, each with whether those who wait for its end are told by somebody else; else this
/// tells them.
pub(crate) async fn close(db: &mut PgConnection, tasks: &[(Uuid, bool)]) -> Result<()> {
    let (tasks, is_told): (Vec<Uuid>, Vec<bool>) = tasks.iter().copied().unzip();
    sqlx::query!(
        "WITH closed AS (DELETE FROM requests WHERE task_id = ANY($2))
         SELECT pg_notify($1, id::text) FROM unnest($2::uuid[], $3::bool[]) AS ended (id, is_told) WHERE NOT is_told",
        WAITING,
        &tasks,
        &is_told
    )
    .fetch_all(db)
    .await?;
    Ok(())
}

fn read<T: DeserializeOwned>(task: Uuid, column: &'static str, text: &str) -> Result<T> {
    Ok(serde_json::from_str(text).map_err(|error| bad(task, column, &error))?)
}

fn bad(task: Uuid, column: &'static str, error: &serde_json::Error) -> BadRow {
    BadRow { table: "requests", column, row: task.to_string(), reason: error.to_string() }
}
