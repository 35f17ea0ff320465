//! What became of the drafts, for the person who ordered them. What a model wrote is shown without what a terminal would
//! obey.

use domain::Message;

use super::files::Folder;
use crate::output::say;
use domain::text;
use projects::authoring::scenarios::{Order, Report};

pub fn print(report: &Report, order: &Order<'_>, folder: &Folder) {
    say!("kept     {} of {}", report.kept.len(), order.n);
    for kept in &report.kept {
        say!("  {}: {}", folder.file(kept), text::line(&kept.scenario.description));
    }
    if !report.dropped.is_empty() {
        say!("dropped  {}", report.dropped.len());
    }
    for dropped in &report.dropped {
        let attempts =
            if dropped.attempts == 1 { "1 attempt".to_owned() } else { format!("{} attempts", dropped.attempts) };
        say!("  {} ({attempts})", text::line(&dropped.what));
        for reason in &dropped.reasons {
            say!("    {}", text::lines(reason).replace('\n', " "));
        }
    }
    say!("tokens   {} read, {} written", report.usage.prompt_tokens, report.usage.completion_tokens);
    let missing = order.n - report.kept.len();
    if missing > 0 {
        say!(
            "{missing} fewer than asked for. To go on, order {missing} more with another --seed; raise --attempts if drafts"
        );
        say!("were nearly sound, and give another --brief if they were like others.");
    }
}

pub fn dry_run(question: &[Message], order: &Order<'_>, model: Option<&str>, folder: &Folder) {
    for message in question {
        say!("{}\n", message.content());
    }
    say!("would ask {} for {} scenarios, {} at once", model.unwrap_or("a model"), order.n, order.concurrency);
    let attempts = order.attempts;
    say!("  each up to {attempts} times, temperature {}, {} tokens at most", order.temperature, order.max_tokens);
    say!("  of the intents {}", order.intents.join(", "));
    say!("scenarios would go to {}", folder.shown());
}
