//! What people say of conversations: one word of each rater counts, the earlier ones are kept beside it.

use chrono::{DateTime, Utc};
use domain::api::HumanRating;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// Keeps what a person says of a conversation, in place of what that person said before, and marks it as done in the
/// queues that hold it.
pub async fn rate(db: &mut PgConnection, conversation: Uuid, rating: &HumanRating) -> Result<()> {
    let scores = serde_json::to_value(&rating.scores).map_err(|e| bad(conversation, &e))?;
    sqlx::query!(
        "INSERT INTO human_ratings (conversation_id, rater, scores, goal_achieved, comment, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (conversation_id, rater) DO UPDATE SET
             scores = EXCLUDED.scores, goal_achieved = EXCLUDED.goal_achieved, comment = EXCLUDED.comment,
             created_at = EXCLUDED.created_at",
        conversation,
        rating.rater,
        scores,
        rating.goal_achieved,
        rating.comment,
        rating.created_at
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!(
        "INSERT INTO review_assignments (queue_id, conversation_id, rater, state, assigned_at, finished_at)
         SELECT queue_id, conversation_id, $2, 'done', $3, $3 FROM review_items WHERE conversation_id = $1
         ON CONFLICT (queue_id, conversation_id, rater)
         DO UPDATE SET state = 'done', finished_at = EXCLUDED.finished_at, expires_at = NULL",
        conversation,
        rating.rater,
        rating.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

struct Row {
    conversation_id: Uuid,
    rater: String,
    scores: Value,
    goal_achieved: Option<bool>,
    comment: Option<String>,
    created_at: DateTime<Utc>,
}

impl Row {
    fn rating(self) -> Result<(Uuid, HumanRating)> {
        let scores = serde_json::from_value(self.scores).map_err(|e| bad(self.conversation_id, &e))?;
        let (rater, goal_achieved, comment) = (self.rater, self.goal_achieved, self.comment);
        Ok((self.conversation_id, HumanRating { rater, scores, goal_achieved, comment, created_at: self.created_at }))
    }
}

/// All ratings of these conversations.
pub async fn of(db: &mut PgConnection, conversations: &[Uuid]) -> Result<Vec<(Uuid, HumanRating)>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT conversation_id, rater, scores, goal_achieved, comment, created_at FROM human_ratings
         WHERE conversation_id = ANY($1) ORDER BY conversation_id, rater",
        conversations
    );
    rows.fetch_all(db).await?.into_iter().map(Row::rating).collect()
}

/// All ratings of what a queue holds.
pub async fn of_queue(db: &mut PgConnection, queue: Uuid) -> Result<Vec<(Uuid, HumanRating)>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT r.conversation_id, rater, scores, goal_achieved, comment, created_at
         FROM human_ratings r JOIN review_items i ON i.conversation_id = r.conversation_id
         WHERE queue_id = $1 ORDER BY ordinal, rater",
        queue
    );
    rows.fetch_all(db).await?.into_iter().map(Row::rating).collect()
}

/// All ratings in a project.
pub async fn of_project(db: &mut PgConnection, project: Uuid) -> Result<Vec<(Uuid, HumanRating)>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT r.conversation_id, rater, scores, goal_achieved, comment, r.created_at
         FROM human_ratings r JOIN tasks c ON c.id = r.conversation_id JOIN runs ON runs.id = c.run_id
         WHERE project_id = $1 ORDER BY r.conversation_id, rater",
        project
    );
    rows.fetch_all(db).await?.into_iter().map(Row::rating).collect()
}

/// What is told of a person's earlier ratings of a conversation: nobody changes their mind as often.
const MOST_EARLIER: i64 = 100;

/// What a person said earlier of a conversation, the newest first.
pub async fn earlier(db: &mut PgConnection, conversation: Uuid, rater: &str) -> Result<Vec<HumanRating>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT conversation_id, rater, scores, goal_achieved, comment, created_at FROM human_rating_history
         WHERE conversation_id = $1 AND rater = $2 ORDER BY replaced_at DESC, created_at DESC LIMIT $3",
        conversation,
        rater,
        MOST_EARLIER
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| row.rating().map(|(_, rating)| rating)).collect()
}

fn bad(row: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "human_ratings", column: "scores", row: row.to_string(), reason: reason.to_string() }
}
