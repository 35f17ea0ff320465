//! Failed sign-ins, by name and by address: who guesses must wait.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::Result;

pub struct Failures {
    pub failures: i32,
    pub last_at: DateTime<Utc>,
}

pub async fn of(db: &mut PgConnection, subject: &str) -> Result<Option<Failures>> {
    let failures =
        sqlx::query_as!(Failures, "SELECT failures, last_at FROM sign_in_failures WHERE subject = $1", subject);
    Ok(failures.fetch_optional(db).await?)
}

/// One more. What is a day old is forgotten.
pub async fn add(db: &mut PgConnection, subject: &str, now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO sign_in_failures AS f (subject, failures, last_at) VALUES ($1, 1, $2)
         ON CONFLICT (subject) DO UPDATE SET last_at = $2,
             failures = CASE WHEN f.last_at < $2 - interval '1 day' THEN 1 ELSE f.failures + 1 END",
        subject,
        now
    )
    .execute(&mut *db)
    .await?;
    sqlx::query!("DELETE FROM sign_in_failures WHERE last_at < $1::timestamptz - interval '1 day'", now)
        .execute(db)
        .await?;
    Ok(())
}

pub async fn forget(db: &mut PgConnection, subject: &str) -> Result<()> {
    sqlx::query!("DELETE FROM sign_in_failures WHERE subject = $1", subject).execute(db).await?;
    Ok(())
}
