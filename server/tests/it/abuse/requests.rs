//! Every request that the API knows, with values that nobody expects. Each is answered, and what is wrong is said by a problem
//! document: no answer is an error of the server's own.

mod operations;
mod values;

use std::collections::BTreeSet;

use domain::access::Scope;
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::Value;
use sqlx::PgPool;

use self::operations::{Operation, operations};
use self::values::{Known, odd_body};
use super::{Duration, MOST_MEMORY, ask_without_a_pause, peak_memory};
use crate::http::archive::filled_with;
use crate::http::rows::documents;
use crate::http::{somebody, token};
use crate::support::play::{HANDOVER, HELP, played};
use crate::support::process::{Listening, groundstate};
use crate::support::until;

/// How often each request is made. What is made in one round is there for the next.
const ROUNDS: usize = 6;
/// Longer than the server lets any request take.
const PATIENCE: Duration = Duration::from_secs(90);
/// Operations that must have been done at least once: else the values say nothing. How many are depends on how soon jobs end.
const DONE_AT_LEAST: usize = 60;

struct Fuzzer {
    client: Client,
    url: Url,
    secret: String,
    rng: TestRng,
    document: Value,
    known: Known,
    /// Operations that were done.
    done: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Fuzzer {
    async fn ask(&mut self, operation: &Operation) {
        self.known.is_odd = self.rng.random_bool(0.6);
        let mut url = self.url.clone();
        let path = self.known.path(&mut self.rng, operation, &self.document);
        url.path_segments_mut().unwrap().clear().extend(path);
        for (name, value) in self.known.query(&mut self.rng, operation, &self.document) {
            url.query_pairs_mut().append_pair(&name, &value);
        }
        let mut request = self.client.request(operation.method.clone(), url.clone()).bearer_auth(&self.secret);
        let mut sent = String::new();
        if let Some((media, schema)) = &operation.body {
            sent = match media.as_str() {
                "application/json" => self.known.body(&mut self.rng, schema, &self.document).to_string(),
                _ => odd_body(&mut self.rng),
            };
            request = request.header("content-type", media).body(sent.clone());
        }
        let what = format!("{} {url} {}", operation.method, sent.chars().take(2_000).collect::<String>());
        match request.timeout(PATIENCE).send().await {
            Ok(response) => self.hear(operation, &what, response).await,
            Err(error) => self.wrong.push(format!("{what}: no answer: {error:?}")),
        }
    }

    async fn hear(&mut self, operation: &Operation, what: &str, response: Response) {
        let (status, media) = (response.status(), media_of(&response));
        if status.is_success() {
            self.done.insert(operation.name());
            // Streams have no end.
            if media == "application/json" {
                let answer: Value = response.json().await.unwrap_or_default();
                self.known.learn(operation, &answer);
            }
            return;
        }
        let text = response.text().await.unwrap_or_default();
        let problem: Value = serde_json::from_str(&text).unwrap_or_default();
        let says_why = media == "application/problem+json" && problem["detail"].as_str().is_some_and(|d| !d.is_empty());
        if status.is_server_error() || !(says_why || status == StatusCode::NOT_MODIFIED) {
            self.wrong.push(format!("{what}: {status} {}", text.chars().take(400).collect::<String>()));
        }
    }
}

fn media_of(response: &Response) -> String {
    let media = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().to_owned()
}

#[sqlx::test(migrations = "../migrations")]
async fn no_request_is_answered_by_an_error_of_the_servers_own(pool: PgPool) {
    drop(filled_with(&pool, &documents()).await);
    let run = played(&pool, &[HELP, HANDOVER], 6, 3, &[]).await;
    let secret = token(&pool, somebody(&pool, "fuzzer", true).await, &[Scope::Admin]).await;
    let server = Listening::start(&mut groundstate(&pool, &["serve", "--listen", "127.0.0.1:0"])).await;
    until("it is ready", async || server.get("/readyz").await.is_ok()).await;
    let (pid, client) = (server.child.id().unwrap(), llm::http_client().build().unwrap());
    let others = tokio::spawn(ask_without_a_pause(client.clone(), format!("{}/healthz", server.url)));

    let document = serde_json::to_value(server::http::document()).unwrap();
    let operations = operations(&document);
    let mut fuzzer = Fuzzer {
        client,
        url: server.url.parse().unwrap(),
        secret,
        rng: TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        known: Known::of(&operations, &run.control.run.id.to_string()),
        document,
        done: BTreeSet::new(),
        wrong: Vec::new(),
    };
    for round in 0..ROUNDS {
        for operation in &operations {
            let is_last = round + 1 == ROUNDS;
            if operation.method != Method::DELETE || is_last || fuzzer.rng.random_ratio(1, 4) {
                fuzzer.ask(operation).await;
            }
        }
    }
    assert!(!others.is_finished(), "{:?}", others.await);
    others.abort();
    assert!(fuzzer.wrong.is_empty(), "{} of them:\n{}", fuzzer.wrong.len(), fuzzer.wrong.join("\n"));
    let all: BTreeSet<String> = operations.iter().map(Operation::name).collect();
    let never: Vec<&String> = all.difference(&fuzzer.done).collect();
    assert!(
        fuzzer.done.len() >= DONE_AT_LEAST,
        "only {} of {} were done; never: {never:#?}",
        fuzzer.done.len(),
        all.len()
    );
    assert!(peak_memory(pid) < MOST_MEMORY, "{} KiB", peak_memory(pid));
    assert_eq!(server.stopped().await, Some(0), "it is the same process");
}
