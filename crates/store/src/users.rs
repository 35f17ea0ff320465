//! People.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

#[derive(Debug, Clone)]
pub struct User {
    pub id: Uuid,
    pub name: String,
    pub password_hash: Option<String>,
    pub administrator: bool,
    pub disabled_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// False if the name is taken.
pub async fn insert(db: &mut PgConnection, user: &User) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO users (id, name, password_hash, administrator, disabled_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING",
        user.id,
        user.name,
        user.password_hash,
        user.administrator,
        user.disabled_at,
        user.created_at
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<User>> {
    let user = sqlx::query_as!(
        User,
        "SELECT id, name, password_hash, administrator, disabled_at, created_at FROM users WHERE id = $1",
        id
    );
    Ok(user.fetch_optional(db).await?)
}

pub async fn named(db: &mut PgConnection, name: &str) -> Result<Option<User>> {
    let user = sqlx::query_as!(
        User,
        "SELECT id, name, password_hash, administrator, disabled_at, created_at FROM users WHERE name = $1",
        name
    );
    Ok(user.fetch_optional(db).await?)
}

/// Those whose names come after one, by name.
pub async fn list(db: &mut PgConnection, after: &str, limit: i64) -> Result<Vec<User>> {
    let users = sqlx::query_as!(
        User,
        "SELECT id, name, password_hash, administrator, disabled_at, created_at FROM users
         WHERE name > $1 ORDER BY name LIMIT $2",
        after,
        limit
    );
    Ok(users.fetch_all(db).await?)
}

/// Whether nobody is there yet who could let others in.
pub async fn none(db: &mut PgConnection) -> Result<bool> {
    Ok(sqlx::query_scalar!(r#"SELECT NOT EXISTS (SELECT FROM users) AS "none!""#).fetch_one(db).await?)
}

/// A password that was chosen ends all sessions made with the one before.
pub async fn set_password(db: &mut PgConnection, id: Uuid, hash: &str) -> Result<()> {
    sqlx::query!("UPDATE users SET password_hash = $2 WHERE id = $1", id, hash).execute(&mut *db).await?;
    sqlx::query!("DELETE FROM sessions WHERE user_id = $1", id).execute(db).await?;
    Ok(())
}

/// What an administrator may change. Whoever is disabled is signed out.
pub async fn update(db: &mut PgConnection, user: &User) -> Result<()> {
    sqlx::query!(
        "UPDATE users SET administrator = $2, disabled_at = $3 WHERE id = $1",
        user.id,
        user.administrator,
        user.disabled_at
    )
    .execute(&mut *db)
    .await?;
    if user.disabled_at.is_some() {
        sqlx::query!("DELETE FROM sessions WHERE user_id = $1", user.id).execute(db).await?;
    }
    Ok(())
}

/// Whether somebody else administers, so that this one may go. Rows are held, so that two cannot go at once.
pub async fn another_administrator(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let others =
        sqlx::query_scalar!("SELECT id FROM users WHERE administrator AND disabled_at IS NULL ORDER BY id FOR UPDATE");
    Ok(others.fetch_all(db).await?.into_iter().any(|other| other != id))
}
