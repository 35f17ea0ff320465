//! The words and the tone in which the pages name what `domain` knows.

use domain::api::ConversationSummary;
use domain::event::Answer;
use domain::fault::FaultKind;
use domain::outcome::{Ending, Outcome};
use domain::verdict::Rule;

/// The model name under which a role is played without a model.
const SCRIPTED: &str = "scripted";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    /// Not wrong, but not to be overlooked.
    Notable,
    Neutral,
}

impl Tone {
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "badge good",
            Self::Bad => "badge bad",
            Self::Notable => "badge notable",
            Self::Neutral => "badge",
        }
    }
}

/// A name from the data as words: `simulated_user` is "simulated user".
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

pub fn outcome(conversation: &ConversationSummary) -> (Tone, String) {
    match &conversation.outcome {
        None => (Tone::Neutral, "unfinished".to_owned()),
        Some(Outcome::Accepted) => (Tone::Good, "accepted".to_owned()),
        Some(Outcome::Failed { blame, .. }) => (Tone::Bad, format!("failed: {}", words(blame.into_str()))),
    }
}

pub const fn answer(answer: Answer) -> (Tone, &'static str) {
    match answer {
        Answer::Succeeded => (Tone::Good, "ok"),
        Answer::Terminal => (Tone::Neutral, "ended the conversation"),
        Answer::UnknownTool => (Tone::Bad, "unknown tool"),
        Answer::InvalidArguments => (Tone::Bad, "invalid arguments"),
        Answer::Failed => (Tone::Bad, "error"),
        Answer::Fallback => (Tone::Bad, "error: no truthful answer"),
    }
}

/// What went wrong with a call, on purpose.
pub fn fault(fault: FaultKind) -> String {
    format!("planned fault: {}", words(fault.into_str()))
}

pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::UserEnded => "The user had nothing more to say.".to_owned(),
        Ending::WalkedOut => "The user was asked too many questions, lost patience and left.".to_owned(),
        Ending::Terminal { tool } => format!("The agent ended the conversation by calling {tool}."),
        Ending::TurnLimit => "The user's turns were used up.".to_owned(),
        Ending::StepLimit => "The agent's steps were used up by tool calls.".to_owned(),
        Ending::AgentEnded => "The agent's program ended the episode.".to_owned(),
    }
}

pub const fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::ExpectedWorld => "expected world",
        Rule::UnexpectedChange => "unexpected change",
        Rule::ExpectedAction => "expected action",
        Rule::ForbiddenAction => "forbidden action",
        Rule::FactTold => "fact told",
        Rule::ValidCalls => "valid calls",
        Rule::Grounded => "grounded words",
        Rule::Policy => "policy",
        Rule::Ending => "ending",
        Rule::Recovery => "recovery",
    }
}

/// A model's name as shown; text that no model wrote must never pass for a model's.
pub fn model(name: &str) -> (Tone, String) {
    if name == SCRIPTED { (Tone::Notable, "scripted: no model".to_owned()) } else { (Tone::Neutral, name.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scripted_role_says_so() {
        assert_eq!(model("scripted").1, "scripted: no model");
        assert_eq!(model("qwen3-8b").1, "qwen3-8b");
    }
}
