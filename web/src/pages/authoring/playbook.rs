//! A playbook's tools and prompts, for people.

mod fields;
mod form;
mod prompts;
mod tools;
mod trial_calls;

pub use prompts::PromptsPanel;
pub use tools::ToolsPanel;
pub use trial_calls::{ToolTrials, TryPanel};

use domain::playbook::Simulate;

use ui::labels::Tone;

/// What answers the calls of a tool, as people say it.
const fn by(simulate: Simulate) -> (Tone, &'static str) {
    match simulate {
        Simulate::Code => (Tone::Good, "answered by code"),
        Simulate::Model => (Tone::Neutral, "answered by a model"),
        Simulate::Constant => (Tone::Neutral, "always the same answer"),
        Simulate::Agent => (Tone::Neutral, "a sub-agent"),
        Simulate::Service => (Tone::Neutral, "answered by a service"),
        Simulate::Terminal => (Tone::Neutral, "ends the conversation"),
    }
}
