//! Single calls, as the author of a playbook tries them: the conversation's own way from call to answer, with nobody
//! to talk to.

mod origins;

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::event::{Answer, EventKind};
use domain::message::ToolCall;
use domain::patch::Patch;
use domain::playbook::Simulate;
use domain::scenario::Scenario;
use domain::task::{Resolution, advance};
use domain::transcript::Transcript;
use serde_json::{Map, Value};

use crate::case::Case;
use crate::case::InitialWorld;
use crate::conversation::Conversation;
use crate::conversation_state::Phase;
use crate::judge::Judge;
use crate::playbook::{Playbook, Refusal};
use crate::scripted;
use crate::tools::code::{CallContext, CodeError};
use crate::world::World;
use domain::chat::ChatReply;
use origins::RecordedCall;
pub use origins::TracedOrigin;

/// A world and the calls that were made on it so far.
pub struct Attempt {
    conversation: Conversation,
    /// The last call.
    made: Option<RecordedCall>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It was answered, and changed this.
    Answered { content: String, patch: Patch },
    /// A terminal tool: the conversation is over.
    Ended,
    /// The agent reads an error.
    Refused { content: String, why: RefusalSource },
    /// The playbook is at fault: the agent reads an error that claims nothing.
    Broken { content: String, why: String },
    /// A model answers this tool, and reads this.
    Asks { prompt: String },
}

/// Who refused a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalSource {
    UnknownTool,
    /// The schema of the tool's parameters.
    Arguments,
    /// The tool's function said `fail`.
    Fail,
    /// The hook of this name said `fail`.
    Hook(String),
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
        let case = Case { faults: Vec::new(), ..Case::of(Arc::new(playbook), judge, scenario, initial) };
        let mut attempt = Self { conversation: Conversation::new(Arc::new(case)), made: None };
        attempt.advance(|_| None);
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
    pub fn transcript(&self) -> &Transcript {
        &self.conversation.state().transcript
    }

    fn hear(&mut self, reply: ChatReply) {
        self.conversation.hear(reply);
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
        self.made = Some(RecordedCall {
            tool: tool.to_owned(),
            arguments: self.completed(tool, arguments),
            before: before.clone(),
            id_seed: id_seed.clone(),
        });
        // A sub-agent is begun before it is asked.
        let Some(answered) = self.advance(|_| None) else {
            let ask = self.conversation.ask()?;
            let texts: Vec<&str> = ask.messages.iter().map(domain::Message::content).collect();
            return Some(Reply::Asks { prompt: texts.join("\n\n") });
        };
        Some(match answered {
            Reply::Refused { content, why: RefusalSource::Fail } => {
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
        let mut unrendered = None;
        let answered = self.advance(|conversation| {
            if conversation.state().phase == Phase::Agent {
                return None;
            }
            match conversation.asked_party().map(|who| scripted::reply(who.role, conversation))? {
                Ok(reply) => Some(Resolution::Reply(reply)),
                Err(reason) => {
                    unrendered = Some(reason);
                    None
                }
            }
        });
        unrendered.map_or(Ok(answered), Err)
    }

    /// Goes on until a call is answered; `None` if a model has to be asked that `answer` does not answer for.
    fn advance(&mut self, mut answer: impl FnMut(&Conversation) -> Option<Resolution>) -> Option<Reply> {
        let mut answered = None;
        advance(
            &mut self.conversation,
            |conversation, _| answer(conversation),
            |_, event| {
                answered = reply(&event.kind);
                if answered.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        answered
    }

    fn completed(&self, tool: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
        let tool = self.playbook().tool(tool);
        tool.map_or_else(|| arguments.clone(), |tool| tool.complete(arguments.clone()))
    }

    /// What the last call printed for its author. Calls are functions of what they are given, so it is made again.
    pub fn printed(&self) -> Vec<String> {
        let Some(RecordedCall { tool, arguments, before, id_seed }) = &self.made else { return Vec::new() };
        let Some(tool) = self.playbook().tool(tool).filter(|tool| tool.simulate() == Simulate::Code) else {
            return Vec::new();
        };
        let now = self.conversation.case().now();
        self.playbook().printed(tool, arguments, before, &CallContext { now: &now, id_seed })
    }

    /// # Errors
    /// What is wrong with the world as it is now.
    pub fn check_world(&self) -> Result<(), Refusal> {
        self.playbook().check_world(self.world(), &self.conversation.case().now())
    }

    /// A refusal of the function and one of the world read alike; running the function again tells them apart.
    fn who_refused(&self, tool: &str, arguments: &Map<String, Value>, before: &World, id_seed: &str) -> RefusalSource {
        let playbook = self.playbook();
        let Some(tool) = playbook.tool(tool) else { return RefusalSource::UnknownTool };
        let arguments = &tool.complete(arguments.clone());
        let now = self.conversation.case().now();
        let moment = CallContext { now: &now, id_seed };
        let patch = match playbook.run_code(tool, arguments, before, &moment) {
            Ok((_, patch)) => patch,
            Err(CodeError::Refused(_) | CodeError::Broken(_)) => {
                let without_hook = playbook.code.call(&tool.spec.name, None, before, arguments, &moment);
                let hook = playbook.spec.after_call.as_ref().filter(|_| without_hook.is_ok());
                return hook.map_or(RefusalSource::Fail, |hook| RefusalSource::Hook(hook.function.clone()));
            }
        };
        let refusal = playbook.commit(tool, arguments, before, &patch, &now).err().map(|refusal| refusal.to_string());
        let said = refusal.unwrap_or_default();
        let invariants = playbook.spec.world.invariants.iter().filter(|rule| said.contains(&rule.message));
        let names: Vec<String> = invariants.map(|rule| rule.name.clone()).collect();
        if names.is_empty() { RefusalSource::Schema } else { RefusalSource::Invariants(names) }
    }
}

fn reply(event: &EventKind) -> Option<Reply> {
    let EventKind::ToolAnswered { content, answer, patch, note, .. } = event else { return None };
    let (content, patch) = (content.clone(), patch.clone());
    Some(match answer {
        Answer::Succeeded => Reply::Answered { content, patch },
        Answer::Terminal => Reply::Ended,
        Answer::UnknownTool => Reply::Refused { content, why: RefusalSource::UnknownTool },
        Answer::InvalidArguments => Reply::Refused { content, why: RefusalSource::Arguments },
        Answer::Failed => Reply::Refused { content, why: RefusalSource::Fail },
        Answer::Fallback => Reply::Broken { content, why: note.clone().unwrap_or_default() },
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
