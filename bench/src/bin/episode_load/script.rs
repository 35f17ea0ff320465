//! The agent's lines for each scenario.

use std::borrow::Cow;

use anyhow::ensure;
use bench::{Project, receipt};
use domain::message::{Message, ToolCall};

/// The agent's turns of one scenario.
pub struct Script {
    pub scenario: String,
    pub turns: Vec<Turn>,
}

pub struct Turn {
    pub text: String,
    pub calls: Vec<ToolCall>,
}

pub fn of(project: &Project) -> anyhow::Result<Vec<Script>> {
    let lines = project.lines()?;
    let mut scripts = Vec::new();
    for (scenario, hire) in &lines.hires {
        let own = lines.turns.iter().filter(|((of, _), _)| of == hire);
        let turns = own.map(|(_, message)| Ok(serde_json::from_value::<Message>(message.clone())?));
        let turns = turns.map(|message: anyhow::Result<Message>| {
            Ok(match message? {
                Message::Assistant { content, tool_calls, .. } => Turn { text: content, calls: tool_calls },
                other => Turn { text: other.content().to_owned(), calls: Vec::new() },
            })
        });
        let turns = turns.collect::<anyhow::Result<Vec<Turn>>>()?;
        ensure!(!turns.is_empty(), "{scenario}: nothing is written for its agent");
        scripts.push(Script { scenario: scenario.clone(), turns });
    }
    Ok(scripts)
}

/// The receipt of an episode, which the agent reads in an answer and repeats in place of the script's.
#[derive(Default)]
pub struct Receipt(Option<String>);

impl Receipt {
    /// Reads an answer, unless the receipt is known.
    pub fn read(&mut self, answer: &str) {
        if self.0.is_none() {
            self.0 = receipt(answer).map(str::to_owned);
        }
    }

    /// A text of the script with the receipt of this episode.
    pub fn put_into<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match (&self.0, receipt(text)) {
            (Some(own), Some(scripted)) => Cow::Owned(text.replace(scripted, own)),
            _ => Cow::Borrowed(text),
        }
    }
}
