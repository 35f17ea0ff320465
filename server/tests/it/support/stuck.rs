//! What is known of a test that does not come to its end: its log, and what its database does. Tests that hang hang rarely, and
//! nothing else is left of them.

use std::sync::Once;
use std::thread;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgPool};
use tracing_subscriber::EnvFilter;

/// The runner ends a test after five minutes.
const AFTER: Duration = Duration::from_mins(4);

/// Logs to the output of the test, which is shown if it fails. After four minutes, statements and locks are shown, too.
pub fn watch(pool: &PgPool) {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let filter = EnvFilter::new("warn,runtime=info,datasets=info,generation=info,server=info");
        // A test may have a log of its own.
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).try_init();
        let options = (*pool.connect_options()).clone();
        thread::spawn(move || {
            thread::sleep(AFTER);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                println!("{}", runtime.block_on(activity(options)).unwrap_or_else(|error| error.to_string()));
            }
        });
    });
}

async fn activity(options: PgConnectOptions) -> sqlx::Result<String> {
    let mut db = options.disable_statement_logging().connect().await?;
    let lines: Vec<String> = sqlx::query_scalar(
        "SELECT format('%s %s, %s, for %s: %s', pid, state, coalesce(wait_event, 'no wait'), now() - state_change, left(query, 300))
         FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY state_change",
    )
    .fetch_all(&mut db)
    .await?;
    db.close().await?;
    Ok(format!("the test has not ended; its database is asked by:\n{}", lines.join("\n")))
}
