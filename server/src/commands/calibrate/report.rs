//! The report for people.

use domain::calibration::{BANDS, OVERALL};

use crate::output::say;
use store::calibrations::Calibration;
use store::judgings::Judging;

pub fn print(all: &[Calibration], judging: &Judging) {
    for calibration in all {
        one(calibration, judging);
    }
    say!("Rows with corrected scores beside the judge's own: groundstate export --corrected --out rows.jsonl");
}

fn one(calibration: &Calibration, judging: &Judging) {
    let report = &calibration.report;
    let models: Vec<String> =
        judging.models.as_array().into_iter().flatten().filter_map(|m| m.as_str().map(str::to_owned)).collect();
    say!("judge        {} by {}", calibration.judge, models.join(", "));
    say!("compared     {} conversations", report.conversations);
    if !report.without_verdict.is_empty() {
        say!("left out     {} rated conversations have no verdict here", report.without_verdict.len());
    }
    say!("criterion                       n  people   judge    bias    error    rho  kappa  kappa of bands");
    for c in &report.criteria {
        say!(
            "{:28} {:4} {:7.2} {:7.2} {:+7.2} {:8.2} {:>6} {:>6} {:>15}",
            c.criterion,
            c.n,
            c.human_mean,
            c.judge_mean,
            c.bias,
            c.mean_absolute_error,
            shown(c.spearman),
            shown(c.weighted_kappa),
            shown(c.band_kappa)
        );
    }
    if let Some(goal) = &report.goal_achieved {
        say!("goal achieved: agreed on {:.0} % of {}, kappa {}", goal.agreed * 100.0, goal.n, shown(goal.kappa));
    }
    for raters in &report.between_raters {
        say!("between raters: {}, kappa {} ({} pairs)", raters.criterion, shown(raters.kappa), raters.pairs);
    }
    if let Some(overall) = report.criteria.iter().find(|c| c.criterion == OVERALL) {
        say!("overall by bands, people down, judge across:");
        say!("       {}", BANDS.map(|band| format!("{band:>5}")).join(" "));
        for (band, counts) in BANDS.iter().zip(&overall.bands) {
            say!("{band:>6} {}", counts.map(|count| format!("{count:5}")).join(" "));
        }
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}
