//! The database fails, and its standby takes over in the middle of a run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use domain::role::Role;
use generation::ConversationRun;
use runtime::ModelClients;
use rustix::process::{Signal, geteuid, kill_process};
use server::postgres::PrivatePostgres;
use sqlx::PgPool;
use store::runs;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::crash::postmaster;
use crate::support::endpoint::Endpoint;
use crate::support::play::{HELP, hasty, heard, planned, player};
use crate::support::{agent, ledger, until};

/// One address for whichever PostgreSQL is the primary: what a virtual address or a proxy is in life.
struct Address {
    port: u16,
    /// The socket of the primary.
    primary: watch::Sender<PathBuf>,
}

impl Address {
    async fn of(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let primary = watch::Sender::new(socket);
        let switched = primary.subscribe();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut switched = switched.clone();
                tokio::spawn(async move {
                    let socket = switched.borrow_and_update().clone();
                    let Ok(mut server) = UnixStream::connect(socket).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        // Whoever is connected to the old one has to connect again.
                        _ = switched.changed() => {}
                    }
                });
            }
        });
        Self { port, primary }
    }
}

/// A program of PostgreSQL, as the user that PostgreSQL runs as.
fn postgres(program: &str) -> Command {
    let program = database::program(program);
    if !geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program).current_dir("/");
    command
}

fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A copy that follows the primary, and without which the primary confirms nothing.
struct Standby {
    folder: PathBuf,
}

impl Standby {
    async fn of(primary: &PgPool, sockets: &Path, folder: PathBuf) -> Self {
        let standby = Self { folder };
        let mut copy = postgres("pg_basebackup");
        copy.args(["--username=groundstate", "--write-recovery-conf", "--wal-method=stream", "--no-sync"]);
        done(copy.arg("--checkpoint=fast").arg("--host").arg(sockets).arg("--pgdata").arg(&standby.folder));
        // A standby takes no fewer connections than its primary.
        let most: String = sqlx::query_scalar("SHOW max_connections").fetch_one(primary).await.unwrap();
        let folder = standby.folder.display();
        let options = format!("-c listen_addresses= -c unix_socket_directories={folder} -c max_connections={most}");
        let mut start = postgres("pg_ctl");
        start.args(["start", "--wait", "--silent", "--log=/dev/null", "--options", &options]);
        done(start.arg("--pgdata").arg(&standby.folder));
        sqlx::query("ALTER SYSTEM SET synchronous_standby_names = '*'").execute(primary).await.unwrap();
        sqlx::query("SELECT pg_reload_conf()").execute(primary).await.unwrap();
        until("the standby follows", async || {
            let state: Option<String> =
                sqlx::query_scalar("SELECT sync_state FROM pg_stat_replication").fetch_optional(primary).await.unwrap();
            state.as_deref() == Some("sync")
        })
        .await;
        standby
    }

    fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    fn promote(&self) {
        done(postgres("pg_ctl").args(["promote", "--wait", "--silent", "--pgdata"]).arg(&self.folder));
        // It would wait for a standby of its own.
        fs::write(self.folder.join("postgresql.auto.conf"), "").unwrap();
        done(postgres("pg_ctl").args(["reload", "--silent", "--pgdata"]).arg(&self.folder));
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        let mut stop = postgres("pg_ctl");
        drop(stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]).arg(&self.folder).output());
    }
}

#[tokio::test]
async fn a_standby_takes_over_in_the_middle_of_a_run() {
    const CONVERSATIONS: usize = 60;
    let dir = tempfile::tempdir().unwrap();
    // Both of them run as another user if this is root.
    fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    let old = PrivatePostgres::start(&dir.path().join("primary")).await.unwrap();
    let direct = store::open(old.url()).await.unwrap();
    let sockets = direct.connect_options().get_socket().unwrap().clone();
    let standby = Standby::of(&direct, &sockets, dir.path().join("standby")).await;
    let address = Address::of(sockets.join(".s.PGSQL.5432")).await;
    let url = format!("postgres://groundstate@127.0.0.1:{}/groundstate?sslmode=disable", address.port);
    let pool = store::open(&url).await.unwrap();

    let endpoint = Endpoint::start_slow(Duration::from_millis(30), agent::help).await;
    let run = planned(&direct, &[HELP], CONVERSATIONS, 3, &[(Role::Agent, endpoint.model())]).await;
    let id = run.control.run.id;
    let run = Arc::new(ConversationRun::load(&pool, id, &ModelClients::new(hasty())).await.unwrap());
    let (player, never) = (player(&run, 4), CancellationToken::new());
    let failing = async {
        until("a third is played", async || finished(&direct, &run).await > 20).await;
        kill_process(postmaster(&dir.path().join("primary")), Signal::QUIT).unwrap();
        standby.promote();
        address.primary.send_replace(standby.socket());
    };
    let (played, ()) = tokio::join!(player.play(&never), failing);
    played.unwrap();
    ledger::check(&pool, id).await;
    assert_eq!(finished(&pool, &run).await, i64::try_from(CONVERSATIONS).unwrap());
    let (asked, heard) = (endpoint.requests().len(), heard(&run).await);
    assert!(asked >= heard && asked - heard <= 4, "only calls in flight are repeated: {asked} were made, {heard} kept");
    drop(standby);
}

async fn finished(pool: &PgPool, run: &ConversationRun) -> i64 {
    runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap().finished
}
