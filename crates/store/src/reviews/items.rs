//! What is in a queue.

use std::collections::HashMap;

use domain::api::{ReviewAssignment, ReviewItem};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{BadRow, Result};

/// Puts conversations into a new queue, in this order. What was rated before counts as done by whoever rated it, so that
/// nobody is asked twice.
pub async fn fill(db: &mut PgConnection, queue: Uuid, conversations: &[Uuid]) -> Result<()> {
    sqlx::query!(
        "INSERT INTO review_items (queue_id, ordinal, conversation_id)
         SELECT $1, ordinality - 1, id FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinality)",
        queue,
        conversations
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "INSERT INTO review_assignments (queue_id, conversation_id, rater, state, assigned_at, finished_at)
         SELECT $1, conversation_id, rater, 'done', created_at, created_at
         FROM human_ratings JOIN review_items USING (conversation_id) WHERE queue_id = $1",
        queue
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Those after an ordinal, with who has them; or the one of this conversation.
pub async fn items(
    db: &mut PgConnection,
    queue: Uuid,
    after: i32,
    only: Option<Uuid>,
    limit: i64,
) -> Result<Vec<ReviewItem>> {
    let rows = sqlx::query!(
        "SELECT ordinal, conversation_id FROM review_items
         WHERE queue_id = $1 AND ordinal > $2 AND ($3::uuid IS NULL OR conversation_id = $3) ORDER BY ordinal LIMIT $4",
        queue,
        after,
        only,
        limit
    )
    .fetch_all(&mut *db)
    .await?;
    let conversations: Vec<Uuid> = rows.iter().map(|row| row.conversation_id).collect();
    let mut held: HashMap<Uuid, Vec<ReviewAssignment>> = HashMap::new();
    let assignments = sqlx::query!(
        "SELECT conversation_id, rater, state, assigned_by, assigned_at, expires_at, finished_at
         FROM review_assignments WHERE queue_id = $1 AND conversation_id = ANY($2) ORDER BY assigned_at, rater",
        queue,
        &conversations
    );
    for row in assignments.fetch_all(db).await? {
        let state = row.state.parse().map_err(|_| BadRow {
            table: "review_assignments",
            column: "state",
            row: row.conversation_id.to_string(),
            reason: format!("`{}` is no state", row.state),
        })?;
        held.entry(row.conversation_id).or_default().push(ReviewAssignment {
            rater: row.rater,
            state,
            assigned_by: row.assigned_by,
            assigned_at: row.assigned_at,
            expires_at: row.expires_at,
            finished_at: row.finished_at,
        });
    }
    let mut item = |id: Uuid, ordinal| ReviewItem {
        conversation: id.to_string(),
        ordinal,
        assignments: held.remove(&id).unwrap_or_default(),
    };
    Ok(rows.into_iter().map(|row| item(row.conversation_id, row.ordinal)).collect())
}
