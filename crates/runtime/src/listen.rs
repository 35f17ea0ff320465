//! Hearing of changes that the database announces.

use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use store::keepalive;
use tracing::debug;

const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Calls `ring` with the channel whenever something is announced on one, and whenever an announcement may have been missed: without
/// a connection changes are found by polling alone. It never ends by itself.
pub async fn listen(pool: PgPool, channels: &'static [&'static str], ring: impl Fn(&str)) {
    loop {
        // Boxed: to connect is 14 KB, and a future holds room for that until it ends.
        if let Err(error) = Box::pin(heard(&pool, channels, &ring)).await {
            debug!(%error, ?channels, "cannot listen for changes");
        }
        channels.iter().for_each(|channel| ring(channel));
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

async fn heard(pool: &PgPool, channels: &[&str], ring: &impl Fn(&str)) -> sqlx::Result<()> {
    // A connection of its own: it is held for as long as the process lives.
    let own = PgPoolOptions::new().max_connections(1).connect_lazy_with((*pool.connect_options()).clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen_all(channels.iter().copied()).await?;
    // Announcements made before LISTEN took effect were lost, so look once now.
    channels.iter().for_each(|channel| ring(channel));
    keepalive::watch_connections(pool);
    while let Some(announced) = listener.try_recv().await? {
        ring(announced.channel());
    }
    Ok(())
}
