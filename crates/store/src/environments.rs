//! Environments that have a name.

use chrono::{DateTime, Utc};
use domain::api::episodes::{Environment, NamedEnvironment};
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::Result;

/// Those of a project, by name.
pub async fn list(db: &mut PgConnection, project: Uuid) -> Result<Vec<NamedEnvironment>> {
    let all = sqlx::query!(
        r#"SELECT name, spec AS "spec: Json<Environment>", changed_by, changed_at FROM environments
           WHERE project_id = $1 ORDER BY name"#,
        project
    );
    let all = all.fetch_all(db).await?.into_iter();
    Ok(all
        .map(|row| NamedEnvironment {
            name: row.name,
            environment: row.spec.0,
            changed_by: row.changed_by,
            changed_at: row.changed_at,
        })
        .collect())
}

pub async fn get(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Environment>> {
    let found = sqlx::query_scalar!(
        r#"SELECT spec AS "spec: Json<Environment>" FROM environments WHERE project_id = $1 AND name = $2"#,
        project,
        name
    );
    Ok(found.fetch_optional(db).await?.map(|spec| spec.0))
}

/// Stores one in place of what had its name.
pub async fn set(
    db: &mut PgConnection,
    (project, name): (Uuid, &str),
    environment: &Environment,
    (by, now): (&str, DateTime<Utc>),
) -> Result<()> {
    sqlx::query!(
        "INSERT INTO environments (project_id, name, spec, changed_by, changed_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, name) DO UPDATE
         SET spec = EXCLUDED.spec, changed_by = EXCLUDED.changed_by, changed_at = EXCLUDED.changed_at",
        project,
        name,
        Json(environment) as _,
        by,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// How many a project has beside the one with this name.
pub async fn others(db: &mut PgConnection, project: Uuid, name: &str) -> Result<i64> {
    let count = sqlx::query_scalar!(
        r#"SELECT count(*) AS "n!" FROM environments WHERE project_id = $1 AND name <> $2"#,
        project,
        name
    );
    Ok(count.fetch_one(db).await?)
}

/// False if there is none of this name.
pub async fn delete(db: &mut PgConnection, project: Uuid, name: &str) -> Result<bool> {
    let gone = sqlx::query!("DELETE FROM environments WHERE project_id = $1 AND name = $2", project, name);
    Ok(gone.execute(db).await?.rows_affected() > 0)
}
