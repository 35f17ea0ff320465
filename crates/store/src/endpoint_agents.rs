//! Endpoints that play the agents of episodes, each leased by the server that asks it.

use std::time::Duration;

use domain::api::episodes::AgentEndpoint;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Result, interval};

/// After so long without a word of its server, another one asks the endpoint.
pub const LEASE: Duration = Duration::from_secs(30);

/// Leases the endpoint of an episode to a server, unless another one has it. Whether it was leased. `endpoint`: `None` if it has a key,
/// which is not stored.
pub async fn lease(
    db: &mut PgConnection,
    episode: Uuid,
    endpoint: Option<&AgentEndpoint>,
    server: Uuid,
) -> Result<bool> {
    let leased = sqlx::query!(
        "INSERT INTO endpoint_agents (task_id, endpoint, server, leased_until)
         SELECT id, $2, $3, now() + $4::interval FROM tasks WHERE id = $1 AND outcome IS NULL
         ON CONFLICT (task_id) DO UPDATE
             SET endpoint = EXCLUDED.endpoint, server = EXCLUDED.server, leased_until = EXCLUDED.leased_until
             WHERE endpoint_agents.leased_until < now()",
        episode,
        endpoint.map(Json) as _,
        server,
        interval(LEASE) as _
    );
    Ok(leased.execute(db).await?.rows_affected() > 0)
}

/// Leases endpoints whose servers are gone, `most` of them. Those whose key nobody knows any more are left to whoever sent it.
pub async fn take_over(db: &mut PgConnection, server: Uuid, most: i64) -> Result<Vec<(Uuid, AgentEndpoint)>> {
    let taken = sqlx::query!(
        r#"UPDATE endpoint_agents SET server = $1, leased_until = now() + $3::interval
           WHERE task_id IN (
               SELECT task_id FROM endpoint_agents JOIN tasks ON tasks.id = task_id JOIN runs ON runs.id = run_id
               WHERE leased_until < now() AND endpoint IS NOT NULL AND outcome IS NULL AND state <> 'cancelled'
               ORDER BY leased_until LIMIT $2 FOR UPDATE OF endpoint_agents SKIP LOCKED)
           RETURNING task_id, endpoint AS "endpoint!: Json<AgentEndpoint>""#,
        server,
        most,
        interval(LEASE) as _
    );
    Ok(taken.fetch_all(db).await?.into_iter().map(|row| (row.task_id, row.endpoint.0)).collect())
}

/// Goes on with leases of a server: those that it still has.
pub async fn renew(db: &mut PgConnection, server: Uuid, episodes: &[Uuid]) -> Result<Vec<Uuid>> {
    let renewed = sqlx::query_scalar!(
        "UPDATE endpoint_agents SET leased_until = now() + $3::interval WHERE server = $1 AND task_id = ANY($2)
         RETURNING task_id",
        server,
        episodes,
        interval(LEASE) as _
    );
    Ok(renewed.fetch_all(db).await?)
}

/// Forgets the endpoints of what has ended, and of cancelled runs.
pub async fn sweep(db: &mut PgConnection) -> Result<()> {
    sqlx::query!(
        "DELETE FROM endpoint_agents USING tasks JOIN runs ON runs.id = run_id
         WHERE tasks.id = task_id AND (outcome IS NOT NULL OR state = 'cancelled')"
    )
    .execute(db)
    .await?;
    Ok(())
}
