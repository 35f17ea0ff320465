//! A scenario's script, played once with every role scripted, for authors to look at step by step.

use std::sync::Arc;

use domain::Message;
use domain::event::Event;
use domain::outcome::Outcome;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::scenario::Scenario;

use crate::case::Case;
use crate::conversation::{Conversation, Next, Who};
use crate::judge::Judge;
use crate::playbook::Playbook;
use crate::world::InitialWorld;
use crate::{scripted, validate};

/// How a script is played.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    pub complexity: Complexity,
    pub agent_style: AgentStyle,
    pub variant: Option<String>,
}

pub struct Rehearsal {
    pub events: Vec<Event>,
    pub outcome: Outcome,
    /// As it ended.
    pub conversation: Conversation,
    pub prompts: Vec<Prompt>,
}

/// What somebody is told when they are first asked.
pub struct Prompt {
    pub who: Who,
    /// The tool that is answered for, if one is.
    pub tool: Option<String>,
    pub messages: Vec<Message>,
    pub tools: usize,
}

/// Whether the scenario is sound is not asked: a script that leads nowhere is what its author wants to see.
pub fn rehearse(
    playbook: &Arc<Playbook>,
    judge: &Arc<Judge>,
    scenario: &Arc<Scenario>,
    initial: &Arc<InitialWorld>,
    way: Way,
) -> Rehearsal {
    let Way { complexity, agent_style, variant } = way;
    let plain = validate::case(playbook, judge, scenario, initial);
    let mut conversation = Conversation::new(Arc::new(Case { complexity, agent_style, variant, ..plain }));
    let (mut events, mut prompts) = (Vec::new(), Vec::new());
    loop {
        let event = match conversation.next() {
            Next::Done(outcome) => return Rehearsal { events, outcome, conversation, prompts },
            Next::Act => conversation.act(),
            Next::Ask(who) => {
                note(&conversation, who.clone(), &mut prompts);
                match scripted::reply(who.role, &conversation) {
                    Ok(reply) => conversation.hear(reply),
                    Err(reason) => conversation.lose(&reason),
                }
            }
        };
        events.extend(event);
    }
}

fn note(conversation: &Conversation, who: Who, prompts: &mut Vec<Prompt>) {
    let tool = conversation.tool_asked_for().map(str::to_owned);
    if prompts.iter().any(|known| known.who == who && known.tool == tool) {
        return;
    }
    if let Some(ask) = conversation.ask() {
        prompts.push(Prompt { who, tool, messages: ask.messages, tools: ask.tools.len() });
    }
}
