//! Everything that talks to PostgreSQL, and object storage. Plain functions over a connection; rows go in as they are given.

pub mod annotations;
pub mod answers;
pub mod audit;
pub mod backup;
mod batched_lookup;
pub mod branches;
pub mod calibrations;
pub mod cancelled_reads;
pub mod claims;
pub mod cleanup;
pub mod clock;
pub mod control;
pub mod conversation_columns;
pub mod conversations;
mod copy;
pub mod corpora;
pub mod corrections;
pub mod datasets;
pub mod discarded_objects;
pub mod documents;
pub mod endpoint_agents;
pub mod environments;
pub mod episode_tokens;
pub mod episodes;
pub mod events;
pub mod exports;
pub mod idempotency;
pub mod indexes;
pub mod invitations;
pub mod jobs;
pub mod join_tokens;
pub mod journal;
pub mod judgings;
pub mod keepalive;
mod kept_connection;
pub mod ledger;
pub mod material;
pub mod measure;
pub mod models;
pub mod objects;
mod outage;
pub mod outside_requests;
pub mod players;
pub mod projects;
pub mod ratings;
pub mod reviews;
mod run_inputs;
pub mod runs;
pub mod sessions;
pub mod sign_in;
pub mod storage;
pub mod tasks;
pub mod tokens;
pub mod uploads;
pub mod users;
pub mod validations;
pub mod verdicts;
pub mod workers;
pub mod worlds;

pub use batched_lookup::{BatchedLookup, LookUpAll};
pub use kept_connection::KeptConnection;
pub use outage::{Outage, ReconnectBackoff, patiently};

use std::time::{Duration, Instant};

use anyhow::Context;
use sqlx::error::DatabaseError;
use sqlx::postgres::types::PgInterval;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};
use uuid::Uuid;

/// The SQLSTATE of a PostgreSQL that has no connection left.
const TOO_MANY_CONNECTIONS: &str = "53300";
/// A connection that was released within this time is not pinged when it is acquired.
const SURELY_THERE: Duration = Duration::from_secs(1);

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("../../migrations");

/// How long a PostgreSQL is asked again that has no connection left.
const FULL_FOR: Duration = Duration::from_secs(10);

/// Connects and brings the schema up to date.
pub async fn open(url: &str) -> anyhow::Result<PgPool> {
    // A pool tries until its time is up, and then only says that it is.
    connect(url).await?.close().await?;
    let port = url.parse::<PgConnectOptions>()?.get_port();
    // By default sqlx pings a connection each time it is acquired. It also pings each one that is released, so a recent one works.
    let options = PgPoolOptions::new().max_connections(16).test_before_acquire(false);
    let options = options.before_acquire(|db, meta| {
        Box::pin(async move {
            if meta.idle_for > SURELY_THERE {
                db.ping().await?;
            }
            Ok(true)
        })
    });
    let options = options.after_connect(move |db, _| {
        keepalive::watch_connections_to(port);
        Box::pin(async move {
            keepalive::be_watched(&mut *db).await?;
            read_by_index(&mut *db).await?;
            wait_for_disk(db).await
        })
    });
    let pool = options.after_release(|db, _| Box::pin(leave_nothing_open(db))).connect(url).await?;
    MIGRATIONS.run(&pool).await.context(
        "the database was made by another version of Groundstate; use that version, or another database or --data-dir",
    )?;
    Ok(pool)
}

/// A new connection. PostgreSQL may have none left for a moment: those of a process that was killed are closed one by one.
async fn connect(url: &str) -> sqlx::Result<PgConnection> {
    let begun = Instant::now();
    let mut backoff = ReconnectBackoff::default();
    loop {
        match PgConnection::connect(url).await {
            Err(error) if is_full(&error) && begun.elapsed() < FULL_FOR => backoff.wait(&error).await,
            connected => return connected,
        }
    }
}

fn is_full(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == TOO_MANY_CONNECTIONS)
}

/// Makes PostgreSQL prefer indexes also for small tables: a plan that reads a small table whole is kept while the table grows. The
/// default of `random_page_cost`, 4, suits spinning disks; for solid-state drives the manual of PostgreSQL gives 1.1 as an example. Any
/// other value than the default stays.
async fn read_by_index(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query_scalar!(
        "SELECT set_config('random_page_cost', '1.1', false) WHERE current_setting('random_page_cost') = '4'"
    )
    .fetch_optional(db)
    .await?;
    Ok(())
}

/// What is kept is on disk, also where somebody has told PostgreSQL not to wait for that. Stronger settings stay.
async fn wait_for_disk(db: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query_scalar!(
        "SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') IN ('off', 'local') AND current_setting('fsync') = 'on'"
    )
    .fetch_optional(db)
    .await?;
    Ok(())
}

/// Whoever gets the connection next is in nobody's transaction. A request whose client goes away while `BEGIN` is on its
/// way leaves one that sqlx does not know of (transact-rs/sqlx#4385, in 0.9.0): what is written next on that connection
/// would be lost with it. If that has failed already, this fails, too, and the connection is closed.
async fn leave_nothing_open(db: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::raw_sql("BEGIN; ROLLBACK").execute(db).await?;
    Ok(true)
}

/// Whether the database answers, soon.
pub async fn answers(pool: &PgPool) -> Result<()> {
    let asked = async {
        sqlx::query!("SELECT 1 AS one").fetch_one(&mut *pool.acquire().await?).await?;
        Ok(())
    };
    tokio::time::timeout(Duration::from_secs(2), asked).await.unwrap_or_else(|_| Err(sqlx::Error::PoolTimedOut.into()))
}

/// A row that breaks a rule of the domain: somebody else wrote it.
#[derive(Debug, thiserror::Error)]
#[error("table {table}, column {column}, row {row}: {reason}")]
pub struct BadRow {
    pub table: &'static str,
    pub column: &'static str,
    pub row: String,
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    BadRow(#[from] BadRow),
    #[error(transparent)]
    Refused(#[from] control::ControlError),
    #[error("the run {run} still reads the {what}; cancel it, or wait for its end")]
    InUse { what: &'static str, run: Uuid },
    #[error("the {what} {id} was deleted")]
    Deleted { what: &'static str, id: Uuid },
    #[error("a task has ended already, and cannot end again")]
    EndedAlready,
    #[error("requests of these tasks have other answers already: {0:?}")]
    AnsweredElsewhere(Vec<Uuid>),
}

impl StoreError {
    /// Whether the state of what is stored forbids what was asked for. Nothing has failed then.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::InUse { .. } | Self::Deleted { .. })
    }
}

pub type Result<T> = std::result::Result<T, StoreError>;

/// A time as PostgreSQL reckons with it.
fn interval(time: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(time.as_micros()).unwrap_or(i64::MAX) }
}
