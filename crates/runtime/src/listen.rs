//! Hearing of changes that the database announces.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use store::keepalive;
use tracing::debug;

const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Calls `ring` whenever something is announced on a channel, and whenever an announcement may have been missed: without a
/// connection changes are found by polling alone. It never ends by itself.
pub async fn listen(pool: PgPool, channel: &'static str, ring: impl Fn()) {
    loop {
        if let Err(error) = heard(&pool, channel, &ring).await {
            debug!(%error, channel, "cannot listen for changes");
        }
        ring();
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

async fn heard(pool: &PgPool, channel: &str, ring: &impl Fn()) -> sqlx::Result<()> {
    // A connection of its own: it is held for as long as the process lives.
    let own = PgPoolOptions::new().max_connections(1).connect_lazy_with((*pool.connect_options()).clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(channel).await?;
    // Announcements made before LISTEN took effect were lost, so look once now.
    ring();
    keepalive::watch_connections(pool);
    while listener.try_recv().await?.is_some() {
        ring();
    }
    Ok(())
}
