//! An author, a runner and a viewer of one project do their worst, and the members of another one work beside them.

mod attacks;
mod watch;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use domain::access::{Role, Scope};
use domain::api::RunSummary;
use futures::future::join_all;
use parking_lot::Mutex;
use projects::library::Files;
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use store::{projects as stored_projects, runs};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use self::attacks::Attack;
use super::api::Caller;
use super::cases::row;
use super::machine;
use super::program::{Database, Place};

const HELP: &str = "help_card_abroad";
const HANDOVER: &str = "bereavement_handover";
const PROJECT: &str = "/api/v1/projects/default";
const CALM: &str = "/api/v1/projects/calm";
/// Requests of each of the three that wait for an answer at the same time.
const AT_ONCE: usize = 8;
/// Downloads that nobody reads.
const STALLED: usize = 200;
/// More than are ordered.
const MOST_RUNS: i64 = 10_000;
/// The player's claims of the neighbours' run are there by then.
const BEGUN: Duration = Duration::from_secs(3);

/// How many answers there were of each status, and how many requests had none.
type Answers = Arc<Mutex<BTreeMap<String, u64>>>;

pub async fn case(programs: PathBuf, seconds: u64, n: u32) -> anyhow::Result<()> {
    let folders = ["playbooks/retail_bank", "scenarios/retail_bank", "personas", "judges"];
    let place = Place::of(programs, Path::new("."), &folders)?;
    let db = place.database().await?;
    let (mut server, url) = place.serve(&db, &[]).await?;
    let pid = server.id().context("no process")?;
    let admin = Caller::administrator(&db.pool, url.clone()).await?;
    admin.post::<Value>("/api/v1/projects", &json!({"name": "calm"})).await?;
    for project in ["default", "calm"] {
        place.done(&db.url, &["sync", "--push", "--to", project]).await?;
    }
    let calm = stored_projects::named(&mut *db.pool.acquire().await?, "calm").await?.context("no project")?.id;
    let neighbour =
        Caller::member(&db.pool, &url, calm, (Role::Runner, &[Scope::Run, Scope::Read]), address(2)).await?;
    quiet(&neighbour, seconds.min(10)).await?;
    let files = Files::read(place.path())?;
    worst(&db, &neighbour, (pid, &files), seconds, n).await?;
    ensure!(server.try_wait()?.is_none(), "the server ended");
    server.kill().await?;
    db.stop().await;
    Ok(())
}

/// The same pages while nobody else is there.
async fn quiet(neighbour: &Caller, seconds: u64) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut times = watch::pages(neighbour.clone(), pages(), until).await?;
    row("pages while nobody else is there", &milliseconds(&mut times));
    Ok(())
}

async fn worst(
    db: &Database,
    neighbour: &Caller,
    (server, files): (u32, &Files),
    seconds: u64,
    n: u32,
) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut raging, answers) = (JoinSet::new(), Answers::default());
    for (number, role, scopes, attacks) in [
        (3, Role::Author, [Scope::Author, Scope::Read], attacks::of_an_author(files)?),
        (4, Role::Runner, [Scope::Run, Scope::Read], attacks::of_a_runner(n)),
        (5, Role::Viewer, [Scope::Read, Scope::Read], attacks::of_a_viewer()),
    ] {
        let of = (role, &scopes[..]);
        let member = Caller::member(&db.pool, &neighbour.url, stored_projects::DEFAULT, of, address(number)).await?;
        rage(&member, attacks, until, &answers, &mut raging);
        if role == Role::Viewer {
            let downloads = (0..STALLED).map(|_| stall(member.clone(), address(number)));
            let stalled = join_all(downloads).await;
            raging.spawn(async move {
                sleep_until(until).await;
                drop(stalled);
            });
        }
    }
    let order = json!({"scenarios": [HELP, HANDOVER], "n": n, "seed": 2});
    let run: RunSummary = neighbour.post(&format!("{CALM}/runs"), &order).await?;
    let run: Uuid = run.id.parse()?;
    let pages = tokio::spawn(watch::pages(neighbour.clone(), pages(), until));
    let health = tokio::spawn(watch::health(neighbour.url.clone(), address(6), until));
    let share = share(db, run, until).await?;
    let (mut pages, mut health) = (pages.await??, health.await??);
    let memory = player_memory(server);
    while let Some(done) = raging.join_next().await {
        done?;
    }
    row(&format!("answers to attacks in {seconds} s"), &format!("{:?}", answers.lock()));
    row("pages of the other project", &milliseconds(&mut pages));
    row("/healthz, slowest", &format!("{} (of {})", millis(health.at(1.0)), health.len()));
    row("/healthz", &milliseconds(&mut health));
    row("share of the other project's run", &share);
    row("most memory of the process that answers HTTP", &format!("{} MB", machine::peak_memory(server) / 1_000_000));
    row("most memory of the process that plays", &format!("{} MB", memory / 1_000_000));
    Ok(())
}

fn pages() -> Vec<String> {
    ["/runs", "/scenarios", "/conversations", "/playbooks/retail_bank"].map(|page| format!("{CALM}{page}")).into()
}

/// Asks for all of these again and again. An answer may be a refusal.
fn rage(member: &Caller, attacks: Vec<Attack>, until: Instant, answers: &Answers, raging: &mut JoinSet<()>) {
    let attacks = Arc::new(attacks);
    for first in 0..AT_ONCE {
        let (member, attacks, answers) = (member.clone(), Arc::clone(&attacks), Arc::clone(answers));
        raging.spawn(async move {
            for (method, path, body) in attacks.iter().cycle().skip(first) {
                if Instant::now() > until {
                    break;
                }
                // The server may end a connection that takes more than its share.
                let answer = match member.ask(method.clone(), path, body.as_ref()).await {
                    Ok((status, _)) => status.as_u16().to_string(),
                    Err(_) => "none".to_owned(),
                };
                *answers.lock().entry(answer).or_default() += 1;
            }
        });
    }
}

/// Asks for something large and reads nothing of it.
async fn stall(member: Caller, from: IpAddr) -> Option<TcpStream> {
    let address = member.url.trim_start_matches("http://");
    let socket = TcpSocket::new_v4().ok()?;
    socket.bind((from, 0).into()).ok()?;
    let mut stream = socket.connect(address.parse().ok()?).await.ok()?;
    let request = format!(
        "GET {PROJECT}/archive HTTP/1.1\r\nHost: {address}\r\n{AUTHORIZATION}: Bearer {}\r\n\r\n",
        member.token
    );
    stream.write_all(request.as_bytes()).await.ok()?;
    Some(stream)
}

/// Conversations that have ended: of one run, and of all.
#[derive(Clone, Copy)]
struct Ended {
    own: i64,
    all: i64,
    runs: usize,
}

async fn ended(db: &Database, run: Uuid) -> anyhow::Result<Ended> {
    let mut db = db.pool.acquire().await?;
    let runs = runs::list(&mut db, MOST_RUNS).await?;
    let all = runs::summaries(&mut db, &runs).await?;
    let run = run.to_string();
    let own = all.iter().filter(|summary| summary.id == run).map(|summary| summary.finished).sum();
    Ok(Ended { own, all: all.iter().map(|summary| summary.finished).sum(), runs: runs.len() })
}

/// The share of all finished conversations that belong to the neighbours' run.
#[expect(clippy::cast_precision_loss, reason = "a share")]
async fn share(db: &Database, run: Uuid, until: Instant) -> anyhow::Result<String> {
    sleep(BEGUN).await;
    let before = ended(db, run).await?;
    sleep_until(until).await;
    let after = ended(db, run).await?;
    let (own, all) = (after.own - before.own, after.all - before.all);
    let share = 100.0 * own as f64 / all as f64;
    Ok(format!("{share:.0} % ({own} of {all} conversations, beside {} runs of the first project)", after.runs - 1))
}

fn player_memory(server: u32) -> u64 {
    let players = machine::children(server).into_iter().filter(|(_, line)| line.contains(" play "));
    players.map(|(pid, _)| machine::peak_memory(pid)).max().unwrap_or_default()
}

fn milliseconds(times: &mut watch::Times) -> String {
    let [half, most, nearly, all] = [0.5, 0.95, 0.99, 1.0].map(|quantile| millis(times.at(quantile)));
    format!("p50 {half}, p95 {most}, p99 {nearly}, slowest {all} ({} requests)", times.len())
}

fn millis(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1000.0)
}

/// Everybody asks from an address of their own: limits are by address, too.
fn address(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, number).into()
}
