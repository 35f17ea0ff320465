//! One draft: asked for, checked as every scenario is, and given back with what was found until it is sound.

use domain::Problem;
use domain::event::Usage;
use domain::finding::{Grade, LocatedFinding};
use domain::message::Message;
use domain::seed::Seed;
use engine::author::{self, Sampling, scenario};
use llm::{Failure, ModelError, Pool};
use serde_json::{Map, Value};

use super::{FailedDraft, Order, text};
use crate::library::Library;

pub struct Drafting<'a> {
    pub library: &'a Library,
    pub order: &'a Order<'a>,
    pub intent: &'a str,
    pub question: Vec<Message>,
    pub seed: Seed,
}

/// How a draft ended. [`FailedDraft`] says what is to be said if it is not kept.
pub enum Draft {
    /// Read, checked and proved.
    Sound(Map<String, Value>, FailedDraft),
    /// Every attempt had faults: those of the last one.
    Unsound(FailedDraft),
    /// The endpoint did not answer.
    Unanswered { error: ModelError, dropped: FailedDraft },
}

impl Draft {
    /// The very first request was refused, and would be again.
    pub fn is_refused(&self) -> bool {
        let Self::Unanswered { error, dropped } = self else { return false };
        dropped.attempts == 0 && !error.failure.is_transient()
    }
}

impl Drafting<'_> {
    pub async fn run(self, model: &Pool) -> (Draft, Usage) {
        let mut usage = Usage::default();
        let mut dropped = FailedDraft {
            what: format!("a scenario of the intent `{}`", self.intent),
            attempts: 0,
            reasons: Vec::new(),
        };
        let mut messages = self.question.clone();
        while dropped.attempts < self.order.attempts {
            let ask = author::ask(messages, self.sampling(dropped.attempts));
            let reply = match model.ask(&ask).await {
                Ok(reply) => {
                    usage += reply.usage;
                    reply.content
                }
                // The endpoint did its part; the model did not come to an end.
                Err(ModelError { failure: Failure::Stopped { reason, reply }, .. }) => {
                    usage += reply.usage;
                    dropped.attempts += 1;
                    dropped.reasons =
                        vec![format!("the reply was not complete (finish_reason `{reason}`): be shorter")];
                    messages = author::again(&self.question, "", &dropped.reasons);
                    continue;
                }
                Err(error) => return (Draft::Unanswered { error, dropped }, usage),
            };
            dropped.attempts += 1;
            match self.checked(&reply, &mut dropped.what) {
                Ok(fields) => return (Draft::Sound(fields, dropped), usage),
                Err(reasons) => dropped.reasons = reasons,
            }
            messages = author::again(&self.question, &reply, &dropped.reasons);
        }
        (Draft::Unsound(dropped), usage)
    }

    fn sampling(&self, attempt: u32) -> Sampling {
        let seed = self.seed.sampling(&format!("attempt {attempt}"));
        Sampling { temperature: self.order.temperature, max_tokens: self.order.max_tokens, seed }
    }

    /// The fields of a sound scenario, or everything that is wrong with the reply.
    fn checked(&self, reply: &str, what: &mut String) -> Result<Map<String, Value>, Vec<String>> {
        let mut fields = scenario::read(reply, self.order.playbook, self.intent)?;
        fields.insert("id".to_owned(), scenario::id(&fields).into());
        if let Some(description) = fields.get("description").and_then(Value::as_str) {
            description.clone_into(what);
        }
        let found = examine(self.library, &text::of(&fields))?;
        if found.is_empty() { Ok(fields) } else { Err(found) }
    }
}

/// What `validate` would say of a scenario that keeps it from being played.
///
/// # Errors
/// Why it cannot even be read.
pub fn examine(library: &Library, text: &str) -> Result<Vec<String>, Vec<String>> {
    let examined = library.examine_scenario(PATH, text);
    let (_, found) = examined.map_err(|problems| problems.iter().map(said).collect::<Vec<_>>())?;
    let grave = found.iter().filter(|found| found.rule.grade() >= Grade::Error);
    Ok(grave.map(|LocatedFinding { problem, rule }| format!("{} [{rule}]", said(problem))).collect())
}

/// A name: nothing is read from there.
pub const PATH: &str = "scenarios/draft.yaml";

/// Without the line: the model counts the lines of another text.
fn said(problem: &Problem) -> String {
    if problem.field.is_empty() { problem.message.clone() } else { format!("{}: {}", problem.field, problem.message) }
}
