//! What somebody may not see yet, so that they rate by themselves.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::Result;

/// Of these conversations, those that an open, blind queue holds and that this person has not rated. Whoever administers
/// the project sees all but what was given to them.
pub async fn blind(db: &mut PgConnection, conversations: &[Uuid], person: &str, admin: bool) -> Result<Vec<Uuid>> {
    let hidden = sqlx::query_scalar!(
        r#"SELECT DISTINCT conversation_id AS "id!" FROM blind_to($2, $3) WHERE conversation_id = ANY($1)"#,
        conversations,
        person,
        admin
    );
    Ok(hidden.fetch_all(db).await?)
}

/// A conversation with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationPlace {
    pub conversation: Uuid,
    pub run: Uuid,
    pub position: i32,
}

/// All of a project of which that is so.
pub async fn blind_in(
    db: &mut PgConnection,
    project: Uuid,
    person: &str,
    admin: bool,
) -> Result<Vec<ConversationPlace>> {
    let hidden = sqlx::query_as!(
        ConversationPlace,
        r#"SELECT DISTINCT t.id AS conversation, t.run_id AS run, t.position
           FROM blind_to($2, $3) b JOIN tasks t ON t.id = b.conversation_id WHERE b.project_id = $1"#,
        project,
        person,
        admin
    );
    Ok(hidden.fetch_all(db).await?)
}
