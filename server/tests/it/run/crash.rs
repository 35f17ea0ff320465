//! Players and databases that die in the middle. Each test ends with the ledger.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::api::RunState;
use domain::outcome::Ending;
use domain::role::Role;
use domain::{Event, EventKind};
use generation::ConversationRun;
use generation::models::Models;
use runtime::ModelClients;
use runtime::RunKind;
use runtime::commit::{CommitError, CommitQueue};
use rustix::process::{Pid, Signal, kill_process};
use server::postgres::PrivatePostgres;
use sqlx::PgPool;
use store::journal::{EncodedEvents, JournalEntry};
use store::{claims, events, players, runs};
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::endpoint::{Endpoint, busy, cut, not_json, silence, status};
use crate::support::logged::Logged;
use crate::support::play::{HELP, LEASE, TRANSFER, hasty, heard, planned, planned_as, play_all, player, wanted};
use crate::support::process::{play, terminate};
use crate::support::{agent, ledger, until};

/// What is logged when a step cannot be kept, for the time being.
const AWAY: &str = "the database is away and is asked again";

async fn state(pool: &PgPool, run: &ConversationRun) -> RunState {
    runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap().state
}

async fn finished(pool: &PgPool, run: &ConversationRun) -> i64 {
    runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap().finished
}

#[sqlx::test(migrations = "../migrations")]
async fn players_are_killed_and_every_conversation_ends_exactly_once(pool: PgPool) {
    const CONVERSATIONS: i64 = 150;
    let endpoint = Endpoint::start_slow(Duration::from_millis(15), agent::help).await;
    let models = [(Role::Agent, endpoint.model())];
    let run = planned(&pool, &[HELP], usize::try_from(CONVERSATIONS).unwrap(), 3, &models).await;
    let mut playing: Vec<Child> = (0..3).map(|_| play(&pool)).collect();
    let (mut killed, mut last) = (0, 0);
    while state(&pool, &run).await != RunState::Finished {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = finished(&pool, &run).await;
        // Each time a fifth has been played, the longest-lived player is killed as by `kill -9`, and another one comes.
        if now / 30 > last / 30 && now < CONVERSATIONS {
            playing.remove(0).kill().await.unwrap();
            playing.push(play(&pool));
            killed += 1;
        }
        last = now;
    }
    drop(playing);
    assert!(killed >= 2, "only {killed} were killed");
    ledger::check(&pool, run.control.run.id).await;
    let heard = heard(&run).await;
    let asked = endpoint.requests().len();
    assert!(asked >= heard, "{asked} {heard}");
    assert!(asked - heard <= killed * 4, "{} calls were repeated after {killed} kills", asked - heard);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_player_says_that_was_given_up_no_longer_counts(pool: PgPool) {
    let run = planned(&pool, &[TRANSFER], 1, 3, &[]).await;
    let mut db = pool.acquire().await.unwrap();
    let stale = players::register(&mut db, "here", 1, Duration::from_millis(10)).await.unwrap();
    let claim = claims::claim(&mut db, stale, &wanted(8)).await.unwrap().unwrap();
    assert_eq!(claim.positions(), 0..=0);
    assert!(claims::claim(&mut db, stale, &wanted(8)).await.unwrap().is_none());
    until("it is overdue", async || players::give_up_overdue(&mut db).await.unwrap() == 1).await;
    assert!(!players::heartbeat(&mut db, stale).await.unwrap());

    let (given_up, mut writers) = (CancellationToken::new(), JoinSet::new());
    let queue = CommitQueue::start(&pool, stale, &given_up, &mut writers);
    let first = Event { seq: 0, ancestry: Vec::new(), kind: EventKind::Ended { ending: Ending::UserEnded } };
    let planned = run.kind.planned(&run.control.run, 0).unwrap();
    let entry = JournalEntry {
        run: run.control.run.id,
        judging: run.control.run.judging,
        kind: "conversation",
        world: run.kind.world(&planned),
        planned,
        begins: true,
        events: EncodedEvents::encode(&[first], |event| event.seq).unwrap(),
        completion: None,
        usage: Vec::new(),
        answered: Vec::new(),
        opened: Vec::new(),
        is_told: false,
    };
    let id = entry.planned.id;
    assert!(matches!(queue.commit(entry).await, Err(CommitError::GivenUp)));
    assert!(given_up.is_cancelled(), "the player is told");
    assert!(events::of::<Event>(&mut db, id).await.unwrap().is_empty());

    let fresh = players::register(&mut db, "there", 2, LEASE).await.unwrap();
    assert!(fresh > stale, "tokens grow");
    let again = claims::claim(&mut db, fresh, &wanted(8)).await.unwrap().unwrap();
    assert!(again.left_behind);
    assert_eq!(again.positions(), 0..=0);
}

#[tokio::test]
async fn a_player_goes_when_it_is_asked_though_the_database_is_away() {
    let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let pool = store::open(postgres.url()).await.unwrap();
    let endpoint = Endpoint::start_held(Duration::ZERO, agent::help).await;
    let run = Arc::new(planned(&pool, &[HELP], 8, 3, &[(Role::Agent, endpoint.model())]).await);
    let (player, stop) = (player(&run, 4), CancellationToken::new());
    let logged = Logged::watch();
    let away = async {
        until("models are asked", async || endpoint.requests().len() == 4).await;
        kill_process(postmaster(dir.path()), Signal::QUIT).unwrap();
        until("it has gone", async || !pid_file(dir.path()).exists()).await;
        endpoint.release();
        until("what is said cannot be kept", async || logged.count(AWAY) > 0).await;
        stop.cancel();
    };
    let playing = tokio::time::timeout(Duration::from_mins(1), player.play(&stop));
    let (played, ()) = tokio::join!(playing, away);
    played.expect("it goes").unwrap();

    let again = PrivatePostgres::start(dir.path()).await.unwrap();
    let pool = store::open(again.url()).await.unwrap();
    let run = ConversationRun::load(&pool, run.control.run.id, &ModelClients::new(hasty())).await.unwrap();
    // Nobody was told that the first one has gone.
    sqlx::query("DELETE FROM players").execute(&pool).await.unwrap();
    let run = play_all(run, 4).await;
    ledger::check(&pool, run.control.run.id).await;
}

#[tokio::test]
async fn the_database_crashes_and_the_run_goes_on() {
    // One for users: those for tests do not wait for the disk, and lose what they said was kept.
    let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let postgres = PrivatePostgres::start(dir.path()).await.unwrap();
    let pool = store::open(postgres.url()).await.unwrap();
    let endpoint = Endpoint::start_slow(Duration::from_millis(5), agent::help).await;
    let run = Arc::new(planned(&pool, &[HELP], 200, 3, &[(Role::Agent, endpoint.model())]).await);
    let player = player(&run, 8);
    let never = CancellationToken::new();
    let mut playing = std::pin::pin!(player.play(&never));
    let again = Mutex::new(None);
    let crashes = async {
        for (part, restarted) in [(40, false), (100, true)] {
            while store::patiently(|| async {
                store::Result::Ok(runs::summary(&mut *pool.acquire().await?, &run.control.run).await?.finished < part)
            })
            .await
            .unwrap()
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            if restarted {
                // What `pg_ctl restart -m immediate` does: it goes without a word to anybody, and comes again.
                kill_process(postmaster(dir.path()), Signal::QUIT).unwrap();
                // Whoever came before it has gone would take it for one that runs.
                until("it has gone", async || !pid_file(dir.path()).exists()).await;
                *again.lock().unwrap() = Some(PrivatePostgres::start(dir.path()).await.unwrap());
            } else {
                // When one of its processes dies, PostgreSQL ends all others at once and recovers from its log.
                let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&pool).await.unwrap();
                kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        played = &mut playing => played.unwrap(),
        () = crashes => unreachable!(),
    }
    ledger::check(&pool, run.control.run.id).await;
    let heard = heard(&run).await;
    assert_eq!(endpoint.requests().len(), heard, "no model was asked twice");
    pool.close().await;
    again.into_inner().unwrap().expect("PostgreSQL was started again").stop().await;
    postgres.stop().await;
}

/// Where the private PostgreSQL in a folder says which process it is, as long as it is there.
fn pid_file(data: &Path) -> PathBuf {
    data.join("postgres/data/postmaster.pid")
}

pub(super) fn postmaster(data: &Path) -> Pid {
    let text = fs::read_to_string(pid_file(data)).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap()).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_player_that_is_asked_to_stop_finishes_its_calls_and_leaves_the_rest(pool: PgPool) {
    let endpoint = Endpoint::start_slow(Duration::from_millis(300), agent::help).await;
    let run = planned(&pool, &[HELP], 6, 3, &[(Role::Agent, endpoint.model())]).await;
    let mut child = play(&pool);
    while endpoint.requests().len() < 4 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    terminate(&child);
    assert!(child.wait().await.unwrap().success());
    let asked = endpoint.requests().len();
    let left: (i64, i64) =
        sqlx::query_as("SELECT (SELECT count(*) FROM players), (SELECT count(*) FROM claims WHERE player IS NOT NULL)")
            .fetch_one(&pool)
            .await
            .unwrap();
    assert_eq!(left, (0, 0), "others can go on at once");
    let id = run.control.run.id;
    let run = ConversationRun::load(&pool, id, &ModelClients::new(hasty())).await.unwrap();
    let run = play_all(run, 4).await;
    ledger::check(&pool, id).await;
    let heard = heard(&run).await;
    assert!(asked < heard, "it stopped in the middle");
    assert_eq!(endpoint.requests().len(), heard, "what was in flight was waited for and kept");
}

#[sqlx::test(migrations = "../migrations")]
async fn an_endpoint_with_mixed_errors_loses_no_conversation(pool: PgPool) {
    let asked = Arc::new(AtomicUsize::new(0));
    let endpoint = Endpoint::start(move |request| {
        // Three of ten requests fail, each in another way; it may hit the same call again.
        let turns = b"..4..5...s.c..j..b..";
        match turns[asked.fetch_add(1, Ordering::Relaxed) % turns.len()] {
            b'4' => status(429),
            b'5' => status(500),
            b's' => silence(),
            b'c' => cut(),
            b'j' => not_json(),
            b'b' => busy(),
            _ => agent::help(request),
        }
    })
    .await;
    let models = [(Role::Agent, endpoint.model())];
    let mut run = planned_as(&pool, &[HELP], 40, 3, &models, |config| config.retries = 3).await;
    let options = llm::EndpointOptions {
        first_byte_timeout: Duration::from_millis(200),
        max_attempts: 8,
        patience: Duration::from_mins(1),
        ..hasty()
    };
    run.kind.models = Models::of(&run.kind.config, &ModelClients::new(options)).unwrap();
    let run = play_all(run, 8).await;
    ledger::check(&pool, run.control.run.id).await;
    let summary = runs::summary(&mut pool.acquire().await.unwrap(), &run.control.run).await.unwrap();
    assert_eq!(summary.accepted, 40, "{:?}", summary.failures);
    let agent = summary.usage.iter().find(|usage| usage.role == "agent").unwrap();
    assert!(agent.retries > 10, "retries can be seen: {}", agent.retries);
}
