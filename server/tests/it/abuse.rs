//! Authors, runners and viewers do their worst, and a real server goes on answering everybody.

mod documents;
mod requests;
mod together;
mod tools;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use domain::access::Scope;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::http::archive::filled;
use crate::http::{somebody, token};
use crate::support::documents::few;
use crate::support::process::{Listening, groundstate};
use crate::support::until;

const PROJECT: &str = "/api/v1/projects/default";
const BANK: &str = "playbooks/retail_bank";
/// Of the process that answers HTTP, in KiB.
const MOST_MEMORY: u64 = 1 << 20;

/// A request that does harm where nothing is bounded.
struct Attack {
    name: String,
    path: &'static str,
    body: Value,
    /// Whether an answer without a finding is right as well.
    may_pass: bool,
}

/// The bank with other texts in place of some of its own.
fn bank(changes: &[(&str, String)]) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> =
        few().under(BANK).map(|(path, text)| (path.clone(), text.clone())).collect();
    files.extend(changes.iter().map(|(file, text)| (format!("{BANK}/{file}"), text.clone())));
    files
}

fn own(file: &str) -> String {
    few().get(&format!("{BANK}/{file}")).unwrap().clone()
}

/// A change of the bank is checked.
fn checked(name: &str, changes: &[(&str, String)]) -> Attack {
    let body = json!({"files": bank(changes)});
    Attack { name: name.to_owned(), path: "/playbooks/retail_bank/check", body, may_pass: false }
}

/// The peak of a process's resident memory, in KiB.
fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

async fn suffered(pool: &PgPool, attacks: Vec<Attack>) {
    drop(filled(pool).await);
    let author = somebody(pool, "author", true).await;
    let secret = token(pool, author, &[Scope::Author, Scope::Read]).await;
    let server = Listening::start(&mut groundstate(pool, &["serve", "--listen", "127.0.0.1:0"])).await;
    until("it is ready", async || server.get("/readyz").await.is_ok()).await;
    let pid = server.child.id().unwrap();
    let client = llm::http_client().build().unwrap();
    let others = tokio::spawn(ask_without_a_pause(client.clone(), format!("{}/healthz", server.url)));
    let (mut attacking, mut wrong) = (JoinSet::new(), Vec::new());
    for attack in attacks {
        if attacking.len() == 4 {
            wrong.extend(attacking.join_next().await.unwrap().unwrap());
        }
        attacking.spawn(answer_to(client.clone(), server.url.clone(), secret.clone(), attack));
    }
    while let Some(done) = attacking.join_next().await {
        wrong.extend(done.unwrap());
    }
    assert!(!others.is_finished(), "{:?}", others.await);
    others.abort();
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(peak_memory(pid) < MOST_MEMORY, "{} KiB", peak_memory(pid));
    assert_eq!(server.stopped().await, Some(0), "it is the same process");
}

/// What everybody else sees meanwhile.
async fn ask_without_a_pause(client: Client, url: String) {
    for answered in 0_usize.. {
        let answer = client.get(&url).timeout(Duration::from_secs(10)).send().await;
        assert!(answer.is_ok_and(|answer| answer.status().is_success()), "no answer after {answered}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What is wrong with the answer, if anything is.
async fn answer_to(client: Client, url: String, secret: String, attack: Attack) -> Option<Option<String>> {
    let Attack { name, path, body, may_pass } = attack;
    let request = client.post(format!("{url}{PROJECT}{path}")).bearer_auth(secret).json(&body);
    let response = match request.timeout(Duration::from_mins(3)).send().await {
        Ok(response) => response,
        Err(error) => return Some(Some(format!("{name}: no answer: {error}"))),
    };
    let (status, text) = (response.status(), response.text().await.unwrap_or_default());
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let is_right = match status {
        StatusCode::OK => may_pass || answer.as_array().is_some_and(|found| !found.is_empty()),
        StatusCode::UNPROCESSABLE_ENTITY => answer["errors"].as_array().is_some_and(|errors| !errors.is_empty()),
        _ => false,
    };
    let short: String = text.chars().take(300).collect();
    Some((!is_right || text.len() > 4 << 20).then(|| format!("{name}: {status}, {} bytes: {short}", text.len())))
}
