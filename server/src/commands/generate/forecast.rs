//! What a whole run will take, said on a terminal. The conversations that it follows from are the run's own first ones, so
//! nothing of them is wasted.

use domain::api::RunSummary;
use domain::forecast::Forecast;

use crate::output::say;

/// `task`: what the run plays, a conversation or a row.
pub fn print(summary: &RunSummary, task: &str, seconds: f64, resume_hint: &str) {
    let Some(forecast) = Forecast::of(summary, seconds) else {
        say!("no {task} has ended yet, so there is no forecast. {resume_hint}");
        return;
    };
    let percent = |share: f64| share * 100.0;
    say!("forecast, from {} {task}s of {}:", forecast.finished, forecast.planned);
    say!(
        "  accepted     about {:.0} rows ({:.0} %, {:.0} to {:.0} % at 95 % confidence)",
        forecast.accepted_rows,
        percent(forecast.accepted_share),
        percent(forecast.accepted_share_low),
        percent(forecast.accepted_share_high)
    );
    let each_row = |each: Option<f64>| {
        each.filter(|each| *each > 0.0).map(|each| format!(", {each:.4} per accepted row")).unwrap_or_default()
    };
    say!(
        "  tokens       about {:.0}; {:.0} per {task}{}",
        forecast.tokens,
        forecast.tokens_per_conversation,
        each_row(forecast.tokens_per_accepted_row)
    );
    say!(
        "  cost         about {:.4}; {:.6} per {task}{}",
        forecast.cost,
        forecast.cost_per_conversation,
        each_row(forecast.cost_per_accepted_row)
    );
    say!("  time         at most {:.0} s at this pace; more {task}s at once take less", forecast.seconds);
    say!("The run is paused. {resume_hint}");
}
