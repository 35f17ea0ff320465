//! What a judging came to, beside what the run's own said.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use anyhow::Context as _;
use domain::event::Usage;
use domain::outcome::Outcome;
use domain::progress::JobProgress;
use indicatif::{ProgressBar, ProgressStyle};
use llm::ModelSpec;
use sqlx::PgPool;
use tokio::sync::watch;

use crate::output::say;
use generation::plan::{self, RunConfig};
use store::judgings::Judging;
use store::runs;
use store::verdicts::{self, StoredVerdict};

pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(planned: usize) -> Self {
        let bar = ProgressBar::new(planned as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} judged  {per_sec}  {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows what the job tells. Never ends.
    pub async fn follow(&self, mut told: watch::Receiver<Option<JobProgress>>) -> Infallible {
        while told.changed().await.is_ok() {
            if let Some(doing) = told.borrow_and_update().as_ref() {
                let count = |count: i64| u64::try_from(count).unwrap_or_default();
                doing.total.into_iter().for_each(|total| self.0.set_length(count(total)));
                self.0.set_position(count(doing.done));
            }
        }
        pending().await
    }

    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Judges that may favour the agent.
pub fn warnings(config: &RunConfig, judges: &[ModelSpec]) {
    for warning in plan::family_warnings(config, judges) {
        eprintln!("warning: {warning}");
    }
}

/// `lost`: conversations that no judge gave a verdict on.
pub async fn print(pool: &PgPool, judging: &Judging, usage: Usage, lost: usize) -> anyhow::Result<()> {
    let (run, id) = (judging.run_id, judging.id);
    let mut db = pool.acquire().await?;
    let own = runs::get(&mut db, run).await?.context("the run was deleted meanwhile")?.own_judging();
    let mut before = verdicts::of(&mut db, own).await?;
    let mut now = verdicts::of(&mut db, id).await?;
    now.retain(|_, judged| judged.verdict.is_some());
    before.retain(|id, _| now.contains_key(id));
    let accepted = |judged: Option<&StoredVerdict>| judged.is_some_and(|judged| judged.outcome == Outcome::Accepted);
    let count = |all: &BTreeMap<_, StoredVerdict>| all.values().filter(|judged| accepted(Some(judged))).count();
    say!("judging      {id} of run {run}");
    say!("judged       {}", now.len());
    let gained = now.iter().filter(|(id, judged)| accepted(Some(judged)) && !accepted(before.get(*id))).count();
    let dropped = now.iter().filter(|(id, judged)| !accepted(Some(judged)) && accepted(before.get(*id))).count();
    say!("accepted     {} (before {}): {gained} more, {dropped} no longer", count(&now), count(&before));
    if let Some(agreement) = mean(now.values().filter_map(|judged| judged.verdict.as_ref()?.agreement())) {
        say!("agreement    {agreement:.2} within the panel, from 0 to 1");
    }
    let criteria: BTreeSet<String> = names(&before).union(&names(&now)).cloned().collect();
    if !criteria.is_empty() {
        say!("mean score by criterion, 0 to 10:  before    now");
    }
    for criterion in &criteria {
        let shown = |all: &BTreeMap<_, StoredVerdict>| match mean(scores(all, criterion)) {
            Some(mean) => format!("{mean:6.2}"),
            None => "     -".to_owned(),
        };
        say!("  {criterion:32} {} {}", shown(&before), shown(&now));
    }
    say!("tokens       {} read, {} written", usage.prompt_tokens, usage.completion_tokens);
    if lost > 0 {
        say!("not judged   {lost}: no judge gave a verdict; try again with: groundstate judge --resume {id}");
    }
    say!("Export with these verdicts: groundstate export --run {run} --judging {id} --out rows.jsonl");
    Ok(())
}

fn names(all: &BTreeMap<uuid::Uuid, StoredVerdict>) -> BTreeSet<String> {
    let verdicts = all.values().filter_map(|judged| judged.verdict.as_ref());
    verdicts.flat_map(|verdict| verdict.scores.iter().map(|score| score.criterion.clone())).collect()
}

fn scores(all: &BTreeMap<uuid::Uuid, StoredVerdict>, criterion: &str) -> impl Iterator<Item = f64> {
    all.values().filter_map(move |judged| Some(f64::from(judged.verdict.as_ref()?.score(criterion)?)))
}

#[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
