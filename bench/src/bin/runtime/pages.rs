//! Pages of a very long run, or of many runs, as a browser asks for them.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::api::{ConversationFacets, ConversationSummary, Page};
use store::measure;
use uuid::Uuid;

use super::api::Caller;
use super::cases::{ended, row};
use super::machine;
use super::program::{Database, Place};

/// Times of one kind of request.
fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    row(what, &format!("p50 {:.1} ms, p95 {:.1} ms", at(50), at(95)));
}

/// What a project holds.
pub struct Size {
    pub runs: u32,
    /// Conversations of each run that are played.
    pub n: u32,
    /// How often they are copied behind themselves, without their events.
    pub copies: i32,
}

impl Size {
    /// The runs, one after the other; the id of the last.
    async fn make(&self, place: &Place, db: &Database) -> anyhow::Result<Uuid> {
        let mut last = Uuid::nil();
        for _ in 0..self.runs {
            let run = place.run(db, self.n, &[]).await?;
            let mut players = [place.play(db, 512, &[])?];
            ended(&db.pool, &run, &mut players).await?;
            players[0].kill().await?;
            for copy in 1..=self.copies {
                measure::lengthen(&mut *db.pool.acquire().await?, run.id, i32::try_from(self.n)?, copy, false).await?;
            }
            last = run.id;
        }
        measure::settle(&mut *db.pool.acquire().await?).await?;
        Ok(last)
    }

    fn all(&self) -> anyhow::Result<u64> {
        Ok(u64::from(self.runs) * u64::from(self.n) * (u64::try_from(self.copies)? + 1))
    }
}

/// Of one run its own list is asked for, of several that of the project.
pub async fn pages(place: &Place, size: &Size, requests: usize) -> anyhow::Result<()> {
    let db = place.database().await?;
    let (begun, all) = (Instant::now(), size.all()?);
    let run = size.make(place, &db).await?;
    let runs = size.runs;
    row("conversations", &format!("{all} of {runs} runs, made in {:.0} s", begun.elapsed().as_secs_f64()));
    let (mut server, url) = place.serve(&db, &["--no-play"]).await?;
    let reader = Caller::administrator(&db.pool, url).await?;
    let list = match size.runs {
        1 => format!("/api/v1/runs/{run}/conversations"),
        _ => "/api/v1/projects/default/conversations".to_owned(),
    };
    let first = read(&reader, &list, server.id().context("no process")?, all).await?;
    let narrow = format!(
        "scenario={}&persona={}&min_overall=6&min_turns=1&verified=true",
        first.items[0].scenario, first.items[0].persona
    );
    lists(&reader, &list, &narrow, requests).await?;
    for (what, query) in [("facets", String::new()), ("facets of what is filtered", narrow)] {
        let mut times = Vec::new();
        for _ in 0..requests {
            times.push(reader.get::<ConversationFacets>(&format!("{list}/facets?{query}")).await?.1);
        }
        print_times(what, times);
    }
    let mut times = Vec::new();
    for _ in 0..requests.div_ceil(10) {
        times.push(reader.get::<serde_json::Value>(&format!("/api/v1/runs/{run}/analytics")).await?.1);
    }
    print_times("analytics of a run", times);
    server.kill().await?;
    db.stop().await;
    Ok(())
}

/// The first page, for which everything is read.
#[expect(clippy::cast_precision_loss, reason = "figures")]
async fn read(reader: &Caller, list: &str, server: u32, all: u64) -> anyhow::Result<Page<ConversationSummary>> {
    let before = machine::peak_memory(server);
    let (first, took) = reader.get::<Page<ConversationSummary>>(list).await?;
    row("first page, for which they are read", &format!("{:.2} s", took.as_secs_f64()));
    let memory = machine::peak_memory(server).saturating_sub(before);
    row("memory for it at most", &format!("{} MB, {:.0} bytes a row", memory / 1_000_000, memory as f64 / all as f64));
    let (facets, _) = reader.get::<ConversationFacets>(&format!("{list}/facets")).await?;
    ensure!(facets.total == all, "{} of {all} are indexed", facets.total);
    Ok(first)
}

async fn lists(reader: &Caller, list: &str, narrow: &str, requests: usize) -> anyhow::Result<()> {
    for (what, query) in [
        ("a page", String::new()),
        ("a page from the end", "order=desc".to_owned()),
        ("a filtered page", narrow.to_owned()),
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
        print_times(what, times);
    }
    Ok(())
}
