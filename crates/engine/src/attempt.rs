//! Single calls, as the author of a playbook tries them: the conversation's own way from call to answer, with nobody
//! to talk to.

mod origins;

use std::sync::Arc;

use domain::event::{Answer, Event, EventKind};
use domain::message::ToolCall;
use domain::patch::Patch;
use domain::persona::{Complexity, Persona, Speech};
use domain::playbook::{AgentStyle, UserStyle};
use domain::scenario::Scenario;
use domain::seed::Seed;
use serde_json::{Map, Value};

use crate::case::Case;
use crate::chat::ChatReply;
use crate::conversation::{Conversation, Next, Phase};
use crate::judge::Judge;
use crate::playbook::Playbook;
use crate::scripted;
use crate::tools::code::{CodeError, Moment};
use crate::world::{InitialWorld, World};
use origins::Made;
pub use origins::Traced;

/// A world and the calls that were made on it so far.
pub struct Attempt {
    conversation: Conversation,
    events: Vec<Event>,
    /// The last call.
    made: Option<Made>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It was answered, and changed this.
    Answered { content: String, patch: Patch },
    /// A terminal tool: the conversation is over.
    Ended,
    /// The agent reads an error, which is an answer, too.
    Refused { content: String, why: Why },
    /// The playbook is at fault: the agent reads an error that claims nothing.
    Broken { content: String, why: String },
    /// A model answers this tool, and reads this.
    Asks { prompt: String },
}

/// Who refused a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    UnknownTool,
    /// The schema of the tool's parameters.
    Arguments,
    /// The tool's function said `fail`.
    Fail,
    /// The schema of the world.
    Schema,
    /// The invariants of these names.
    Invariants(Vec<String>),
}

impl Attempt {
    /// On the initial world of a scenario, or on the base world. The judge is never asked.
    pub fn new(mut playbook: Playbook, judge: Arc<Judge>, scenario: Option<Arc<Scenario>>) -> Self {
        // As many calls as the author likes.
        playbook.spec.limits.agent_steps = u32::MAX;
        playbook.spec.uses = playbook.spec.all_tools().map(|tool| tool.name.clone()).collect();
        let scenario = scenario.unwrap_or_else(|| Arc::new(nothing(&playbook)));
        let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
        let nobody =
            Persona { profile: String::new(), demographics: [].into(), traits: [].into(), emotions: [].into() };
        let case = Case {
            seed: Seed::new(0, &scenario.id, 0),
            playbook: Arc::new(playbook),
            scenario,
            judge,
            initial,
            persona: nobody,
            guidance: Vec::new(),
            complexity: Complexity::Medium,
            speech: Speech::default(),
            agent_style: AgentStyle::FunctionCalling,
            user_style: UserStyle::Text,
            variant: None,
            judges: 1,
            attempt: 1,
            faults: Vec::new(),
        };
        let mut attempt = Self { conversation: Conversation::new(Arc::new(case)), events: Vec::new(), made: None };
        attempt.act();
        attempt.hear(ChatReply { content: "Hello.".into(), ..ChatReply::default() });
        attempt
    }

    pub fn playbook(&self) -> &Playbook {
        &self.conversation.case().playbook
    }

    /// The world after the calls so far.
    pub fn world(&self) -> &World {
        &self.conversation.state().world
    }

    /// The world before the first call.
    pub fn initial(&self) -> &World {
        &self.conversation.case().initial.world
    }

    /// All that has happened, as in a conversation.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    fn act(&mut self) -> Option<EventKind> {
        let event = self.conversation.act();
        self.noted(event)
    }

    fn hear(&mut self, reply: ChatReply) -> Option<EventKind> {
        let event = self.conversation.hear(reply);
        self.noted(event)
    }

    fn noted(&mut self, event: Option<Event>) -> Option<EventKind> {
        let kind = event.as_ref().map(|event| event.kind.clone());
        self.events.extend(event);
        kind
    }

    /// Makes one call. `None` if the conversation is over or waits for a model.
    pub fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Reply> {
        if self.conversation.state().phase != Phase::Agent {
            return None;
        }
        let before = self.world().clone();
        let id_seed = self.conversation.id_seed();
        let call = ToolCall::new(String::new(), tool.to_owned(), Value::Object(arguments.clone()).to_string());
        self.hear(ChatReply { tool_calls: vec![call], ..ChatReply::default() });
        self.made = Some(Made {
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            before: before.clone(),
            id_seed: id_seed.clone(),
        });
        let answered = loop {
            if let Next::Ask(_) = self.conversation.next() {
                let ask = self.conversation.ask()?;
                let texts: Vec<&str> = ask.messages.iter().map(domain::Message::content).collect();
                return Some(Reply::Asks { prompt: texts.join("\n\n") });
            }
            // A sub-agent is begun before it is asked.
            if let Some(reply) = reply(self.act()?) {
                break reply;
            }
        };
        Some(match answered {
            Reply::Refused { content, why: Why::Fail } => {
                let why = self.who_refused(tool, arguments, &before, &id_seed);
                Reply::Refused { content, why }
            }
            other => other,
        })
    }

    /// Lets `scripted` answer for the model that is waited for.
    ///
    /// # Errors
    /// The playbook's templates do not render, or there are none.
    pub fn answer_as_scripted(&mut self) -> Result<Option<Reply>, String> {
        loop {
            let event = match self.conversation.next() {
                Next::Ask(who) if !matches!(self.conversation.state().phase, Phase::Agent) => {
                    let said = scripted::reply(who.role, &self.conversation)?;
                    self.hear(said)
                }
                Next::Act => self.act(),
                _ => return Ok(None),
            };
            let Some(event) = event else { return Ok(None) };
            if let Some(reply) = reply(event) {
                return Ok(Some(reply));
            }
        }
    }

    /// A refusal of the function and one of the world read alike; running the function again tells them apart.
    fn who_refused(&self, tool: &str, arguments: &Map<String, Value>, before: &World, id_seed: &str) -> Why {
        let playbook = self.playbook();
        let Some(tool) = playbook.tool(tool) else { return Why::UnknownTool };
        let now = self.conversation.case().now();
        let moment = Moment { now: &now, id_seed };
        let patch = match playbook.run_code(tool, arguments, before, &moment) {
            Ok((_, patch)) => patch,
            Err(CodeError::Refused(_) | CodeError::Broken(_)) => return Why::Fail,
        };
        let refusal = playbook.commit(tool, arguments, before, &patch).err().map(|refusal| refusal.to_string());
        let said = refusal.unwrap_or_default();
        let invariants = playbook.spec.world.invariants.iter().filter(|rule| said.contains(&rule.message));
        let names: Vec<String> = invariants.map(|rule| rule.name.clone()).collect();
        if names.is_empty() { Why::Schema } else { Why::Invariants(names) }
    }
}

fn reply(event: EventKind) -> Option<Reply> {
    let EventKind::ToolAnswered { content, answer, patch, note, .. } = event else { return None };
    Some(match answer {
        Answer::Succeeded => Reply::Answered { content, patch },
        Answer::Terminal => Reply::Ended,
        Answer::UnknownTool => Reply::Refused { content, why: Why::UnknownTool },
        Answer::InvalidArguments => Reply::Refused { content, why: Why::Arguments },
        Answer::Failed => Reply::Refused { content, why: Why::Fail },
        Answer::Fallback => Reply::Broken { content, why: note.unwrap_or_default() },
    })
}

/// A scenario without records and without a script.
fn nothing(playbook: &Playbook) -> Scenario {
    Scenario {
        id: "attempt".into(),
        playbook: playbook.spec.name.clone(),
        intent: String::new(),
        description: String::new(),
        tags: Vec::new(),
        family: None,
        user_facts: Map::new(),
        user_request: Map::new(),
        user_mistakes: Map::new(),
        system_facts: Map::new(),
        user_goal: String::new(),
        expected_outcome: domain::expectation::ExpectedOutcome::default(),
        personas: Vec::new(),
        faults: Vec::new(),
        clock: None,
        script: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
