//! A scenario's script, played once with every role scripted, for authors to look at step by step.

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::Message;
use domain::event::Event;
use domain::outcome::{Blame, Outcome};
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::scenario::Scenario;
use domain::task::{Task, advance};

use crate::case::Case;
use crate::case::InitialWorld;
use crate::conversation::{Conversation, Party};
use crate::judge::Judge;
use crate::playbook::Playbook;

/// How a script is played.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RehearsalOptions {
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
    pub who: Party,
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
    way: RehearsalOptions,
) -> Rehearsal {
    let RehearsalOptions { complexity, agent_style, variant } = way;
    let plain = Case::of(Arc::clone(playbook), Arc::clone(judge), Arc::clone(scenario), Arc::clone(initial));
    let mut conversation = Conversation::new(Arc::new(Case { complexity, agent_style, variant, ..plain }));
    let (mut events, mut prompts) = (Vec::new(), Vec::new());
    advance(
        &mut conversation,
        |conversation, request| {
            note(conversation, request.to.clone(), &mut prompts);
            Some(conversation.stand_in(request))
        },
        |_, event| {
            events.push(event);
            ControlFlow::Continue(())
        },
    );
    let outcome = ended(&conversation);
    Rehearsal { events, outcome, conversation, prompts }
}

/// The outcome of a conversation that was played to its end.
pub(crate) fn ended(conversation: &Conversation) -> Outcome {
    let never = || Outcome::Failed { blame: Blame::Infrastructure, reason: "it was not played to its end".to_owned() };
    conversation.outcome().cloned().unwrap_or_else(never)
}

fn note(conversation: &Conversation, who: Party, prompts: &mut Vec<Prompt>) {
    let tool = conversation.tool_asked_for().map(str::to_owned);
    if prompts.iter().any(|known| known.who == who && known.tool == tool) {
        return;
    }
    if let Some(ask) = conversation.ask() {
        prompts.push(Prompt { who, tool, messages: ask.messages, tools: ask.tools.len() });
    }
}
