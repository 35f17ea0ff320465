//! What a judging came to, beside what the run's own said.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::event::Usage;
use domain::outcome::{Blame, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use llm::ModelSpec;

use crate::say::say;
use generation::judge_again::Judge;
use generation::plan::{self, RunConfig};
use store::verdicts::{self, Judged};

pub struct Progress {
    bar: ProgressBar,
    /// Conversations without a verdict: no endpoint answered, or what it said was none.
    lost: Cell<usize>,
}

impl Progress {
    pub fn new(planned: usize) -> Self {
        let bar = ProgressBar::new(planned as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} judged  {per_sec}  {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, lost: Cell::new(0) }
    }

    pub fn ended(&self, outcome: &Outcome) {
        if matches!(outcome, Outcome::Failed { blame: Blame::Infrastructure | Blame::Judge, .. }) {
            self.lost.set(self.lost.get() + 1);
        }
        self.bar.inc(1);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub fn lost(&self) -> usize {
        self.lost.get()
    }
}

/// Judges that may favour the agent.
pub fn warnings(config: &RunConfig, judges: &[ModelSpec]) {
    for warning in plan::family_warnings(config, judges) {
        eprintln!("warning: {warning}");
    }
}

pub async fn print(judge: &Judge, usage: Usage, lost: usize, resume: &str) -> anyhow::Result<()> {
    let mut db = judge.run.control.pool.acquire().await?;
    let mut before = verdicts::of(&mut db, judge.run.control.run.own_judging()).await?;
    let mut now = verdicts::of(&mut db, judge.judging.id).await?;
    now.retain(|_, judged| judged.verdict.is_some());
    before.retain(|id, _| now.contains_key(id));
    let accepted = |judged: Option<&Judged>| judged.is_some_and(|judged| judged.outcome == Outcome::Accepted);
    let count = |all: &BTreeMap<_, Judged>| all.values().filter(|judged| accepted(Some(judged))).count();
    say!("judging      {} of run {}", judge.judging.id, judge.run.control.run.id);
    say!("judged       {}", now.len());
    let gained = now.iter().filter(|(id, judged)| accepted(Some(judged)) && !accepted(before.get(*id))).count();
    let dropped = now.iter().filter(|(id, judged)| !accepted(Some(judged)) && accepted(before.get(*id))).count();
    say!("accepted     {} (before {}): {gained} more, {dropped} no longer", count(&now), count(&before));
    if let Some(agreement) = mean(now.values().filter_map(|judged| judged.verdict.as_ref()?.agreement())) {
        say!("agreement    {agreement:.2} within the panel, from 0 to 1");
    }
    say!("mean score by criterion, 0 to 10:  before    now");
    for criterion in names(&before).union(&names(&now)) {
        let shown = |all: &BTreeMap<_, Judged>| match mean(scores(all, criterion)) {
            Some(mean) => format!("{mean:6.2}"),
            None => "     -".to_owned(),
        };
        say!("  {criterion:32} {} {}", shown(&before), shown(&now));
    }
    say!("tokens       {} read, {} written", usage.prompt_tokens, usage.completion_tokens);
    if lost > 0 {
        say!("not judged   {lost}: no judge gave a verdict; try again with: {resume}");
    }
    say!(
        "Export with these verdicts: groundstate export --run {} --judging {} --out rows.jsonl",
        judge.run.control.run.id,
        judge.judging.id
    );
    Ok(())
}

fn names(all: &BTreeMap<uuid::Uuid, Judged>) -> BTreeSet<String> {
    let verdicts = all.values().filter_map(|judged| judged.verdict.as_ref());
    verdicts.flat_map(|verdict| verdict.scores.iter().map(|score| score.criterion.clone())).collect()
}

fn scores(all: &BTreeMap<uuid::Uuid, Judged>, criterion: &str) -> impl Iterator<Item = f64> {
    all.values().filter_map(move |judged| Some(f64::from(judged.verdict.as_ref()?.score(criterion)?)))
}

#[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
