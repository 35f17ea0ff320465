//! A corpus, for people.

use std::collections::BTreeMap;

use domain::corpus::{Leakage, Part, Report, ScanReport, SplitReport, Values};
use sqlx::PgPool;
use uuid::Uuid;

use crate::output::say;
use store::corpora;

pub async fn show(pool: &PgPool, id: Uuid) -> anyhow::Result<()> {
    let Some((_, corpus)) = corpora::get(&mut *pool.acquire().await?, id).await? else { return Ok(()) };
    let summary = corpus.summary;
    say!("corpus     {} ({})", summary.name, summary.id);
    let because = summary.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    say!("state      {}{because}", summary.state);
    if let Some(hash) = summary.manifest_hash {
        say!("manifest   sha256 {hash}");
    }
    if let Some(report) = corpus.report {
        say!("");
        self::report(&report);
    }
    Ok(())
}

/// Most frequent reasons that are shown of a step.
const REASONS: usize = 5;

pub fn report(report: &Report) {
    say!("{:>9}  conversations have ended", report.looked_at);
    for stage in &report.filter {
        say!("           {:>9}  dropped by {}", stage.dropped, stage.condition);
    }
    say!("{:>9}  found by the filter", report.found);
    for cutoff in &report.cutoffs {
        let by = cutoff.criterion.as_deref().unwrap_or("overall");
        say!("           the best {} % by {by} have {} or more", cutoff.share * 100.0, cutoff.score);
    }
    for stage in &report.funnel {
        say!("{:>9}  left after {} ({} dropped)", stage.left, stage.step, stage.dropped);
        for reason in stage.reasons.iter().take(REASONS).filter(|_| stage.reasons.len() > 1) {
            say!("           {:>9}  {}", reason.conversations, reason.reason);
        }
    }
    scanned(&report.scan);
    split(&report.split);
    leakage(&report.leakage);
}

fn scanned(scanned: &ScanReport) {
    for (what, values) in [
        ("may be personal", &scanned.found),
        ("come from the documents", &scanned.own_data),
        ("are reserved for examples", &scanned.reserved),
    ] {
        if !values.is_empty() {
            say!("values that {what}: {}", by_kind(values));
        }
    }
}

fn by_kind(values: &BTreeMap<String, Values>) -> String {
    let one = |(kind, values): (&String, &Values)| {
        format!("{} {kind} in {} conversations", values.values, values.conversations)
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn split(split: &SplitReport) {
    let part = |name, part: &Part| {
        say!(
            "{name}     {} conversations of {} scenarios in {} families",
            part.conversations,
            part.scenarios,
            part.families
        );
    };
    part("train ", &split.train);
    part("golden", &split.golden);
    say!("           {:.1} % golden; {:.1} % were asked for", split.golden_share * 100.0, split.golden_wanted * 100.0);
    for group in &split.together {
        say!("           stay together because they are nearly the same: {}", group.families.join(", "));
    }
}

fn leakage(leakage: &Leakage) {
    say!(
        "on both sides: {} scenarios, {} families, {} pairs that resemble each other by {} or more",
        leakage.scenarios,
        leakage.families,
        leakage.near_duplicates,
        leakage.threshold
    );
    let nearest = leakage.nearest.map(|nearest| format!("; the nearest by {nearest:.3}")).unwrap_or_default();
    say!(
        "               of {} pairs, {} could resemble each other and were compared{nearest}",
        leakage.pairs,
        leakage.compared
    );
}
