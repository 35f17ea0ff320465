//! What a whole run will take, from the few conversations that were played of it.

use domain::api::RunSummary;
use engine::scripted;

use crate::say::say;

/// The few are the run's own first ones, so nothing of them is wasted.
#[expect(clippy::cast_precision_loss, reason = "estimates for people to read")]
pub fn print(summary: &RunSummary, seconds: f64, resume_hint: &str) {
    let (played, planned) = (summary.finished.max(1) as f64, summary.planned as f64);
    let share = summary.accepted as f64 / played;
    let models = summary.usage.iter().filter(|usage| usage.model != scripted::NAME);
    let (tokens, cost) = models.fold((0, 0.0), |(tokens, cost), usage| {
        (tokens + usage.prompt_tokens + usage.completion_tokens, cost + usage.cost)
    });
    let (tokens, cost) = (tokens as f64 / played, cost / played);
    say!("forecast, from {} conversations of {}:", summary.finished, summary.planned);
    say!("  accepted     about {:.0} rows ({:.0} %, {})", share * planned, share * 100.0, interval(summary));
    say!("  tokens       about {:.0}; {:.0} a conversation{}", tokens * planned, tokens, each_row(tokens, share));
    say!("  cost         about {:.4}; {:.6} a conversation{}", cost * planned, cost, each_row(cost, share));
    say!(
        "  time         at most {:.0} s at this pace; more conversations at once take less",
        seconds / played * planned
    );
    say!("The run is paused. {resume_hint}");
}

fn each_row(each: f64, share: f64) -> String {
    if share > 0.0 && each > 0.0 { format!(", {:.4} an accepted row", each / share) } else { String::new() }
}

/// The Wilson score interval (Wilson 1927) at 95 %: few conversations say little, and this says how little.
#[expect(clippy::cast_precision_loss, reason = "an estimate for people to read")]
fn interval(summary: &RunSummary) -> String {
    const Z: f64 = 1.96;
    let n = summary.finished.max(1) as f64;
    let p = summary.accepted as f64 / n;
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    format!("{:.0} to {:.0} % at 95 % confidence", (centre - half).max(0.0) * 100.0, (centre + half).min(1.0) * 100.0)
}
