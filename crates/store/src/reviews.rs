//! Queues of conversations that people are to rate.

mod assignments;
mod blind;
mod items;

use chrono::{DateTime, Utc};
use domain::api::{QueueProgress, QueueState, RaterProgress};
use sqlx::PgConnection;
use uuid::Uuid;

pub use assignments::{HeldAssignment, assign, count_open, skip, take, withdraw};
pub use blind::{ConversationPlace, blind, blind_in};
pub use items::{fill, items};

use super::Result;

#[derive(Debug, Clone)]
pub struct Queue {
    pub id: Uuid,
    pub project_id: Uuid,
    pub name: String,
    pub instructions: String,
    pub raters_each: i16,
    pub judging_id: Option<Uuid>,
    pub blind: bool,
    pub state: String,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
}

impl Queue {
    pub fn state(&self) -> QueueState {
        if self.state == QueueState::Open.into_str() { QueueState::Open } else { QueueState::Closed }
    }
}

/// False if the name is taken.
pub async fn insert(db: &mut PgConnection, queue: &Queue) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO review_queues
             (id, project_id, name, instructions, raters_each, judging_id, blind, state, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT ON CONSTRAINT review_queues_name_unique DO NOTHING",
        queue.id,
        queue.project_id,
        queue.name,
        queue.instructions,
        queue.raters_each,
        queue.judging_id,
        queue.blind,
        queue.state,
        queue.created_by,
        queue.created_at
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Queue>> {
    let queue = sqlx::query_as!(
        Queue,
        "SELECT id, project_id, name, instructions, raters_each, judging_id, blind, state, created_by, created_at
         FROM review_queues WHERE id = $1",
        id
    );
    Ok(queue.fetch_optional(db).await?)
}

/// The queues of a project before one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, before: Option<Uuid>, limit: i64) -> Result<Vec<Queue>> {
    let queues = sqlx::query_as!(
        Queue,
        "SELECT id, project_id, name, instructions, raters_each, judging_id, blind, state, created_by, created_at
         FROM review_queues WHERE project_id = $1 AND ($2::uuid IS NULL
             OR (created_at, id) < (SELECT created_at, id FROM review_queues WHERE id = $2))
         ORDER BY created_at DESC, id DESC LIMIT $3",
        project,
        before,
        limit
    );
    Ok(queues.fetch_all(db).await?)
}

pub async fn update(db: &mut PgConnection, queue: &Queue) -> Result<()> {
    sqlx::query!(
        "UPDATE review_queues SET state = $2, instructions = $3 WHERE id = $1",
        queue.id,
        queue.state,
        queue.instructions
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn progress(db: &mut PgConnection, queue: Uuid) -> Result<QueueProgress> {
    let all = sqlx::query!(
        r#"SELECT count(*) AS "items!",
                  count(*) FILTER (WHERE raters_each <= (SELECT count(*) FROM review_assignments a
                      WHERE a.queue_id = q.id AND a.conversation_id = i.conversation_id AND a.state = 'done'))
                      AS "complete!"
           FROM review_queues q JOIN review_items i ON i.queue_id = q.id WHERE q.id = $1"#,
        queue
    )
    .fetch_one(&mut *db)
    .await?;
    let raters = sqlx::query_as!(
        RaterProgress,
        r#"SELECT rater, count(*) FILTER (WHERE state = 'done') AS "done!",
                  count(*) FILTER (WHERE state = 'skipped') AS "skipped!",
                  count(*) FILTER (WHERE state = 'assigned') AS "assigned!"
           FROM review_assignments WHERE queue_id = $1 GROUP BY rater ORDER BY rater"#,
        queue
    )
    .fetch_all(db)
    .await?;
    Ok(QueueProgress {
        items: all.items,
        complete: all.complete,
        done: raters.iter().map(|rater| rater.done).sum(),
        skipped: raters.iter().map(|rater| rater.skipped).sum(),
        assigned: raters.iter().map(|rater| rater.assigned).sum(),
        raters,
    })
}

/// The project of a queue.
pub async fn project(db: &mut PgConnection, id: Uuid) -> Result<Option<Uuid>> {
    Ok(sqlx::query_scalar!("SELECT project_id FROM review_queues WHERE id = $1", id).fetch_optional(db).await?)
}
