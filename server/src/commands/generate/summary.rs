//! What a run came to, for the person who started it.

use crate::output::say;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use domain::api::RunSummary;
use domain::outcome::Blame;
use engine::plan::Row;
use engine::{Playbook, scripted};
use sqlx::PgPool;
use strum::VariantArray;

use datasets::export::WrittenRows;
use generation::ConversationRun;
use generation::plan::RunConfig;
use store::runs::PersonaOutcomes;
use store::{runs, verdicts};

pub async fn print(
    pool: &PgPool,
    active: &ConversationRun,
    before: &RunSummary,
    seconds: f64,
    written: &WrittenRows,
    out: &Path,
) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let summary = runs::summary(&mut db, &active.control.run).await?;
    let played = summary.finished - before.finished;
    say!("run          {}", summary.id);
    say!("played       {played}");
    say!("accepted     {} of {}", summary.accepted, summary.planned);
    say!("failures     {}", by_blame(&summary.failures));
    if !summary.played_again.is_empty() {
        say!("played again {}", by_blame(&summary.played_again));
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let rate = played as f64 / seconds.max(0.001);
    say!("speed        {rate:.1} conversations/s ({seconds:.2} s)");
    let means: BTreeMap<String, f64> =
        verdicts::means(&mut db, active.control.run.own_judging()).await?.into_iter().collect();
    if let Some(judge) = first_playbook(active).ok().and_then(|p| active.kind.library.judge_of(p).ok()) {
        say!("mean score by criterion, 0 to 10:");
        for criterion in &judge.spec.criteria {
            let mean = means.get(&criterion.name).map_or_else(|| "    -".to_owned(), |mean| format!("{mean:5.2}"));
            say!("  {:24} {mean}", criterion.name);
        }
    }
    by_persona(&runs::by_persona(&mut db, &active.control.run).await?);
    for (position, reason) in &written.unusable {
        say!("left out     conversation {position}: {reason}");
    }
    say!("rows         {} in {}", written.report.rows, out.display());
    spent(&summary);
    scripted_notice(&active.kind.config);
    Ok(())
}

/// Of several playbooks the first: its judge names the criteria in their order.
fn first_playbook(active: &ConversationRun) -> Result<&Arc<Playbook>, String> {
    let names = &active.control.run.playbook;
    active.kind.library.playbook(names.split_once(", ").map_or(names.as_str(), |(first, _)| first))
}

/// With one kind of user there is nothing to compare.
fn by_persona(outcomes: &[PersonaOutcomes]) {
    if outcomes.len() < 2 {
        return;
    }
    say!("outcomes by persona:      played  accepted  failed by agent  user walked out  turns  overall");
    for o in outcomes {
        let overall = o.overall.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"));
        say!(
            "  {:22} {:7} {:9} {:16} {:16} {:6.1} {overall:>8}",
            o.persona,
            o.played,
            o.accepted,
            o.failed_by_agent,
            o.walked_out,
            o.turns
        );
    }
}

/// What was asked of models, and what an accepted row cost. `scripted` costs nothing.
pub fn spent(summary: &RunSummary) {
    let models: Vec<_> = summary.usage.iter().filter(|usage| usage.model != scripted::NAME).collect();
    if models.is_empty() {
        return;
    }
    say!("model calls:                calls  retries  tokens read  from cache  tokens written      cost");
    for usage in &models {
        say!(
            "  {:22} {:8} {:8} {:12} {:>11} {:15} {:9.4}  {}",
            words_of(&usage.role),
            usage.calls,
            usage.retries,
            usage.prompt_tokens,
            usage.cache_hits().map_or_else(|| "-".to_owned(), |share| format!("{:.0}%", share * 100.0)),
            usage.completion_tokens,
            usage.cost,
            usage.model
        );
    }
    if summary.accepted > 0 {
        let tokens: i64 = models.iter().map(|usage| usage.prompt_tokens + usage.completion_tokens).sum();
        let cost: f64 = models.iter().map(|usage| usage.cost).sum();
        #[expect(clippy::cast_precision_loss, reason = "means for people to read")]
        let (tokens, cost) = (tokens as f64 / summary.accepted as f64, cost / summary.accepted as f64);
        say!("  per accepted row: {tokens:.0} tokens, cost {cost:.6}");
    }
}

pub fn by_blame(counts: &BTreeMap<String, i64>) -> String {
    let by = |blame: Blame| counts.get(blame.into_str()).map(|n| format!("{n} by {}", words(blame)));
    let mut known: Vec<String> = Blame::VARIANTS.iter().copied().filter_map(by).collect();
    // Rows of workflows are counted by how they ended.
    let others = counts.iter().filter(|(name, _)| name.parse::<Blame>().is_err());
    known.extend(others.map(|(name, n)| format!("{n} ended as {name}")));
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

fn words(blame: Blame) -> String {
    blame.into_str().replace('_', " ")
}

/// Nobody should take a script for a model.
fn scripted_notice(config: &RunConfig) {
    let roles: Vec<String> = config
        .models
        .iter()
        .filter(|(_, model)| model.to_string() == scripted::NAME)
        .map(|(role, _)| words_of(role.as_str()))
        .collect();
    if !roles.is_empty() {
        say!("note         played from the script, without a model: {}", roles.join(", "));
    }
}

fn words_of(name: &str) -> String {
    name.replace('_', " ")
}

pub fn dry_run(playbook: &str, rows: &[Row<'_>], config: &RunConfig) {
    say!("would play {} conversations of {playbook}", rows.len());
    let samples = config.samples.get() as usize;
    if samples > 1 {
        say!("  {} groups of {samples} samples", rows.len() / samples);
    }
    for (role, model) in &config.models {
        say!("  {:16} {model}, temperature {}", words_of(role.as_str()), config.temperature(*role));
    }
    for (name, played) in &config.services {
        say!("  {:16} {}", format!("service {name}"), played.told(name));
    }
    counts("scenario", rows.iter().map(|row| row.scenario.id.as_str()));
    counts("persona", rows.iter().map(|row| row.profile.name.as_str()));
    counts("complexity", rows.iter().map(|row| row.complexity.into_str()));
    say!("rows would go to {}", config.out);
}

fn counts<'a>(what: &str, values: impl Iterator<Item = &'a str>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    say!("by {what}:");
    for (value, count) in counts {
        say!("  {count:5} {value}");
    }
}
