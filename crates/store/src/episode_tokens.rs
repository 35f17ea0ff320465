//! Tokens that may only act in one episode.

use std::collections::HashMap;

use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;
use super::users::User;

/// Gives each of these episodes a token of a user, in place of the user's earlier one. False if one of them has a token of another
/// user; the transaction must not be committed then.
pub async fn set(tx: &mut PgConnection, user: Uuid, episodes: &[Uuid], secret_hashes: &[Vec<u8>]) -> Result<bool> {
    let set = sqlx::query!(
        "INSERT INTO episode_tokens (task_id, user_id, secret_hash)
         SELECT task, $2, hash FROM unnest($1::uuid[], $3::bytea[]) AS new (task, hash)
         ON CONFLICT (task_id) DO UPDATE SET secret_hash = EXCLUDED.secret_hash
             WHERE episode_tokens.user_id = EXCLUDED.user_id",
        episodes,
        user,
        secret_hashes
    );
    Ok(set.execute(tx).await?.rows_affected() == episodes.len() as u64)
}

/// The episodes of the tokens of these secrets, each with the user who opened it, unless that user is disabled.
pub async fn used(db: &mut PgConnection, secret_hashes: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, (Uuid, User)>> {
    let rows = sqlx::query!(
        "SELECT secret_hash, task_id, users.id, name, password_hash, administrator, disabled_at, created_at
         FROM episode_tokens JOIN users ON users.id = user_id WHERE secret_hash = ANY($1) AND disabled_at IS NULL",
        secret_hashes
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| {
            let user = User {
                id: row.id,
                name: row.name,
                password_hash: row.password_hash,
                administrator: row.administrator,
                disabled_at: row.disabled_at,
                created_at: row.created_at,
            };
            (row.secret_hash, (row.task_id, user))
        })
        .collect())
}
