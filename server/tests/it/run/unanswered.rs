//! Commits that are carried out and never answered: the network breaks at the worst moment. Whoever asked cannot know.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use generation::ConversationRun;
use runtime::ModelClients;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::support::ledger;
use crate::support::play::{HANDOVER, HELP, TRANSFER, hasty, planned, play_all, played, timeless};

/// Of so many commits the last is not answered.
const EVERY: usize = 3;
const CONVERSATIONS: usize = 120;

/// A way to the database that breaks.
struct Breaking {
    port: u16,
    broken: Arc<AtomicUsize>,
}

impl Breaking {
    async fn before(database: &PgConnectOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (commits, broken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (database, told) = (database.clone(), Arc::clone(&broken));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (commits, broken, database) = (Arc::clone(&commits), Arc::clone(&told), database.clone());
                tokio::spawn(async move {
                    let breaks = move || (commits.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(EVERY);
                    // That a side hangs up is how a connection ends.
                    if matches!(between(client, &database, breaks).await, Ok(true)) {
                        broken.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        Self { port, broken }
    }
}

/// Carries what both sides say until one hangs up. True once a commit was carried out whose answer is not carried back.
async fn between(client: TcpStream, database: &PgConnectOptions, breaks: impl Fn() -> bool) -> io::Result<bool> {
    match database.get_socket() {
        Some(folder) => {
            let path = folder.join(format!(".s.PGSQL.{}", database.get_port()));
            carry(client, UnixStream::connect(path).await?, breaks).await
        }
        None => carry(client, TcpStream::connect((database.get_host(), database.get_port())).await?, breaks).await,
    }
}

async fn carry(client: TcpStream, server: impl AsyncRead + AsyncWrite, breaks: impl Fn() -> bool) -> io::Result<bool> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = tokio::io::split(server);
    // The first thing that a client says has no kind.
    let first = frame(&mut from_client, Vec::new()).await?;
    to_server.write_all(&first).await?;
    let (mut answer, mut kind) = ([0; 16 << 10], [0; 1]);
    loop {
        tokio::select! {
            read = from_server.read(&mut answer) => match read? {
                0 => return Ok(false),
                n => to_client.write_all(&answer[..n]).await?,
            },
            read = from_client.read(&mut kind) => {
                if read? == 0 {
                    return Ok(false);
                }
                let said = frame(&mut from_client, kind.to_vec()).await?;
                to_server.write_all(&said).await?;
                if said.ends_with(b"COMMIT\0") && breaks() {
                    return Ok(from_server.read(&mut answer).await? > 0);
                }
            }
        }
    }
}

/// Reads the rest of what begins with `begun`: how long it is, and that.
async fn frame(from: &mut (impl AsyncRead + Unpin), begun: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut said = begun;
    let length = from.read_u32().await?;
    said.extend_from_slice(&length.to_be_bytes());
    let rest = said.len();
    said.resize(rest + length as usize - 4, 0);
    from.read_exact(&mut said[rest..]).await?;
    Ok(said)
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_kept_by_commits_that_nobody_answers_is_neither_lost_nor_kept_twice(pool: PgPool) {
    let scenarios = [HELP, HANDOVER, TRANSFER];
    let unbroken = timeless(played(&pool, &scenarios, CONVERSATIONS, 5, &[]).await.as_ref()).await;
    let run = planned(&pool, &scenarios, CONVERSATIONS, 5, &[]).await;
    let database = (*pool.connect_options()).clone();
    let way = Breaking::before(&database).await;
    let through = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(way.port).ssl_mode(PgSslMode::Disable);
    let through = through.username(database.get_username()).database(database.get_database().unwrap());
    let broken = PgPoolOptions::new().connect_with(through).await.unwrap();
    let run = ConversationRun::load(&broken, run.control.run.id, &ModelClients::new(hasty())).await.unwrap();
    let mut run = Arc::into_inner(play_all(run, 8).await).unwrap();
    assert!(way.broken.load(Ordering::Relaxed) > 2, "the way broke {} times", way.broken.load(Ordering::Relaxed));
    ledger::check(&pool, run.control.run.id).await;
    run.control.pool = pool.clone();
    assert_eq!(timeless(&run).await, unbroken);
}
