//! What somebody may not see yet, so that they rate by themselves.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::Result;

/// Of these conversations, those that an open, blind queue holds and that this person has not rated. Whoever administers
/// the project sees all but what was given to them.
pub async fn blind(db: &mut PgConnection, conversations: &[Uuid], person: &str, admin: bool) -> Result<Vec<Uuid>> {
    let hidden = sqlx::query_scalar!(
        "SELECT DISTINCT i.conversation_id FROM review_items i JOIN review_queues q ON q.id = i.queue_id
         WHERE i.conversation_id = ANY($1) AND q.state = 'open' AND q.blind
           AND NOT EXISTS (SELECT FROM human_ratings r WHERE r.conversation_id = i.conversation_id AND r.rater = $2)
           AND (NOT $3 OR EXISTS (SELECT FROM review_assignments a WHERE a.queue_id = i.queue_id
                                  AND a.conversation_id = i.conversation_id AND a.rater = $2 AND a.state = 'assigned'))",
        conversations,
        person,
        admin
    );
    Ok(hidden.fetch_all(db).await?)
}

/// The same of one conversation.
pub async fn blind_to(db: &mut PgConnection, conversation: Uuid, person: &str, admin: bool) -> Result<bool> {
    Ok(!blind(db, &[conversation], person, admin).await?.is_empty())
}
