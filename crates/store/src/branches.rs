//! Conversations that go on from a turn of another one.

use chrono::{DateTime, Utc};
use domain::api::BranchSummary;
use sqlx::PgConnection;
use uuid::Uuid;

use super::conversations::PlannedConversation;
use super::{Result, runs};

/// A conversation that begins with what was said in another one.
pub struct BranchStart<'a> {
    /// A run without rows, of one conversation.
    pub run: Uuid,
    pub planned: &'a PlannedConversation,
    pub world: &'a str,
    pub from: Uuid,
    /// The first event of it that is not shared.
    pub before: u32,
    /// What stands there instead, as JSON.
    pub own: Option<(u32, String)>,
}

/// Its run has then begun, and whoever plays next plays it on.
pub async fn insert(db: &mut PgConnection, new: &BranchStart<'_>, now: DateTime<Utc>) -> Result<()> {
    let PlannedConversation { id, position, scenario, repeat, persona, complexity, attempt } = new.planned;
    sqlx::query!(
        "INSERT INTO tasks (id, run_id, position, scenario, repeat, persona, complexity, world, attempt)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        id,
        new.run,
        position,
        scenario,
        repeat,
        persona,
        complexity,
        new.world,
        attempt
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "INSERT INTO events (task_id, seq, event, created_at)
         SELECT $2, seq, event, created_at FROM events WHERE task_id = $1 AND seq < $3",
        new.from,
        id,
        i32::try_from(new.before).unwrap_or(i32::MAX)
    )
    .execute(&mut *db)
    .await?;
    if let Some((seq, event)) = &new.own {
        sqlx::query!(
            "INSERT INTO events (task_id, seq, event, created_at) VALUES ($1, $2, $3::text::json, $4)",
            id,
            i32::try_from(*seq).unwrap_or(i32::MAX),
            event,
            now
        )
        .execute(&mut *db)
        .await?;
    }
    sqlx::query!("INSERT INTO claims (run_id, first_position, last_position) VALUES ($1, 0, 0)", new.run)
        .execute(&mut *db)
        .await?;
    sqlx::query!("UPDATE runs SET next_position = 1, started_at = $2 WHERE id = $1", new.run, now).execute(db).await?;
    Ok(())
}

/// The branches of a conversation, oldest first.
pub async fn of(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<BranchSummary>> {
    let rows = sqlx::query!(
        r#"SELECT c.id, c.run_id, (r.spec -> 'branch_of' ->> 'seq')::int AS "seq!",
                  r.spec -> 'branch_of' ->> 'edited_by' AS edited_by, c.outcome, r.created_at,
                  r.state, r.finished_at IS NOT NULL AS "run_finished!"
           FROM runs r JOIN tasks c ON c.run_id = r.id
           WHERE r.spec -> 'branch_of' ->> 'conversation' = $1 ORDER BY r.created_at"#,
        conversation.to_string()
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| BranchSummary {
            conversation: row.id.to_string(),
            run: row.run_id.to_string(),
            run_state: runs::state(&row.state, row.run_finished),
            seq: u32::try_from(row.seq).unwrap_or_default(),
            edited_by: row.edited_by,
            outcome: row.outcome,
            created_at: row.created_at,
        })
        .collect())
}

/// A conversation that shares its beginning with one of another run.
pub struct RelatedConversation {
    pub conversation: Uuid,
    pub run: Uuid,
    /// Its run's own.
    pub judging: Uuid,
}

/// The branches of a run's conversations, and what its own conversation is a branch of: of them what has ended and counts.
pub async fn kin(db: &mut PgConnection, run: Uuid) -> Result<Vec<RelatedConversation>> {
    let rows = sqlx::query_as!(
        RelatedConversation,
        r#"WITH kin AS (
               SELECT (spec -> 'branch_of' ->> 'conversation')::uuid AS id FROM runs WHERE id = $1
               UNION
               SELECT branch.id
               FROM runs r JOIN tasks origin ON origin.id = (r.spec -> 'branch_of' ->> 'conversation')::uuid
                    JOIN tasks branch ON branch.run_id = r.id
               WHERE r.spec -> 'branch_of' ->> 'conversation' IS NOT NULL AND origin.run_id = $1
                     AND NOT origin.superseded
           )
           SELECT c.id AS "conversation!", c.run_id AS "run!", j.id AS "judging!"
           FROM kin JOIN tasks c ON c.id = kin.id JOIN judgings j ON j.run_id = c.run_id AND j.original
           WHERE c.outcome IS NOT NULL AND NOT c.superseded ORDER BY c.id"#,
        run
    );
    Ok(rows.fetch_all(db).await?)
}
