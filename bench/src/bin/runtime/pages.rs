//! Pages of a very long run, as a browser asks for them.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::access::Scope;
use domain::api::{ConversationFacets, ConversationSummary, Page};
use reqwest::Client;
use serde::de::DeserializeOwned;
use server::store::measure;
use server::store::tokens::{self, Token};
use server::store::users::{self, User};
use server::{clock, secret};
use sqlx::PgPool;

use super::cases::{ended, row};
use super::machine;
use super::program::Place;

/// Somebody who may read everything.
struct Reader {
    client: Client,
    url: String,
    token: String,
}

impl Reader {
    async fn new(db: &PgPool, url: String) -> anyhow::Result<Self> {
        let (user, now) = (clock::id(), clock::now());
        let reader = User {
            id: user,
            name: "bench".to_owned(),
            password_hash: None,
            administrator: true,
            disabled_at: None,
            created_at: now,
        };
        let mut db = db.acquire().await?;
        users::insert(&mut db, &reader).await?;
        let token = secret::make("gs_")?;
        let kept = Token {
            id: clock::id(),
            user_id: user,
            project_id: None,
            name: "bench".to_owned(),
            scopes: vec![Scope::Read.as_str().to_owned()],
            created_at: now,
            expires_at: None,
            last_used_at: None,
        };
        tokens::insert(&mut db, &kept, &secret::hash(&token)).await?;
        Ok(Self { client: Client::new(), url, token })
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<(T, Duration)> {
        let begun = Instant::now();
        let response = self.client.get(format!("{}{path}", self.url)).bearer_auth(&self.token).send().await?;
        ensure!(response.status().is_success(), "{path}: {} {}", response.status(), response.text().await?);
        let body = response.bytes().await?;
        let took = begun.elapsed();
        Ok((serde_json::from_slice(&body)?, took))
    }
}

/// Times of one kind of request.
fn told(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    row(what, &format!("p50 {:.1} ms, p95 {:.1} ms", at(50), at(95)));
}

#[expect(clippy::cast_precision_loss, reason = "figures")]
pub async fn pages(place: &Place, n: u32, copies: i32, requests: usize) -> anyhow::Result<()> {
    let db = place.database().await?;
    let run = place.run(&db, n, &[]).await?;
    let mut players = [place.play(&db, 512, &[])?];
    ended(&db.pool, &run, &mut players).await?;
    players[0].kill().await?;
    let begun = Instant::now();
    for copy in 1..=copies {
        measure::lengthen(&mut *db.pool.acquire().await?, run.id, i32::try_from(n)?, copy, false).await?;
    }
    measure::settle(&mut *db.pool.acquire().await?).await?;
    let all = u64::from(n) * (u64::try_from(copies)? + 1);
    row("conversations of the run", &format!("{all}, made in {:.0} s", begun.elapsed().as_secs_f64()));

    let (mut server, url) = place.serve(&db).await?;
    let reader = Reader::new(&db.pool, url).await?;
    let pid = server.id().context("no process")?;
    let before = machine::peak_memory(pid);
    let list = format!("/api/v1/runs/{}/conversations", run.id);
    let (first, took) = reader.get::<Page<ConversationSummary>>(&list).await?;
    row("first page, for which the run is read", &format!("{:.2} s", took.as_secs_f64()));
    let memory = machine::peak_memory(pid).saturating_sub(before);
    row("memory for it at most", &format!("{} MB, {:.0} bytes a row", memory / 1_000_000, memory as f64 / all as f64));
    let (facets, _) = reader.get::<ConversationFacets>(&format!("{list}/facets")).await?;
    ensure!(facets.total == all, "{} of {all} are indexed", facets.total);

    let scenario = &first.items[0].scenario;
    let persona = &first.items[0].persona;
    let narrow = format!("scenario={scenario}&persona={persona}&min_overall=6&min_turns=1&verified=true");
    for (what, query) in [
        ("a page", String::new()),
        ("a page from the end", "order=desc".to_owned()),
        ("a filtered page", narrow.clone()),
        ("a filter that nothing passes", "search=nothing_is_called_so".to_owned()),
        ("a page, the best first", "sort=overall".to_owned()),
        ("a filtered page, the best first", format!("{narrow}&sort=overall&top=0.1")),
    ] {
        let (mut times, mut after) = (Vec::new(), String::new());
        for _ in 0..requests {
            let (page, took) = reader.get::<Page<ConversationSummary>>(&format!("{list}?{query}{after}")).await?;
            times.push(took);
            // One page after the other, as far as they go.
            after = page.next.map(|next| format!("&after={next}")).unwrap_or_default();
        }
        told(what, times);
    }
    for (what, query) in [("facets", String::new()), ("facets of what is filtered", narrow)] {
        let mut times = Vec::new();
        for _ in 0..requests {
            times.push(reader.get::<ConversationFacets>(&format!("{list}/facets?{query}")).await?.1);
        }
        told(what, times);
    }
    let mut times = Vec::new();
    for _ in 0..requests.div_ceil(10) {
        times.push(reader.get::<serde_json::Value>(&format!("/api/v1/runs/{}/analytics", run.id)).await?.1);
    }
    told("analytics of all", times);
    server.kill().await?;
    db.stop().await;
    Ok(())
}
