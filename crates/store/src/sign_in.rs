//! Failed sign-ins, by name and by address: who guesses must wait.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::Result;

pub struct Failures {
    pub failures: i32,
    pub last_at: DateTime<Utc>,
}

/// Counts an attempt as failed before it is known to be, and says what there was before. Whoever tries at the same time waits
/// for the transaction, so that each attempt sees those before it. What is a day old is forgotten.
pub async fn count(tx: &mut PgConnection, subject: &str, now: DateTime<Utc>) -> Result<Option<Failures>> {
    sqlx::query!("SELECT FROM pg_advisory_xact_lock(hashtextextended($1, 0))", subject).execute(&mut *tx).await?;
    sqlx::query!("DELETE FROM sign_in_failures WHERE last_at < $1::timestamptz - interval '1 day'", now)
        .execute(&mut *tx)
        .await?;
    let failures =
        sqlx::query_as!(Failures, "SELECT failures, last_at FROM sign_in_failures WHERE subject = $1", subject);
    let before = failures.fetch_optional(&mut *tx).await?;
    sqlx::query!(
        "INSERT INTO sign_in_failures AS f (subject, failures, last_at) VALUES ($1, 1, $2)
         ON CONFLICT (subject) DO UPDATE SET last_at = $2, failures = f.failures + 1",
        subject,
        now
    )
    .execute(&mut *tx)
    .await?;
    Ok(before)
}

/// The attempt of that time was none that failed. `before`: when the last one was that did.
pub async fn take_back(
    db: &mut PgConnection,
    subject: &str,
    at: DateTime<Utc>,
    before: Option<DateTime<Utc>>,
) -> Result<()> {
    sqlx::query!(
        "UPDATE sign_in_failures SET failures = greatest(failures - 1, 0),
             last_at = CASE WHEN last_at = $2 THEN coalesce($3, last_at) ELSE last_at END
         WHERE subject = $1",
        subject,
        at,
        before
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn forget(db: &mut PgConnection, subject: &str) -> Result<()> {
    sqlx::query!("DELETE FROM sign_in_failures WHERE subject = $1", subject).execute(db).await?;
    Ok(())
}
