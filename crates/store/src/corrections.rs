//! What agents should have said: appended in versions, never changed.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::correction::{CorrectedTurn, Correction};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// All versions of a conversation's corrections, the first one first. [`domain::correction::in_force`] says which hold.
pub async fn latest(db: &mut PgConnection, conversation: Uuid) -> Result<Vec<Correction>> {
    Ok(of(db, &[conversation]).await?.remove(&conversation).unwrap_or_default())
}

/// The same of many conversations; those that nobody corrected are not there.
pub async fn of(db: &mut PgConnection, conversations: &[Uuid]) -> Result<HashMap<Uuid, Vec<Correction>>> {
    let rows = sqlx::query!(
        r#"SELECT conversation_id, version, seq, turn::text AS turn, author, note, created_at FROM corrections
           WHERE conversation_id = ANY($1) ORDER BY conversation_id, version"#,
        conversations
    );
    let mut found: HashMap<Uuid, Vec<Correction>> = HashMap::new();
    for row in rows.fetch_all(db).await? {
        let turn = row.turn.as_deref().map(serde_json::from_str).transpose();
        found.entry(row.conversation_id).or_default().push(Correction {
            version: row.version.unsigned_abs(),
            seq: row.seq.unsigned_abs(),
            turn: turn.map_err(|e| bad(row.conversation_id, &e))?,
            author: row.author,
            note: row.note,
            created_at: row.created_at,
        });
    }
    Ok(found)
}

/// The next version of a correction.
pub struct CorrectionVersion {
    pub conversation: Uuid,
    pub seq: u32,
    /// `None`: the turn reads as it was played again.
    pub turn: Option<CorrectedTurn>,
    pub author: String,
    pub note: String,
    pub created_at: DateTime<Utc>,
}

/// Appends a version and returns its number. Within a transaction: two that are made at once get one number each.
pub async fn insert(tx: &mut PgConnection, new: &CorrectionVersion) -> Result<u32> {
    sqlx::query!("SELECT FROM tasks WHERE id = $1 FOR NO KEY UPDATE", new.conversation)
        .fetch_optional(&mut *tx)
        .await?;
    let turn = new.turn.as_ref().map(serde_json::to_string).transpose().map_err(|e| bad(new.conversation, &e))?;
    let version = sqlx::query_scalar!(
        r#"INSERT INTO corrections (conversation_id, version, seq, turn, author, note, created_at)
           SELECT $1, 1 + coalesce(max(version), 0), $2, $3::text::json, $4, $5, $6
           FROM corrections WHERE conversation_id = $1
           RETURNING version"#,
        new.conversation,
        i32::try_from(new.seq).unwrap_or(i32::MAX),
        turn,
        new.author,
        new.note,
        new.created_at
    );
    Ok(version.fetch_one(tx).await?.unsigned_abs())
}

fn bad(conversation: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "corrections", column: "turn", row: conversation.to_string(), reason: reason.to_string() }
}
