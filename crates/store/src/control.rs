//! What people do to a run that exists: pause, resume, cancel, play failures again, and change its terms. Whoever plays is
//! told at once ([`CHANNEL`]), and asks now and then in any case.

use domain::budget::Budget;
use domain::storage::NoRoom;
use domain::workflow::BuiltInEnd;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection, Postgres, Transaction};
use uuid::Uuid;

use super::Result;

/// Where players hear that there is something to do.
pub const CHANNEL: &str = "groundstate_runs";

/// Why a run cannot be changed in this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    #[error("there is no such run")]
    Missing,
    #[error("all conversations that its budget allows have been played; raise that cap first")]
    UsedUp,
    /// Another cap than that on conversations.
    #[error("{0}; raise that cap first")]
    Capped(&'static str),
    /// The project of the run has no room for more.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    #[error("nothing of a run of episodes is played again: only their agents could say their words again; open others")]
    Episodes,
    #[error("the run has ended")]
    Ended,
    #[error("the run was cancelled, which is for good; start another one")]
    Cancelled,
}

/// Notifies players when the transaction commits.
pub async fn notify_players(db: &mut PgConnection, run: Uuid) -> Result<()> {
    sqlx::query!("SELECT pg_notify($1, $2)", CHANNEL, run.to_string()).execute(db).await?;
    Ok(())
}

/// Stops asking models. What is in flight comes to its end, and all that was played stays.
pub async fn pause(db: &mut PgConnection, run: Uuid, because: Option<&str>) -> Result<()> {
    let mut tx = change(db, run, Change::Unfinished).await?;
    sqlx::query!(
        "UPDATE runs SET state = 'paused', paused_because = $2 WHERE id = $1 AND state = 'running'",
        run,
        because
    )
    .execute(&mut *tx)
    .await?;
    commit_and_notify(tx, run).await
}

/// Goes on with a run that was paused.
pub async fn resume(db: &mut PgConnection, run: Uuid) -> Result<()> {
    let mut tx = change(db, run, Change::Unfinished).await?;
    sqlx::query!("UPDATE runs SET state = 'running', paused_because = NULL WHERE id = $1", run)
        .execute(&mut *tx)
        .await?;
    // Nobody could answer meanwhile.
    sqlx::query!(
        "UPDATE requests SET created_at = now(), expires_at = now() + (expires_at - created_at)
         WHERE run_id = $1 AND answer IS NULL AND expires_at IS NOT NULL",
        run
    )
    .execute(&mut *tx)
    .await?;
    commit_and_notify(tx, run).await
}

/// Ends a run for good. What was played stays; what was not is never played, and nobody outside is asked for it any more.
pub async fn cancel(db: &mut PgConnection, run: Uuid) -> Result<()> {
    let mut tx = change(db, run, Change::Unfinished).await?;
    sqlx::query!("UPDATE runs SET state = 'cancelled', finished_at = now() WHERE id = $1", run)
        .execute(&mut *tx)
        .await?;
    // A player that closes some of them at the same time takes them in another order.
    sqlx::query!(
        "DELETE FROM requests WHERE (task_id, request) IN (
             SELECT task_id, request FROM requests WHERE run_id = $1 FOR UPDATE SKIP LOCKED)",
        run
    )
    .execute(&mut *tx)
    .await?;
    commit_and_notify(tx, run).await
}

pub async fn set_priority(db: &mut PgConnection, run: Uuid, priority: i32) -> Result<()> {
    let mut tx = change(db, run, Change::Unfinished).await?;
    sqlx::query!("UPDATE runs SET priority = $2 WHERE id = $1", run, priority).execute(&mut *tx).await?;
    commit_and_notify(tx, run).await
}

/// Other caps, also of a run that has ended: it may be judged again. A run that was paused at one of the old ones is resumed
/// by whoever wants it so.
pub async fn set_budget(db: &mut PgConnection, run: Uuid, budget: &Budget) -> Result<()> {
    let mut tx = change(db, run, Change::Any).await?;
    sqlx::query!("UPDATE runs SET budget = $2 WHERE id = $1", run, Json(budget) as _).execute(&mut *tx).await?;
    commit_and_notify(tx, run).await
}

/// Plays again what somebody else than the agent spoiled, and rows whose end another attempt can change
/// ([`BuiltInEnd::RETRIED`]). Returns how many: each gets another attempt, and the spoiled one is kept and counted apart. What
/// stands between tasks that are being played is left for the next time.
///
/// # Errors
/// Also [`StoreError::Deleted`](super::StoreError::Deleted): a dataset or an index that the run reads is not there any more.
pub async fn retry_failed(db: &mut PgConnection, run: Uuid) -> Result<i64> {
    let stored = super::runs::get(db, run).await?.ok_or(ControlError::Missing)?;
    if stored.kind == super::runs::EPISODES {
        return Err(ControlError::Episodes.into());
    }
    let mut tx = change(db, run, Change::Uncancelled).await?;
    super::run_inputs::hold(&mut tx, &stored.spec).await?;
    let ends = BuiltInEnd::RETRIED.map(|end| end.to_string()).to_vec();
    let spoiled = sqlx::query!(
        r#"UPDATE tasks SET superseded = true
           WHERE run_id = $1 AND NOT superseded AND outcome = 'failed'
               AND CASE WHEN $2 THEN blame = ANY($3::text[]) ELSE blame <> 'agent' END
               AND NOT EXISTS (
                   SELECT FROM claims WHERE run_id = $1 AND position BETWEEN first_position AND last_position)
           RETURNING id, position, attempt, blame AS "blame!", keep_through"#,
        run,
        super::runs::plays_rows(&stored.kind),
        &ends
    );
    let spoiled = spoiled.fetch_all(&mut *tx).await?;
    let ids: Vec<Uuid> = spoiled.iter().map(|row| row.id).collect();
    let next: Vec<Uuid> = ids.iter().map(super::tasks::retry_id).collect();
    sqlx::query!(
        "INSERT INTO tasks (id, run_id, kind, position, scenario, repeat, persona, complexity, world, attempt)
         SELECT next.id, run_id, kind, position, scenario, repeat, persona, complexity, world, attempt + 1
         FROM unnest($1::uuid[], $2::uuid[]) AS next (id, spoiled) JOIN tasks c ON c.id = next.spoiled",
        &next,
        &ids
    )
    .execute(&mut *tx)
    .await?;
    // What was played to its end is not played again because it could not be judged.
    let kept = spoiled.iter().zip(&next).filter_map(|(row, next)| Some((row.id, *next, row.keep_through?)));
    let (mut from, mut to, mut through) = (Vec::new(), Vec::new(), Vec::new());
    for (spoiled, next, last) in kept {
        from.push(spoiled);
        to.push(next);
        through.push(last);
    }
    super::events::copy_through(&mut tx, &from, &to, &through).await?;
    // Neighbours are one claim: each costs whoever takes it a transaction.
    sqlx::query!(
        "INSERT INTO claims (run_id, first_position, last_position) SELECT $1, min(position), max(position) FROM (
             SELECT position, position - row_number() OVER (ORDER BY position) AS island
             FROM unnest($2::int[]) AS again (position)
         ) AS islands GROUP BY island",
        run,
        &spoiled.iter().map(|row| row.position).collect::<Vec<_>>()
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "INSERT INTO tallies (run_id, player, writer, outcome, superseded, tasks)
         SELECT $1, 0, 0, outcome, superseded, sum(n) FROM (
             SELECT outcome, false AS superseded, -1 AS n FROM unnest($2::text[]) AS spoiled (outcome)
             UNION ALL SELECT outcome, true, 1 FROM unnest($2::text[]) AS spoiled (outcome)
         ) AS moved GROUP BY 4, 5
         ON CONFLICT (run_id, player, writer, outcome, superseded)
         DO UPDATE SET tasks = tallies.tasks + EXCLUDED.tasks",
        run,
        &spoiled.iter().map(|row| row.blame.clone()).collect::<Vec<_>>()
    )
    .execute(&mut *tx)
    .await?;
    if !spoiled.is_empty() {
        sqlx::query!(
            "UPDATE runs SET finished_at = NULL, state = 'running', paused_because = NULL, retried = retried + 1
             WHERE id = $1",
            run
        )
        .execute(&mut *tx)
        .await?;
    }
    commit_and_notify(tx, run).await?;
    Ok(i64::try_from(spoiled.len()).unwrap_or(i64::MAX))
}

/// Which runs a change is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Unfinished,
    Uncancelled,
    Any,
}

/// Begins a change of a run. Its row is held, so that what is asked of it at once happens one after another.
async fn change(db: &mut PgConnection, run: Uuid, which: Change) -> Result<Transaction<'_, Postgres>> {
    let mut tx = db.begin().await?;
    let row = sqlx::query!("SELECT state, finished_at FROM runs WHERE id = $1 FOR NO KEY UPDATE", run);
    match row.fetch_optional(&mut *tx).await? {
        None => Err(ControlError::Missing.into()),
        Some(row) if which != Change::Any && row.state == "cancelled" => Err(ControlError::Cancelled.into()),
        Some(row) if which == Change::Unfinished && row.finished_at.is_some() => Err(ControlError::Ended.into()),
        Some(_) => Ok(tx),
    }
}

/// Commits a change, and notifies players of it.
async fn commit_and_notify(mut tx: Transaction<'_, Postgres>, run: Uuid) -> Result<()> {
    notify_players(&mut tx, run).await?;
    tx.commit().await?;
    Ok(())
}
